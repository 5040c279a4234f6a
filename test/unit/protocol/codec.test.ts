import { describe, expect, test } from 'vitest';

import { decodeFrame, type Decoded } from '../../../src/protocol/codec.ts';
import { decodeEnvelope } from '../../../src/protocol/envelope.ts';
import { hasRepeatedMember, memberSpan } from '../../../src/protocol/raw-json.ts';
import { functionResultIdsOf } from '../../../src/protocol/functions.ts';
import { steerInputIdOf } from '../../../src/protocol/steering.ts';

const fromCore = (frame: unknown): Decoded => decodeFrame(JSON.stringify(frame), 'core-to-runtime');
const fromRuntime = (frame: unknown): Decoded => decodeFrame(JSON.stringify(frame), 'runtime-to-core');

describe('what is no frame', () => {
  test.each([
    '',
    '{',
    '[]',
    'null',
    '"x"',
    '{}',
    '{"type":1}',
    '{"type":"done","id":4}',
    '{"type":"done"} {}',
  ])('%j is malformed', (text) => {
    expect(decodeFrame(text, 'runtime-to-core').outcome).toBe('malformed');
  });
  test('bytes that are no UTF-8 are malformed, others are read', () => {
    expect(decodeFrame(Uint8Array.from([0xff]), 'runtime-to-core').outcome).toBe('malformed');
    expect(
      decodeFrame(new TextEncoder().encode('{"type":"delta","payload":{"delta":"é"}}'), 'runtime-to-core')
        .outcome,
    ).toBe('frame');
  });
  test('an unknown type keeps its id, and a type of the other direction is unknown', () => {
    expect(fromCore({ type: 'assign', id: 'a' })).toEqual({
      outcome: 'unknown_type',
      type: 'assign',
      id: 'a',
    });
    expect(fromCore({ type: 'delta', id: 'a' }).outcome).toBe('unknown_type');
    expect(fromRuntime({ type: 'prompt_cancel', id: 'a' }).outcome).toBe('unknown_type');
    expect(fromCore({ type: 'toString' }).outcome).toBe('unknown_type');
  });
  test('deeply nested input is an answer, not a crash', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(decodeFrame(`{"type":"done","payload":{"metadata":${deep}}}`, 'runtime-to-core').outcome).toBe(
      'refused',
    );
  });
});

describe('reading', () => {
  test('absent and null members are zero, optional ones are not given', () => {
    const decoded = fromCore({
      type: 'execution_prepare',
      id: 'p',
      payload: { session_id: null, configuration: { input: null } },
    });
    if (decoded.outcome !== 'frame' || decoded.frame.type !== 'execution_prepare')
      throw new Error(decoded.outcome);
    expect(decoded.frame.payload).toEqual({
      session_id: '',
      configuration: { agent_kind: '', conversation_id: '', run_id: '' },
    });
  });
  test('an absent body is an all-zero one', () => {
    const decoded = fromCore({ type: 'device_shutdown' });
    expect(decoded).toMatchObject({ outcome: 'frame', frame: { id: '', payload: {} } });
    expect(fromCore({ type: 'execution_release', id: 'p', payload: null })).toMatchObject({
      frame: { payload: { handle: '' } },
    });
  });
  test('free-form objects are passed on as they came, whatever they hold', () => {
    const updated_input = JSON.parse('{"__proto__":{"x":1},"a":[null,{"b":"c"}]}') as unknown;
    const text = `{"type":"permission_decision","id":"p","payload":{"delivery_id":"d","approved":true,"updated_input":{"__proto__":{"x":1},"a":[null,{"b":"c"}]}}}`;
    const decoded = decodeFrame(text, 'core-to-runtime');
    if (decoded.outcome !== 'frame' || decoded.frame.type !== 'permission_decision')
      throw new Error(decoded.outcome);
    expect(JSON.stringify(decoded.frame.payload.updated_input)).toBe(JSON.stringify(updated_input));
  });
  test('a member called __proto__ is an undeclared one', () => {
    expect(
      decodeFrame('{"type":"prompt_cancel","id":"r","payload":{"__proto__":{}}}', 'core-to-runtime').outcome,
    ).toBe('refused');
  });
  test('of repeated members the last one counts', () => {
    expect(
      decodeFrame(
        '{"type":"delta","id":"r","payload":{"delta":"a","delta":"b","sequence":1}}',
        'runtime-to-core',
      ),
    ).toMatchObject({ frame: { payload: { delta: 'b' } } });
  });
  test('a trace that is no text is no trace', () => {
    expect(decodeEnvelope('{"type":"done","trace":7}')?.trace).toBeUndefined();
    expect(fromCore({ type: 'prompt_cancel', id: 'r', trace: '' })).toMatchObject({
      outcome: 'frame',
      frame: { trace: undefined },
    });
  });
  test('integers may use 64 bits, not more, and no fraction', () => {
    for (const [ts, outcome] of [
      [2 ** 53, 'frame'],
      [1e300, 'refused'],
      [-1, 'frame'],
      [0.5, 'refused'],
    ] as const)
      expect(fromRuntime({ type: 'heartbeat', payload: { ts } }).outcome).toBe(outcome);
  });
  test.each([
    ['connection_failed', 503, { error: 'e', code: 'connection_failed', http_status: 503 }],
    ['connection_failed', 99, { error: 'e', code: 'connection_failed' }],
    ['connection_failed', 599.5, { error: 'e', code: 'connection_failed' }],
    ['connection_failed', '503', { error: 'e', code: 'connection_failed' }],
    ['server_error', 500, { error: 'e', code: 'server_error' }],
    ['weird', 503, { error: 'e' }],
    [5, null, { error: 'e' }],
  ])('an error of code %j and status %j keeps what is known', (code, http_status, payload) => {
    expect(
      fromRuntime({ type: 'error', id: 'r', payload: { error: 'e', code, http_status, more: 1 } }),
    ).toMatchObject({ outcome: 'frame', frame: { payload } });
  });
});

