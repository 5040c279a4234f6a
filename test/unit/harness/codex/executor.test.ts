import { describe, expect, test } from 'vitest';

import { planLaunch } from '../../../../src/harness/codex/configuration.ts';
import { CodexExecutor } from '../../../../src/harness/codex/executor.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';
import { systemRandom } from '../../../../src/platform/random.ts';
import { executionConfiguration } from '../../../../src/protocol/execution.ts';
import type { MessageInput } from '../../../../src/protocol/message-input.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { Collected, refusal, ScriptedServer, silence } from './scripted-server.ts';

const threadId = 'thread-1';
const says = (text: string): MessageInput => [{ content: [{ type: 'input_text', text }] }];
const started = (id = 'turn-1', thread = threadId): unknown => ({
  method: 'turn/started',
  params: { threadId: thread, turn: { id, status: 'inProgress', error: null } },
});
const completed = (status = 'completed', id = 'turn-1', thread = threadId): unknown => ({
  method: 'turn/completed',
  params: { threadId: thread, turn: { id, status, error: null } },
});
const item = (what: Record<string, unknown>, end = true, turnId = 'turn-1'): unknown => ({
  method: end ? 'item/completed' : 'item/started',
  params: { threadId, turnId, item: what },
});
const command = (id: string, status = 'completed'): Record<string, unknown> => ({
  type: 'commandExecution',
  id,
  command: 'ls',
  cwd: '/workspace',
  status,
});

function open(changes: Record<string, unknown> = {}): {
  clock: FakeClock;
  native: ScriptedServer;
  executor: CodexExecutor;
  remembered: string[];
  /** Whether a process that a command started runs. */
  left: { running: boolean };
} {
  const clock = new FakeClock();
  const native = new ScriptedServer();
  const remembered: string[] = [];
  const left = { running: false };
  const configuration = executionConfiguration.parse({
    agent_kind: 'codex',
    conversation_id: '',
    run_id: '',
    function_tools: [{ name: 'lookup', description: '', parameters: { type: 'object' } }],
    ...changes,
  });
  const planned = planLaunch({
    sessionId: 's',
    workspace: '/workspace',
    stateDir: '/state',
    configuration,
    policy: 'ask',
    prepared: { variables: {}, skills: [], mcpServers: [] },
  });
  if (planned.kind !== 'plan') throw new Error(planned.message);
  native.answer = (method) =>
    method === 'turn/start'
      ? { turn: { id: 'turn-1' } }
      : method === 'turn/steer'
        ? { turnId: 'turn-1' }
        : method === 'thread/backgroundTerminals/list'
          ? { data: [], nextCursor: null }
          : {};
  const executor = new CodexExecutor({ clock, random: systemRandom, logger: silentLogger }, native, {
    plan: planned.plan,
    workspace: '/workspace',
    observeMessages: true,
    observeTools: true,
    observeSubagents: false,
    commands: { anyRuns: () => Promise.resolve(left.running) },
    remember: (id) => Promise.resolve(void remembered.push(id)),
  });
  executor.bind({ id: threadId, model: 'gpt', resumed: false });
  return { clock, native, executor, remembered, left };
}

async function bed(changes: Record<string, unknown> = {}) {
  const opened = open(changes);
  const output = new Collected();
  const outcome = await opened.executor.startTurn('run', says('Hello'), output);
  if (outcome.kind !== 'turn') throw new Error(outcome.message);
  opened.native.say(started());
  await settle();
  return { ...opened, output, turn: outcome.turn };
}

