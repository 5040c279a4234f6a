import type { BindingView, ConnectionView, View } from '../../src/contract/view.ts';
import { currentLanguage, t } from '../i18n/t.ts';
import { said } from '../i18n/said.ts';
import { mark, type Mark } from './mark.ts';
import { at, countedDown, moment, span } from './time-words.ts';

/** What a binding's card and its row in the side bar say. Every state that is not well: reason, since when, what next. */
export interface ConnectionLine {
  readonly mark: Mark;
  /** For a screen reader and a tooltip: "Connected", "Parked". */
  readonly label: string;
  /** Beside the name in the side bar, only where there is something to say. */
  readonly note: string | null;
  readonly state: string;
  readonly reason: string | null;
  readonly action: ConnectionAction | null;
  /** Order on Home: parked, lost, checking, dialing, connected. */
  readonly rank: number;
}
export type ConnectionAction =
  'retry' | 'cleanup' | 'credentials' | 'start' | 'doctor' | 'enrol' | 'remove' | 'update';

export interface ConnectionContext {
  readonly now: number;
  /** How many resources are not proven gone. */
  readonly unconfirmed: number;
}

const rank = { parked: 0, lost: 1, checking: 2, dialing: 3, stopped: 4, fine: 5 } as const;

/** A lost connection stays quiet for this long before it turns amber. */
export const quietBeforeLost = 2_000;

export function connectionLine(binding: BindingView, context: ConnectionContext): ConnectionLine {
  const { connection } = binding;
  if (connection.reason_code === 'credential_store_unavailable') return noCredentialStore(connection);
  switch (connection.state) {
    case 'bootstrapping':
    case 'dialing':
      return connection.lost_at === null ? opening(binding, context) : tryingNow(connection, context);
    case 'serving':
      return looksAgain(connection) ? checking(connection, context) : serving(binding, context);
    case 'settling':
      return {
        ...lost(connection, context, 'slash'),
        note: t('conn.note.cleanup'),
        state: t('conn.settling', { at: lostAt(connection, context) }),
        reason:
          context.unconfirmed > 0
            ? t('conn.settling.reason', { count: context.unconfirmed })
            : t('conn.settling.closing'),
        action: context.unconfirmed > 0 ? 'cleanup' : null,
      };
    case 'waiting':
      return waiting(connection, context);
    case 'suspended':
      return {
        mark: mark('paus'),
        label: t('conn.label.suspended'),
        note: t('conn.note.suspended'),
        state: t('conn.suspended'),
        reason: told(connection, t('conn.suspended.reason')),
        action: null,
        rank: rank.checking,
      };
    case 'parked':
      return parked(binding);
    case 'stopped':
      return {
        mark: mark('sq'),
        label: t('conn.label.stopped'),
        note: t('conn.note.stopped'),
        state: t('conn.stopped', { at: moment(at(connection.since), context.now) }),
        reason:
          context.unconfirmed > 0
            ? t('conn.stopped.unconfirmed', { count: context.unconfirmed })
            : t('conn.stopped.ended'),
        action: 'start',
        rank: rank.stopped,
      };
  }
}

const lostAt = (connection: ConnectionView, { now }: ConnectionContext): string =>
  moment(at(connection.lost_at ?? connection.since), now);

const hostAnd = (host: string | null, rest: string): string =>
  host === null ? rest : t('conn.host_and', { host, rest });

function opening(binding: BindingView, { now }: ConnectionContext): ConnectionLine {
  const { connection } = binding;
  const since = t('conn.for', { span: span(now - at(connection.since)) });
  return {
    mark: mark('ring', 'run'),
    label: t('conn.label.dialing'),
    note: null,
    state:
      connection.state === 'bootstrapping' && !binding.local ? t('conn.bootstrapping') : t('conn.dialing'),
    reason: binding.local
      ? t('conn.this_machine', { since })
      : connection.host === null
        ? since
        : `${connection.host}, ${since}`,
    action: null,
    rank: rank.dialing,
  };
}

