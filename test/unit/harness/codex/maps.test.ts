import { describe, expect, test } from 'vitest';

import { mapCommand } from '../../../../src/harness/codex/map-approvals.ts';
import { mapFailure } from '../../../../src/harness/codex/map-failures.ts';
import { mapInput } from '../../../../src/harness/codex/map-input.ts';
import { mapElicitation } from '../../../../src/harness/codex/map-questions.ts';
import { ToolItems } from '../../../../src/harness/codex/map-tools.ts';
import { UsageMeter } from '../../../../src/harness/codex/map-usage.ts';
import type { Elicitation, ToolItem } from '../../../../src/harness/codex/native-types.ts';
import { innerCommand } from '../../../../src/harness/codex/shell-words.ts';
import { toolCallSenderRule } from '../../../../src/protocol/run-output.ts';

describe('a wrapped command', () => {
  test.each([
    ['/bin/bash -lc ls', 'ls'],
    [`/bin/bash -lc 'touch a; sleep 1'`, 'touch a; sleep 1'],
    [`/bin/zsh -c "echo 'it''s'"`, `echo 'it''s'`],
    ['/bin/bash -lc "a \\"b\\" \\\\ \\$c"', 'a "b" \\ $c'],
    [`bash -lc 'one'"'"'two'`, `one'two`],
    [`/bin/bash -lc 'two\nlines'`, 'two\nlines'],
  ])('%j is shown as %j', (command, inner) => expect(innerCommand(command)).toBe(inner));

  test.each([
    'ls -la',
    '/bin/bash -lc ls extra',
    '/bin/bash -lc "$(evil)"',
    '/bin/bash -lc `evil`',
    `/bin/bash -lc 'open`,
    'python3 -c print',
    '/bin/bash -x ls',
    '/bin/bash -lc a;b',
  ])('%j is shown whole', (command) => expect(innerCommand(command)).toBe(command));
});

describe('a failure', () => {
  test.each([
    ['unauthorized', { code: 'authentication_error' }],
    ['badRequest', { code: 'invalid_request' }],
    ['somethingNew', {}],
    [{ responseStreamDisconnected: { httpStatusCode: null } }, { code: 'connection_failed' }],
    [{ httpConnectionFailed: { httpStatusCode: 99 } }, { code: 'connection_failed' }],
    [
      { responseStreamConnectionFailed: { httpStatusCode: 502 } },
      { code: 'connection_failed', http_status: 502 },
    ],
    [{ responseTooManyFailedAttempts: { httpStatusCode: 429 } }, { code: 'rate_limit_exceeded' }],
    [
      { responseTooManyFailedAttempts: { httpStatusCode: 500 } },
      { code: 'connection_failed', http_status: 500 },
    ],
    [{ somethingNew: {} }, {}],
    [{ httpConnectionFailed: {}, more: {} }, {}],
    [null, {}],
  ])('of %j has the code %j', (codexErrorInfo, expected) => {
    const { error, ...rest } = mapFailure({ message: 'unauthorized badRequest', codexErrorInfo });
    expect(error).toBe('unauthorized badRequest');
    expect(rest).toEqual(expected);
  });
});

describe('a permission', () => {
  const base = { threadId: 't', turnId: 'u', itemId: 'i' };

  test('for the network names the host and not only the command', () => {
    const networkApprovalContext = { host: 'example.org', protocol: 'https' };
    const { permission, reply } = mapCommand('k', { ...base, command: 'curl x', networkApprovalContext });
    expect(permission).toMatchObject({
      title: 'Connect to example.org',
      subject: { kind: 'network', host: 'example.org', port: null, protocol: 'https' },
      input: { command: 'curl x', network: networkApprovalContext },
    });
    expect(permission.input).not.toHaveProperty('item_id');
    expect(reply({ kind: 'allow' })).toEqual({ decision: 'accept' });
    for (const answer of [{ kind: 'deny', message: null }, { kind: 'expired' }] as const)
      expect(reply(answer)).toEqual({ decision: 'decline' });
  });

  test('for what is typed is never shown as a command', () => {
    const { permission } = mapCommand('k', { ...base, kind: 'writeStdin', command: 'write_stdin rm' });
    expect(permission.subject.kind).toBe('tool');
  });

  test('too large to repeat is described, and still whole for the person', () => {
    const command = `echo ${'x'.repeat(300_000)}`;
    const { permission } = mapCommand('k', { ...base, command });
    expect(permission.payload).toEqual({ item_id: 'i', input_omitted: 'too large' });
    expect(permission.subject).toMatchObject({ command });
  });
});

describe('input', () => {
  test('keeps messages and parts in order, white space too', () => {
    const input = [{ content: [{ type: 'input_text' as const, text: ' \u0085 ' }] }];
    expect(mapInput([...input, ...input])).toEqual({
      kind: 'input',
      input: [' \u0085 ', '\n\n', ' \u0085 '].map((text) => ({ type: 'text', text, text_elements: [] })),
    });
  });
});

describe('usage', () => {
  const counts = (inputTokens: number, outputTokens: number) => ({
    inputTokens,
    outputTokens,
    cachedInputTokens: 0,
    reasoningOutputTokens: 0,
    totalTokens: inputTokens + outputTokens,
  });

  test('of a conversation that was not told before counts from its first answer', () => {
    const meter = new UsageMeter(null, null);
    meter.updated(counts(1_100, 110), counts(100, 10));
    meter.updated(counts(1_150, 115), counts(50, 5));
    expect(meter.snapshot()?.tokens).toMatchObject({
      input_tokens: 150,
      output_tokens: 15,
      total_tokens: 165,
    });
  });

  test('that is only repeated is no measurement', () => {
    const meter = new UsageMeter(counts(100, 10), null);
    meter.updated(counts(100, 10), counts(100, 10));
    expect(meter.snapshot()).toBeNull();
  });

  test('goes on when the program begins to count anew', () => {
    const meter = new UsageMeter(counts(100, 10), null);
    meter.updated(counts(130, 13), counts(30, 3));
    meter.updated({ ...counts(0, 0), totalTokens: 258_400 }, { ...counts(0, 0), totalTokens: 258_000 });
    meter.updated(counts(20, 2), counts(20, 2));
    expect(meter.snapshot()?.tokens).toMatchObject({ input_tokens: 50, output_tokens: 5 });
  });
});

