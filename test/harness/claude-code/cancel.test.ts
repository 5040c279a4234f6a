import { readdir, readFile } from 'node:fs/promises';

import { describe, expect } from 'vitest';

import { nativeSessionId } from '../../../src/protocol/run-output.ts';
import { says, type ClaudeBed } from '../bed.ts';
import { claudeTest, eventually } from './claude-test.ts';

const reusable = { kind: 'settled', reusable: true };

/** Whether a process with exactly this command line runs. */
async function runs(...args: readonly string[]): Promise<boolean> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line === `${args.join('\0')}\0`) return true;
  }
  return false;
}

async function nextWorks(bed: ClaudeBed, executor: Awaited<ReturnType<ClaudeBed['ready']>>): Promise<void> {
  bed.model.setScenario([{ steps: [{ text: 'Still here.' }] }]);
  expect((await bed.run(executor, 'Are you there?')).output.text).toBe('Still here.');
}

describe('cancelling', () => {
  claudeTest('while the model talks: the partial text is kept and never called complete', async (bed) => {
    bed.model.setScenario([
      { steps: [{ text: ['Half an ', { hold: 'talking' }, 'answer.'] }], usage: { input: 12 } },
    ]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Talk');
    await output.next('delta');
    await Promise.all([turn.cancel(), turn.cancel()]);
    expect(await turn.settlement()).toEqual(reusable);
    expect(output.all('error')).toEqual([]);
    expect(turn.outcome().content).toBe('Half an ');
    expect(turn.outcome().usage?.tokens?.input_tokens).toBe(12);
    expect(nativeSessionId(turn.outcome())).toBe(executor.nativeSessionId);
    expect(output.all('output_message').map((event) => event.payload.status)).toEqual([
      'in_progress',
      'incomplete',
    ]);
    await eventually(() => bed.model.calls[0]?.aborted === true);
    await nextWorks(bed, executor);
  });

  claudeTest('while a command runs: the command is gone when the Turn has settled', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'Bash', id: 'toolu_1', input: { command: 'touch begun; sleep 2719' } }] },
    ]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    await eventually(() => runs('sleep', '2719'));
    await turn.cancel();
    expect(await turn.settlement()).toEqual(reusable);
    await eventually(async () => !(await runs('sleep', '2719')));
    expect(bed.model.calls).toHaveLength(1);
    await nextWorks(bed, executor);
  });

  claudeTest('before the model answered anything', async (bed) => {
    bed.model.setScenario([{ delayMs: 5_000, steps: [{ text: 'Never.' }] }]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Talk');
    await eventually(() => bed.model.calls.length === 1);
    await turn.cancel();
    expect(await turn.settlement()).toEqual(reusable);
    expect(output.summary()).toBe('done');
    await nextWorks(bed, executor);
  });

  claudeTest('at once: it settles, and a conversation it names can be continued', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: 'Never.' }] }]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Talk');
    await turn.cancel();
    expect(await turn.settlement()).toEqual(reusable);
    expect(output.all('done')).toHaveLength(1);
    const session = nativeSessionId(turn.outcome());
    if (session !== undefined) {
      expect(await executor.close()).toEqual({ state: 'closed' });
      await nextWorks(bed, await bed.ready({ agent_session_id: session }));
    } else await nextWorks(bed, executor);
  });

  claudeTest(
    'input that waits in the queue is taken out and reported as unknown, not as accepted',
    async (bed) => {
      bed.model.setScenario([{ steps: [{ text: ['Talking ', { hold: 'talking' }, 'on.'] }] }]);
      const executor = await bed.ready();
      const { output, turn } = await bed.start(executor, 'Talk');
      await output.next('delta');
      let written = 0;
      const steering = turn.steer?.(says('Wait for me'), () => written++);
      await eventually(() => written === 1);
      await turn.cancel();
      expect(await steering).toMatchObject({ kind: 'unknown' });
      expect(await turn.settlement()).toEqual(reusable);
      await nextWorks(bed, executor);
      expect(JSON.stringify(bed.model.calls.map((call) => call.body.messages))).not.toContain('Wait for me');
    },
  );

  claudeTest('after the end: nothing happens, and the next Turn is not hit', async (bed) => {
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

  claudeTest(
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
      // How far the program had read its model when the cancel reached it is the program's business.
      expect(words.join('').startsWith(output.text)).toBe(true);
      expect((await output.end()).payload.content).toBe(output.text);
    },
  );

  claudeTest('closing in the middle of a Turn ends the Turn too', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'Bash', id: 'toolu_1', input: { command: 'touch a; sleep 2718' } }] },
    ]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    await eventually(() => runs('sleep', '2718'));
    expect(await executor.close()).toEqual({ state: 'closed' });
    expect(await runs('sleep', '2718')).toBe(false);
    expect(await turn.settlement()).toMatchObject({ kind: 'settled', reusable: false });
    await output.end();
  });
});
