/**
 * The one error type of the project. Three families that are never converted into one another:
 *
 * - `rejected`: a definite no; nothing happened.
 * - `unknown`: it may have happened; whoever owned it keeps owning it and nothing is replayed.
 * - `fault`: our bug or a broken machine; that operation fails, the daemon goes on.
 *
 * `message` is for a person and says what to do next. It never holds a credential, a payload or text of a peer.
 */
export type ErrorFamily = 'rejected' | 'unknown' | 'fault';

export const errorCodes = [
  'usage',
  'invalid_configuration',
  'invalid_bootstrap_file',
  'invalid_credential_file',
  'invalid_invitation',
  'invitation_rejected',
  'not_running',
  'already_running',
  'not_found',
  'not_pending',
  'already_decided',
  'invalid_answer',
  'answer_refused',
  'not_available',
  'conflict',
  'busy',
  'unconfirmed',
  'incompatible_version',
  'credential_rejected',
  'binding_retired',
  'binding_mismatch',
  'other_key_bound',
  'credential_store_unavailable',
  'credential_missing',
  'workspace_unusable',
  'network',
  'timeout',
  'closed',
  'frame_too_large',
  'harness_unavailable',
  'harness_failed',
  'storage',
  'unsupported',
  'fault',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

export class RuntimeError extends Error {
  readonly family: ErrorFamily;
  readonly code: ErrorCode;
  constructor(family: ErrorFamily, code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RuntimeError';
    this.family = family;
    this.code = code;
  }
}

export const rejected = (code: ErrorCode, message: string, cause?: unknown): RuntimeError =>
  new RuntimeError('rejected', code, message, { cause });
export const unknownOutcome = (code: ErrorCode, message: string, cause?: unknown): RuntimeError =>
  new RuntimeError('unknown', code, message, { cause });
export const fault = (code: ErrorCode, message: string, cause?: unknown): RuntimeError =>
  new RuntimeError('fault', code, message, { cause });

/** A caught value as an Error, so that `cause` chains stay readable. */
export const asError = (value: unknown): Error => (value instanceof Error ? value : new Error(String(value)));

/** For the `default` of a switch over a union: does not compile when a member was forgotten. */
export function assertNever(value: never): never {
  throw fault('fault', `Unexpected value: ${typeof value}`);
}
