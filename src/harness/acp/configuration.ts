import type { ExecutionConfiguration } from '../../protocol/execution.ts';
import type { McpServer, PreparedEnvironment } from '../adapter.ts';
import { emptyConfig } from '../native-parameters.ts';
import { inPackageFolder } from '../plugin-command.ts';
import { steeringVariable } from '../process/environment.ts';

/** What an execution asks of an agent. */
export interface SessionPlan {
  /** Continue this session of the agent. */
  readonly resume: string | null;
  readonly model: string | null;
  readonly mcpServers: readonly Record<string, unknown>[];
}

export type PlannedSession =
  | { readonly kind: 'plan'; readonly plan: SessionPlan }
  /** For a person; names no submitted value but names. */
  | { readonly kind: 'refused'; readonly message: string };

/** What the protocol has no word for is refused before anything is started, never left out. */
export function planSession(
  configuration: ExecutionConfiguration,
  prepared: PreparedEnvironment,
  own: readonly string[],
): PlannedSession {
  const message = unsupported(configuration) ?? unusable(prepared, own);
  if (message !== null) return { kind: 'refused', message };
  const options = configuration.agent_options ?? configuration;
  return {
    kind: 'plan',
    plan: {
      resume: configuration.agent_session_id || null,
      model: options.model || null,
      mcpServers: prepared.mcpServers.map(nativeServer),
    },
  };
}

function unsupported(configuration: ExecutionConfiguration): string | null {
  const options = configuration.agent_options ?? configuration;
  const asked: readonly (readonly [boolean, string])[] = [
    [options.model_provider !== undefined, 'a model provider of an execution'],
    [!emptyConfig(options.harness_config), 'native parameters'],
    [Boolean(options.system_prompt), 'a system prompt'],
    [configuration.execution_controls !== undefined, 'execution controls'],
    [(configuration.function_tools ?? []).length > 0, 'functions'],
    [configuration.tool_search === true, 'tool search'],
    [configuration.disable_subagents === true, 'switching sub-agents off'],
    [configuration.disable_execution_environment === true, 'working without a folder'],
  ];
  if (configuration.observe_subagent_identities)
    return 'The Agent Client Protocol does not show what sub-agents of an agent do, so they cannot be reported.';
  const first = asked.find(([wanted]) => wanted);
  if (first) return `The Agent Client Protocol has no way to give an agent ${first[1]}.`;
  if (configuration.require_existing_native_session && !configuration.agent_session_id)
    return 'The earlier conversation of this Session is not known, so it cannot be continued.';
  return null;
}

function unusable(
  { skills, variables, mcpServers }: PreparedEnvironment,
  own: readonly string[],
): string | null {
  if (skills.length > 0) return 'The Agent Client Protocol has no way to give an agent Skills.';
  const steering = steeringVariable(variables, own);
  if (steering !== null)
    return `The prepared variable ${JSON.stringify(steering)} would change the agent itself. Take it out of the Environment.`;
  if (mcpServers.some(({ allowedTools }) => allowedTools !== null))
    return 'The Agent Client Protocol cannot limit the tools of an MCP server.';
  if (mcpServers.some(({ required }) => required))
    return 'The Agent Client Protocol cannot tell whether a required MCP server is connected.';
  return null;
}

/** Sent over standard input; an agent keeps it as it likes. */
function nativeServer({ name, transport }: McpServer): Record<string, unknown> {
  const pairs = (values: Readonly<Record<string, string>>): { name: string; value: string }[] =>
    Object.entries(values).map(([key, value]) => ({ name: key, value }));
  if (transport.kind === 'http') {
    const { url, headers, bearer } = transport;
    const authorization = bearer === null ? {} : { Authorization: `Bearer ${bearer}` };
    return { type: 'http', name, url, headers: pairs({ ...headers, ...authorization }) };
  }
  const started = inPackageFolder(transport.command, transport.args, transport.cwd, process.platform);
  return { name, ...started, env: pairs(transport.env) };
}
