import { describe, expect } from 'vitest';

import { codexTest } from './codex-bed.ts';

const cases: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>])[] = [
  ['no valid credential', { http: 401 }, { code: 'connection_failed', http_status: 401 }],
  ['a ban', { http: 403 }, { code: 'connection_failed', http_status: 403 }],
  ['an unknown model', { http: 404 }, { code: 'resource_not_found' }],
  ['too many requests', { http: 429 }, { code: 'rate_limit_exceeded' }],
  ['a broken server', { http: 500 }, { code: 'server_error' }],
  ['an overloaded server', { http: 503 }, { code: 'server_overloaded' }],
  ['a used-up quota', { error: 'quota' }, { code: 'usage_limit_exceeded' }],
  ['a limit in the stream', { error: 'rate_limit' }, { code: 'rate_limit_exceeded' }],
  ['a policy', { error: 'cyber_policy' }, { code: 'cyber_policy' }],
];

describe('a failure of the model service', () => {
  codexTest('is an error with its code and then the end, and the Executor stays usable', async (bed) => {
    const executor = await bed.ready();
    for (const [name, reply, expected] of cases) {
      bed.model.setScenario([reply]);
      const { output, turn } = await bed.run(executor, name);
      const { error, ...rest } = output.all('error')[0]?.payload ?? { error: '' };
      expect([name, rest]).toEqual([name, expected]);
      expect(error).not.toBe('');
      expect(output.events.slice(-2).map((event) => event.type)).toEqual(['error', 'done']);
      expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    }
    bed.model.setScenario([{ steps: [{ text: 'Back.' }] }]);
    expect((await bed.run(executor, 'Again')).output.text).toBe('Back.');
  });

  codexTest('by a full context is told, and what was used before it is kept', async (bed) => {
    const executor = await bed.ready();
    bed.model.setScenario([{ steps: [{ text: 'One.' }], usage: { input: 30, output: 3 } }]);
    await bed.run(executor, 'First');
    bed.model.setScenario([{ error: 'context_length' }]);
    const { output } = await bed.run(executor, 'Second');
    expect(output.all('error')[0]?.payload).toMatchObject({ code: 'context_length_exceeded' });
    expect(output.all('usage')).toEqual([]);
    // The next Turn begins with a summary, which costs something too.
    bed.model.setScenario([
      { steps: [{ text: 'Summary.' }], usage: { input: 40, output: 4 } },
      { steps: [{ text: 'Back.' }], usage: { input: 50, output: 5 } },
    ]);
    const third = await bed.run(executor, 'Third');
    expect(third.output.text).toBe('Back.');
    expect(third.output.all('notice').some((event) => event.text.includes('shortened'))).toBe(true);
    expect(third.turn.outcome().usage?.tokens).toMatchObject({ input_tokens: 90, output_tokens: 9 });
  });

  codexTest('of no known kind has no code', async (bed) => {
    const executor = await bed.ready();
    for (const reply of [
      { http: 400 },
      { error: 'server_error' },
      { steps: [{ text: 'Half' }, { drop: true }] },
    ]) {
      bed.model.setScenario([reply]);
      const { output } = await bed.run(executor, 'Hello');
      expect(output.all('error')).toHaveLength(1);
      expect(output.all('error')[0]?.payload).not.toHaveProperty('code');
    }
  });

  codexTest('that lies in the connection itself ends the Turn instead of lasting for ever', async (bed) => {
    const executor = await bed.ready();
    await bed.model.close();
    const { output } = await bed.run(executor, 'Hello');
    expect(output.all('error')[0]?.payload).toMatchObject({ code: 'connection_failed' });
    expect(output.all('error')[0]?.payload).not.toHaveProperty('http_status');
  });

  codexTest(
    'that is tried again is shown to the person, and is no error',
    async (bed) => {
      bed.model.setScenario([{ http: 500 }, { steps: [{ text: 'Now.' }] }]);
      const { output } = await bed.run(await bed.ready(), 'Hello');
      expect(output.text).toBe('Now.');
      expect(output.all('error')).toEqual([]);
    },
    { provider: { request_max_retries: 2, stream_max_retries: 2 } },
  );

  codexTest(
    'in the middle of a message leaves the first one incomplete and begins another',
    async (bed) => {
      bed.model.setScenario([
        { steps: [{ text: ['Half an ', { drop: true }] }] },
        { steps: [{ text: 'Whole answer.' }] },
      ]);
      const { output, turn } = await bed.run(await bed.ready(), 'Hello');
      expect(output.all('output_message').map((event) => event.payload.status)).toEqual([
        'in_progress',
        'incomplete',
        'in_progress',
        'completed',
      ]);
      expect(output.all('notice').some((event) => event.text.includes('tries again'))).toBe(true);
      expect(turn.outcome().content).toBe('Whole answer.');
      expect(output.all('error')).toEqual([]);
    },
    { provider: { request_max_retries: 2, stream_max_retries: 2 } },
  );
});
