import { describe, expect, test } from 'vitest';

import { decodeFrame, encodeFrame, type FrameContent } from '../../../src/protocol/codec.ts';
import { FRAME_BYTES } from '../../../src/protocol/limits.ts';
import type { FrameType } from '../../../src/protocol/registry.ts';
import { FrameEncodeError } from '../../../src/protocol/schema-walk.ts';

const encoded = <T extends FrameType>(type: T, content: FrameContent<T>): unknown =>
  JSON.parse(encodeFrame(type, content).text);
const payloadOf = <T extends FrameType>(type: T, content: FrameContent<T>): unknown => {
  const frame: unknown = encoded(type, content);
  return Object(frame).payload;
};

describe('zero values', () => {
  test('members left out at zero are not written', () => {
    expect(
      payloadOf('preparation_status', {
        payload: { reused: false, handle: 'h', revision: 1, state: 'preparing', expires_at: 0, run_id: '' },
      }),
    ).toEqual({
      handle: 'h',
      revision: 1,
      state: 'preparing',
    });
  });
  test('members that are always written are written at zero', () => {
    expect(
      payloadOf('heartbeat', { payload: { ts: 0, active_requests: 0, supported_agent_kinds: [] } }),
    ).toEqual({ ts: 0, active_requests: 0 });
    expect(payloadOf('done', { payload: { content: '' } })).toEqual({ content: '' });
  });
  test('an all-zero usage and an empty metadata are left out of done', () => {
    expect(payloadOf('done', { payload: { content: 'x', usage: {}, metadata: {} } })).toEqual({
      content: 'x',
    });
  });
  test('a measurement of zero is written, because absence would mean unknown', () => {
    const tokens = {
      input_tokens: 0,
      cached_input_tokens: 0,
      output_tokens: 0,
      reasoning_output_tokens: 0,
      total_tokens: 0,
    };
    expect(payloadOf('usage', { payload: { tokens } })).toEqual({ tokens });
  });
  test('an empty text of a completed message and an empty content list are statements', () => {
    expect(payloadOf('output_message', { payload: { id: 'm', status: 'completed', text: '' } })).toEqual({
      id: 'm',
      status: 'completed',
      text: '',
    });
    const observation = { kind: 'function', status: 'completed', name: 'f', content: [] };
    expect(payloadOf('tool_call', { payload: { id: 'c', name: 'f', stage: 'after', observation } })).toEqual({
      id: 'c',
      name: 'f',
      stage: 'after',
      observation,
    });
  });
  test('nullable members are written as null when not given', () => {
    expect(
      payloadOf('workspace_read_result', {
        payload: {
          outcome: 'completed',
          close_acknowledged: true,
          directory: { entries: [{ name: 'a', kind: 'directory', size_bytes: null }], truncated: false },
        },
      }),
    ).toEqual({
      outcome: 'completed',
      close_acknowledged: true,
      directory: { entries: [{ name: 'a', kind: 'directory', size_bytes: null }], truncated: false },
    });
    expect(
      payloadOf('prompt_request', {
        id: 'r',
        payload: {
          agent_kind: 'k',
          conversation_id: '',
          run_id: 'r',
          mcp_http_servers: [
            { connection_origin: 'service', server_label: 'l', server_url: 'https://x', allowed_tools: null },
          ],
        },
      }),
    ).toEqual({
      agent_kind: 'k',
      conversation_id: '',
      run_id: 'r',
      mcp_http_servers: [
        { connection_origin: 'service', server_label: 'l', server_url: 'https://x', allowed_tools: null },
      ],
    });
  });
  test('an explicitly empty list of servers is written', () => {
    expect(
      payloadOf('prompt_request', {
        id: 'r',
        payload: { agent_kind: 'k', conversation_id: '', run_id: '', mcp_http_servers: [] },
      }),
    ).toHaveProperty('mcp_http_servers', []);
  });
  test('the Envelope leaves out an empty id, trace and optional body', () => {
    expect(encoded('device_shutdown', { id: '', payload: {}, trace: '' })).toEqual({
      type: 'device_shutdown',
    });
    expect(encoded('permission_cancel', { id: 'perm_1' })).toEqual({
      type: 'permission_cancel',
      id: 'perm_1',
    });
    expect(encoded('prompt_cancel', { id: 'r' })).toEqual({ type: 'prompt_cancel', id: 'r' });
    expect(encoded('execution_release', { id: 'p', payload: { handle: 'h' } })).toEqual({
      type: 'execution_release',
      id: 'p',
      payload: { handle: 'h' },
    });
  });
});

