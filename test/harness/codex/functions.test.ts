import { describe, expect } from 'vitest';

import { nativeSessionId } from '../../../src/protocol/run-output.ts';
import { codexTest } from './codex-bed.ts';

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const lookup = {
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
};
const rare = { name: 'rare_thing', description: 'Counts zebras.', parameters: { type: 'object' } };
const call = (tool: string, input: unknown, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  steps: [{ tool, id: 'call_1', input, ...more }],
});
const done = { steps: [{ text: 'Done.' }] };

describe('functions of the Agent', () => {
  codexTest('are called, and a result is applied when the program shows it', async (bed) => {
    bed.model.setScenario([call('lookup', { key: 'a' }), done]);
    const executor = await bed.ready({ function_tools: [lookup] });
    const { output, turn } = await bed.start(executor, 'Work');
    const { payload } = await output.next('function_call');
    expect(payload).toEqual({ call_id: 'call_1', name: 'lookup', arguments: { key: 'a' } });
    const content = [
      { type: 'input_text', text: 'The value.' },
      { type: 'input_image', image_url: PNG },
    ] as const;
    expect(await turn.submitFunctionResult?.('another', { success: true, content })).toBe('not_pending');
    expect(await turn.submitFunctionResult?.('call_1', { success: true, content })).toBe('applied');
    expect(await turn.submitFunctionResult?.('call_1', { success: true, content })).toBe('not_pending');
    await output.end();
    const said = bed.model.calls.at(-1)?.body.input.at(-1);
    expect(said).toMatchObject({
      type: 'function_call_output',
      call_id: 'call_1',
      output: [
        { type: 'input_text', text: 'The value.' },
        { type: 'input_image', image_url: PNG },
      ],
    });
    expect(output.all('tool_call').map((event) => event.payload)).toEqual([
      expect.objectContaining({ name: 'lookup', stage: 'before', args: { key: 'a' } }),
      expect.objectContaining({
        name: 'lookup',
        stage: 'after',
        observation: expect.objectContaining({
          kind: 'function',
          name: 'lookup',
          status: 'completed',
          content,
        }) as unknown,
      }),
    ]);
  });

  codexTest('that failed are told as failed, to the model too', async (bed) => {
    bed.model.setScenario([call('lookup', { key: 'a' }), done]);
    const { output, turn } = await bed.start(await bed.ready({ function_tools: [lookup] }), 'Work');
    await output.next('function_call');
    const content = [{ type: 'input_text' as const, text: 'It is not there.' }];
    expect(await turn.submitFunctionResult?.('call_1', { success: false, content })).toBe('applied');
    await output.end();
    expect(JSON.stringify(bed.model.calls.at(-1)?.body.input.at(-1))).toContain('It is not there.');
    expect(output.all('tool_call').at(-1)?.payload.observation?.status).toBe('failed');
  });

  codexTest('with an empty result are applied as well', async (bed) => {
    bed.model.setScenario([call('lookup', { key: 'a' }), done]);
    const { output, turn } = await bed.start(await bed.ready({ function_tools: [lookup] }), 'Work');
    await output.next('function_call');
    expect(await turn.submitFunctionResult?.('call_1', { success: true, content: [] })).toBe('applied');
    await output.end();
  });

  codexTest('with arguments that are no JSON never reach the Agent', async (bed) => {
    bed.model.setScenario([call('lookup', '{"key":'), done]);
    const { output } = await bed.run(await bed.ready({ function_tools: [lookup] }), 'Work');
    expect(output.all('function_call')).toEqual([]);
  });

  codexTest('that are still open when the Turn is cancelled are not pending any more', async (bed) => {
    bed.model.setScenario([call('lookup', { key: 'a' })]);
    const executor = await bed.ready({ function_tools: [lookup] });
    const { output, turn } = await bed.start(executor, 'Work');
    await output.next('function_call');
    await turn.cancel();
    expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    expect(await turn.submitFunctionResult?.('call_1', { success: true, content: [] })).toBe('not_pending');
    expect(output.all('tool_call').at(-1)?.payload).toMatchObject({ stage: 'after' });
    bed.model.setScenario([{ steps: [{ text: 'Next.' }] }]);
    expect((await bed.run(executor, 'Next')).output.text).toBe('Next.');
  });

  codexTest('stay with a conversation, and changed ones are refused', async (bed) => {
    bed.model.setScenario([done]);
    const first = await bed.ready({ function_tools: [lookup] });
    const session = nativeSessionId((await bed.run(first, 'Hello')).turn.outcome());
    await first.close();
    expect((await bed.prepare({ agent_session_id: session })).kind).toBe('failed');
    expect((await bed.prepare({ agent_session_id: session, function_tools: [rare] })).kind).toBe('failed');
    const again = await bed.ready({ agent_session_id: session, function_tools: [lookup] });
    bed.model.setScenario([call('lookup', { key: 'b' }), done]);
    const { output, turn } = await bed.start(again, 'Work');
    expect((await output.next('function_call')).payload.arguments).toEqual({ key: 'b' });
    expect(await turn.submitFunctionResult?.('call_1', { success: true, content: [] })).toBe('applied');
    await output.end();
  });

  codexTest('with a name the program does not take are refused before a start', async (bed) => {
    const outcome = await bed.prepare({ function_tools: [{ ...lookup, name: 'look up' }] });
    expect(outcome).toEqual({ kind: 'failed', message: expect.stringContaining('names') as string });
  });
});

describe('functions that are found by search', () => {
  const tools = { tool_search: true, function_tools: [lookup, { ...rare, defer_loading: true }] };
  const search = {
    steps: [
      {
        raw: {
          type: 'response.output_item.done',
          output_index: 0,
          item: {
            type: 'tool_search_call',
            id: 'tsc_1',
            call_id: 'search_1',
            execution: 'client',
            arguments: { query: 'zebras' },
            status: 'completed',
          },
        },
      },
    ],
  };

  codexTest(
    'are not among the tools of the model, are found, and are called by their own name',
    async (bed) => {
      bed.model.setScenario([search, call('rare_thing', {}, { namespace: 'later' }), done]);
      const { output, turn } = await bed.start(await bed.ready(tools), 'Count');
      const { payload } = await output.next('function_call');
      expect(payload).toEqual({ call_id: 'call_1', name: 'rare_thing', arguments: {} });
      expect(bed.model.calls[0]?.about.tools).toContain('lookup');
      expect(bed.model.calls[0]?.about.tools).toContain('tool_search');
      expect(JSON.stringify(bed.model.calls[0]?.body)).not.toContain('zebras');
      expect(JSON.stringify(bed.model.calls[1]?.body.input.at(-1))).toContain('rare_thing');
      expect(await turn.submitFunctionResult?.('call_1', { success: true, content: [] })).toBe('applied');
      await output.end();
      expect(output.all('tool_call').at(-1)?.payload).toMatchObject({
        name: 'rare_thing',
        observation: { name: 'rare_thing', status: 'completed' },
      });
    },
  );

  codexTest(
    'are refused for a model that the program does not know, which could not find them',
    async (bed) => {
      const outcome = await bed.prepare(tools);
      expect(outcome).toEqual({ kind: 'failed', message: expect.stringContaining('model') as string });
    },
    { model: 'made-up-1' },
  );
});
