import { describe, expect } from 'vitest';

import type { HarnessTurn } from '../../../src/harness/adapter.ts';
import type { Recorder } from '../recorder.ts';
import { claudeTest } from './claude-test.ts';

const object = { type: 'object', properties: { q: { type: 'string' } } };
const lookup = { name: 'lookup', description: 'Looks up.', parameters: object };
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
const text = (value: string) => ({ type: 'input_text' as const, text: value });
const calls = (name: string, id: string, input: Record<string, unknown> = { q: 'x' }) => ({
  steps: [{ tool: `mcp__functions__${name}`, id, input }],
});
const answer = (turn: HarnessTurn, id: string, success: boolean, ...content: ReturnType<typeof text>[]) =>
  turn.submitFunctionResult?.(id, { success, content });
const observations = (output: Recorder): unknown[] =>
  output.all('tool_call').map((event) => event.payload.observation);

describe('functions of an Agent', () => {
  claudeTest(
    'are called without a permission prompt, and the result is applied when the model has it',
    async (bed) => {
      bed.model.setScenario([calls('lookup', 'toolu_a'), { steps: [{ text: 'Found.' }] }]);
      const executor = await bed.ready({ function_tools: [lookup] });
      const { turn, output } = await bed.start(executor, 'Look it up');
      const call = await output.next('function_call');
      expect(call.payload).toEqual({ call_id: 'toolu_a', name: 'lookup', arguments: { q: 'x' } });
      expect(await answer(turn, 'toolu_a', true, text('one'), text(''), text('two'))).toBe('applied');
      await output.end();
      expect(output.all('permission')).toEqual([]);
      expect(output.text).toBe('Found.');
      const seen = { kind: 'function', name: 'lookup', arguments: { q: 'x' } };
      expect(observations(output)).toEqual([
        { ...seen, status: 'in_progress' },
        { ...seen, status: 'completed', content: [text('one'), text(''), text('two')] },
      ]);
      expect(await answer(turn, 'toolu_a', true, text('late'))).toBe('not_pending');
      expect(await turn.settlement()).toMatchObject({ kind: 'settled', reusable: true });
    },
  );

  claudeTest('a failure reaches the model as one, an empty result as nothing', async (bed) => {
    bed.model.setScenario([
      calls('lookup', 'toolu_bad'),
      calls('lookup', 'toolu_empty'),
      { steps: [{ text: 'So be it.' }] },
    ]);
    const { turn, output } = await bed.start(await bed.ready({ function_tools: [lookup] }), 'Look it up');
    await output.next('function_call');
    expect(await answer(turn, 'toolu_bad', false, text('no such'), text('entry'))).toBe('applied');
    await output.next('function_call', 1);
    expect(await answer(turn, 'toolu_empty', true)).toBe('applied');
    await output.end();
    expect(bed.model.calls[1]?.about.lastTool).toContain('no such');
    expect(observations(output)[1]).toMatchObject({ status: 'failed' });
  });

  claudeTest('images are results of functions that succeed', async (bed) => {
    bed.model.setScenario([calls('lookup', 'toolu_img'), { steps: [{ text: 'Seen.' }] }]);
    const { turn, output } = await bed.start(await bed.ready({ function_tools: [lookup] }), 'Look it up');
    await output.next('function_call');
    const image = { type: 'input_image' as const, image_url: pixel };
    const submit = (success: boolean) =>
      turn.submitFunctionResult?.('toolu_img', { success, content: [text('see'), image, text('end')] });
    expect(await submit(false)).toBe('failed');
    expect(await submit(true)).toBe('applied');
    await output.end();
    expect(JSON.stringify(bed.model.calls[1]?.body)).toContain('"type":"image"');
  });

  claudeTest('a cancel ends a call that nobody answered, and a result after it is not taken', async (bed) => {
    bed.model.setScenario([calls('lookup', 'toolu_c')]);
    const { turn, output } = await bed.start(await bed.ready({ function_tools: [lookup] }), 'Look it up');
    await output.next('function_call');
    await turn.cancel();
    expect(await turn.settlement()).toMatchObject({ kind: 'settled' });
    expect(await answer(turn, 'toolu_c', true, text('late'))).toBe('not_pending');
    await output.end();
  });

  claudeTest(
    'deferred functions are found by tool search; the others are in the list from the start',
    async (bed) => {
      const later = { ...lookup, name: 'later', defer_loading: true };
      bed.model.setScenario([
        { steps: [{ tool: 'ToolSearch', id: 'toolu_s', input: { query: 'select:mcp__functions__later' } }] },
        calls('later', 'toolu_l'),
        { steps: [{ text: 'Found.' }] },
      ]);
      const executor = await bed.ready({ function_tools: [lookup, later], tool_search: true });
      const { turn, output } = await bed.start(executor, 'Look it up');
      expect((await output.next('function_call')).payload.name).toBe('later');
      expect(await answer(turn, 'toolu_l', true, text('here'))).toBe('applied');
      await output.end();
      const offered = bed.model.calls.map((call) => call.about.tools);
      expect(offered[0]).toContain('mcp__functions__lookup');
      expect(offered[0]).not.toContain('mcp__functions__later');
      expect(offered[1]).toContain('mcp__functions__later');
    },
  );
});

describe('an answer in a fixed form', () => {
  const schema = {
    type: 'object',
    properties: { answer: { type: 'string', minLength: 2 } },
    required: ['answer'],
    additionalProperties: false,
  };
  const controls = {
    execution_controls: {
      web_search: 'disabled',
      text_verbosity: 'medium',
      output_format: { type: 'json_schema', schema },
    },
  };
  const gives = (input: unknown, id: string) => ({ steps: [{ tool: 'StructuredOutput', id, input }] });

  claudeTest('is one completed message; the tool behind it is not shown', async (bed) => {
    bed.model.setScenario([gives({ answer: 5 }, 'toolu_no'), gives({ answer: 'yes' }, 'toolu_yes')]);
    const { output } = await bed.run(await bed.ready(controls), 'Answer');
    expect(output.all('tool_call')).toEqual([]);
    expect(output.all('output_message').map((event) => event.payload)).toEqual([
      { id: 'toolu_yes', status: 'completed', phase: 'final_answer', text: '{"answer":"yes"}' },
    ]);
    expect((await output.end()).payload.content).toBe('{"answer":"yes"}');
    expect(output.all('error')).toEqual([]);
  });

  claudeTest('that never comes is an error and no answer', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: 'Yes.' }], repeat: true }]);
    const { output } = await bed.run(await bed.ready(controls), 'Answer');
    expect(output.all('error').map((event) => event.payload.error)).toEqual([
      'Claude Code gave no answer of the form that was asked for.',
    ]);
    const phases = output.all('output_message').map((event) => event.payload.phase);
    expect(phases).not.toContain('final_answer');
  });

  claudeTest('goes together with functions', async (bed) => {
    bed.model.setScenario([calls('lookup', 'toolu_f'), gives({ answer: 'found' }, 'toolu_yes')]);
    const executor = await bed.ready({ ...controls, function_tools: [lookup] });
    const { turn, output } = await bed.start(executor, 'Answer');
    await output.next('function_call');
    expect(await answer(turn, 'toolu_f', true, text('found'))).toBe('applied');
    await output.end();
    expect(output.all('error')).toEqual([]);
  });
});
