import { join } from 'node:path';

import { describe, expect } from 'vitest';

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
