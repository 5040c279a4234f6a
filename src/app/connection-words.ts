import type { ConnectionReasonCode, ConnectionView } from '../contract/view.ts';
import type { Look } from '../connection/link.ts';
import type { ConnectionState } from '../connection/states.ts';
import type { Failure } from '../observe/failure.ts';
import { WIRE_VERSION } from '../protocol/version.ts';

/** Why a connection is not serving, for a person: what happened and what to do next. */
export function failureSentence(failure: Failure, host: string): string {
  const { code, detail } = failure;
  switch (code) {
    case 'network':
      return `No connection to ${host}.`;
    case 'name_not_found':
      return `Name not found: ${host}.`;
    case 'refused':
      return `${host} refused the connection.`;
    case 'timeout':
      return `Core did not answer within 10 s.`;
    case 'tls':
      return tlsSentence(detail, host);
    case 'proxy_auth':
      return 'The proxy wants a password (407). Set its user and password in Settings.';
    case 'proxy_unreachable':
      return 'The proxy cannot be reached. Check its address in Settings, or the network.';
    case 'proxy_refused':
      return `The proxy does not let this through (${detail ?? 'no detail'}). Ask whoever runs it.`;
    case 'captive_portal':
      return 'This network wants a sign-in first. Open a web page in a browser, sign in, then try again.';
    case 'http_status':
      return `Core answered ${detail ?? 'with an error'}.`;
    case 'not_found':
      return `Core does not know this address: it answered ${detail ?? '404'}.`;
    case 'closed_by_core':
      return 'Core closed the connection.';
    case 'read_timeout':
      return 'Nothing was heard from Core for three intervals.';
    case 'write_failed':
      return 'Core did not take what was sent within 10 s.';
    case 'frame_too_large':
      return 'Core sent more than a frame may carry.';
    case 'bad_answer':
      return 'The answer of this address is not one of a Core.';
    case 'flapping':
      return 'Lost several times within a minute. Another program may use the same credential.';
    case 'incompatible_version':
      return detail === null
        ? `Core speaks another version than this app (${WIRE_VERSION}). Update the app, or Core must be updated.`
        : `Core speaks ${detail}, this app ${WIRE_VERSION}. Update the app, or Core must be updated.`;
    case 'credential_rejected':
      return 'Core rejected the credential: it was revoked or replaced. Enrol again, or hand over a new bootstrap file.';
    case 'binding_retired':
      return 'Core retired this binding. Ask whoever runs this Core, or remove the binding.';
    case 'binding_mismatch':
      return 'Core answered for another device or address than the one bound here. Nothing more was sent to it.';
    case 'other_key_bound':
      return 'Another key is bound to this Environment. Rotate that key instead of using a second one.';
    case 'credential_store_unavailable':
      return 'The credential store did not answer. The credential was neither read nor changed.';
    case 'credential_missing':
      return 'No credential is stored for this binding. Enrol again.';
    case 'workspace_unusable':
      return 'The bound folder is missing or not usable. Create it or fix its permissions, then try again.';
    case 'suspended_by_core':
      return 'Core suspended this Environment.';
  }
}

function tlsSentence(code: string | null, host: string): string {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return `The certificate of ${host} has expired. Check the clock of this machine, or ask whoever runs this Core.`;
    case 'CERT_NOT_YET_VALID':
      return `The certificate of ${host} is not valid yet. Check the clock of this machine.`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The certificate is not one for ${host}. Something else may answer in its place.`;
    case 'EPROTO':
      return `${host} does not speak TLS there. Check the address.`;
    default:
      return `Certificate of ${host} not trusted: its issuer is unknown here (${code ?? 'no detail'}). An extra authority can be named in Settings.`;
  }
}

const lookSentences: Readonly<Record<Look['why'], string>> = {
  woke: 'The machine woke. Not yet known whether Core still hears this app.',
  network_changed: 'The network changed. Not yet known whether Core still hears this app.',
};

/** The state of a link as the view shows it. */
export function connectionView(options: {
  state: ConnectionState;
  lastReceivedAt: number | null;
  checking: Look | null;
  blockers: number;
  host: string | null;
}): ConnectionView {
  const { state, host } = options;
  const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  const failure = 'failure' in state ? state.failure : null;
  const reason = reasonOf(state, failure, options, host ?? 'Core');
  return {
    state: state.state,
    since: new Date(options.checking?.since ?? state.since).toISOString(),
    attempt: state.state === 'serving' || !('attempt' in state) ? 0 : state.attempt,
    next_attempt_at: state.state === 'waiting' ? iso(state.until) : null,
    last_received_at: iso(options.lastReceivedAt),
    reason: reason?.text ?? null,
    reason_code: reason?.code ?? null,
    host,
    lost_at: iso('lostAt' in state ? state.lostAt : null),
  };
}

function reasonOf(
  state: ConnectionState,
  failure: Failure | null,
  options: { checking: Look | null; blockers: number },
  host: string,
): { text: string; code: ConnectionReasonCode } | null {
  if (state.state === 'serving') {
    const { checking } = options;
    return checking && { code: checking.why, text: lookSentences[checking.why] };
  }
  if (state.state === 'settling' && options.blockers > 0) {
    const things = options.blockers === 1 ? '1 thing is' : `${options.blockers} things are`;
    return { code: 'cleanup_unconfirmed', text: `Not connecting again while ${things} unconfirmed.` };
  }
  if (state.state === 'stopped') return { code: 'stopped_by_person', text: 'Stopped.' };
  if (state.state === 'suspended')
    return { code: 'suspended_by_core', text: 'Core suspended this Environment.' };
  return failure ? { code: failure.code, text: failureSentence(failure, host) } : null;
}
