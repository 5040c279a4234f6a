import { describe, expect, test } from 'vitest';

import {
  capabilityNames,
  composeCapabilities,
  declareCapabilities,
  type CapabilityName,
} from '../../../src/protocol/capabilities.ts';
import { executionConfiguration, type ExecutionConfiguration } from '../../../src/protocol/execution.ts';
import {
  configurationViolation,
  environmentSourcesViolation,
  functionToolsSenderViolation,
  isViolation,
  mcpServersSenderViolation,
  prepareViolation,
  readModelOptions,
  readOnlyProfileViolation,
  repeatedHarnessConfig,
  startViolation,
} from '../../../src/protocol/execution-rules.ts';

const all = declareCapabilities(capabilityNames);
const without = (...missing: CapabilityName[]) =>
  declareCapabilities(capabilityNames.filter((name) => !missing.includes(name)));
const configuration = (members: Record<string, unknown>): ExecutionConfiguration =>
  executionConfiguration.parse({
    agent_kind: 'k',
    agent_state_key: 'agents-api-s',
    strict_resume: true,
    ...members,
  });

const local = { id: 'e', workspace_directory: '/workspace', capability_sources: null };
const server = {
  connection_origin: 'service',
  server_label: 'l',
  server_url: 'https://x.test',
  allowed_tools: null,
};
const deferred = { name: 'f', description: '', parameters: {}, defer_loading: true };

describe('rules of a preparation request', () => {
  const prepare = (members: Record<string, unknown>, session_id = 's') =>
    prepareViolation({ session_id, configuration: configuration(members) });
  test('a plain one is good', () => expect(prepare({})).toBeUndefined());
  test.each<[string, Record<string, unknown>]>([
    ['run_id', { run_id: 'r' }],
    ['input', { input: [{ content: [] }] }],
    ['conversation_id', { conversation_id: 'c' }],
    ['workspace_authoring', { workspace_authoring: true }],
    ['agent_state_key', { agent_state_key: 'agents-api-other' }],
    ['strict_resume', { strict_resume: false }],
  ])('%s', (member, members) => {
    expect(prepare(members)).toEqual({ path: ['configuration', member], code: 'invalid_configuration' });
  });
  test('a blank Session', () => expect(prepare({}, ' ')?.path).toEqual(['session_id']));
  test('an empty input is no input', () => expect(prepare({ input: [] })).toBeUndefined());
});

test.each([
  [{ executor_id: '' }, 'executor_id'],
  [{ handle: '' }, 'handle'],
  [{ run_id: ' ' }, 'run_id'],
])('a start with %j names no target', (members, member) => {
  expect(startViolation({ executor_id: 'e', handle: 'h', run_id: 'r', input: [], ...members })).toEqual({
    path: [member],
    code: 'invalid_start',
  });
  expect(startViolation({ executor_id: 'e', handle: 'h', run_id: 'r', input: [] })).toBeUndefined();
});