describe('what our senders never write', () => {
  const refused: { [T in FrameType]?: [string, string, unknown][] } = {
    preparation_status: [
      ['no state', '/state', { handle: 'h', revision: 1, state: '' }],
      ['an unknown state', '/state', { handle: 'h', revision: 1, state: 'waiting' }],
      ['failed without a code', '/error_code', { handle: 'h', revision: 1, state: 'failed' }],
      [
        'ready with a code',
        '/error_code',
        { handle: 'h', revision: 1, state: 'ready', error_code: 'preparation_failed' },
      ],
      ['an unknown code', '/error_code', { handle: 'h', revision: 1, state: 'failed', error_code: 'tired' }],
      [
        'rejected without its operation',
        '/operation',
        { revision: 0, state: 'rejected', error_code: 'preparation_capacity' },
      ],
      ['a status of a handle without the handle', '', { revision: 1, state: 'ready' }],
    ],
    interaction_decision_ack: [
      ['a refusal without a code', '/error_code', { delivery_id: 'd', applied: false }],
      ['applied with a code', '/error_code', { delivery_id: 'd', applied: true, error_code: 'not_pending' }],
      [
        'an outcome that was not applied',
        '/outcome',
        { delivery_id: 'd', applied: false, error_code: 'cancel_failed', outcome: { content: '' } },
      ],
      [
        'a native id that is no text',
        '/metadata/agent_session_id',
        { delivery_id: 'd', applied: true, outcome: { content: '', metadata: { agent_session_id: 1 } } },
      ],
      ['no delivery id', '', { delivery_id: '', applied: true }],
    ],
    prompt_steer_ack: [
      ['nothing at all', '/error_code', { input_id: 'i', accepted: false }],
      ['written and accepted at once', '/error_code', { input_id: 'i', accepted: true, written: true }],
      ['accepted with a code', '/error_code', { input_id: 'i', accepted: true, error_code: 'busy' }],
    ],
    tool_call: [
      ['no id', '/id', { id: '', name: 'n', stage: 'before' }],
      ['no stage', '/stage', { id: 'c', name: 'n', stage: '' }],
      [
        'no kind',
        '/observation/kind',
        { id: 'c', name: 'n', stage: 'after', observation: { kind: '', status: 'completed' } },
      ],
      [
        'no status',
        '/observation/status',
        { id: 'c', name: 'n', stage: 'after', observation: { kind: 'web_search', status: '' } },
      ],
      [
        'in progress after the call',
        '/observation/status',
        { id: 'c', name: 'n', stage: 'after', observation: { kind: 'web_search', status: 'in_progress' } },
      ],
      [
        'completed before the call',
        '/observation/status',
        { id: 'c', name: 'n', stage: 'before', observation: { kind: 'web_search', status: 'completed' } },
      ],
      [
        'a command without its text',
        '/observation/command',
        { id: 'c', name: 'n', stage: 'after', observation: { kind: 'command', status: 'completed' } },
      ],
      [
        'command output that is no text',
        '/observation/output',
        {
          id: 'c',
          name: 'n',
          stage: 'after',
          observation: { kind: 'command', status: 'completed', command: 'ls', output: {} },
        },
      ],
      [
        'an mcp call without its server',
        '/observation/server',
        { id: 'c', name: 'n', stage: 'after', observation: { kind: 'mcp', status: 'completed', name: 't' } },
      ],
      [
        'a function without its name',
        '/observation/name',
        { id: 'c', name: 'n', stage: 'after', observation: { kind: 'function', status: 'completed' } },
      ],
    ],
    prompt_for_user_choice: [
      ['no question', '/questions', { ask_id: 'a', questions: [] }],
      [
        'a question without an id',
        '/questions/0/id',
        { ask_id: 'a', questions: [{ id: '', question: '?', options: [] }] },
      ],
      [
        'a blank question id',
        '/questions',
        { ask_id: 'a', questions: [{ id: ' ', question: '?', options: [] }] },
      ],
      [
        'a repeated question',
        '/questions',
        {
          ask_id: 'a',
          questions: [
            { id: 'q', question: '?', options: [] },
            { id: 'q', question: '?', options: [] },
          ],
        },
      ],
    ],
    environment_quiesced: [
      ['a refusal without a code', '/error_code', { environment_id: 'e', suspend_id: 's', accepted: false }],
      [
        'accepted with a code',
        '/error_code',
        { environment_id: 'e', suspend_id: 's', accepted: true, error_code: 'resource_busy' },
      ],
      [
        'an unknown code',
        '/error_code',
        { environment_id: 'e', suspend_id: 's', accepted: false, error_code: 'tired' },
      ],
    ],
    done: [
      [
        'a native id that is no text',
        '/metadata/agent_session_id',
        { content: '', metadata: { agent_session_id: null } },
      ],
    ],
    workspace_write_result: [
      ['a size that another outcome owns', '', { outcome: 'ready', size_bytes: 1 }],
      ['an offset that another outcome owns', '/offset', { outcome: 'completed', offset: 1 }],
    ],
    runtime_prepare_result: [
      ['an offset that another outcome owns', '/offset', { outcome: 'completed', offset: 1 }],
    ],
    workspace_export_result: [
      [
        'a code of a later generation',
        '/error_code',
        { outcome: 'rejected', offset: 0, error_code: 'read_unsupported' },
      ],
    ],
    output_message: [['an unknown phase', '/phase', { id: 'm', status: 'completed', phase: 'final' }]],
    subagent_item: [
      [
        'a payload that is no object',
        '/payload',
        { native_id: 'n', turn_id: 't', item_id: 'i', position: 0, kind: 'message', payload: 'text' },
      ],
    ],
    execution_start: [
      [
        'an empty handle',
        '/handle',
        {
          executor_id: 'e',
          handle: '',
          run_id: 'r',
          input: [{ content: [{ type: 'input_text', text: 'a' }] }],
        },
      ],
      [
        'an input that says nothing',
        '',
        { executor_id: 'e', handle: 'h', run_id: 'r', input: [{ content: [] }] },
      ],
    ],
    function_result: [
      ['an empty call id', '/call_id', { delivery_id: 'd', call_id: '', success: true, content: [] }],
    ],
    usage: [['a cost that JSON cannot write', '/cost_usd', { cost_usd: Number.NaN }]],
  };
  for (const [type, cases] of Object.entries(refused) as [FrameType, [string, string, unknown][]][])
    test.each(cases)(`${type} with %s`, (_, path, payload) => {
      let thrown: unknown;
      try {
        encodeFrame(type, { id: 'x', payload: payload as never });
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(FrameEncodeError);
      expect(thrown).toHaveProperty('path', path);
    });

  test('a free-form value that JSON cannot write is our error, and nothing is sent', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(() => encodeFrame('usage', { id: 'r', payload: { raw: cycle } })).toThrow(FrameEncodeError);
  });

  test('the error names the place and not the value', () => {
    expect(() =>
      encodeFrame('done', {
        payload: { content: '', metadata: { agent_session_id: { secret: 'hunter2' } } },
      }),
    ).toThrow(/^(?!.*hunter2)/);
  });
});

