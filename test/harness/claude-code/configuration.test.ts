import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import type { ClaudeBed } from '../bed.ts';
import { claudeTest } from './claude-test.ts';

async function offeredTools(
  bed: ClaudeBed,
  ...how: Parameters<ClaudeBed['ready']>
): Promise<readonly string[]> {
  bed.model.setScenario([{ steps: [{ text: 'Hello.' }] }]);
  const { output } = await bed.run(await bed.ready(...how), 'Hello');
  expect(output.all('error')).toEqual([]);
  return bed.model.calls[0]?.about.tools ?? [];
}

describe('what an execution asks for', () => {
  claudeTest(
    'Environment none: the model gets no tool at all, in a folder that is not the workspace',
    async (bed) => {
      const none = { disable_execution_environment: true };
      expect(await offeredTools(bed, none, { workspace: null })).toEqual([]);
      expect(JSON.stringify(bed.model.calls[0]?.body)).not.toContain(bed.workspace);
    },
  );

  claudeTest('a tool that is called all the same does nothing', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'Bash', id: 'toolu_1', input: { command: `touch ${join(bed.root, 'made')}` } }] },
      { steps: [{ text: 'It did not work.' }] },
    ]);
    const executor = await bed.ready({ disable_execution_environment: true }, { workspace: null });
    const { output } = await bed.run(executor, 'Work');
    expect(output.all('permission')).toEqual([]);
    await expect(readFile(join(bed.root, 'made'))).rejects.toThrow();
  });

  claudeTest(
    'sub-agents off, web search off, and never the tools that start work of their own',
    async (bed) => {
      const tools = await offeredTools(bed, { disable_subagents: true });
      expect(tools).toContain('Bash');
      expect(tools).toContain('AskUserQuestion');
      const unwanted = [
        'Agent',
        'Task',
        'ListAgents',
        'WebSearch',
        'ScheduleWakeup',
        'CronCreate',
        'Monitor',
        'SendMessage',
        'Workflow',
      ];
      expect(tools.filter((tool) => unwanted.includes(tool))).toEqual([]);
      // Tools that are loaded on demand are named in the conversation.
      const said = JSON.stringify(bed.model.calls[0]?.body.messages);
      for (const name of ['WebSearch', 'CronCreate', 'SendMessage']) expect(said).not.toContain(name);
    },
  );

  claudeTest('sub-agents are offered when they are not switched off', async (bed) => {
    expect(await offeredTools(bed)).toContain('Agent');
  });

  claudeTest('a sub-agent that is called although it is off runs nothing', async (bed) => {
    bed.model.setScenario([
      {
        steps: [
          {
            tool: 'Agent',
            id: 'toolu_1',
            input: { description: 'd', prompt: 'Do it', subagent_type: 'general-purpose' },
          },
        ],
      },
      { steps: [{ text: 'No helpers then.' }] },
    ]);
    const { output } = await bed.run(await bed.ready({ disable_subagents: true }), 'Delegate');
    expect((await output.end()).payload.content).toBe('No helpers then.');
    expect(bed.model.calls).toHaveLength(2);
  });

  claudeTest('programmatic tool calling off: no tool runs code that calls tools', async (bed) => {
    const controls = {
      web_search: 'disabled',
      text_verbosity: 'medium',
      disable_programmatic_tool_calling: true,
    };
    const tools = await offeredTools(bed, { execution_controls: controls });
    expect(tools).toContain('Bash');
    expect(tools.filter((tool) => ['Workflow', 'REPL'].includes(tool))).toEqual([]);
    for (const tool of bed.model.calls[0]?.body.tools ?? []) {
      expect(String(tool['type'] ?? '')).not.toMatch(/code_execution/);
      expect(tool).not.toHaveProperty('allowed_callers');
    }
  });

  claudeTest(
    'model and instructions reach the model, and the instructions are not on the command line',
    async (bed) => {
      bed.model.setScenario([{ steps: [{ text: 'Aye.' }] }]);
      const executor = await bed.ready({
        agent_options: { model: 'claude-sonnet-4-5', system_prompt: 'Speak like a pirate.' },
      });
      const pid = bed.ledger.entries[0]?.process?.pid ?? 0;
      expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('pirate');
      await bed.run(executor, 'Hello');
      expect(bed.model.calls[0]?.body.model).toContain('claude-sonnet-4-5');
      expect(JSON.stringify(bed.model.calls[0]?.body.system)).toContain('Speak like a pirate.');
    },
  );

  claudeTest(
    'what cannot be expressed is refused before anything starts, and names no submitted value',
    async (bed) => {
      const controls = { web_search: 'disabled', text_verbosity: 'medium' };
      const cases: Record<string, unknown>[] = [
        { execution_controls: { ...controls, text_verbosity: 'low' } },
        { execution_controls: { ...controls, web_search: 'secret-mode' } },
        {
          execution_controls: {
            ...controls,
            output_format: { type: 'json_schema', schema: { type: 'string', default: 'secret' } },
          },
        },
        { agent_options: { harness_config: { secret: 1 } } },
        {
          agent_options: {
            model_provider: { protocol: 'anthropic', base_url: 'https://x.invalid', api_key: 'secret' },
          },
        },
        { function_tools: [{ name: 'plain', description: 'secret', parameters: {} }] },
        {
          mcp_http_servers: [
            {
              connection_origin: 'environment',
              server_label: 'two__parts',
              server_url: 'https://secret.invalid',
              allowed_tools: null,
            },
          ],
        },
      ];
      for (const changes of cases) {
        const outcome = await bed.prepare(changes);
        expect(outcome.kind).toBe('failed');
        expect(JSON.stringify(outcome)).not.toContain('secret');
      }
      expect(bed.ledger.entries).toEqual([]);
      expect((await bed.prepare({ agent_options: { harness_config: {} } })).kind).toBe('ready');
    },
  );

  claudeTest('preparation makes no model request', async (bed) => {
    await bed.ready();
    expect(bed.model.requests).toEqual([]);
  });
});
