import { describe, expect } from 'vitest';

import { codexTest } from './codex-bed.ts';

const schema = {
  type: 'object',
  properties: { colour: { type: 'string' }, count: { type: 'integer' } },
  required: ['colour', 'count'],
  additionalProperties: false,
};
const controls = { web_search: 'disabled', text_verbosity: 'medium' };
const asked = { execution_controls: { ...controls, output_format: { type: 'json_schema', schema } } };

describe('what the model says', () => {
  codexTest('is streamed as messages with their phase, thinking and usage', async (bed) => {
    bed.model.setScenario([
      {
        steps: [
          { think: 'Let me see.' },
          { text: ['Looking ', 'now.'], phase: 'commentary' },
          { tool: 'exec_command', id: 'call_1', input: { cmd: 'ls' } },
        ],
        usage: { input: 100, cached: 40, output: 10, reasoning: 4 },
      },
      {
        steps: [{ text: 'All ' }, { text: 'done.', phase: 'final_answer' }],
        usage: { input: 50, output: 6 },
      },
    ]);
    const { output, turn } = await bed.start(await bed.ready(), 'Hello');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    await output.end();
    expect(
      output
        .all('thinking')
        .map((event) => event.payload.text)
        .join(''),
    ).toBe('Let me see.');
    const messages = output.all('output_message').map((event) => event.payload);
    expect(messages.map(({ status, phase, text }) => [status, phase, text])).toEqual([
      ['in_progress', 'commentary', undefined],
      ['completed', 'commentary', 'Looking now.'],
      ['in_progress', undefined, undefined],
      ['completed', undefined, 'All '],
      ['in_progress', 'final_answer', undefined],
      ['completed', 'final_answer', 'done.'],
    ]);
    const ids = new Set(messages.map((message) => message.id));
    expect(ids.size).toBe(3);
    for (const { payload } of output.all('delta')) expect(ids).toContain(payload.item_id);
    expect(output.text).toBe('Looking now.All done.');
    expect(turn.outcome().content).toBe('done.');
    expect(output.all('usage').at(-1)?.payload).toEqual({
      tokens: {
        input_tokens: 150,
        cached_input_tokens: 40,
        output_tokens: 16,
        reasoning_output_tokens: 4,
        total_tokens: 166,
      },
      input_tokens: 150,
      output_tokens: 16,
      model: 'gpt-5.5',
    });
  });

  codexTest('has no message items and no observations where nobody asked for them', async (bed) => {
    bed.model.setScenario([
      { steps: [{ text: 'One. ' }, { tool: 'exec_command', id: 'call_1', input: { cmd: 'ls' } }] },
      { steps: [{ text: 'Two.' }] },
    ]);
    const executor = await bed.ready({ observe_messages: false, observe_tool_observations: false });
    const { output, turn } = await bed.start(executor, 'Hello');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    await output.end();
    expect(output.all('output_message')).toEqual([]);
    expect(output.all('command_output')).toEqual([]);
    expect(output.all('delta').map((event) => event.payload)).toEqual([
      { delta: 'One. ' },
      { delta: 'Two.' },
    ]);
    for (const { payload } of output.all('tool_call')) expect(payload).not.toHaveProperty('observation');
  });

  codexTest('counts each Turn by itself', async (bed) => {
    bed.model.setScenario([
      { steps: [{ text: 'One.' }], usage: { input: 500, output: 50 } },
      { steps: [{ text: 'Two.' }], usage: { input: 7, output: 3 } },
    ]);
    const executor = await bed.ready();
    await bed.run(executor, 'First');
    const { turn } = await bed.run(executor, 'Second');
    expect(turn.outcome().usage?.tokens).toMatchObject({ input_tokens: 7, output_tokens: 3 });
  });

  codexTest('shows a command with its folder, output, exit code and duration', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'exec_command', id: 'call_1', input: { cmd: 'sleep 0.6; echo out; exit 3' } }] },
      { steps: [{ text: 'Done.' }] },
    ]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    await output.end();
    const [before, after] = output.all('tool_call').map((event) => event.payload);
    expect(before).toMatchObject({
      id: 'call_1',
      name: 'Bash',
      stage: 'before',
      observation: { kind: 'command', status: 'in_progress', cwd: bed.workspace },
    });
    expect(before?.observation?.command).toContain('echo out; exit 3');
    expect(after).toMatchObject({
      id: 'call_1',
      stage: 'after',
      result: { exit_code: 3 },
      observation: { kind: 'command', status: 'failed', output: 'out\n', exit_code: 3 },
    });
    expect(after?.observation?.duration_ms).toEqual(expect.any(Number));
    expect(output.all('command_output').map((event) => event.payload)).toEqual([
      { id: 'call_1', delta: 'out\n' },
    ]);
  });

  codexTest('takes images and gives them to the model', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: 'A dot.' }] }]);
    const png =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await bed.run(await bed.ready(), [
      {
        content: [
          { type: 'input_text', text: 'Look:' },
          { type: 'input_image', image_url: png },
        ],
      },
      { content: [{ type: 'input_text', text: 'What is it?' }] },
    ]);
    const said = bed.model.calls[0]?.body.input.at(-1);
    expect(said).toMatchObject({
      role: 'user',
      content: [
        { type: 'input_text', text: 'Look:' },
        { type: 'input_image', image_url: png },
        { type: 'input_text', text: '\n\n' },
        { type: 'input_text', text: 'What is it?' },
      ],
    });
  });
});

describe('an answer of an asked-for form', () => {
  codexTest('is asked of the model and completed as the final answer when it has the form', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: '{"colour":"red","count":2}' }] }]);
    const { output } = await bed.run(await bed.ready(asked), 'Count');
    expect(bed.model.calls[0]?.body.text).toMatchObject({ format: { type: 'json_schema', schema } });
    expect(output.all('output_message').at(-1)?.payload).toMatchObject({
      status: 'completed',
      phase: 'final_answer',
      text: '{"colour":"red","count":2}',
    });
    expect(output.all('error')).toEqual([]);
  });

  for (const [what, said] of [
    ['of another form', '{"colour":"red"}'],
    ['that is no JSON', 'It is red.'],
  ] as const) {
    codexTest(`${what} is never completed, and the Turn says so`, async (bed) => {
      bed.model.setScenario([
        { steps: [{ text: said }] },
        { steps: [{ text: '{"colour":"red","count":2}' }] },
      ]);
      const executor = await bed.ready(asked);
      const { output, turn } = await bed.run(executor, 'Count');
      expect(output.all('output_message').map((event) => event.payload.status)).toEqual([
        'in_progress',
        'incomplete',
      ]);
      expect(output.all('error')[0]?.payload.error).toContain('form');
      expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
      expect((await bed.run(executor, 'Again')).output.all('error')).toEqual([]);
    });
  }

  codexTest('that cannot be checked is refused before a start', async (bed) => {
    const output_format = {
      type: 'json_schema',
      schema: { type: 'object', $ref: 'https://example.invalid/x' },
    };
    const outcome = await bed.prepare({ execution_controls: { ...controls, output_format } });
    expect(outcome.kind).toBe('failed');
    expect(bed.ledger.entries).toEqual([]);
  });
});