describe('what a Core reads although our senders never write it', () => {
  test.each([
    ['interaction_decision_ack', { delivery_id: 'd', applied: false, outcome: { content: '' } }],
    ['tool_call', { id: '', name: '', stage: 'after', observation: { kind: '', status: 'in_progress' } }],
    ['prompt_for_user_choice', { ask_id: 'a' }],
    ['environment_resumed', { environment_id: 'e', suspend_id: 's', accepted: false }],
    ['preparation_status', { handle: 'h', revision: 1 }],
    ['output_message', { id: 'm', status: 'paused', phase: 'final' }],
    ['done', { content: null, metadata: { agent_session_id: 4 } }],
    ['workspace_write_result', { outcome: 'ready', offset: 4 }],
  ])('%s', (type, payload) => {
    expect(decodeFrame(JSON.stringify({ type, id: 'x', payload }), 'runtime-to-core').outcome).toBe('frame');
  });
});

test('the size of a frame is counted in bytes of its Envelope', () => {
  const frame = encodeFrame('delta', { id: 'r', payload: { delta: '漢😀', sequence: 1 } });
  expect(frame.bytes).toBe(Buffer.byteLength(frame.text));
  expect(
    encodeFrame('delta', { id: 'r', payload: { delta: 'é'.repeat(FRAME_BYTES / 2), sequence: 1 } }).bytes,
  ).toBeGreaterThan(FRAME_BYTES);
});
