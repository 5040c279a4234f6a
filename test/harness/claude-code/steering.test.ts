import { describe, expect } from 'vitest';

import type { SteerResult } from '../../../src/harness/adapter.ts';
import { says, type StartedTurn } from '../bed.ts';
import { claudeTest, eventually } from './claude-test.ts';

/** Active input with the moment its write was reported. */
function steer(
  started: StartedTurn,
  ...texts: string[]
): { written: Promise<void>; result: Promise<SteerResult>; times: () => number } {
  let times = 0;
  let report: () => void = () => undefined;
  const written = new Promise<void>((resolve) => (report = resolve));
  const result = started.turn.steer?.(says(...texts), () => {
    times++;
    report();
  });
  return { written, result: result ?? Promise.resolve({ kind: 'unsupported' }), times: () => times };
}

describe('active input', () => {
  claudeTest(
    'while a tool runs it is folded into the running turn, accepted only when it is used',
    async (bed) => {
      bed.model.setScenario([
        {
          steps: [
            {
              tool: 'Bash',
              id: 'toolu_1',
              input: { command: 'touch a; until [ -e go ]; do sleep 0.05; done' },
            },
          ],
        },
        { when: { body: 'Also this' }, steps: [{ text: 'With both.' }] },
      ]);
      const started = await bed.start(await bed.ready(), 'Work');
      await started.turn.submitPermission?.((await started.output.next('permission')).request.key, {
        kind: 'allow',
      });
      const input = steer(started, 'Also this');
      let accepted = false;
      void input.result.then(() => (accepted = true));
      await input.written;
      expect(accepted).toBe(false);
      const { writeFile } = await import('node:fs/promises');
      await writeFile(`${bed.workspace}/go`, '');
      expect(await input.result).toEqual({ kind: 'accepted' });
      expect((await started.output.end()).payload.content).toBe('With both.');
      expect(input.times()).toBe(1);
      expect(bed.model.calls).toHaveLength(2);
    },
  );

  claudeTest(
    'while the model talks it waits, then runs as a native turn of its own inside the same Turn',
    async (bed) => {
      bed.model.setScenario([
        { steps: [{ text: ['First ', { hold: 'talk' }, 'answer.'] }], usage: { input: 10, output: 3 } },
        { when: { lastUser: 'Next' }, steps: [{ text: 'Second answer.' }], usage: { input: 20, output: 4 } },
      ]);
      const started = await bed.start(await bed.ready(), 'Talk');
      await started.output.next('delta');
      const input = steer(started, 'Next');
      await input.written;
      expect(bed.model.calls).toHaveLength(1);
      bed.model.release('talk');
      expect(await input.result).toEqual({ kind: 'accepted' });
      const done = await started.output.end();
      expect(done.payload.content).toBe('Second answer.');
      expect(started.output.text).toBe('First answer.Second answer.');
      expect(done.payload.usage?.tokens).toMatchObject({ input_tokens: 30, output_tokens: 7 });
      expect(started.output.all('output_message').map((event) => event.payload.text)).toEqual([
        undefined,
        'First answer.',
        undefined,
        'Second answer.',
      ]);
    },
  );

  claudeTest('a batch of messages is one input with one receipt, all of it used', async (bed) => {
    bed.model.setScenario([
      { steps: [{ text: ['Talking ', { hold: 'talk' }, 'on.'] }] },
      { when: { body: ['Alpha', 'Beta'] }, steps: [{ text: 'Both.' }], repeat: true },
    ]);
    const started = await bed.start(await bed.ready(), 'Talk');
    await started.output.next('delta');
    const input = steer(started, 'Alpha', 'Beta');
    await input.written;
    bed.model.release('talk');
    expect(await input.result).toEqual({ kind: 'accepted' });
    await started.output.end();
    expect(input.times()).toBe(1);
    expect(JSON.stringify(bed.model.calls.at(-1)?.body.messages)).toMatch(/Alpha.*Beta/);
  });

  claudeTest(
    'white space alone and more than sixty-four messages are refused, and the Turn goes on',
    async (bed) => {
      bed.model.setScenario([{ steps: [{ text: ['Talking ', { hold: 'talk' }, 'on.'] }] }]);
      const executor = await bed.ready();
      const started = await bed.start(executor, 'Talk');
      await started.output.next('delta');
      for (const texts of [
        [' \n\u0085\uFEFF'],
        Array.from({ length: 64 }, (_, index) => `message ${index}`),
      ]) {
        const input = steer(started, ...texts);
        expect(await input.result).toEqual({ kind: 'rejected' });
        expect(input.times()).toBe(0);
      }
      bed.model.release('talk');
      expect((await started.output.end()).payload.content).toBe('Talking on.');
      const { Recorder } = await import('../recorder.ts');
      expect((await executor.startTurn('run-x', says(' \t '), new Recorder())).kind).toBe('no_turn');
    },
  );

  claudeTest('an image can be active input', async (bed) => {
    const data =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
    bed.model.setScenario([
      { steps: [{ text: ['Talking ', { hold: 'talk' }, 'on.'] }] },
      { steps: [{ text: 'Seen.' }] },
    ]);
    const started = await bed.start(await bed.ready(), 'Talk');
    await started.output.next('delta');
    let written = false;
    const result = started.turn.steer?.(
      [{ content: [{ type: 'input_image', image_url: `data:image/png;base64,${data}` }] }],
      () => (written = true),
    );
    await eventually(() => written);
    bed.model.release('talk');
    expect(await result).toEqual({ kind: 'accepted' });
    await started.output.end();
    expect(JSON.stringify(bed.model.calls.at(-1)?.body.messages)).toContain(data);
  });

  claudeTest('input to a program that dies is unknown', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: ['Talking ', { hold: 'talk' }, 'on.'] }] }]);
    const started = await bed.start(await bed.ready(), 'Talk');
    await started.output.next('delta');
    const input = steer(started, 'Next');
    await input.written;
    process.kill(bed.ledger.entries[0]?.process?.pid ?? 0, 'SIGKILL');
    expect(await input.result).toMatchObject({ kind: 'unknown' });
    expect(await steer(started, 'Late').result).toEqual({ kind: 'inactive' });
  });
});
