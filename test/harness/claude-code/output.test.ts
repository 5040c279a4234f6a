import { describe, expect } from 'vitest';

import { claudeTest } from './claude-test.ts';

describe('what a Turn says', () => {
  claudeTest(
    'text and thinking stream in pieces, and the completed message carries the whole text',
    async (bed) => {
      bed.model.setScenario([
        { steps: [{ think: 'Let me see what this is.' }, { text: 'Hello there, good friend.' }] },
      ]);
      const { output, turn } = await bed.run(await bed.ready(), 'Hello');
      expect(output.all('delta').length).toBeGreaterThan(2);
      expect(output.text).toBe('Hello there, good friend.');
      expect(output.all('thinking').length).toBeGreaterThan(2);
      expect(
        output
          .all('thinking')
          .map((event) => event.payload.text)
          .join(''),
      ).toBe('Let me see what this is.');
      const [begun, completed, ...more] = output.all('output_message').map((event) => event.payload);
      expect(more).toEqual([]);
      expect(begun).toEqual({ id: begun?.id, status: 'in_progress' });
      expect(completed).toEqual({ id: begun?.id, status: 'completed', text: 'Hello there, good friend.' });
      expect(new Set(output.all('delta').map((event) => event.payload.item_id))).toEqual(
        new Set([begun?.id]),
      );
      expect((await output.end()).payload.content).toBe('Hello there, good friend.');
      expect(turn.outcome().metadata).toMatchObject({ agent_session_type: 'claude_session' });
    },
  );

  claudeTest('without the opt-ins no message frames, item ids or observations are added', async (bed) => {
    bed.model.setScenario([
      { steps: [{ text: 'Looking.' }, { tool: 'Bash', id: 'toolu_1', input: { command: 'ls' } }] },
      { steps: [{ text: 'Done.' }] },
    ]);
    const executor = await bed.ready({ observe_messages: false, observe_tool_observations: false });
    const { output } = await bed.run(executor, 'Hello');
    expect(output.all('output_message')).toEqual([]);
    expect(output.all('delta').every((event) => !('item_id' in event.payload))).toBe(true);
    expect(output.all('tool_call').map((event) => 'observation' in event.payload)).toEqual([false, false]);
  });

  claudeTest('a message that only thinks or calls a tool is no message', async (bed) => {
    bed.model.setScenario([
      { steps: [{ think: 'Hm.' }, { tool: 'Bash', id: 'toolu_1', input: { command: 'ls' } }] },
      { steps: [{ text: 'Done.' }] },
    ]);
    const { output } = await bed.run(await bed.ready(), 'Hello');
    expect(output.all('output_message').map((event) => event.payload.status)).toEqual([
      'in_progress',
      'completed',
    ]);
  });

  claudeTest(
    'usage is a running total of the Turn, cached input included once, and ends in done',
    async (bed) => {
      bed.model.setScenario([
        {
          steps: [{ tool: 'Bash', id: 'toolu_1', input: { command: 'ls' } }],
          usage: { input: 10, cacheRead: 5, cacheWrite: 2, output: 4 },
        },
        { steps: [{ text: 'Done.' }], usage: { input: 20, cacheRead: 6, output: 8 } },
      ]);
      const executor = await bed.ready();
      const { output } = await bed.run(executor, 'Hello');
      const totals = output.all('usage').map((event) => event.payload.tokens?.total_tokens ?? 0);
      expect([...totals].sort((a, b) => a - b)).toEqual(totals);
      const done = await output.end();
      expect(done.payload.usage).toMatchObject({
        tokens: {
          input_tokens: 43,
          cached_input_tokens: 11,
          output_tokens: 12,
          reasoning_output_tokens: 0,
          total_tokens: 55,
        },
        input_tokens: 30,
        output_tokens: 12,
      });
      expect(done.payload.usage?.model).toMatch(/^claude-/);
      expect(done.payload.usage?.cost_usd).toBeGreaterThan(0);

      // The next Turn of the same process begins at nothing.
      bed.model.setScenario([{ steps: [{ text: 'Again.' }], usage: { input: 1, output: 2 } }]);
      const second = await bed.run(executor, 'Again');
      expect(second.turn.outcome().usage?.tokens).toMatchObject({ input_tokens: 1, total_tokens: 3 });
    },
  );

  claudeTest('an image reaches the model unchanged, with and without text', async (bed) => {
    const data =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
    const image = { type: 'input_image' as const, image_url: `data:image/png;base64,${data}` };
    bed.model.setScenario([{ steps: [{ text: 'Seen.' }] }, { steps: [{ text: 'Seen again.' }] }]);
    const executor = await bed.ready();
    await bed.run(executor, [{ content: [{ type: 'input_text', text: 'What is this?' }, image] }]);
    await bed.run(executor, [{ content: [image] }]);
    const sent = bed.model.calls.map((call) => JSON.stringify(call.body.messages));
    expect(sent[0]).toContain(data);
    expect(sent[0]).toContain('What is this?');
    expect(sent[1]?.split(data)).toHaveLength(3);
  });

  claudeTest('several opening messages are one question to the model, in their order', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: 'All read.' }] }]);
    const executor = await bed.ready();
    const { output } = await bed.run(executor, [
      { content: [{ type: 'input_text', text: 'Alpha' }] },
      {
        content: [
          { type: 'input_text', text: 'Beta' },
          { type: 'input_text', text: 'Gamma' },
        ],
      },
    ]);
    expect((await output.end()).payload.content).toBe('All read.');
    expect(bed.model.calls).toHaveLength(1);
    expect(JSON.stringify(bed.model.calls[0]?.body.messages)).toMatch(/Alpha.*Beta.*Gamma/);
  });

  claudeTest('the answer of a command of the program itself is the text of the Turn', async (bed) => {
    const { output } = await bed.run(await bed.ready(), '/cost');
    expect(bed.model.calls).toEqual([]);
    expect(output.text).not.toBe('');
    expect((await output.end()).payload.content).toBe(output.text);
    expect(output.all('error')).toEqual([]);
  });
});