describe('tools', () => {
  const base = { id: 'c', status: 'completed' };
  const items: readonly (readonly [ToolItem, Record<string, unknown>])[] = [
    [
      {
        ...base,
        type: 'commandExecution',
        command: 'ls',
        cwd: '/w',
        aggregatedOutput: 'a\n',
        exitCode: 0,
        durationMs: 5,
      },
      {
        kind: 'command',
        command: 'ls',
        cwd: '/w',
        output: 'a\n',
        exit_code: 0,
        duration_ms: 5,
        status: 'completed',
      },
    ],
    [
      {
        ...base,
        type: 'mcpToolCall',
        server: 's',
        tool: 't',
        arguments: { a: 1 },
        result: null,
        error: { message: 'no' },
        status: 'failed',
      },
      {
        kind: 'mcp',
        server: 's',
        name: 't',
        arguments: { a: 1 },
        output: null,
        error: { message: 'no' },
        status: 'failed',
      },
    ],
    [
      { ...base, type: 'webSearch', query: 'q', action: { type: 'findInPage', url: 'u', pattern: 'p' } },
      { kind: 'web_search', action: { type: 'find_in_page', url: 'u', pattern: 'p' }, status: 'completed' },
    ],
    [
      { ...base, type: 'webSearch', query: 'q', action: { type: 'brandNew' } },
      { kind: 'web_search', action: { type: 'other' }, status: 'completed' },
    ],
    [
      {
        ...base,
        type: 'fileChange',
        changes: [{ path: '/w/a', kind: { type: 'add' }, diff: 'x' }],
        status: 'declined',
      },
      {
        kind: 'function',
        name: 'apply_patch',
        status: 'failed',
        arguments: { changes: [{ path: '/w/a', kind: { type: 'add' }, diff: 'x' }] },
      },
    ],
    [
      {
        ...base,
        type: 'dynamicToolCall',
        namespace: null,
        tool: 'f',
        arguments: {},
        success: false,
        contentItems: [],
      },
      { kind: 'function', name: 'f', arguments: {}, content: [], status: 'failed' },
    ],
  ];

  test.each(items)('%j is observed and keeps the rules of the wire', (item, observation) => {
    const tools = new ToolItems(true, (tool) => tool);
    const events = [...tools.started({ ...item }), ...tools.completed(item)];
    const payloads = events.map((event) => (event.type === 'tool_call' ? event.payload : null));
    expect(payloads[1]?.observation).toEqual(observation);
    for (const payload of payloads) expect(payload && toolCallSenderRule(payload)).toBeUndefined();
  });

  test('that begin twice are told once, and that end without a beginning are told whole', () => {
    const tools = new ToolItems(true, (tool) => tool);
    const [item] = items[0] ?? [];
    if (!item) throw new Error('no item');
    expect(tools.started(item)).toHaveLength(1);
    expect(tools.started(item)).toHaveLength(0);
    expect(tools.completed(item)).toHaveLength(1);
    expect(tools.completed(item)).toHaveLength(2);
  });

  test('output of a command goes between its start and its end', () => {
    const tools = new ToolItems(true, (tool) => tool);
    const [item] = items[0] ?? [];
    if (!item) throw new Error('no item');
    expect(tools.output('c', 'early')).toEqual([]);
    tools.started(item);
    expect(tools.output('c', 'now')).toHaveLength(1);
    tools.completed(item);
    expect(tools.output('c', 'late')).toEqual([]);
  });
});

describe('a form of a server', () => {
  const form = (requestedSchema: unknown): Elicitation => ({
    threadId: 't',
    turnId: 'u',
    serverName: 'shop',
    mode: 'form',
    message: 'Please',
    requestedSchema,
    _meta: null,
  });

  test('of several values keeps them as values', () => {
    const mapped = mapElicitation(
      'k',
      form({
        type: 'object',
        properties: {
          tags: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }, { const: 'b' }] } },
        },
      }),
    );
    expect(mapped?.choice.questions[0]).toMatchObject({
      multi_select: true,
      options: [{ label: 'A' }, { label: 'b' }],
    });
    expect(mapped?.reply(new Map([['tags', ['A', 'b']]]))).toMatchObject({ content: { tags: ['a', 'b'] } });
  });

  test('whose required member has no fitting answer is declined', () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const mapped = mapElicitation('k', form(schema));
    expect(mapped?.reply(new Map([['n', ['many']]]))).toMatchObject({ action: 'decline' });
    expect(mapped?.reply(new Map([['n', ['2.5']]]))).toMatchObject({ content: { n: 2.5 } });
  });

  test('without members asks for a yes or no, and a page to open is no form', () => {
    const mapped = mapElicitation('k', form({ type: 'object', properties: {} }));
    expect(mapped?.reply(new Map([['confirm', ['Yes']]]))).toMatchObject({ action: 'accept' });
    expect(mapped?.reply(new Map([['confirm', ['No']]]))).toMatchObject({ action: 'decline' });
    expect(mapElicitation('k', { ...form({}), mode: 'url' })).toBeNull();
  });
});
