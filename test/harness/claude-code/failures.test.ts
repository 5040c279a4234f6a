import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { describe, expect } from 'vitest';

import { claudeTest } from './claude-test.ts';

/** What the model server does, and the neutral code that must come of it. Undefined: unclassified. */
const rows: readonly (readonly [string, Record<string, unknown>, string | undefined])[] = [
  ['an invalid request', { http: 400 }, 'invalid_request'],
  ['a prompt that is too long', { error: 'context_length' }, 'context_length_exceeded'],
  ['no credit', { error: 'billing' }, 'usage_limit_exceeded'],
  ['a wrong key', { http: 401 }, 'authentication_error'],
  ['a forbidden request', { http: 403 }, 'authentication_error'],
  ['an unknown model', { http: 404 }, 'resource_not_found'],
  ['a request that is too large', { http: 413 }, 'invalid_request'],
  ['too many requests', { http: 429 }, 'rate_limit_exceeded'],
  ['a server error', { http: 500 }, 'server_error'],
  ['an overloaded server', { http: 529 }, 'server_overloaded'],
  ['a connection that is dropped', { dropBefore: true }, 'connection_failed'],
  ['a stream without its end', { steps: [{ text: 'Cut' }], noCompletion: true }, 'connection_failed'],
  ['an answer over the output limit', { steps: [{ text: 'Long' }], stop: 'max_tokens' }, undefined],
  ['a refusal', { steps: [{ text: 'No' }], stop: 'refusal' }, undefined],
];

describe('failures of the model service', () => {
  for (const [name, reply, code] of rows) {
    claudeTest(`${name} is ${code ?? 'an error without a code'}`, async (bed) => {
      bed.model.setScenario([{ ...reply, repeat: true }]);
      const executor = await bed.ready();
      const { output, turn } = await bed.run(executor, 'Hello');
      const [error, ...more] = output.all('error');
      expect(more).toEqual([]);
      expect(error?.payload.code).toBe(code);
      expect(error?.payload.error).not.toBe('');
      expect(output.events.at(-2)?.type).toBe('error');
      // The error text is no output of the model.
      expect(output.text).not.toContain(error?.payload.error);
      expect(
        output.all('output_message').filter((event) => event.payload.text === error?.payload.error),
      ).toEqual([]);
      expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    });
  }

  claudeTest(
    'nobody listens at the address: connection failed, and retries are told to the person',
    async (bed) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      await new Promise((resolve) => server.close(resolve));
      const { ClaudeCodeAdapter } = await import('../../../src/harness/claude-code/adapter.ts');
      const { Bed, claude } = await import('../bed.ts');
      const adapter = new ClaudeCodeAdapter(bed.ports, {
        kind: 'claude_sdk',
        command: claude ?? '',
        args: ['--setting-sources', ''],
        env: {
          ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
          ANTHROPIC_API_KEY: 'not-a-real-key',
          CLAUDE_CODE_MAX_RETRIES: '1',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        },
      });
      const other = new Bed(bed.root, bed.ledger, adapter);
      const executor = await other.ready();
      const { output } = await other.run(executor, 'Hello');
      expect(output.all('error')[0]?.payload).toMatchObject({ code: 'connection_failed' });
      expect(output.all('notice').length).toBeGreaterThan(0);
      expect(await executor.close()).toEqual({ state: 'closed' });
    },
  );

  claudeTest('a Turn after a failed one works, and its conversation was kept', async (bed) => {
    bed.model.setScenario([
      { when: { lastUser: 'First try' }, http: 400, repeat: true },
      { steps: [{ text: 'Fine now.' }] },
    ]);
    const executor = await bed.ready();
    await bed.run(executor, 'First try');
    const { output } = await bed.run(executor, 'Second try');
    expect(output.all('error')).toEqual([]);
    expect(output.text).toBe('Fine now.');
  });

  claudeTest(
    'the limit of native turns is an error without a code',
    async (bed) => {
      bed.model.setScenario([
        { steps: [{ tool: 'Bash', id: 'toolu_1', input: { command: 'ls' } }], repeat: true },
      ]);
      const { output } = await bed.run(await bed.ready(), 'Work');
      expect(output.all('error')[0]?.payload).toEqual({ error: expect.stringMatching(/./) as string });
    },
    { args: ['--setting-sources', '', '--max-turns', '1'] },
  );
});