function serving(binding: BindingView, { now }: ConnectionContext): ConnectionLine {
  const { connection } = binding;
  const since = moment(at(connection.since), now);
  const heard = connection.last_received_at;
  return {
    mark: mark('on', 'ok'),
    label: t('conn.label.connected'),
    note: binding.local ? t('conn.note.local') : null,
    state: binding.local ? t('conn.local') : t('conn.connected', { at: since }),
    reason: binding.local
      ? t('conn.local.reason')
      : heard === null
        ? connection.host
        : hostAnd(connection.host, t('conn.heard', { span: span(now - at(heard)) })),
    action: null,
    rank: rank.fine,
  };
}

/** It is not yet known whether a connection outlived a sleep or a change of network. */
const looksAgain = ({ reason_code: code }: ConnectionView): boolean =>
  code === 'woke' || code === 'network_changed';

function checking(connection: ConnectionView, { now }: ConnectionContext): ConnectionLine {
  const why = connection.reason_code === 'network_changed' ? 'conn.network_changed' : 'conn.woke';
  return {
    mark: mark('ring', 'warn'),
    label: t('conn.label.checking'),
    note: t('conn.note.checking'),
    state: t(why),
    reason: t(`${why}.reason`, { span: span(now - at(connection.since)) }),
    action: null,
    rank: rank.checking,
  };
}

/** Common to everything that is lost: quiet at first, amber once it lasted. */
function lost(
  connection: ConnectionView,
  { now }: ConnectionContext,
  shape: 'slash' | 'bang' | 'ring',
): ConnectionLine {
  const lasted = now - at(connection.lost_at ?? connection.since) >= quietBeforeLost;
  return {
    mark: mark(shape, lasted ? 'warn' : 'none'),
    label: t('conn.label.lost'),
    note: null,
    state: '',
    reason: null,
    action: null,
    rank: rank.lost,
  };
}

function tryingNow(connection: ConnectionView, context: ConnectionContext): ConnectionLine {
  return {
    ...lost(connection, context, 'slash'),
    note: t('conn.note.trying'),
    state: t('conn.trying', { at: lostAt(connection, context) }),
    reason: t('conn.try', { count: connection.attempt }),
  };
}

function nextTry(connection: ConnectionView, now: number): string | null {
  return connection.next_attempt_at === null ? null : countedDown(at(connection.next_attempt_at) - now);
}

function waiting(connection: ConnectionView, context: ConnectionContext): ConnectionLine {
  const next = nextTry(connection, context.now);
  if (looksAgain(connection))
    return { ...checking(connection, context), note: next ?? t('conn.note.checking') };
  const base = {
    ...lost(connection, context, 'slash'),
    note: next ?? t('conn.note.lost'),
    action: 'retry' as const,
  };
  if (connection.reason_code === 'flapping') {
    return {
      ...base,
      mark: mark('bang', 'warn'),
      state: t('conn.flapping'),
      reason:
        next === null
          ? t('conn.flapping.reason')
          : `${t('conn.flapping.reason')} ${t('conn.next', { next })}`,
    };
  }
  if (connection.reason_code === 'not_found') {
    return {
      ...base,
      mark: mark('bang', 'warn'),
      state: t('conn.not_found'),
      reason: told(connection, t('conn.not_found.reason', { at: lostAt(connection, context) })),
      action: 'doctor',
    };
  }
  if (connection.reason_code === 'cleanup_unconfirmed') {
    return {
      ...base,
      state: t('conn.settling', { at: lostAt(connection, context) }),
      reason: t('conn.settling.reason', { count: Math.max(1, context.unconfirmed) }),
      action: 'cleanup',
    };
  }
  const since = lostAt(connection, context);
  const never = connection.lost_at === null;
  return {
    ...base,
    state:
      next === null
        ? never
          ? t('conn.never')
          : t('conn.lost', { at: since })
        : never
          ? t('conn.never.next', { next })
          : t('conn.lost.next', { at: since, next }),
    reason: [
      lostReason(connection),
      connection.attempt > 1 ? t('conn.try.dot', { count: connection.attempt }) : null,
    ]
      .filter((part) => part !== null)
      .join(' '),
  };
}

