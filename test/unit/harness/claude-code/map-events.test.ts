import { describe, expect, test } from 'vitest';

import type { HarnessEvent } from '../../../../src/harness/adapter.ts';
import { EventMapper } from '../../../../src/harness/claude-code/map-events.ts';
import { parseNative } from '../../../../src/harness/claude-code/native-types.ts';

/** Feeds raw messages as the program prints them. */
class Feed {
  readonly mapper: EventMapper;
  readonly events: HarnessEvent[] = [];
  constructor(observeMessages = true, observeTools = true) {
    this.mapper = new EventMapper({ observeMessages, observeTools }, { returned: () => null });
  }
  push(...raw: unknown[]): this {
    for (const value of raw) {
      const parsed = parseNative(value);
      if (parsed.kind !== 'message') throw new Error(`not readable: ${JSON.stringify(value)}`);
      const { message } = parsed;
      this.events.push(
        ...(message.type === 'result' ? this.mapper.result(message) : this.mapper.accept(message)),
      );
    }
    return this;
  }
  close(): this {
    this.events.push(...this.mapper.close());
    return this;
  }
  get summary(): unknown[] {
    return this.events
      .filter((event) => event.type !== 'usage')
      .map((event) => ('payload' in event ? [event.type, event.payload] : [event.type]));
  }
}
const stream = (event: unknown, parent: string | null = null): unknown => ({
  type: 'stream_event',
  session_id: 's',
  parent_tool_use_id: parent,
  event,
});
const start = (id: string): unknown => stream({ type: 'message_start', message: { id, model: 'm' } });
const block = (index: number, type = 'text'): unknown =>
  stream({ type: 'content_block_start', index, content_block: { type } });
const text = (value: string, index = 0): unknown =>
  stream({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: value } });
const stop = (reason: string | null = 'end_turn'): unknown[] => [
  ...(reason === null ? [] : [stream({ type: 'message_delta', delta: { stop_reason: reason } })]),
  stream({ type: 'message_stop' }),
];
const assistant = (id: string, content: unknown[], more: Record<string, unknown> = {}): unknown => ({
  type: 'assistant',
  parent_tool_use_id: null,
  message: { id, model: 'm', content },
  ...more,
});
const resultOf = (more: Record<string, unknown> = {}): unknown => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  ...more,
});

describe('messages', () => {
  test('several text blocks are one message, completed by its stop with the joined text', () => {
    const feed = new Feed().push(start('m1'), block(0), text('A'), block(1), text('B', 1), ...stop());
    expect(feed.summary).toEqual([
      ['output_message', { id: 'm1', status: 'in_progress' }],
      ['delta', { item_id: 'm1', delta: 'A' }],
      ['delta', { item_id: 'm1', delta: 'B' }],
      ['output_message', { id: 'm1', status: 'completed', text: 'AB' }],
    ]);
  });

  test('the snapshot of a block replaces its draft', () => {
    const feed = new Feed().push(
      start('m1'),
      block(0),
      text('dra'),
      assistant('m1', [{ type: 'text', text: 'final' }]),
      ...stop(),
    );
    expect(feed.summary.at(-1)).toEqual(['output_message', { id: 'm1', status: 'completed', text: 'final' }]);
    expect(feed.mapper.text).toBe('final');
  });

  test('a stream that broke, and one that another message cuts off, are incomplete and keep their text', () => {
    const broken = new Feed().push(start('m1'), block(0), text('half'), ...stop(null));
    expect(broken.summary.at(-1)).toEqual(['output_message', { id: 'm1', status: 'incomplete' }]);
    const cut = new Feed().push(
      start('m1'),
      block(0),
      text('half'),
      start('m2'),
      block(0),
      text('new'),
      ...stop(),
    );
    expect(
      cut.events.flatMap((event) =>
        event.type === 'output_message' ? [[event.payload.id, event.payload.status]] : [],
      ),
    ).toEqual([
      ['m1', 'in_progress'],
      ['m1', 'incomplete'],
      ['m2', 'in_progress'],
      ['m2', 'completed'],
    ]);
    expect(cut.mapper.text).toBe('new');
  });

  test('an aborted message is not completed, although its stream is closed in form', () => {
    const feed = new Feed().push(
      start('m1'),
      block(0),
      text('half'),
      assistant('m1', [{ type: 'text', text: 'half' }], { aborted: true }),
      stream({ type: 'message_delta', delta: { stop_reason: null } }),
      stream({ type: 'message_stop' }),
    );
    expect(feed.summary.at(-1)).toEqual(['output_message', { id: 'm1', status: 'incomplete' }]);
    expect(feed.mapper.text).toBe('half');
  });

  test('a message that was not streamed is said whole, once', () => {
    const message = assistant('m1', [{ type: 'text', text: 'All at once.' }]);
    const feed = new Feed().push(message);
    expect(feed.summary).toEqual([
      ['output_message', { id: 'm1', status: 'in_progress' }],
      ['delta', { item_id: 'm1', delta: 'All at once.' }],
      ['output_message', { id: 'm1', status: 'completed', text: 'All at once.' }],
    ]);
  });

  test('the text of an error record is not output, and its class is remembered until a clean record', () => {
    const error = assistant('x', [{ type: 'text', text: 'API Error' }], { error: 'rate_limit' });
    const synthetic = {
      ...(error as object),
      message: { id: 'x', model: '<synthetic>', content: [{ type: 'text', text: 'API Error' }] },
    };
    const feed = new Feed().push(synthetic);
    expect(feed.summary).toEqual([]);
    expect(feed.mapper.errorClass).toBe('rate_limit');
    feed.push(start('m2'), assistant('m2', [{ type: 'text', text: 'ok' }]));
    expect(feed.mapper.errorClass).toBeNull();
  });

  test('what sub-agents say and what is replayed is not of the Turn', () => {
    const feed = new Feed().push(
      stream({ type: 'message_start', message: { id: 'c1' } }, 'toolu_parent'),
      stream(
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'child' } },
        'toolu_parent',
      ),
      {
        ...(assistant('c1', [{ type: 'text', text: 'child' }]) as object),
        parent_tool_use_id: 'toolu_parent',
      },
      { type: 'user', isReplay: true, parent_tool_use_id: null, message: { content: 'Hello' } },
    );
    expect(feed.summary).toEqual([]);
    expect(feed.mapper.text).toBe('');
  });
});

