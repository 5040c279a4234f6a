import { describe, expect, test } from 'vitest';

import type { McpServer, PreparedEnvironment } from '../../../../src/harness/adapter.ts';
import { planLaunch, threadConfig, type LaunchPlan } from '../../../../src/harness/codex/configuration.ts';
import { COMMAND_VARIABLE } from '../../../../src/harness/codex/leftovers.ts';
import { referredVariables } from '../../../../src/harness/codex/probe.ts';
import { isOldEnoughToRefuse } from '../../../../src/harness/codex/program.ts';
import { starting, stepTurn, type TurnState } from '../../../../src/harness/codex/turn-state.ts';
import { OWNER_VARIABLE } from '../../../../src/platform/process-tree.ts';
import { executionConfiguration } from '../../../../src/protocol/execution.ts';

function plan(
  changes: Record<string, unknown> = {},
  prepared: Partial<PreparedEnvironment> = {},
  policy: 'ask' | 'accept_edits' | 'unattended' = 'ask',
): LaunchPlan {
  const planned = planLaunch({
    sessionId: 's',
    workspace: '/home/me/project',
    stateDir: '/state',
    configuration: executionConfiguration.parse({
      agent_kind: 'codex',
      conversation_id: '',
      run_id: '',
      ...changes,
    }),
    policy,
    prepared: { variables: {}, skills: [], mcpServers: [], ...prepared },
  });
  if (planned.kind !== 'plan') throw new Error(planned.message);
  return planned.plan;
}
const nothing = { model_provider: null };
const settings = (made: ReturnType<typeof threadConfig>): Record<string, unknown> => {
  if ('problem' in made) throw new Error(made.problem);
  return made.config;
};
const server = (changes: Partial<McpServer> = {}): McpServer => ({
  name: 'shop',
  allowedTools: null,
  required: true,
  transport: {
    kind: 'http',
    url: 'https://shop.example/mcp',
    bearer: 'secret-bearer',
    headers: { 'X-Key': 'secret-key' },
  },
  ...changes,
});

describe('a plan', () => {
  test.each([
    ['ask', 'untrusted', 'workspace-write'],
    ['accept_edits', 'on-request', 'workspace-write'],
    ['unattended', 'never', 'danger-full-access'],
  ] as const)('of %s is %s and %s', (policy, approvalPolicy, sandbox) => {
    expect(plan({}, {}, policy)).toMatchObject({ approvalPolicy, sandbox });
  });

  test('without an environment never has a sandbox that can write', () => {
    for (const policy of ['ask', 'unattended'] as const)
      expect(plan({ disable_execution_environment: true }, {}, policy).sandbox).toBe('read-only');
  });

  test('trusts no folder from the workspace up', () => {
    expect(plan().config['projects']).toEqual(
      Object.fromEntries(
        ['/home/me/project', '/home/me', '/home', '/'].map((folder) => [
          folder,
          { trust_level: 'untrusted' },
        ]),
      ),
    );
  });

  test('keeps secrets in variables of the process, and their names in the settings', () => {
    const made = plan({}, { mcpServers: [server()] });
    expect(Object.values(made.references).sort()).toEqual(['secret-bearer', 'secret-key']);
    const { config } = { config: settings(threadConfig(made, nothing, [], 'owner-1')) };
    expect(JSON.stringify(config)).not.toMatch(/secret-/);
    expect(config['shell_environment_policy.exclude']).toEqual(Object.keys(made.references));
  });

  test('tells variables of two servers apart', () => {
    const made = plan({}, { mcpServers: [server(), server({ name: 'other' })] });
    expect(Object.keys(made.references)).toHaveLength(4);
  });
});

