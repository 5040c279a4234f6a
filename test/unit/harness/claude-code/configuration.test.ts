import { describe, expect, test } from 'vitest';

import {
  contradiction,
  planLaunch,
  type LaunchPlan,
} from '../../../../src/harness/claude-code/configuration.ts';
import type { InteractionPolicy } from '../../../../src/harness/adapter.ts';
import { executionConfiguration } from '../../../../src/protocol/execution.ts';

function plan(changes: Record<string, unknown> = {}, policy: InteractionPolicy = 'ask'): LaunchPlan {
  const planned = planLaunch(
    executionConfiguration.parse({ agent_kind: 'x', conversation_id: '', run_id: '', ...changes }),
    policy,
  );
  if (planned.kind !== 'plan') throw new Error(planned.message);
  return planned.plan;
}
const after = (args: readonly string[], option: string): string | undefined => args[args.indexOf(option) + 1];
const controls = { web_search: 'disabled', text_verbosity: 'medium' };

describe('the options of a start', () => {
  test('each policy has its permission mode, and none of them lets the program decide alone', () => {
    const mode = (policy: InteractionPolicy): string | undefined =>
      after(plan({}, policy).args, '--permission-mode');
    expect([mode('ask'), mode('accept_edits'), mode('unattended')]).toEqual([
      'default',
      'acceptEdits',
      'default',
    ]);
  });

  test('without controls the program keeps its own web search, with them it loses it', () => {
    expect(plan().withoutTools).not.toContain('WebSearch');
    expect(plan({ execution_controls: controls }).withoutTools).toContain('WebSearch');
  });

  test('a conversation is continued by its id only', () => {
    const id = '11111111-2222-4333-8444-555555555555';
    expect(after(plan({ agent_session_id: id }).args, '--resume')).toBe(id);
    expect(plan().args).not.toContain('--resume');
  });

  test('a statement about MCP servers keeps out the person’s own', () => {
    expect(plan().args).not.toContain('--strict-mcp-config');
    expect(plan({ mcp_http_servers: [] }).args).toContain('--strict-mcp-config');
    expect(plan({ disable_execution_environment: true }).args).toContain('--strict-mcp-config');
  });

  test('options in either place of the configuration are read', () => {
    expect(after(plan({ model: 'm' }).args, '--model')).toBe('m');
    expect(plan({ agent_options: { system_prompt: 'Be brief.' } }).systemPrompt).toBe('Be brief.');
  });
});

describe('what the program reports against what was asked', () => {
  test('servers may bring tools, unless there must be none', () => {
    const report = { tools: ['Bash', 'mcp__shelf__find'], mode: 'default' };
    expect(contradiction(plan(), report)).toBeNull();
    expect(contradiction(plan({ disable_execution_environment: true }), report)).toMatch(/switched off/);
    expect(
      contradiction(plan({ disable_execution_environment: true }), { tools: [], mode: 'default' }),
    ).toBeNull();
  });

  test('a switched-off tool or another mode is a contradiction, an unnamed mode is not', () => {
    expect(contradiction(plan({ disable_subagents: true }), { tools: ['Task'], mode: 'default' })).toMatch(
      /switched off/,
    );
    expect(contradiction(plan(), { tools: [], mode: 'acceptEdits' })).toMatch(/mode/);
    expect(contradiction(plan(), { tools: [], mode: undefined })).toBeNull();
  });
});
