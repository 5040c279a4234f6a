import { describe, expect } from 'vitest';

import { codexTest, type CodexBed } from './codex-bed.ts';

const done = { steps: [{ text: 'Done.' }] };

async function asked(
  bed: CodexBed,
  changes: Record<string, unknown>,
): Promise<CodexBed['model']['calls'][number]> {
  bed.model.setScenario([done]);
  const executor = await bed.ready(changes);
  await bed.run(executor, 'Hello');
  await executor.close();
  const call = bed.model.calls.at(-1);
  if (!call) throw new Error('nothing was asked');
  return call;
}

const controls = (changes: Record<string, unknown>): Record<string, unknown> => ({
  execution_controls: { web_search: 'disabled', text_verbosity: 'medium', ...changes },
});

describe('settings of an execution', () => {
  codexTest('model and instructions reach the model request', async (bed) => {
    const call = await asked(bed, {
      agent_options: { model: 'gpt-5.6-terra', system_prompt: 'Speak in rhyme.' },
    });
    expect(call.body.model).toBe('gpt-5.6-terra');
    expect(JSON.stringify(call.body)).toContain('Speak in rhyme.');
  });

  codexTest('web search is offered or not, as it is asked for', async (bed) => {
    const tools = async (web_search: string): Promise<readonly string[]> =>
      (await asked(bed, controls({ web_search }))).about.tools;
    expect(await tools('disabled')).not.toContain('web_search');
    expect(await tools('live')).toContain('web_search');
    expect(await tools('cached')).toContain('web_search');
    expect((await bed.prepare(controls({ web_search: 'sometimes' }))).kind).toBe('failed');
  });

  codexTest(
    'web search is off also where the person has it on',
    async (bed) => {
      expect((await asked(bed, controls({}))).about.tools).not.toContain('web_search');
    },
    { top: 'web_search = "live"' },
  );

  codexTest('the verbosity of the text reaches the model', async (bed) => {
    for (const text_verbosity of ['low', 'medium', 'high'])
      expect((await asked(bed, controls({ text_verbosity }))).body.text).toMatchObject({
        verbosity: text_verbosity,
      });
    expect((await bed.prepare(controls({ text_verbosity: 'chatty' }))).kind).toBe('failed');
  });

  codexTest(
    'a verbosity but medium is refused for a model that the program does not know',
    async (bed) => {
      await asked(bed, controls({}));
      for (const text_verbosity of ['low', 'high']) {
        const outcome = await bed.prepare(controls({ text_verbosity }));
        expect(outcome).toEqual({ kind: 'failed', message: expect.stringContaining('model') as string });
      }
    },
    { model: 'made-up-1' },
  );

  for (const model of ['gpt-5.5', 'gpt-6.2-sol', 'made-up-1']) {
    codexTest(
      `sub-agents are switched off on ${model}`,
      async (bed) => {
        const body = JSON.stringify((await asked(bed, { disable_subagents: true })).body);
        expect(body).not.toMatch(/spawn_agent|followup_task/);
      },
      { model },
    );
  }

  codexTest('sub-agents that are switched off are not found by a search for tools either', async (bed) => {
    const found = async (disable_subagents: boolean): Promise<string> => {
      const item = {
        type: 'tool_search_call',
        id: 'tsc_1',
        call_id: 'search_1',
        execution: 'client',
        arguments: { query: 'spawn agent' },
        status: 'completed',
      };
      bed.model.setScenario([
        { steps: [{ raw: { type: 'response.output_item.done', output_index: 0, item } }] },
        done,
      ]);
      const executor = await bed.ready({
        disable_subagents,
        tool_search: true,
        function_tools: [
          { name: 'rare', description: 'Rare.', parameters: { type: 'object' }, defer_loading: true },
        ],
      });
      await bed.run(executor, 'Search');
      await executor.close();
      return JSON.stringify(bed.model.calls.at(-1)?.body.input.at(-1));
    };
    expect(await found(true)).not.toContain('spawn_agent');
    expect(await found(false)).toContain('spawn_agent');
  });

  codexTest('native parameters are passed on, and unknown ones refused', async (bed) => {
    const call = await asked(bed, { harness_config: { model_reasoning_effort: 'high' } });
    expect(call.body.reasoning).toMatchObject({ effort: 'high' });
    for (const harness_config of [{ sandbox_mode: 'danger-full-access' }, { model_reasoning_effort: 3 }, []])
      expect((await bed.prepare({ harness_config })).kind).toBe('failed');
  });

  codexTest('what Codex cannot do is refused before a start', async (bed) => {
    const changes = controls({ disable_programmatic_tool_calling: true });
    expect((await bed.prepare(changes)).kind).toBe('failed');
    expect(bed.ledger.entries).toEqual([]);
  });
});