describe('combined checks', () => {
  test.each<[string, Record<string, unknown>, CapabilityName[], string | undefined]>([
    ['a disabled environment', { disable_execution_environment: true }, [], undefined],
    [
      '… without its capability',
      { disable_execution_environment: true },
      ['environment_none'],
      'disable_execution_environment',
    ],
    ['a local environment', { local_environment: local }, [], undefined],
    ['… without its capability', { local_environment: local }, ['local_environment'], 'local_environment'],
    [
      'both at once',
      { local_environment: local, disable_execution_environment: true },
      [],
      'local_environment',
    ],
    [
      'a tool-calling disable',
      { execution_controls: { disable_programmatic_tool_calling: true } },
      [],
      undefined,
    ],
    [
      '… without its capability',
      { execution_controls: { disable_programmatic_tool_calling: true } },
      ['programmatic_tool_calling_disable'],
      'execution_controls',
    ],
    ['controls of a kind without controls', { execution_controls: {} }, ['execution_controls'], undefined],
    [
      'opt-ins of a kind without them',
      { observe_messages: true, observe_tool_observations: true },
      ['message_items', 'tool_observations'],
      undefined,
    ],
    [
      'tool search with a deferred function',
      { tool_search: true, function_tools: [deferred] },
      [],
      undefined,
    ],
    [
      '… without its capability',
      { tool_search: true, function_tools: [deferred] },
      ['tool_search'],
      'tool_search',
    ],
    ['tool search alone', { tool_search: true }, [], 'tool_search'],
    ['a deferred function alone', { function_tools: [deferred] }, [], 'tool_search'],
    ['functions', { function_tools: [{ name: 'f' }] }, [], undefined],
    ['… without their capability', { function_tools: [{ name: 'f' }] }, ['function_tools'], 'function_tools'],
    ['a service server', { disable_execution_environment: true, mcp_http_servers: [server] }, [], undefined],
    [
      '… without the capability',
      { disable_execution_environment: true, mcp_http_servers: [server] },
      ['mcp_http_tools'],
      'mcp_http_servers',
    ],
    [
      '… beside an environment',
      { local_environment: local, mcp_http_servers: [server] },
      [],
      'mcp_http_servers',
    ],
    ['… with nothing disabled', { mcp_http_servers: [server] }, [], 'mcp_http_servers'],
    [
      'an environment server',
      { local_environment: local, mcp_http_servers: [{ ...server, connection_origin: 'environment' }] },
      [],
      undefined,
    ],
    [
      '… without an environment',
      { mcp_http_servers: [{ ...server, connection_origin: 'environment' }] },
      [],
      'mcp_http_servers',
    ],
    [
      'a missing origin',
      { disable_execution_environment: true, mcp_http_servers: [{ ...server, connection_origin: '' }] },
      [],
      'mcp_http_servers',
    ],
    [
      'a required server',
      { disable_execution_environment: true, mcp_http_servers: [{ ...server, required: true }] },
      ['mcp_http_required'],
      'mcp_http_servers',
    ],
    [
      'a bearer token',
      { disable_execution_environment: true, mcp_http_servers: [{ ...server, bearer_token: 't' }] },
      [],
      undefined,
    ],
    [
      '… without its capability',
      { disable_execution_environment: true, mcp_http_servers: [{ ...server, bearer_token: 't' }] },
      ['mcp_http_bearer_auth'],
      'mcp_http_servers',
    ],
    [
      '… over plain http',
      {
        disable_execution_environment: true,
        mcp_http_servers: [{ ...server, server_url: 'http://127.0.0.1', bearer_token: 't' }],
      },
      [],
      'mcp_http_servers',
    ],
    ['an empty list of servers', { mcp_http_servers: [] }, ['mcp_http_tools'], undefined],
  ])('%s', (_, members, missing, member) => {
    const found = configurationViolation(configuration(members), without(...missing));
    expect(found?.path[0]).toBe(member);
    expect(found?.code).toBe(member && 'unsupported_configuration');
  });
  test('the first broken check of the list speaks', () => {
    const members = {
      execution_controls: { disable_programmatic_tool_calling: true },
      tool_search: true,
      disable_execution_environment: true,
    };
    expect(configurationViolation(configuration(members), declareCapabilities([]))?.path[0]).toBe(
      'execution_controls',
    );
  });
});

test('sources of an environment are judged with their place', () => {
  const of = (capability_sources: unknown) =>
    environmentSourcesViolation(configuration({ local_environment: { ...local, capability_sources } }));
  expect(of(null)).toBeUndefined();
  expect(of({ skills: [{ type: 'inline', name: 'n', description: 'd' }] })).toBeUndefined();
  expect(of({ plugins: [{ type: 'inline', name: '', description: 'd' }] })?.path).toEqual([
    'local_environment',
    'capability_sources',
    'plugins',
    0,
    'name',
  ]);
  expect(
    of({
      skills: Array.from({ length: 51 }, () => ({ type: 'inline', name: 'n', description: 'd' })),
    })?.path.at(-1),
  ).toBe('skills');
});

test('the read-only profile allows the bound identity and nothing else', () => {
  const profile = { workspace_read_only: true, local_environment: local, release_on_completion: true };
  expect(readOnlyProfileViolation(configuration(profile))).toBeUndefined();
  expect(readOnlyProfileViolation(configuration({ ...profile, model: 'm' }))).toEqual({
    path: ['model'],
    code: 'unsupported_read_preparation',
  });
});