describe('a start', () => {
  test('that is refused is no Turn, touches no output and leaves the Executor usable', async () => {
    const { executor, native, remembered } = open();
    const answers = native.answer;
    native.answer = (method, params) => (method === 'turn/start' ? refusal() : answers(method, params));
    const output = new Collected();
    expect((await executor.startTurn('run', says('Hello'), output)).kind).toBe('no_turn');
    expect(output.events).toEqual([]);
    expect(output.closed).toBe(false);
    expect(remembered).toEqual([threadId]);
    native.answer = answers;
    expect((await executor.startTurn('run', says('Hello'), output)).kind).toBe('turn');
  });

  test('that gets no answer is a Turn whose fate is unknown, and cannot be cancelled by its id', async () => {
    const { clock, executor, native } = open();
    native.answer = () => silence;
    const output = new Collected();
    const starting = executor.startTurn('run', says('Hello'), output);
    await clock.advance(10_000);
    const outcome = await starting;
    expect(outcome).toMatchObject({ kind: 'turn', error: expect.stringContaining('in time') as string });
    if (outcome.kind !== 'turn') return;
    const cancelling = outcome.turn.cancel().catch((error: unknown) => error);
    await clock.advance(5_000);
    expect(await cancelling).toBeInstanceOf(Error);
    native.end({ code: null, signal: 'SIGKILL' });
    expect(await outcome.turn.settlement()).toMatchObject({ reusable: false });
    expect(output.types).toEqual(['error', 'done']);
  });

  test('that cannot be noted down submits nothing', async () => {
    const { clock, native } = open();
    const executor = new CodexExecutor({ clock, random: systemRandom, logger: silentLogger }, native, {
      ...initOf(),
      remember: () => Promise.reject(new Error('disk full')),
    });
    executor.bind({ id: threadId, model: 'gpt', resumed: false });
    expect((await executor.startTurn('run', says('Hello'), new Collected())).kind).toBe('no_turn');
    expect(native.asked('turn/start')).toEqual([]);
  });

  test('whose turn ends before it is answered is a whole Turn', async () => {
    const { executor, native } = open();
    const answers = native.answer;
    native.answer = (method, params) => {
      if (method !== 'turn/start') return answers(method, params);
      native.say(started(), completed());
      return { turn: { id: 'turn-1' } };
    };
    const output = new Collected();
    const outcome = await executor.startTurn('run', says('Hello'), output);
    expect(outcome.kind).toBe('turn');
    if (outcome.kind === 'turn')
      expect(await outcome.turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    expect(output.types).toEqual(['done']);
  });
});

describe('what does not belong to the Turn', () => {
  test('late items of an old turn are not moved to the new one', async () => {
    const { executor, native, turn } = await bed();
    native.say(completed());
    await turn.settlement();
    native.answer = (method) =>
      method === 'turn/start' ? { turn: { id: 'turn-2' } } : { data: [], nextCursor: null };
    const output = new Collected();
    await executor.startTurn('next', says('Hi'), output);
    native.say(started('turn-2'), item(command('old'), true, 'turn-1'), completed('completed', 'turn-1'));
    await settle();
    expect(output.events).toEqual([]);
    native.say(completed('completed', 'turn-2'));
    await settle();
    expect(output.types).toEqual(['done']);
  });

  test('a turn that nobody asked for breaks the Executor', async () => {
    const { executor, native, turn } = await bed();
    native.say(completed());
    await turn.settlement();
    native.say(started('turn-9'));
    expect(await executor.broken).toContain('nobody asked for');
    expect((await executor.startTurn('next', says('Hi'), new Collected())).kind).toBe('no_turn');
  });

  test('a question of an old turn is refused', async () => {
    const { native } = await bed();
    const params = { threadId, turnId: 'turn-0', itemId: 'i' };
    native.say({ id: 5, method: 'item/commandExecution/requestApproval', params });
    await settle();
    expect(native.replies).toMatchObject([{ id: 5, error: { code: -32601 } }]);
  });
});

describe('the end of a Turn', () => {
  test('waits until the commands it left are gone, and for what the program says of them', async () => {
    const { native, output, turn } = await bed();
    let listed = 0;
    native.answer = (method) => {
      if (method !== 'thread/backgroundTerminals/list') return {};
      return { data: listed++ === 0 ? [{ itemId: 'c' }] : [], nextCursor: null };
    };
    native.say(item(command('c', 'inProgress'), false), completed());
    await settle();
    expect(native.asked('thread/backgroundTerminals/clean')).toHaveLength(1);
    expect(output.closed).toBe(false);
    native.say(item(command('c', 'failed')));
    expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    expect(output.types).toEqual(['tool_call', 'tool_call', 'done']);
  });

  test('with commands that stay makes the Executor unusable', async () => {
    const { clock, native, output, turn } = await bed();
    native.answer = () => ({ data: [{ itemId: 'c' }], nextCursor: null });
    native.say(completed());
    const settling = turn.settlement();
    await clock.advance(10_000);
    expect(await settling).toMatchObject({ kind: 'settled', reusable: false });
    expect(output.types).toEqual(['done']);
  });

  test('where the program does not say what still runs makes the Executor unusable', async () => {
    const { native, turn } = await bed();
    native.answer = () => refusal();
    native.say(completed());
    expect(await turn.settlement()).toMatchObject({ kind: 'settled', reusable: false });
  });

  test('waits for what a command left away from the program, and does not wait for ever', async () => {
    const { clock, executor, left, native, turn } = await bed();
    left.running = true;
    native.say(completed());
    await clock.advance(500);
    left.running = false;
    await clock.advance(200);
    expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });

    native.answer = (method) =>
      method === 'turn/start' ? { turn: { id: 'turn-2' } } : { data: [], nextCursor: null };
    const second = await executor.startTurn('next', says('Hi'), new Collected());
    left.running = true;
    native.say(started('turn-2'), completed('completed', 'turn-2'));
    await clock.advance(3_000);
    if (second.kind !== 'turn') throw new Error(second.message);
    expect(await second.turn.settlement()).toMatchObject({
      reusable: false,
      reason: expect.stringContaining('still runs') as string,
    });
  });

  test('interrupts sub-agents and waits for their end', async () => {
    const { native, output, turn } = await bed();
    native.say(started('child-turn', 'child'), completed());
    await settle();
    expect(native.asked('turn/interrupt').map((line) => line.params)).toEqual([
      { threadId: 'child', turnId: 'child-turn' },
    ]);
    expect(output.closed).toBe(false);
    native.say(completed('interrupted', 'child-turn', 'child'));
    expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    expect(native.asked('thread/backgroundTerminals/list').map((line) => line.params?.['threadId'])).toEqual([
      threadId,
      'child',
    ]);
  });

  test('that a sub-agent does not reach makes the Executor unusable', async () => {
    const { clock, native, turn } = await bed();
    native.say(started('child-turn', 'child'), completed());
    await clock.advance(8_000);
    expect(await turn.settlement()).toMatchObject({ reusable: false });
  });

  test('by an interruption that nobody asked for is an error', async () => {
    const { native, output, turn } = await bed();
    native.say(completed('interrupted'));
    expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    expect(output.types).toEqual(['error', 'done']);
  });
});