describe('payload bounds', () => {
  const read = (padding: number): string =>
    `{"type":"workspace_read","id":"r","payload":{"handle":"h","environment_id":"e","path":"a","max_bytes":1${' '.repeat(padding)}}}`;
  const base = '{"handle":"h","environment_id":"e","path":"a","max_bytes":1}'.length;
  test('are measured on the raw bytes of the payload', () => {
    expect(decodeFrame(read(8_192 - base), 'core-to-runtime').outcome).toBe('frame');
    expect(decodeFrame(read(8_193 - base), 'core-to-runtime')).toMatchObject({
      outcome: 'refused',
      refusal: { stage: 'decode', path: '/payload', code: 'invalid_request' },
    });
  });
  test('do not count the rest of the Envelope', () => {
    const text = read(8_192 - base).replace('"id":"r"', `"id":"${'r'.repeat(500)}"`);
    expect(decodeFrame(text, 'core-to-runtime').outcome).toBe('frame');
  });
  test('hold for a resume, whose identity is then not read', () => {
    const text = `{"type":"environment_resume","id":"r","payload":{"environment_id":"e","suspend_id":"s"${' '.repeat(1_024)}}}`;
    expect(decodeFrame(text, 'core-to-runtime')).toMatchObject({ refusal: { code: 'not_suspended' } });
  });
});

describe('refusals', () => {
  test('keep the Envelope and the body that a reply needs', () => {
    const steer = fromCore({
      type: 'prompt_steer',
      id: 'r',
      trace: 't',
      payload: { input_id: 'in-1', input: [] },
    });
    if (steer.outcome !== 'refused') throw new Error(steer.outcome);
    expect(steer.refusal).toMatchObject({
      type: 'prompt_steer',
      id: 'r',
      trace: 't',
      stage: 'validate',
      code: 'invalid_input',
      path: '/payload/input',
    });
    expect(steerInputIdOf(steer.refusal.body)).toBe('in-1');
    expect(steerInputIdOf({ input_id: 4 })).toBe('');
    expect(functionResultIdsOf({ delivery_id: 'd', call_id: 'c' })).toEqual({ deliveryId: 'd', callId: 'c' });
    expect(functionResultIdsOf({ delivery_id: '', call_id: 'c' })).toBeUndefined();
  });
  test('name the first structural cause before a broken rule, as a JSON pointer', () => {
    expect(
      fromCore({
        type: 'function_result',
        id: 'r',
        payload: { content: [{ type: 'input_text' }], 'a/b~': 1 },
      }),
    ).toMatchObject({
      refusal: { stage: 'decode', path: '/payload/a~1b~0' },
    });
  });
  test('never happen for rules that act at dispatch', () => {
    const configuration = {
      agent_kind: '',
      run_id: 'r',
      conversation_id: 'c',
      tool_search: true,
      workspace_read_only: true,
      disable_execution_environment: true,
      local_environment: { id: '' },
    };
    expect(
      fromCore({ type: 'execution_prepare', id: '', payload: { session_id: '', configuration } }).outcome,
    ).toBe('frame');
    expect(
      fromCore({
        type: 'execution_start',
        id: 'p',
        payload: { input: [{ content: [{ type: 'input_text', text: 'a' }] }] },
      }).outcome,
    ).toBe('frame');
    expect(fromCore({ type: 'permission_decision', id: 'p', payload: {} }).outcome).toBe('frame');
  });
});

describe('the raw text', () => {
  const text = '{ "a" : {"b":[1,{"c":"}"}], "b\\u0032":"x\\"y"}, "n": -1.5e3 , "a2":null}';
  test('shows where a member stands', () => {
    const at = (...path: string[]): string | undefined => {
      const span = memberSpan(text, path);
      return span && text.slice(span[0], span[1]);
    };
    expect(at('a', 'b')).toBe('[1,{"c":"}"}]');
    expect(at('a', 'b2')).toBe('"x\\"y"');
    expect(at('n')).toBe('-1.5e3');
    expect(at('a2')).toBe('null');
    expect(at('n', 'x')).toBeUndefined();
    expect(at('missing')).toBeUndefined();
  });
  test('tells whether an object repeats a member, at any depth and however it is spelled', () => {
    expect(hasRepeatedMember('{"a":{"b":1,"c":1}}', ['a'])).toBe(false);
    expect(hasRepeatedMember('{"a":{"b":1,"\\u0062":1}}', ['a'])).toBe(true);
    expect(hasRepeatedMember('{"a":{"b":[{"c":1,"c":2}]}}', ['a'])).toBe(true);
    expect(hasRepeatedMember('{"a":{},"a":{}}', ['a'])).toBe(false);
    expect(hasRepeatedMember('{"b":1,"b":2}', ['a'])).toBe(false);
  });
});
