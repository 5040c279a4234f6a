import { join } from 'node:path';

import { describe, expect } from 'vitest';

import type { HarnessEvent, SubagentEvent } from '../../../src/harness/adapter.ts';
import { CodexExecutor } from '../../../src/harness/codex/executor.ts';
import { encodeFrame } from '../../../src/protocol/codec.ts';
import { codexTest, eventually, isThere, running } from './codex-bed.ts';

const namespace = 'multi_agent_v1';
const model = 'made-up-1';
const spawn = (then: readonly Record<string, unknown>[] = []): Record<string, unknown> => ({
  when: { lastUser: 'Lead' },
  steps: [{ tool: 'spawn_agent', namespace, id: 'call_1', input: { message: 'Dig' } }, ...then],
});
const dig = (cmd: string): Record<string, unknown> => ({
  when: { lastUser: 'Dig' },
  steps: [{ tool: 'exec_command', id: 'call_child', input: { cmd, yield_time_ms: 20_000 } }],
});

describe('sub-agents', () => {
  codexTest(
    'ask the person for what they do, in the Turn they work for',
    async (bed) => {
      bed.model.setScenario([
        spawn(),
        dig('touch dug'),
        { when: { lastTool: 'agent_id' }, steps: [{ text: ['Waiting ', { hold: 'lead' }, 'is over.'] }] },
        { steps: [{ text: 'Dug.' }], repeat: true },
      ]);
      const { output, turn } = await bed.start(await bed.ready(), 'Lead');
      const { request } = await output.next('permission');
      expect(request.subject).toMatchObject({ kind: 'command', command: 'touch dug' });
      expect(await turn.submitPermission?.(request.key, { kind: 'allow' })).toBe('applied');
      await eventually(() => isThere(join(bed.workspace, 'dug')));
      bed.model.release('lead');
      await output.end();
      expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
      // What a sub-agent says and does is not the root's.
      expect(output.text).toBe('Waiting is over.');
      expect(output.all('tool_call')).toEqual([]);
    },
    { model },
  );

  for (const how of ['ends', 'is cancelled'] as const) {
    codexTest(
      `do not outlive a Turn that ${how}, nor do their commands`,
      async (bed) => {
        bed.model.setScenario([
          spawn(),
          dig('touch dug; sleep 2702'),
          { when: { lastTool: 'agent_id' }, steps: [{ text: ['Waiting ', { hold: 'lead' }, 'is over.'] }] },
        ]);
        const executor = await bed.ready();
        const { output, turn } = await bed.start(executor, 'Lead');
        await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
        await eventually(async () => (await running('sleep', '2702')) !== null);
        await bed.model.reached('lead');
        if (how === 'ends') bed.model.release('lead');
        else await turn.cancel();
        await output.end();
        expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
        expect(await running('sleep', '2702')).toBeNull();
        expect(output.all('error')).toEqual([]);
        bed.model.setScenario([{ steps: [{ text: 'Next.' }] }]);
        expect((await bed.run(executor, 'Next')).output.text).toBe('Next.');
      },
      { model },
    );
  }
});

