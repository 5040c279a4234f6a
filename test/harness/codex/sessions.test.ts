import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { systemRandom } from '../../../src/platform/random.ts';
import { nativeSessionId } from '../../../src/protocol/run-output.ts';
import { codexTest } from './codex-bed.ts';

const says = (text: string, usage?: Record<string, number>): Record<string, unknown> => ({
  steps: [{ text }],
  ...(usage ? { usage } : {}),
});

describe('conversations', () => {
  codexTest(
    'are continued by their id in a new process, with their history and without their usage',
    async (bed) => {
      bed.model.setScenario([says('Noted.', { input: 500, output: 50 })]);
      const first = await bed.ready();
      expect(first.nativeSessionId).toBeNull();
      const { turn } = await bed.run(first, 'Remember the number 42');
      const session = nativeSessionId(turn.outcome()) ?? '';
      expect(first.nativeSessionId).toBe(session);
      await first.close();

      bed.model.setScenario([says('Forty-two.', { input: 7, output: 3 })]);
      const second = await bed.ready({ agent_session_id: session, require_existing_native_session: true });
      expect(second.nativeSessionId).toBe(session);
      const again = await bed.run(second, 'Which number?');
      expect(JSON.stringify(bed.model.calls.at(-1)?.body.input)).toContain('Remember the number 42');
      expect(nativeSessionId(again.turn.outcome())).toBe(session);
      expect(again.turn.outcome().usage?.tokens).toMatchObject({ input_tokens: 7, output_tokens: 3 });
      // Old tool calls and texts are not said again.
      expect(again.output.text).toBe('Forty-two.');
    },
  );

  codexTest('can be continued in another folder, and after a first Turn that failed', async (bed) => {
    bed.model.setScenario([{ http: 400 }]);
    const first = await bed.ready();
    const { turn } = await bed.run(first, 'Remember 43');
    const session = nativeSessionId(turn.outcome());
    await first.close();
    expect(session).toBeTruthy();
    await mkdir(join(bed.root, 'elsewhere'));
    bed.model.setScenario([
      { steps: [{ tool: 'exec_command', id: 'call_1', input: { cmd: 'pwd > where.txt' } }] },
      says('Yes.'),
    ]);
    const workspace = join(bed.root, 'elsewhere');
    const second = await bed.ready({ agent_session_id: session }, { workspace });
    const { output, turn: next } = await bed.start(second, 'Still there?');
    const { request } = await output.next('permission');
    expect(request.subject).toMatchObject({ kind: 'command', cwd: workspace });
    await next.submitPermission?.(request.key, { kind: 'allow' });
    await output.end();
    expect(JSON.stringify(bed.model.calls.at(-1)?.body.input)).toContain('Remember 43');
  });

  codexTest('are continued under the policy of now', async (bed) => {
    bed.model.setScenario([says('Hello.')]);
    const first = await bed.ready({}, { policy: 'unattended' });
    const session = nativeSessionId((await bed.run(first, 'Hello')).turn.outcome());
    await first.close();
    bed.model.setScenario([
      { steps: [{ tool: 'exec_command', id: 'call_1', input: { cmd: 'touch made' } }] },
      says('Done.'),
    ]);
    const { output, turn } = await bed.start(await bed.ready({ agent_session_id: session }), 'Work');
    const { request } = await output.next('permission');
    await turn.submitPermission?.(request.key, { kind: 'deny', message: null });
    await output.end();
  });

  codexTest('that are not there any more are refused before any input, never replaced', async (bed) => {
    const outcome = await bed.prepare({ agent_session_id: systemRandom.uuid() });
    expect(outcome).toEqual({
      kind: 'failed',
      message: expect.stringContaining('earlier conversation') as string,
    });
    expect(bed.model.requests).toEqual([]);
  });

  codexTest('of an unknown id, or of another program, are refused without a start', async (bed) => {
    for (const changes of [{ require_existing_native_session: true }, { agent_session_id: 'thread-9' }]) {
      expect((await bed.prepare(changes)).kind).toBe('failed');
    }
  });
});

describe('a conversation that Core lost sight of', () => {
  const required = { require_existing_native_session: true };

  codexTest('is found again by what was noted before its first input', async (bed) => {
    const silent = await bed.ready();
    await silent.close();
    bed.model.setScenario([{ steps: [{ text: ['Half an ', { hold: 'talking' }, 'answer.'] }] }]);
    const first = await bed.ready();
    const { output } = await bed.start(first, 'Remember 44');
    await output.next('delta');
    process.kill(bed.ledger.entries[0]?.process?.pid ?? 0, 'SIGKILL');
    await output.end();
    await first.close();

    bed.model.setScenario([says('Forty-four.')]);
    const second = await bed.ready(required);
    expect(second.nativeSessionId).toBe(first.nativeSessionId);
    await bed.run(second, 'Which number?');
    expect(JSON.stringify(bed.model.calls.at(-1)?.body.input)).toContain('Remember 44');
  });

  codexTest('is not guessed where the Session has two, or only another Session has one', async (bed) => {
    bed.model.setScenario([{ ...says('Hello.'), repeat: true }]);
    for (let count = 0; count < 2; count++) {
      const executor = await bed.ready();
      await bed.run(executor, 'Hello');
      await executor.close();
    }
    const outcome = await bed.prepare(required);
    expect(outcome).toEqual({ kind: 'failed', message: expect.stringContaining('not known') as string });
  });
});
