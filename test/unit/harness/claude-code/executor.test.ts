import { describe, expect, test } from 'vitest';

import type { HarnessEvent, TurnOutput } from '../../../../src/harness/adapter.ts';
import type { LaunchPlan } from '../../../../src/harness/claude-code/configuration.ts';
import { ClaudeExecutor } from '../../../../src/harness/claude-code/executor.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';
import { systemRandom } from '../../../../src/platform/random.ts';
import type { MessageInput } from '../../../../src/protocol/message-input.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { ScriptedProcess } from './scripted-process.ts';

const sessionId = '11111111-2222-4333-8444-555555555555';
const plan: LaunchPlan = {
  args: [],
  mode: 'default',
  systemPrompt: null,
  withoutTools: ['WebSearch', 'Task'],
  noTools: false,
  resume: null,
  functions: [],
  servers: [],
  output: null,
  env: {},
};
const says = (text: string): MessageInput => [{ content: [{ type: 'input_text', text }] }];

class Collected implements TurnOutput {
  readonly events: HarnessEvent[] = [];
  closed = false;
  emit(event: HarnessEvent): Promise<void> {
    this.events.push(event);
    return Promise.resolve();
  }
  close(): void {
    this.closed = true;
  }
  get types(): string[] {
    return this.events.map((event) => event.type);
  }
}

async function bed() {
  const clock = new FakeClock();
  const native = new ScriptedProcess();
  native.answer = () => ({ still_queued: [], cancelled: [] });
  const executor = new ClaudeExecutor({ clock, random: systemRandom, logger: silentLogger }, native, {
    plan,
    workspace: '/workspace',
    sessionId,
    observeMessages: true,
    observeTools: true,
  });
  const output = new Collected();
  const started = await executor.startTurn('run', says('Hello'), output);
  if (started.kind !== 'turn') throw new Error(started.message);
  const uuid = String(native.messages[0]?.['uuid']);
  const life = (state: string, of = uuid): unknown => ({
    type: 'command_lifecycle',
    session_id: sessionId,
    command_uuid: of,
    state,
  });
  const result = (more: Record<string, unknown> = {}): unknown => ({
    type: 'result',
    subtype: 'success',
    is_error: false,
    session_id: sessionId,
    user_message_uuids: [uuid],
    ...more,
  });
  return { clock, native, executor, output, turn: started.turn, uuid, life, result };
}

const init = (more: Record<string, unknown> = {}): unknown => ({
  type: 'system',
  subtype: 'init',
  session_id: sessionId,
  tools: ['Bash', 'Read'],
  capabilities: ['msg_lifecycle_v1', 'interrupt_receipt_v1', 'interrupt_cancel_queued_v1'],
  permissionMode: 'default',
  ...more,
});

describe('the facts of a start', () => {
  test.each([
    ['offers a tool that was switched off', { tools: ['Bash', 'WebSearch'] }, /switched off/],
    ['runs in another permission mode', { permissionMode: 'bypassPermissions' }, /permission mode/],
    ['lacks a capability', { capabilities: ['msg_lifecycle_v1'] }, /Update Claude Code/],
    [
      'is in another conversation',
      { session_id: '99999999-2222-4333-8444-555555555555' },
      /another conversation/,
    ],
  ])('a program that %s is stopped at once and not used again', async (_, more, reason) => {
    const { executor, life, native, output, result, turn } = await bed();
    native.say(life('queued'), life('started'), init(more));
    await native.until(() => native.written.some((value) => value['type'] === 'control_request'));
    native.say(
      result({ is_error: true, subtype: 'error_during_execution', terminal_reason: 'aborted_streaming' }),
    );
    expect(await turn.settlement()).toMatchObject({ kind: 'settled', reusable: false });
    expect(output.types.slice(-2)).toEqual(['error', 'done']);
    expect(JSON.stringify(output.events.at(-2))).toMatch(reason);
    expect((await executor.startTurn('next', says('Hi'), new Collected())).kind).toBe('no_turn');
  });
});

describe('work that nobody asked for', () => {
  test('between Turns breaks the Executor and is interrupted', async () => {
    const { executor, life, native, result, turn } = await bed();
    native.say(init(), life('started'), result(), life('completed'));
    await turn.settlement();
    native.say(init());
    expect(await executor.broken).toContain('nobody asked for');
    await settle();
    expect(native.written.at(-1)).toMatchObject({ request: { subtype: 'interrupt' } });
    expect((await executor.startTurn('next', says('Hi'), new Collected())).kind).toBe('no_turn');
  });

  test('news about messages of the last Turn is not work', async () => {
    const { executor, life, native, result, turn } = await bed();
    native.say(init(), life('started'), result());
    await turn.settlement();
    native.say(life('completed'), { type: 'system', subtype: 'status', status: null }, { type: 'novelty' });
    await settle();
    expect((await executor.startTurn('next', says('Hi'), new Collected())).kind).toBe('turn');
  });

  test('a result of a stranger does not end the Turn', async () => {
    const { life, native, output, result } = await bed();
    native.say(init(), life('started'), result({ user_message_uuids: ['stranger'] }));
    await settle();
    expect(output.closed).toBe(false);
    native.say(result());
    await settle();
    expect(output.closed).toBe(true);
  });
});

