import type { EngineErrorCode, ErrorPayload } from '../../protocol/run-output.ts';
import type { TurnError } from './native-types.ts';

const byName: Readonly<Record<string, EngineErrorCode>> = {
  unauthorized: 'authentication_error',
  usageLimitExceeded: 'usage_limit_exceeded',
  rateLimitExceeded: 'rate_limit_exceeded',
  contextWindowExceeded: 'context_length_exceeded',
  serverOverloaded: 'server_overloaded',
  internalServerError: 'server_error',
  badRequest: 'invalid_request',
  modelNotFound: 'resource_not_found',
  cyberPolicy: 'cyber_policy',
};

/** Variants with a status of the model service. */
const connections: ReadonlySet<string> = new Set([
  'httpConnectionFailed',
  'responseStreamConnectionFailed',
  'responseStreamDisconnected',
  'responseTooManyFailedAttempts',
]);

/**
 * The `error` of a failed Turn. The text is the program's own and is never looked at; the code comes from
 * `codexErrorInfo` alone: a name, or an object with exactly one member. What is unknown leaves the error without one
 * (input-and-tools 12).
 */
export function mapFailure(native: TurnError | null): ErrorPayload {
  const error = native?.message || 'Codex ended this Turn with an error.';
  const info = native?.codexErrorInfo;
  if (typeof info === 'string') {
    const code = Object.hasOwn(byName, info) ? byName[info] : undefined;
    return code ? { error, code } : { error };
  }
  const [variant, ...more] = Object.entries(info ?? {});
  if (!variant || more.length > 0 || !connections.has(variant[0])) return { error };
  const status = statusOf(variant[1]);
  if (variant[0] === 'responseTooManyFailedAttempts' && status === 429)
    return { error, code: 'rate_limit_exceeded' };
  return { error, code: 'connection_failed', ...(status === null ? {} : { http_status: status }) };
}

function statusOf(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || !('httpStatusCode' in value)) return null;
  const status = value.httpStatusCode;
  const valid = typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599;
  return valid ? status : null;
}
