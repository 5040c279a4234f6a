/**
 * Why a connection is not there, as a finite tag. `permanent` stops until a person acts; `attention` goes on trying
 * but deserves a look (machine-connection 6, runtime-behaviour 1.4); `transient` goes on by itself. Nothing here
 * holds text of the peer: a peer can echo a credential in a status line or a body.
 */
export type FailureCode =
  | 'network'
  | 'name_not_found'
  | 'refused'
  | 'timeout'
  | 'tls'
  | 'proxy_auth'
  | 'proxy_unreachable'
  | 'proxy_refused'
  | 'captive_portal'
  | 'http_status'
  | 'not_found'
  | 'closed_by_core'
  | 'read_timeout'
  | 'write_failed'
  | 'frame_too_large'
  | 'bad_answer'
  | 'flapping'
  | 'incompatible_version'
  | 'credential_rejected'
  | 'binding_retired'
  | 'binding_mismatch'
  | 'other_key_bound'
  | 'credential_store_unavailable'
  | 'credential_missing'
  | 'workspace_unusable'
  | 'suspended_by_core';

export type FailureClass = 'transient' | 'attention' | 'permanent';

export interface Failure {
  readonly class: FailureClass;
  readonly code: FailureCode;
  /** Safe fact for the sentence: an HTTP status, a close code, an issuer, a version. Never text chosen by the peer. */
  readonly detail: string | null;
}

export const transient = (code: FailureCode, detail: string | null = null): Failure => ({
  class: 'transient',
  code,
  detail,
});
export const permanent = (code: FailureCode, detail: string | null = null): Failure => ({
  class: 'permanent',
  code,
  detail,
});

/** HTTP status of bootstrap or of the upgrade. 101 and 2xx never come here. */
export function fromStatus(status: number): Failure {
  if (status === 401 || status === 403) return permanent('credential_rejected', String(status));
  if (status === 426) return permanent('incompatible_version', null);
  if (status === 407) return { class: 'attention', code: 'proxy_auth', detail: '407' };
  if (status === 400 || status === 404)
    return { class: 'attention', code: 'not_found', detail: String(status) };
  return transient('http_status', String(status));
}

const tlsCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'EPROTO',
]);

/** A Node network error, classified by its code alone. */
export function fromNetworkError(error: unknown): Failure {
  const code =
    typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
      ? error.code
      : '';
  if (code === 'ERR_PROXY') {
    const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : null;
    if (typeof status !== 'number') return transient('proxy_unreachable');
    return status === 407 ? fromStatus(407) : transient('proxy_refused', String(status));
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return transient('name_not_found');
  if (code === 'ECONNREFUSED') return transient('refused');
  if (code === 'ETIMEDOUT' || code === 'ESOCKETTIMEDOUT') return transient('timeout');
  if (tlsCodes.has(code)) return transient('tls', code);
  return transient('network', /^[A-Z_]{2,40}$/.test(code) ? code : null);
}
