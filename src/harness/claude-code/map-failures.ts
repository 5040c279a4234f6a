import type { EngineErrorCode, ErrorPayload } from '../../protocol/run-output.ts';
import type { ResultMessage } from './native-types.ts';

/** Class the program gives to the synthetic message that stands for a failed model request. */
const byClass: Readonly<Record<string, EngineErrorCode>> = {
  authentication_failed: 'authentication_error',
  oauth_org_not_allowed: 'authentication_error',
  account_on_hold: 'authentication_error',
  verification_required: 'authentication_error',
  cloud_credential_error: 'authentication_error',
  billing_error: 'usage_limit_exceeded',
  rate_limit: 'rate_limit_exceeded',
  overloaded: 'server_overloaded',
  server_error: 'server_error',
  invalid_request: 'invalid_request',
  model_not_found: 'resource_not_found',
};

/**
 * The `error` of a failed native turn. The text is the program's own and is never looked at; the code comes from its
 * structured fields alone, the most specific first, and unknown values leave the error without one.
 * `messageClass` is the class of the last assistant record of that native turn, if it was an error record.
 */
export function mapFailure(result: ResultMessage, messageClass: string | null): ErrorPayload {
  const error = result.result || result.errors?.join('\n') || 'Claude Code ended this Turn with an error.';
  const code = classify(result, messageClass);
  if (!code) return { error };
  const status = result.api_error_status;
  return code === 'connection_failed' && typeof status === 'number'
    ? { error, code, http_status: status }
    : { error, code };
}

function classify(result: ResultMessage, messageClass: string | null): EngineErrorCode | null {
  // A refusal by the model is classed as an invalid request, which it is not.
  if (result.stop_reason === 'refusal') return null;
  if (result.terminal_reason === 'prompt_too_long') return 'context_length_exceeded';
  if (result.api_error === 'connection_failed') return 'connection_failed';
  if (result.api_error_type === 'overloaded_error' || result.api_error_status === 529)
    return 'server_overloaded';
  const known =
    messageClass !== null && Object.hasOwn(byClass, messageClass) ? byClass[messageClass] : undefined;
  if (known) return known;
  const plain = messageClass === 'unknown' && result.api_error_status === 400;
  return plain && result.api_error_type === 'invalid_request_error' ? 'invalid_request' : null;
}