describe('cancelling', () => {
  test('a program that does not answer is an unknown, can be asked again, and settles nothing', async () => {
    const { clock, life, native, output, result, turn } = await bed();
    native.answer = () => undefined;
    native.say(init(), life('started'));
    await settle();
    const cancelling = turn.cancel();
    const failed = expect(cancelling).rejects.toMatchObject({ family: 'unknown' });
    const settling = turn.settlement();
    await clock.advance(5_000);
    await failed;
    await clock.advance(8_000);
    expect(await settling).toMatchObject({ kind: 'failed' });
    expect(output.closed).toBe(false);
    native.answer = () => ({ still_queued: [], cancelled: [] });
    await turn.cancel();
    native.say(result({ is_error: true, terminal_reason: 'aborted_streaming' }));
    expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    expect(output.types).toEqual(['done']);
  });

  test('an answer that keeps our input queued, or is of the old form, is not reusable', async () => {
    for (const answer of [(uuid: string) => ({ still_queued: [uuid], cancelled: [] }), () => ({})]) {
      const { life, native, result, turn, uuid } = await bed();
      native.answer = () => answer(uuid);
      native.say(init(), life('started'));
      await settle();
      await turn.cancel();
      native.say(result({ is_error: true, terminal_reason: 'aborted_streaming' }));
      expect(await turn.settlement()).toMatchObject({ kind: 'settled', reusable: false });
    }
  });

  test('does not settle before the interrupt was answered, so that it cannot hit the next Turn', async () => {
    const { life, native, output, result, turn } = await bed();
    let id = '';
    native.answer = () => undefined;
    native.say(init(), life('started'));
    await settle();
    const cancelling = turn.cancel();
    id = String(native.written.at(-1)?.['request_id']);
    native.say(result());
    await settle();
    expect(output.closed).toBe(true);
    let settled = false;
    const settling = turn.settlement().then((value) => {
      settled = true;
      return value;
    });
    await settle();
    expect(settled).toBe(false);
    native.say({
      type: 'control_response',
      response: { subtype: 'success', request_id: id, response: { still_queued: [], cancelled: [] } },
    });
    await cancelling;
    expect(await settling).toEqual({ kind: 'settled', reusable: true });
  });

  test('an abort that nobody here asked for is an error', async () => {
    const { life, native, output, result } = await bed();
    native.say(
      init(),
      life('started'),
      result({
        is_error: true,
        subtype: 'error_during_execution',
        terminal_reason: 'aborted_streaming',
        errors: ['stopped'],
      }),
    );
    await settle();
    expect(output.types).toEqual(['error', 'done']);
  });
});

describe('input', () => {
  test('that cannot be written comes back as a Turn with an error, never as no Turn', async () => {
    const native = new ScriptedProcess();
    native.broken = true;
    const clock = new FakeClock();
    const executor = new ClaudeExecutor({ clock, random: systemRandom, logger: silentLogger }, native, {
      plan,
      workspace: null,
      sessionId,
      observeMessages: false,
      observeTools: false,
    });
    const output = new Collected();
    const started = await executor.startTurn('run', says('Hello'), output);
    expect(started).toMatchObject({
      kind: 'turn',
      error: expect.stringContaining('could not be written') as string,
    });
    native.end({ code: 1, signal: null });
    if (started.kind === 'turn') expect(await started.turn.settlement()).toMatchObject({ reusable: false });
    expect(output.types).toEqual(['error', 'done']);
  });

  test('while a Turn runs a second one is refused', async () => {
    const { executor } = await bed();
    expect((await executor.startTurn('next', says('Hi'), new Collected())).kind).toBe('no_turn');
  });

  test('steered and never read by a program that ends is unknown and was never reported as written', async () => {
    const { life, native, turn } = await bed();
    native.say(init(), life('started'));
    await settle();
    let written = 0;
    const steering = turn.steer?.(says('More'), () => written++);
    await settle();
    native.end({ code: null, signal: 'SIGKILL' });
    expect(await steering).toMatchObject({ kind: 'unknown' });
    expect(written).toBe(0);
  });
});

describe('requests of the program', () => {
  test('that this app does not know, or outside a Turn, are refused and never left hanging', async () => {
    const { life, native, result, turn } = await bed();
    native.say(init(), life('started'), {
      type: 'control_request',
      request_id: 'a',
      request: { subtype: 'novelty' },
    });
    await native.until(() => native.written.some((value) => value['type'] === 'control_response'));
    native.say(result());
    await turn.settlement();
    native.say({
      type: 'control_request',
      request_id: 'b',
      request: { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'ls' } },
    });
    await native.until(
      () => native.written.filter((value) => value['type'] === 'control_response').length === 2,
    );
    const answers = native.written.filter((value) => value['type'] === 'control_response');
    expect(answers.map((value) => (value['response'] as { subtype: string }).subtype)).toEqual([
      'error',
      'error',
    ]);
  });
});
