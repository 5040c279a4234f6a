import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { nativeSessionId } from '../../../src/protocol/run-output.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { claudeTest } from './claude-test.ts';

describe('conversations', () => {
  claudeTest(
    'are continued by their id in a new process, with their history and without their usage',
    async (bed) => {
      bed.model.setScenario([{ steps: [{ text: 'Noted.' }], usage: { input: 500, output: 50 } }]);
      const first = await bed.ready();
      expect(first.nativeSessionId).toBeNull();
      const { turn } = await bed.run(first, 'Remember the number 42');
      const session = nativeSessionId(turn.outcome()) ?? '';
      expect(first.nativeSessionId).toBe(session);
      await first.close();

      bed.model.setScenario([{ steps: [{ text: 'Forty-two.' }], usage: { input: 7, output: 3 } }]);
      const second = await bed.ready({ agent_session_id: session, require_existing_native_session: true });
      expect(second.nativeSessionId).toBe(session);
      const again = await bed.run(second, 'Which number?');
      expect(JSON.stringify(bed.model.calls.at(-1)?.body.messages)).toContain('Remember the number 42');
      expect(nativeSessionId(again.turn.outcome())).toBe(session);
      expect(again.turn.outcome().usage?.tokens).toMatchObject({ input_tokens: 7, output_tokens: 3 });
      // Old tool calls and texts are not said again.
      expect(again.output.text).toBe('Forty-two.');
    },
  );

  claudeTest('can be continued in another folder, and after a first Turn that failed', async (bed) => {
    bed.model.setScenario([{ http: 400, repeat: true }]);
    const first = await bed.ready();
    const { turn } = await bed.run(first, 'Remember 43');
    const session = nativeSessionId(turn.outcome());
    await first.close();
    expect(session).toBeTruthy();
    await mkdir(join(bed.root, 'elsewhere'));
    bed.model.setScenario([{ steps: [{ text: 'Yes.' }] }]);
    const second = await bed.ready({ agent_session_id: session }, { workspace: join(bed.root, 'elsewhere') });
    await bed.run(second, 'Still there?');
    expect(JSON.stringify(bed.model.calls.at(-1)?.body.messages)).toContain('Remember 43');
  });

  claudeTest(
    'that are not there any more are refused before any input, never replaced by a new one',
    async (bed) => {
      const outcome = await bed.prepare({ agent_session_id: systemRandom.uuid() });
      expect(outcome).toEqual({
        kind: 'failed',
        message: expect.stringContaining('earlier conversation') as string,
      });
      expect(bed.model.requests).toEqual([]);
    },
  );

  claudeTest('of an unknown id, or of another program, are refused without a start', async (bed) => {
    for (const changes of [{ require_existing_native_session: true }, { agent_session_id: 'thread-9' }]) {
      expect((await bed.prepare(changes)).kind).toBe('failed');
    }
  });

  claudeTest('that the program swaps for another one end the Turn and are not used again', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: 'One.' }] }]);
    const executor = await bed.ready();
    const before = nativeSessionId((await bed.run(executor, 'Hello')).turn.outcome());
    const { output, turn } = await bed.start(executor, '/clear');
    await output.end();
    expect(output.all('error')[0]?.payload.error).toContain('another conversation');
    expect(await turn.settlement()).toMatchObject({ kind: 'settled', reusable: false });
    expect(nativeSessionId(turn.outcome())).toBe(before);
    const { Recorder } = await import('../recorder.ts');
    const next = await executor.startTurn(
      'run-x',
      [{ content: [{ type: 'input_text', text: 'Hi' }] }],
      new Recorder(),
    );
    expect(next.kind).toBe('no_turn');
  });
});
