import type { ExecutionConfiguration, FunctionTool } from '../../protocol/execution.ts';
import type { InteractionPolicy, McpServer, PreparedEnvironment } from '../adapter.ts';
import { emptyConfig } from '../native-parameters.ts';
import { compileOutputSchema, type OutputSchema } from '../output-schema.ts';
import { steeringVariable } from '../process/environment.ts';
import { FUNCTION_SERVER } from './functions.ts';
import { isServerName } from './servers.ts';

/** Tools that start work nobody asked for, or that outlive a Turn. They are never offered. */
const NEVER = [
  'ScheduleWakeup',
  'CronCreate',
  'CronDelete',
  'CronList',
  'Monitor',
  'SendMessage',
  'Workflow',
];
/** Tools that run sub-agents; the first is the name in the program's own list, the second the one the model sees. */
const SUBAGENTS = ['Task', 'Agent', 'ListAgents'];
/** Tools that run code which calls tools. */
const PROGRAMMATIC = ['Workflow', 'REPL'];

/** What an execution asks of the program, and what its start-up facts must show before anything is believed. */
export interface LaunchPlan {
  readonly args: readonly string[];
  readonly mode: 'default' | 'acceptEdits';
  readonly systemPrompt: string | null;
  /** Tools that must be missing from the program's list. */
  readonly withoutTools: readonly string[];
  /** No built-in tool and no MCP server at all. */
  readonly noTools: boolean;
  readonly resume: string | null;
  readonly functions: readonly FunctionTool[];
  readonly servers: readonly McpServer[];
  /** The answer's form, where one is asked for. */
  readonly output: OutputSchema | null;
  /** Variables on top of the program's own. */
  readonly env: Readonly<Record<string, string>>;
}

export type PlannedLaunch =
  | { readonly kind: 'plan'; readonly plan: LaunchPlan }
  /** For a person; names no submitted value. */
  | { readonly kind: 'refused'; readonly message: string };

/**
 * An execution configuration as the program's options (input-and-tools 2). What has no honest native form is refused
 * before anything is started. Nothing confidential becomes an argument.
 */
export function planLaunch(
  configuration: ExecutionConfiguration,
  policy: InteractionPolicy,
  prepared: PreparedEnvironment,
): PlannedLaunch {
  const problem = unsupported(configuration) ?? withoutCompany(configuration, prepared) ?? unusable(prepared);
  if (problem !== null) return { kind: 'refused', message: problem };
  const format = configuration.execution_controls?.output_format;
  const output = format ? compileOutputSchema(format.schema) : null;
  if (output?.kind === 'refused') {
    return { kind: 'refused', message: `The form of the answer cannot be used: ${output.why}.` };
  }
  const alone = output !== null || configuration.tool_search === true;
  const servers = prepared.mcpServers;
  const controls = configuration.execution_controls;
  const options = configuration.agent_options ?? configuration;
  const noTools = configuration.disable_execution_environment === true;
  const withoutTools = unique([
    ...NEVER,
    ...(controls ? ['WebSearch'] : []),
    ...(configuration.disable_subagents || alone ? SUBAGENTS : []),
    ...(controls?.disable_programmatic_tool_calling ? PROGRAMMATIC : []),
  ]);
  const strict = configuration.mcp_http_servers !== undefined || servers.length > 0;
  const mode = policy === 'accept_edits' ? 'acceptEdits' : 'default';
  const resume = configuration.agent_session_id || null;
  return {
    kind: 'plan',
    plan: {
      args: [
        ...['--permission-mode', mode],
        ...['--disallowedTools', withoutTools.join(',')],
        ...(noTools ? ['--tools', '', '--strict-mcp-config'] : []),
        ...(strict && !noTools ? ['--strict-mcp-config'] : []),
        // Without it the program does not wait for the servers that it gets over standard input.
        ...(servers.length > 0 ? ['--await-initialize'] : []),
        ...(options.model ? ['--model', options.model] : []),
        ...(resume ? ['--resume', resume] : []),
      ],
      mode,
      systemPrompt: options.system_prompt || null,
      withoutTools,
      noTools,
      resume,
      functions: configuration.function_tools ?? [],
      servers,
      output: output === null ? null : output.schema,
      env: {
        ...prepared.variables,
        ...(configuration.tool_search ? { ENABLE_TOOL_SEARCH: 'true' } : {}),
      },
    },
  };
}

