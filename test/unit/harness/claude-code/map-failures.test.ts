import { describe, expect, test } from 'vitest';

import { mapFailure } from '../../../../src/harness/claude-code/map-failures.ts';
import { parseNative, type ResultMessage } from '../../../../src/harness/claude-code/native-types.ts';

function failed(more: Record<string, unknown>): ResultMessage {
  const parsed = parseNative({ type: 'result', subtype: 'success', is_error: true, ...more });
  if (parsed.kind !== 'message' || parsed.message.type !== 'result') throw new Error('not a result');
  return parsed.message;
}

describe('the code of a failure comes from structured fields alone', () => {
  test.each<[string | null, Record<string, unknown>, string | undefined]>([
    ['authentication_failed', {}, 'authentication_error'],
    ['account_on_hold', {}, 'authentication_error'],
    ['billing_error', { api_error_status: 400 }, 'usage_limit_exceeded'],
    ['rate_limit', { api_error_status: 429 }, 'rate_limit_exceeded'],
    ['overloaded', {}, 'server_overloaded'],
    ['server_error', { api_error_status: 529 }, 'server_overloaded'],
    ['server_error', { api_error_type: 'overloaded_error' }, 'server_overloaded'],
    ['server_error', { api_error_status: 500 }, 'server_error'],
    ['server_error', { api_error: 'connection_failed' }, 'connection_failed'],
    ['invalid_request', { terminal_reason: 'prompt_too_long' }, 'context_length_exceeded'],
    ['invalid_request', { api_error_status: 413, terminal_reason: 'image_error' }, 'invalid_request'],
    ['invalid_request', { stop_reason: 'refusal' }, undefined],
    ['model_not_found', {}, 'resource_not_found'],
    ['unknown', { api_error_status: 400, api_error_type: 'invalid_request_error' }, 'invalid_request'],
    ['unknown', { api_error_status: 418 }, undefined],
    ['max_output_tokens', { api_error: 'max_output_tokens' }, undefined],
    ['a_new_class', {}, undefined],
    ['toString', {}, undefined],
    [null, { result: 'API Error: 429 rate limit exceeded, authentication_failed' }, undefined],
  ])('%s %j is %s', (messageClass, more, code) => {
    expect(mapFailure(failed(more), messageClass).code).toBe(code);
  });
});

test('the status is kept for a failed connection alone', () => {
  expect(mapFailure(failed({ api_error: 'connection_failed', api_error_status: 502 }), null)).toEqual({
    error: expect.any(String) as string,
    code: 'connection_failed',
    http_status: 502,
  });
  expect(mapFailure(failed({ api_error_status: 500 }), 'server_error')).not.toHaveProperty('http_status');
});

test('the text is the program’s own, or a plain sentence when it has none', () => {
  expect(mapFailure(failed({ result: 'Its words' }), null).error).toBe('Its words');
  expect(mapFailure(failed({ errors: ['one', 'two'] }), null).error).toBe('one\ntwo');
  expect(mapFailure(failed({}), null).error).toBe('Claude Code ended this Turn with an error.');
});