/** The daemon's own sentence, which knows values; `text`, without them, where this language has no words for it. */
function told({ reason }: ConnectionView, text: string): string {
  if (reason === null) return text;
  const words = said(reason);
  return words !== reason || currentLanguage().startsWith('en') ? words : text;
}

/** The sentence for a reason code. Where it needs a value that only the daemon knows, the daemon's own sentence. */
function lostReason(connection: ConnectionView): string | null {
  const host = connection.host ?? t('conn.core');
  switch (connection.reason_code) {
    case 'network':
      return t('conn.reason.network');
    case 'name_not_found':
      return t('conn.reason.name_not_found', { host });
    case 'timeout':
    case 'read_timeout':
      return told(connection, t('conn.reason.timeout'));
    case 'refused':
      return t('conn.reason.refused', { host });
    case 'proxy_auth':
      return t('conn.reason.proxy_auth');
    case 'proxy_unreachable':
      return t('conn.reason.proxy_unreachable');
    case 'captive_portal':
      return t('conn.reason.captive_portal');
    case 'tls':
      return told(connection, t('conn.reason.tls'));
    case 'http_status':
      return told(connection, t('conn.reason.http_status'));
    case 'closed_by_core':
      return told(connection, t('conn.reason.closed_by_core'));
    case 'write_failed':
      return t('conn.reason.write_failed');
    case 'frame_too_large':
      return t('conn.reason.frame_too_large');
    case 'bad_answer':
      return t('conn.reason.bad_answer');
    default:
      return connection.reason === null ? null : said(connection.reason);
  }
}

function parked({ connection, enrolled }: BindingView): ConnectionLine {
  const again = enrolled === null ? null : ('enrol' as const);
  const base = {
    mark: mark('xx', 'bad'),
    label: t('conn.label.parked'),
    note: t('conn.note.parked'),
    action: null,
    rank: rank.parked,
  };
  switch (connection.reason_code) {
    case 'incompatible_version':
      return {
        ...base,
        state: t('conn.parked.version'),
        reason: told(connection, t('conn.parked.version.reason')),
        action: 'update',
      };
    case 'credential_rejected':
      return {
        ...base,
        state: t('conn.parked.credential'),
        reason: t('conn.parked.credential.reason'),
        action: again,
      };
    case 'binding_retired':
      return {
        ...base,
        state: t('conn.parked.retired'),
        reason: t('conn.parked.retired.reason'),
        action: enrolled === null ? null : 'remove',
      };
    case 'credential_missing':
      return {
        ...base,
        state: t('conn.parked.missing'),
        reason: told(connection, t('conn.parked.missing.reason')),
        action: again,
      };
    case 'other_key_bound':
      return {
        ...base,
        state: t('conn.parked.other_key'),
        reason: told(connection, t('conn.parked.other_key.reason')),
      };
    case 'binding_mismatch':
      return {
        ...base,
        state: t('conn.parked.mismatch'),
        reason: told(connection, t('conn.parked.mismatch.reason')),
      };
    case 'workspace_unusable':
      return {
        ...base,
        state: t('conn.parked.workspace'),
        reason: told(connection, t('conn.parked.workspace.reason')),
      };
    default:
      return {
        ...base,
        state: t('conn.parked'),
        reason: connection.reason === null ? null : said(connection.reason),
      };
  }
}

function noCredentialStore(connection: ConnectionView): ConnectionLine {
  return {
    mark: mark('bang', 'bad'),
    label: t('conn.no_store'),
    note: t('conn.note.no_store'),
    state: t('conn.no_store'),
    reason: told(connection, t('conn.no_store.reason')),
    action: 'credentials',
    rank: rank.parked,
  };
}

/** Bindings in the order of Home: what is worst first, then by name. */
export function bindingsByNeed(
  view: View,
  context: ConnectionContext,
): readonly (readonly [BindingView, ConnectionLine])[] {
  return view.bindings
    .map((binding) => [binding, connectionLine(binding, context)] as const)
    .sort(
      ([a, x], [b, y]) =>
        x.rank - y.rank || Number(a.local) - Number(b.local) || a.name.localeCompare(b.name),
    );
}
