import { describe, expect, test } from 'vitest';

import {
  contradiction,
  planLaunch,
  type LaunchPlan,
  type PlannedLaunch,
} from '../../../../src/harness/claude-code/configuration.ts';
import type { InteractionPolicy, McpServer, PreparedEnvironment } from '../../../../src/harness/adapter.ts';
import { nothingPrepared } from '../../../support/no-preparation.ts';
import { executionConfiguration } from '../../../../src/protocol/execution.ts';

function launch(
  changes: Record<string, unknown> = {},
  prepared: Partial<PreparedEnvironment> = {},
  policy: InteractionPolicy = 'ask',
): PlannedLaunch {
  return planLaunch(
    executionConfiguration.parse({ agent_kind: 'x', conversation_id: '', run_id: '', ...changes }),
    policy,
    { ...nothingPrepared, ...prepared },
  );
}

function plan(changes: Record<string, unknown> = {}, policy: InteractionPolicy = 'ask'): LaunchPlan {
  const planned = launch(changes, {}, policy);
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

describe('what is refused before anything starts, each for its own reason', () => {
  const object = { type: 'object', properties: {} };
  const format = (schema: unknown) => ({
    execution_controls: { ...controls, output_format: { type: 'json_schema', schema } },
  });
  const server = (name: string): McpServer => ({
    ...{ name, allowedTools: null, required: false },
    transport: { kind: 'http', url: 'https://x', bearer: null, headers: {} },
  });
  const skill = { name: 's', description: 'd', folder: '/s' };
  test.each<[string, Record<string, unknown>, Partial<PreparedEnvironment>, RegExp]>([
    ['a schema that is no object', format({ type: 'string' }), {}, /root is no object/],
    ['no schema', format({ type: 'object', properties: { a: { type: 5 } } }), {}, /no JSON Schema/],
    ['a number beyond doubles', format({ ...object, maxProperties: 2 ** 60 }), {}, /number/],
    ['a form with a Skill', format(object), { skills: [skill] }, /Skills/],
    ['a form with a server', format(object), { mcpServers: [server('a')] }, /MCP servers/],
    ['a function without named arguments', { function_tools: [{ name: 'f', parameters: {} }] }, {}, /named/],
    ['a function nobody can call', { function_tools: [{ name: 'f f', parameters: object }] }, {}, /name/],
    ['a server of our own name', {}, { mcpServers: [server('functions')] }, /"functions"/],
    ['a server whose name would be taken apart', {}, { mcpServers: [server('a__b')] }, /"a__b"/],
    [
      'a variable that steers the program',
      {},
      { variables: { ANTHROPIC_BASE_URL: 'x' } },
      /ANTHROPIC_BASE_URL/,
    ],
    ['a proxy', {}, { variables: { https_proxy: 'x' } }, /https_proxy/],
  ])('%s', (_, changes, prepared, why) => {
    const refused = launch(changes, prepared);
    expect(refused.kind === 'refused' ? refused.message : 'a plan').toMatch(why);
  });

  test('no secret of a server or a variable becomes an argument', () => {
    const secret = { ...server('a'), transport: { ...server('a').transport, bearer: 'canary' } } as McpServer;
    const planned = launch({}, { mcpServers: [secret], variables: { KEY: 'canary' } });
    expect(planned.kind === 'plan' && planned.plan.args.join(' ')).not.toContain('canary');
  });
});