function unsupported(configuration: ExecutionConfiguration): string | null {
  const controls = configuration.execution_controls;
  const options = configuration.agent_options ?? configuration;
  if (options.model_provider)
    return 'Claude Code runs with the sign-in of this machine and takes no model provider.';
  if (configuration.observe_subagent_identities)
    return 'Claude Code does not show what its sub-agents are, so they cannot be reported.';
  if (!emptyConfig(options.harness_config)) return 'Claude Code takes no native parameters through this app.';
  if (controls && controls.web_search !== 'disabled')
    return 'Claude Code can only run with web search switched off.';
  if (controls && controls.text_verbosity !== 'medium')
    return 'Claude Code has no text verbosity but medium.';
  if (controls?.output_format && controls.output_format.type !== 'json_schema')
    return 'The form of the answer is of a kind that is not known.';
  for (const tool of configuration.function_tools ?? []) {
    if (!FUNCTION_NAME.test(tool.name))
      return `Claude Code cannot call a function of this name: ${printable(tool.name)}.`;
    if (tool.parameters['type'] !== 'object')
      return `Claude Code takes functions with named arguments only; ${tool.name} has others.`;
  }
  if (configuration.require_existing_native_session && !configuration.agent_session_id)
    return 'The earlier Claude Code conversation of this Session is not known, so it cannot be continued.';
  if (configuration.agent_session_id && !isUuid(configuration.agent_session_id))
    return 'The earlier conversation of this Session is not one of Claude Code.';
  return null;
}

const FUNCTION_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const printable = (name: string): string => JSON.stringify(name.slice(0, 80));

/** What cannot be had together (input-and-tools 4 and 5): nobody has shown that it works. */
function withoutCompany(
  configuration: ExecutionConfiguration,
  { skills, mcpServers }: PreparedEnvironment,
): string | null {
  const format = configuration.execution_controls?.output_format !== undefined;
  const search = configuration.tool_search === true;
  if (format && search) return 'Claude Code gives an answer in a fixed form only without tool search.';
  if ((format || search) && skills.length + mcpServers.length > 0)
    return 'Claude Code gives an answer in a fixed form, or searches tools, only without Skills and MCP servers.';
  if (
    configuration.disable_execution_environment &&
    mcpServers.some(({ transport }) => transport.kind === 'stdio')
  )
    return 'Without an Environment no MCP server can be started.';
  return null;
}

/** Variables that mean something to the program itself. Those of clouds are left to its tools. */
const OWN_VARIABLES = [
  'ANTHROPIC_*',
  'CLAUDE_*',
  'CLAUDECODE',
  'ENABLE_TOOL_SEARCH',
  'DISABLE_*',
  'MCP_*',
  'IS_SANDBOX',
  'AWS_BEARER_TOKEN_BEDROCK',
];

function unusable({ variables, mcpServers }: PreparedEnvironment): string | null {
  const steering = steeringVariable(variables, OWN_VARIABLES);
  if (steering !== null)
    return `The prepared variable ${printable(steering)} would change Claude Code itself. Take it out of the Environment.`;
  const server = mcpServers.find(({ name }) => !isServerName(name) || name === FUNCTION_SERVER);
  if (server) return `Claude Code cannot use an MCP server of this name: ${printable(server.name)}.`;
  return null;
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

/**
 * What the program's own start-up report contradicts, or null. Asking for a setting proves nothing; this list does.
 * Tools whose names begin with `mcp__` come from servers and are judged only where there must be none.
 */
export function contradiction(
  plan: LaunchPlan,
  report: { readonly tools: readonly string[]; readonly mode: string | null | undefined },
): string | null {
  const unwanted = plan.noTools
    ? report.tools[0]
    : report.tools.find((tool) => plan.withoutTools.includes(tool));
  if (unwanted !== undefined) return 'Claude Code offers the model tools that were switched off.';
  if (report.mode !== undefined && report.mode !== null && report.mode !== plan.mode)
    return 'Claude Code runs in another permission mode than the one asked for.';
  return null;
}
