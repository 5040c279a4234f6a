import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { nativeSessionId } from '../../../src/protocol/run-output.ts';
import { codexTest, eventually, running, type CodexBed } from './codex-bed.ts';

const reusable = { kind: 'settled', reusable: true };

async function nextWorks(bed: CodexBed, executor: Awaited<ReturnType<CodexBed['ready']>>): Promise<void> {
  bed.model.setScenario([{ steps: [{ text: 'Still here.' }] }]);
  expect((await bed.run(executor, 'Are you there?')).output.text).toBe('Still here.');
}

describe('cancelling', () => {
  codexTest('while the model talks: the partial text is kept and never called complete', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: ['Half an ', { hold: 'talking' }, 'answer.'] }] }]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Talk');
    await output.next('delta');
    await Promise.all([turn.cancel(), turn.cancel()]);
    expect(await turn.settlement()).toEqual(reusable);
    expect(output.all('error')).toEqual([]);
    expect(turn.outcome().content).toBe('Half an ');
    expect(nativeSessionId(turn.outcome())).toBe(executor.nativeSessionId);
    expect(output.all('output_message').map((event) => event.payload.status)).toEqual([
      'in_progress',
      'incomplete',
    ]);
    await eventually(() => bed.model.calls[0]?.aborted === true);
    await nextWorks(bed, executor);
  });

  codexTest('while a command runs: the command is gone when the Turn has settled', async (bed) => {
    bed.model.setScenario([
      {
        steps: [
          {
            tool: 'exec_command',
            id: 'call_1',
            input: { cmd: 'touch begun; sleep 2713', yield_time_ms: 30_000 },
          },
        ],
      },
    ]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    await eventually(async () => (await running('sleep', '2713')) !== null);
    // An interrupt stops a young command by itself, and leaves an older one running.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await turn.cancel();
    expect(await turn.settlement()).toEqual(reusable);
    expect(await running('sleep', '2713')).toBeNull();
    expect(output.all('tool_call').at(-1)?.payload).toMatchObject({ id: 'call_1', stage: 'after' });
    expect(bed.model.calls).toHaveLength(1);
    await nextWorks(bed, executor);
  });

  codexTest('a young command is gone as well', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'exec_command', id: 'call_1', input: { cmd: 'touch begun; sleep 2712' } }] },
    ]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    await eventually(async () => (await running('sleep', '2712')) !== null);
    await turn.cancel();
    expect(await turn.settlement()).toEqual(reusable);
    expect(await running('sleep', '2712')).toBeNull();
    await nextWorks(bed, executor);
  });

  codexTest('a command that outlives its Turn is ended with it, and told as ended', async (bed) => {
    bed.model.setScenario([
      {
        steps: [
          { tool: 'exec_command', id: 'call_1', input: { cmd: 'touch a; sleep 2711', yield_time_ms: 300 } },
        ],
      },
      { steps: [{ text: 'It runs.' }] },
    ]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    await output.end();
    expect(await turn.settlement()).toEqual(reusable);
    expect(await running('sleep', '2711')).toBeNull();
    expect(output.all('tool_call').at(-1)?.payload).toMatchObject({
      stage: 'after',
      observation: { status: 'failed' },
    });
    expect(output.all('error')).toEqual([]);
    await nextWorks(bed, executor);
  });

  codexTest('what a command set free is noticed, and ended with the Executor', async (bed) => {
    const cmd = 'setsid sleep 2703 > /dev/null 2>&1 & echo free';
    bed.model.setScenario([
      { steps: [{ tool: 'exec_command', id: 'call_1', input: { cmd } }] },
      { steps: [{ text: 'It is free.' }] },
    ]);
    const executor = await bed.ready({}, { policy: 'unattended' });
    const { output, turn } = await bed.run(executor, 'Work');
    expect(output.text).toBe('It is free.');
    expect(await turn.settlement()).toMatchObject({ reusable: false });
    expect(await running('sleep', '2703')).not.toBeNull();
    expect(await executor.close()).toEqual({ state: 'closed' });
    expect(await running('sleep', '2703')).toBeNull();
  });

  codexTest('a server of the person that is still there is no command that was left', async (bed) => {
    const script = join(bed.root, 'server.sh');
    await writeFile(script, '#!/bin/sh\nexec sleep 2704\n');
    await chmod(script, 0o755);
    bed.model.setScenario([{ steps: [{ text: 'Done.' }] }]);
    const transport = { kind: 'stdio' as const, command: script, args: [], env: {}, cwd: bed.root };
    const mcpServers = [{ name: 'slow', allowedTools: null, required: false, transport }];
    const executor = await bed.ready({}, { prepared: { mcpServers } });
    await eventually(async () => (await running('sleep', '2704')) !== null);
    const { turn } = await bed.start(executor, 'Work');
    await turn.cancel();
    expect(await turn.settlement()).toEqual(reusable);
    expect(await running('sleep', '2704')).not.toBeNull();
    expect(await executor.close()).toEqual({ state: 'closed' });
    expect(await running('sleep', '2704')).toBeNull();
  });

  codexTest('before the model answered anything', async (bed) => {
    bed.model.setScenario([{ delayMs: 5_000, steps: [{ text: 'Never.' }] }]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Talk');
    await eventually(() => bed.model.calls.length === 1);
    await turn.cancel();
    expect(await turn.settlement()).toEqual(reusable);
    expect(output.summary()).toBe('done');
    await nextWorks(bed, executor);
  });

  codexTest('at once: it settles, and a conversation it names can be continued', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: 'Never.' }] }]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Talk');
    await turn.cancel();
    expect(await turn.settlement()).toEqual(reusable);
    expect(output.all('done')).toHaveLength(1);
    const session = nativeSessionId(turn.outcome());
    expect(session).toBeTruthy();
    expect(await executor.close()).toEqual({ state: 'closed' });
    await nextWorks(bed, await bed.ready({ agent_session_id: session }));
  });

  codexTest('an old Turn does nothing to a new one', async (bed) => {
    bed.model.setScenario([
      { steps: [{ text: 'One.' }] },
      { steps: [{ text: ['Two ', { hold: 'two' }, 'done.'] }] },
    ]);
    const executor = await bed.ready();
    const first = await bed.run(executor, 'One');
    const second = await bed.start(executor, 'Two');
    await second.output.next('delta');
    await first.turn.cancel();
    expect(await first.turn.settlement()).toEqual(reusable);
    bed.model.release('two');
    expect((await second.output.end()).payload.content).toBe('Two done.');
    expect(second.output.all('error')).toEqual([]);
  });

  codexTest('a Turn cannot begin while another one runs', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: ['One ', { hold: 'one' }, 'done.'] }] }]);
    const executor = await bed.ready();
    const { output } = await bed.start(executor, 'One');
    await output.next('delta');
    const { Recorder } = await import('../recorder.ts');
    const second = await executor.startTurn(
      'run-x',
      [{ content: [{ type: 'input_text', text: 'Two' }] }],
      new Recorder(),
    );
    expect(second.kind).toBe('no_turn');
    bed.model.release('one');
    await output.end();
    expect(bed.model.calls).toHaveLength(1);
  });

  codexTest(
    'while nobody takes the output: it settles once the output is taken, with nothing lost',
    async (bed) => {
      const words = Array.from({ length: 400 }, (_, index) => `word${index} `);
      bed.model.setScenario([{ steps: [{ text: [...words, { hold: 'more' }] }] }]);
      const executor = await bed.ready();
      const { output, turn } = await bed.start(executor, 'Talk');
      let open: () => void = () => undefined;
      output.gate = new Promise((resolve) => (open = resolve));
      await output.until(() => output.events.length > 0);
      await bed.model.reached('more');
      const cancelling = turn.cancel();
      const settling = turn.settlement();
      expect(output.all('delta').length).toBeLessThan(words.length);
      output.gate = null;
      open();
      await cancelling;
      expect(await settling).toEqual(reusable);
      expect(words.join('').startsWith(output.text)).toBe(true);
      expect(output.all('done')).toHaveLength(1);
    },
  );

  codexTest('closing in the middle of a Turn ends the Turn too', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'exec_command', id: 'call_1', input: { cmd: 'touch a; sleep 2710' } }] },
    ]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    await eventually(async () => (await running('sleep', '2710')) !== null);
    expect(await executor.close()).toEqual({ state: 'closed' });
    expect(await running('sleep', '2710')).toBeNull();
    expect(await turn.settlement()).toMatchObject({ kind: 'settled', reusable: false });
    await output.end();
  });
});