describe('cancelling', () => {
  test('settles when the end comes, whether or not the interrupt is ever answered', async () => {
    const { clock, native, output, turn } = await bed();
    const answers = native.answer;
    native.answer = (method, params) => (method === 'turn/interrupt' ? silence : answers(method, params));
    const cancelling = turn.cancel();
    await settle();
    native.say(completed('interrupted'));
    await cancelling;
    expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    expect(output.types).toEqual(['done']);
    expect(clock.pending).toBeLessThan(4);
  });

  test('that leads to no end is no settlement, and may be asked for again', async () => {
    const { clock, native, output, turn } = await bed();
    await turn.cancel();
    const settling = turn.settlement();
    await clock.advance(9_000);
    expect(await settling).toMatchObject({ kind: 'failed' });
    expect(output.closed).toBe(false);
    await turn.cancel();
    expect(native.asked('turn/interrupt')).toHaveLength(2);
    const again = turn.settlement();
    native.say(completed('interrupted'));
    expect(await again).toEqual({ kind: 'settled', reusable: true });
  });
});

describe('a function result', () => {
  const call = {
    id: 3,
    method: 'item/tool/call',
    params: { threadId, turnId: 'turn-1', callId: 'call_1', namespace: null, tool: 'lookup', arguments: {} },
  };
  const shown = (success: boolean, text: string): unknown =>
    item({
      type: 'dynamicToolCall',
      id: 'call_1',
      namespace: null,
      tool: 'lookup',
      arguments: {},
      status: success ? 'completed' : 'failed',
      contentItems: [{ type: 'inputText', text }],
      success,
    });
  const result = { success: true, content: [{ type: 'input_text', text: 'value' }] } as const;

  test('that the program shows differently is not applied and ends the Turn', async () => {
    const { native, output, turn } = await bed();
    native.say(call);
    await settle();
    const submitting = turn.submitFunctionResult?.('call_1', result);
    await settle();
    native.say(shown(true, 'another value'));
    expect(await submitting).toBe('failed');
    await settle();
    expect(native.asked('turn/interrupt')).toHaveLength(1);
    native.say(completed('interrupted'));
    expect(await turn.settlement()).toMatchObject({ reusable: false });
    expect(output.types.slice(-2)).toEqual(['error', 'done']);
  });

  test('that the program never shows is not applied', async () => {
    const { clock, native, turn } = await bed();
    native.say(call);
    await settle();
    const submitting = turn.submitFunctionResult?.('call_1', result);
    await clock.advance(10_000);
    expect(await submitting).toBe('failed');
  });

  test('of a call that is no function of the Agent is never asked for', async () => {
    const { native, output } = await bed();
    native.say({ ...call, params: { ...call.params, tool: 'other' } });
    await settle();
    expect(output.types).toEqual([]);
    expect(native.replies).toMatchObject([{ id: 3, result: { success: false } }]);
  });
});

describe('active input', () => {
  test('whose answer never comes is unknown and was not written', async () => {
    const { clock, native, turn } = await bed();
    native.answer = () => silence;
    let written = 0;
    const steering = turn.steer?.(says('More'), () => written++);
    await clock.advance(10_000);
    expect(await steering).toMatchObject({ kind: 'unknown' });
    expect(written).toBe(0);
  });

  test('that is refused while the Turn runs is rejected', async () => {
    const { native, turn } = await bed();
    native.answer = () => refusal();
    expect(await turn.steer?.(says('More'), () => undefined)).toEqual({ kind: 'rejected' });
  });

  test('of another message does not count as read', async () => {
    const { native, turn } = await bed();
    const steering = turn.steer?.(says('More'), () => undefined);
    await settle();
    native.say(item({ type: 'userMessage', id: 'u', clientId: 'somebody-else' }));
    await settle();
    native.say(completed());
    expect(await steering).toMatchObject({ kind: 'unknown' });
  });
});

function initOf(): ConstructorParameters<typeof CodexExecutor>[2] {
  const planned = planLaunch({
    sessionId: 's',
    workspace: '/workspace',
    stateDir: '/state',
    configuration: executionConfiguration.parse({ agent_kind: 'codex', conversation_id: '', run_id: '' }),
    policy: 'ask',
    prepared: { variables: {}, skills: [], mcpServers: [] },
  });
  if (planned.kind !== 'plan') throw new Error(planned.message);
  return {
    plan: planned.plan,
    workspace: '/workspace',
    observeMessages: true,
    observeTools: true,
    observeSubagents: false,
    commands: { anyRuns: () => Promise.resolve(false) },
    remember: () => Promise.resolve(),
  };
}