describe('model options', () => {
  const provider = { protocol: 'responses', base_url: 'https://models.test/v1', api_key: 'k' };
  const read = (members: Record<string, unknown>) => readModelOptions(configuration(members));
  test('are the same in either place', () => {
    const options = {
      model: 'm',
      system_prompt: 's',
      model_provider: provider,
      harness_config: { effort: 'low' },
    };
    expect(read(options)).toEqual(read({ agent_options: options }));
    expect(read({})).toEqual({
      model: undefined,
      systemPrompt: undefined,
      provider: undefined,
      harnessConfig: {},
    });
    expect(read({ agent_options: {} })).toEqual(read({}));
  });
  test('in both places at once are refused', () => {
    expect(read({ agent_options: {}, model: 'm' })).toEqual({
      path: ['model'],
      code: 'unsupported_configuration',
    });
  });
  test.each([[null], [[]], ['x'], [3], [{ a: 'x'.repeat(16_384) }]])(
    'native parameters %j are refused',
    (harness_config) => {
      expect(read({ agent_options: { harness_config } })).toEqual({
        path: ['agent_options', 'harness_config'],
        code: 'unsupported_configuration',
      });
    },
  );
  test.each<[string, Record<string, unknown>, string | undefined]>([
    ['https', {}, undefined],
    ['http on loopback', { base_url: 'http://127.0.0.1:8080/v1' }, undefined],
    ['http on IPv6 loopback', { base_url: 'http://[::1]:8080' }, undefined],
    ['http by name', { base_url: 'http://localhost:8080' }, 'base_url'],
    ['http elsewhere', { base_url: 'http://models.test' }, 'base_url'],
    ['user info', { base_url: 'https://u@models.test' }, 'base_url'],
    ['a bare query', { base_url: 'https://models.test/?' }, 'base_url'],
    ['a fragment', { base_url: 'https://models.test/#' }, 'base_url'],
    ['no host', { base_url: 'https:///v1' }, 'base_url'],
    ['another scheme', { base_url: 'ftp://models.test' }, 'base_url'],
    ['anthropic with /v1', { protocol: 'anthropic' }, 'base_url'],
    ['anthropic with /v1/', { protocol: 'anthropic', base_url: 'https://models.test/v1/' }, 'base_url'],
    ['anthropic', { protocol: 'anthropic', base_url: 'https://models.test' }, undefined],
    ['an unknown protocol', { protocol: 'gopher' }, 'protocol'],
    ['a blank key', { api_key: ' ' }, 'api_key'],
    ['a key with a line break', { api_key: 'a\nb' }, 'api_key'],
    ['a long key', { api_key: 'k'.repeat(16_385) }, 'api_key'],
    ['more output than window', { context_window: 10, max_output_tokens: 11 }, 'max_output_tokens'],
    ['a negative window', { context_window: -1 }, 'context_window'],
  ])('a provider with %s', (_, members, member) => {
    const found = read({ model_provider: { ...provider, ...members } });
    expect(isViolation(found) ? found.path.at(-1) : undefined).toBe(member);
  });
  test('repeated native parameters are found in the raw message alone', () => {
    const place = ['payload', 'configuration'];
    const message = (config: string) =>
      `{"type":"execution_prepare","payload":{"configuration":{"agent_options":{"harness_config":${config}}}}}`;
    expect(repeatedHarnessConfig(message('{"a":1,"b":{"a":1}}'), place)).toBeUndefined();
    expect(repeatedHarnessConfig(message('{"a":1,"a":2}'), place)).toEqual({
      path: ['agent_options', 'harness_config'],
      code: 'unsupported_configuration',
    });
    expect(
      repeatedHarnessConfig('{"payload":{"configuration":{"harness_config":{"a":{"b":1,"b":1}}}}}', place)
        ?.path,
    ).toEqual(['harness_config']);
    expect(repeatedHarnessConfig('{"payload":{}}', place)).toBeUndefined();
  });
});

test('the sender keeps the rules of servers and functions', () => {
  const servers = (...list: Record<string, unknown>[]) =>
    mcpServersSenderViolation(list.map((members) => ({ ...server, ...members })))?.path;
  expect(servers({}, { server_label: 'm' })).toBeUndefined();
  expect(servers({}, {})).toEqual([1, 'server_label']);
  expect(servers({ server_label: ' ' })).toEqual([0, 'server_label']);
  expect(servers({ server_url: 'https://x.test/?' })).toEqual([0, 'server_url']);
  expect(servers({ server_url: 'https://u:p@x.test' })).toEqual([0, 'server_url']);
  expect(servers({ allowed_tools: ['a', ''] })).toEqual([0, 'allowed_tools']);
  expect(functionToolsSenderViolation([{ name: 'a' }, { name: 'b' }])).toBeUndefined();
  expect(functionToolsSenderViolation([{ name: 'a' }, { name: 'a' }])?.path).toEqual([1, 'name']);
  expect(functionToolsSenderViolation([{ name: 'é'.repeat(257) }])?.path).toEqual([0, 'name']);
  expect(
    functionToolsSenderViolation(Array.from({ length: 65 }, (_, index) => ({ name: `f${index}` })))?.path,
  ).toEqual([]);
});

describe('capabilities', () => {
  test('a declaration decides all thirty', () => {
    expect(capabilityNames).toHaveLength(30);
    expect(Object.keys(declareCapabilities(['usage'])).sort()).toEqual([...capabilityNames].sort());
    expect(Object.values(declareCapabilities(['usage'])).filter(Boolean)).toHaveLength(1);
  });
  test('a bound folder has no environment none, and without one there are no workspace fields', () => {
    const bound = composeCapabilities(all, { boundFolder: true, canExport: true });
    expect(bound).toMatchObject({
      environment_none: false,
      local_environment: true,
      workspace_read_preparation: true,
      workspace_output_export: true,
    });
    expect(composeCapabilities(all, { boundFolder: true, canExport: false }).workspace_output_export).toBe(
      false,
    );
    expect(
      composeCapabilities(without('workspace_read_preparation'), { boundFolder: true, canExport: true })
        .workspace_output_export,
    ).toBe(false);
    expect(composeCapabilities(all, { boundFolder: false, canExport: true })).toMatchObject({
      environment_none: true,
      local_environment: false,
      workspace_read_preparation: false,
      workspace_output_export: false,
    });
  });
});