describe('settings beside the person’s own', () => {
  test('keep their exclusions, variables and list of what is let through', () => {
    const own = {
      ...nothing,
      shell_environment_policy: { exclude: ['THEIRS'], include_only: ['PATH'], set: { A: '1' } },
    };
    const config = settings(threadConfig(plan({}, { variables: { B: '2' } }), own, ['KEY'], 'owner-1'));
    expect(config).toMatchObject({
      'shell_environment_policy.exclude': ['THEIRS', 'KEY'],
      'shell_environment_policy.set': {
        A: '1',
        B: '2',
        [OWNER_VARIABLE]: 'owner-1',
        [COMMAND_VARIABLE]: 'owner-1',
      },
      'shell_environment_policy.include_only': ['PATH', 'B', OWNER_VARIABLE, COMMAND_VARIABLE],
    });
  });

  test('say whose a command or a server is, whatever was prepared', () => {
    const transport = { kind: 'stdio', command: '/bin/server', args: [], env: { A: '1' }, cwd: '/' } as const;
    const variables = { [OWNER_VARIABLE]: 'another' };
    const made = plan({}, { mcpServers: [server({ transport })], variables });
    expect(settings(threadConfig(made, nothing, [], 'owner-1'))).toMatchObject({
      'shell_environment_policy.set': { [OWNER_VARIABLE]: 'owner-1' },
      mcp_servers: { shop: { env: { A: '1', [OWNER_VARIABLE]: 'owner-1' } } },
    });
  });

  test('switch their servers off only where the execution makes a statement', () => {
    const own = { ...nothing, mcp_servers: { mine: {} } };
    expect(settings(threadConfig(plan(), own, [], 'owner-1'))).not.toHaveProperty('mcp_servers');
    expect(settings(threadConfig(plan({ mcp_http_servers: [] }), own, [], 'owner-1'))['mcp_servers']).toEqual(
      {
        mine: { enabled: false },
      },
    );
  });

  test('refuse a server of the same name', () => {
    const own = { ...nothing, mcp_servers: { shop: {} } };
    expect(threadConfig(plan({}, { mcpServers: [server()] }), own, [], 'owner-1')).toHaveProperty('problem');
  });
});

test('names of variables are found wherever a configuration takes keys from', () => {
  expect(
    referredVariables({
      ...nothing,
      model_providers: { a: { env_key: 'A_KEY', env_http_headers: { 'X-B': 'B_KEY' } }, b: {} },
      mcp_servers: { c: { bearer_token_env_var: 'C_KEY' } },
    }),
  ).toEqual(['A_KEY', 'B_KEY', 'C_KEY']);
});

test.each([
  ['0.128.0', true],
  ['0.152.9', true],
  ['0.153.0', false],
  ['0.171.0-alpha.1', false],
  ['1.0.0', false],
])('version %s is refused: %s', (version, refused) => expect(isOldEnoughToRefuse(version)).toBe(refused));

describe('a Turn and its native turn', () => {
  const end = { id: 't', status: 'completed', error: null };
  const through = (...events: Parameters<typeof stepTurn>[1][]): TurnState =>
    events.reduce(stepTurn, starting);
  const named = { type: 'named', turnId: 't' } as const;
  const completed = { type: 'completed', end } as const;
  const cleaned = { type: 'cleaned', problem: null } as const;

  test.each<readonly [string, TurnState, TurnState['phase']]>([
    ['nothing', through(), 'starting'],
    ['a name', through(named), 'running'],
    ['an end', through(named, completed), 'ending'],
    ['an end before the name', through(completed, named), 'ending'],
    ['the end of another turn', through(named, { type: 'completed', end: { ...end, id: 'x' } }), 'running'],
    ['a second name', through(named, { type: 'named', turnId: 'x' }), 'running'],
    ['cleaning before the end', through(named, cleaned), 'running'],
    ['cleaning', through(named, completed, cleaned), 'over'],
    ['a loss', through({ type: 'lost', reason: 'gone' }), 'over'],
    ['anything after the end', through(named, completed, cleaned, named, completed), 'over'],
  ])('after %s', (_what, state, phase) => expect(state.phase).toBe(phase));

  test('a loss while cleaning keeps how the native turn ended', () => {
    expect(through(named, completed, { type: 'lost', reason: 'gone' })).toEqual({
      phase: 'over',
      end,
      problem: 'gone',
    });
  });
});