describe('what sub-agents do', () => {
  const agentId = (about: { readonly lastTool: string }): string =>
    /"agent_id":"([^"]+)"/.exec(about.lastTool.replaceAll('\\', ''))?.[1] ?? 'none';
  const call = (tool: string, id: string, input: (agent: string) => Record<string, unknown>) => ({
    when: { lastTool: 'agent_id' },
    make: (about: { readonly lastTool: string }) => ({
      steps: [{ tool, namespace, id, input: input(agentId(about)) }],
    }),
  });
  const observed = (output: { readonly events: readonly HarnessEvent[] }) =>
    output.events.filter((event): event is SubagentEvent => event.type.startsWith('subagent_'));

  codexTest(
    'is told as identity, Turn, items and effects, with the words of the contract',
    async (bed) => {
      bed.model.setScenario([
        spawn(),
        dig('echo found'),
        { when: { lastTool: 'found' }, steps: [{ text: 'Dug.' }] },
        call('wait_agent', 'call_wait', (agent) => ({ targets: [agent], timeout_ms: 30_000 })),
        {
          when: { lastTool: 'Dug.' },
          make: () => ({
            steps: [{ tool: 'close_agent', namespace, id: 'call_close', input: { target: child() } }],
          }),
        },
        { steps: [{ text: 'All done.' }] },
      ]);
      const executor = await bed.ready({ observe_subagent_identities: true });
      const { output, turn } = await bed.start(executor, 'Lead');
      const child = (): string => {
        const identity = observed(output).find((event) => event.type === 'subagent_identity');
        return identity?.payload.native_id ?? 'none';
      };
      await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
      await output.end();
      const events = observed(output);
      for (const { type, payload } of events) encodeFrame(type, { id: 'run', payload });
      if (!(executor instanceof CodexExecutor)) throw new Error('no Executor of Codex');
      const thread = executor.nativeSessionId;
      const identity = events.find((event) => event.type === 'subagent_identity')?.payload;
      expect(identity).toMatchObject({
        parent_native_id: thread,
        source_item_id: 'call_1',
        instructions: 'Dig',
      });
      const own = await executor.client.request('thread/read', { threadId: child() }, 5_000);
      expect(own).toMatchObject({
        thread: { createdAt: identity?.native_created_at, parentThreadId: thread },
      });
      const turns = events.flatMap((event) => (event.type === 'subagent_turn' ? [event.payload] : []));
      expect(turns.map(({ status, completed_at_ms }) => [status, completed_at_ms === null])).toEqual([
        ['in_progress', true],
        ['completed', false],
      ]);
      expect(turns[1]?.usage?.tokens?.total_tokens).toBeGreaterThan(0);
      const items = events.flatMap((event) => (event.type === 'subagent_item' ? [event.payload] : []));
      expect(items.map(({ kind, position }) => [position, kind])).toEqual([
        [0, 'message'],
        [1, 'tool_call'],
        [1, 'tool_call'],
        [2, 'output_message'],
      ]);
      expect(items[2]?.payload).toMatchObject({ observation: { status: 'completed', output: 'found\n' } });
      expect(items[3]?.payload).toMatchObject({ text: 'Dug.' });
      expect(events.flatMap((event) => (event.type === 'subagent_lifecycle' ? [event.payload] : []))).toEqual(
        [expect.objectContaining({ native_id: child(), effect_id: 'call_close', status: 'closed' })],
      );
      const operations = events.flatMap((event) =>
        event.type === 'subagent_coordination' ? [[event.payload.kind, event.payload.status]] : [],
      );
      expect(operations).toEqual([
        ['create_subagent_call', 'in_progress'],
        ['create_subagent_call', 'completed'],
        ['wait_for_subagents_call', 'in_progress'],
        ['wait_for_subagents_call', 'completed'],
        ['close_subagent_call', 'in_progress'],
        ['close_subagent_call', 'completed'],
      ]);
      const place = (type: string): number => events.findIndex((event) => event.type === type);
      expect(place('subagent_identity')).toBeLessThan(place('subagent_turn'));
      expect(place('subagent_turn')).toBeLessThan(place('subagent_item'));
      expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
      expect(output.text).toBe('All done.');
    },
    { model },
  );

  codexTest(
    'is told of the newest models too, as far as their programs show it',
    async (bed) => {
      const collaboration = 'collaboration';
      const step = (tool: string, id: string, input: Record<string, unknown>) => ({
        steps: [{ tool, namespace: collaboration, id, input }],
      });
      bed.model.setScenario([
        {
          when: { lastUser: 'Lead' },
          ...step('spawn_agent', 'call_1', { task_name: 'dig', message: 'Dig' }),
        },
        { when: { lastTool: 'task_name' }, ...step('wait_agent', 'call_2', { timeout_ms: 20_000 }) },
        { steps: [{ text: 'Done.' }], repeat: true },
      ]);
      const executor = await bed.ready({ observe_subagent_identities: true });
      const events = observed((await bed.run(executor, 'Lead')).output);
      for (const { type, payload } of events) encodeFrame(type, { id: 'run', payload });
      const identity = events.find((event) => event.type === 'subagent_identity')?.payload;
      expect(identity).toMatchObject({
        parent_native_id: executor.nativeSessionId,
        source_item_id: 'call_1',
        name: 'dig',
        instructions: null,
      });
      const shown = events.map(({ type, payload }) =>
        'status' in payload ? `${type} ${payload.status}` : type,
      );
      const of = (name: RegExp): readonly string[] => shown.filter((line) => name.test(line));
      expect(of(/identity|turn|item/)).toEqual([
        'subagent_identity',
        'subagent_turn in_progress',
        'subagent_item',
        'subagent_turn completed',
      ]);
      expect(of(/coordination/)).toEqual([
        'subagent_coordination completed',
        'subagent_coordination in_progress',
        'subagent_coordination completed',
      ]);
    },
    { model: 'gpt-6.2-sol' },
  );

  codexTest(
    'that is broken off with the Turn is never called complete, and a later Turn begins clean',
    async (bed) => {
      bed.model.setScenario([
        spawn(),
        dig('sleep 2703'),
        { when: { lastTool: 'agent_id' }, steps: [{ text: ['Waiting ', { hold: 'lead' }] }] },
      ]);
      const executor = await bed.ready({ observe_subagent_identities: true });
      const { output, turn } = await bed.start(executor, 'Lead');
      await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
      await eventually(async () => (await running('sleep', '2703')) !== null);
      await turn.cancel();
      await output.end();
      const turns = observed(output).flatMap((event) =>
        event.type === 'subagent_turn' ? [event.payload.status] : [],
      );
      expect(turns).toEqual(['in_progress']);
      expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
      bed.model.setScenario([{ steps: [{ text: 'Next.' }] }]);
      expect(observed((await bed.run(executor, 'Next')).output)).toEqual([]);
    },
    { model },
  );

  codexTest(
    'is not told where nobody asked for it',
    async (bed) => {
      bed.model.setScenario([
        spawn(),
        { when: { lastUser: 'Dig' }, steps: [{ text: 'Dug.' }] },
        { when: { lastTool: 'agent_id' }, steps: [{ text: 'Done.' }] },
      ]);
      expect(observed((await bed.run(await bed.ready(), 'Lead')).output)).toEqual([]);
    },
    { model },
  );
});