describe('tool calls', () => {
  const call = (id: string, name: string, input: unknown): unknown =>
    assistant('m', [{ type: 'tool_use', id, name, input }]);
  const back = (id: string, content: unknown, more: Record<string, unknown> = {}): unknown => ({
    type: 'user',
    parent_tool_use_id: null,
    message: { content: [{ type: 'tool_result', tool_use_id: id, content, ...more }] },
  });

  test('a result with images names them without their data', () => {
    const feed = new Feed().push(
      call('t', 'Read', { file_path: 'a.png' }),
      back('t', [
        { type: 'text', text: 'a' },
        { type: 'image', source: { data: 'xxx' } },
      ]),
    );
    expect(feed.summary.at(-1)).toEqual([
      'tool_call',
      { id: 't', name: 'Read', stage: 'after', result: { content: 'a\n[image]', is_error: false } },
    ]);
  });

  test('a huge result is cut and says so', () => {
    const feed = new Feed().push(call('t', 'Bash', { command: 'yes' }), back('t', 'y'.repeat(2_000_000)));
    const payload = (feed.events.at(-1) as Extract<HarnessEvent, { type: 'tool_call' }>).payload;
    expect(String(payload.result?.['content']).length).toBeLessThan(1_100_000);
    expect(String(payload.observation?.output)).toContain('[cut: ');
  });

  test('a result without a call, or a second one, is nobody’s', () => {
    const feed = new Feed().push(
      back('t', 'x'),
      call('u', 'Bash', { command: 'ls' }),
      back('u', 'a'),
      back('u', 'b'),
    );
    expect(feed.summary).toHaveLength(2);
  });

  test('a call that never returned is incomplete at the end', () => {
    const feed = new Feed().push(call('t', 'mcp__shelf__find', {}), call('u', 'Edit', {})).close();
    expect(feed.summary.slice(-2)).toEqual([
      [
        'tool_call',
        {
          id: 't',
          name: 'mcp__shelf__find',
          stage: 'after',
          observation: { kind: 'mcp', server: 'shelf', name: 'find', arguments: {}, status: 'incomplete' },
        },
      ],
      ['tool_call', { id: 'u', name: 'Edit', stage: 'after' }],
    ]);
  });

  test('a command without a text has no observation, because one would have to be made up', () => {
    const feed = new Feed().push(call('t', 'Bash', {}));
    expect(feed.summary).toEqual([['tool_call', { id: 't', name: 'Bash', stage: 'before', args: {} }]]);
  });
});

describe('usage', () => {
  const usage = (input: number, output: number): unknown => ({ input_tokens: input, output_tokens: output });
  const began = (id: string, input: number): unknown =>
    stream({ type: 'message_start', message: { id, model: 'm', usage: usage(input, 1) } });
  const total = (feed: Feed): number | undefined => feed.mapper.usage.snapshot()?.tokens?.total_tokens;

  test('is unknown until something was measured', () => {
    expect(new Feed().push(start('m')).mapper.usage.snapshot()).toBeNull();
    const failed = new Feed().push(resultOf({ is_error: true, usage: usage(0, 0) }));
    expect(failed.mapper.usage.snapshot()).toBeNull();
  });

  test('the result of a native turn replaces the figures of its stream, and turns add up', () => {
    const feed = new Feed().push(began('a', 10), ...stop(), resultOf({ usage: usage(11, 5) }));
    expect(total(feed)).toBe(16);
    feed.push(began('b', 100));
    expect(total(feed)).toBe(117);
    feed.push(resultOf({ usage: usage(100, 50) }));
    expect(total(feed)).toBe(166);
  });

  test('an aborted native turn keeps what its stream had measured', () => {
    const feed = new Feed().push(began('a', 10), resultOf({ is_error: true, usage: usage(0, 0) }));
    expect(total(feed)).toBe(11);
  });
});

describe('reading', () => {
  test('unknown messages are passed over, known ones in an unknown form are told apart by their weight', () => {
    expect(parseNative({ type: 'novelty' })).toEqual({ kind: 'unknown' });
    expect(parseNative({ type: 'system', subtype: 'novelty' })).toEqual({ kind: 'unknown' });
    expect(parseNative('text')).toEqual({ kind: 'unknown' });
    expect(parseNative({ type: 'result', subtype: 7 })).toEqual({
      kind: 'unreadable',
      type: 'result',
      vital: true,
    });
    expect(parseNative({ type: 'assistant' })).toEqual({
      kind: 'unreadable',
      type: 'assistant',
      vital: false,
    });
    expect(parseNative({ type: 'toString' })).toEqual({ kind: 'unknown' });
  });

  test('odd members that nobody needs do not make a message unreadable', () => {
    const odd = resultOf({
      usage: 'none',
      errors: 'text',
      model_usage_since_last_result: [],
      user_message_uuids: {},
    });
    expect(parseNative(odd).kind).toBe('message');
  });
});