describe('a model that calls tools by program', () => {
  codexTest(
    'is asked, observed and answered like any other',
    async (bed) => {
      const code = `text((await tools.exec_command({ cmd: 'echo hi > out.txt' })).exit_code); text(await tools.lookup({ key: 'a' }));`;
      bed.model.setScenario([
        { steps: [{ customTool: 'exec', namespace: 'functions', id: 'call_1', input: code }] },
        { steps: [{ text: 'Done.' }] },
      ]);
      const executor = await bed.ready({
        function_tools: [{ name: 'lookup', description: 'Looks up.', parameters: { type: 'object' } }],
      });
      const { output, turn } = await bed.start(executor, 'Work');
      await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
      const { payload } = await output.next('function_call');
      expect(payload).toMatchObject({ name: 'lookup', arguments: { key: 'a' } });
      const content = [{ type: 'input_text' as const, text: 'The value.' }];
      expect(await turn.submitFunctionResult?.(payload.call_id, { success: true, content })).toBe('applied');
      await output.end();
      expect(JSON.stringify(bed.model.calls.at(-1)?.body.input.at(-1))).toContain('The value.');
      expect(output.all('tool_call').map((event) => event.payload.observation?.status)).toEqual([
        'in_progress',
        'completed',
        'in_progress',
        'completed',
      ]);
      expect(await isThere(join(bed.workspace, 'out.txt'))).toBe(true);
    },
    { model: 'gpt-6.2-sol' },
  );
});
