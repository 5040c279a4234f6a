import type { ExecutionConfiguration } from '../../protocol/execution.ts';
import type { InteractionPolicy } from '../adapter.ts';

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
}

export type PlannedLaunch =
  | { readonly kind: 'plan'; readonly plan: LaunchPlan }
  /** For a person; names no submitted value. */
  | { readonly kind: 'refused'; readonly message: string };

/**
 * An execution configuration as the program's options (input-and-tools 2). What has no honest native form is refused
 * before anything is started. Nothing confidential becomes an argument.
 */
export function planLaunch(configuration: ExecutionConfiguration, policy: InteractionPolicy): PlannedLaunch {
  const problem = unsupported(configuration);
  if (problem !== null) return { kind: 'refused', message: problem };
  const controls = configuration.execution_controls;
  const options = configuration.agent_options ?? configuration;
  const noTools = configuration.disable_execution_environment === true;
  const withoutTools = unique([
    ...NEVER,
    ...(controls ? ['WebSearch'] : []),
    ...(configuration.disable_subagents ? SUBAGENTS : []),
    ...(controls?.disable_programmatic_tool_calling ? PROGRAMMATIC : []),
  ]);
  const mode = policy === 'accept_edits' ? 'acceptEdits' : 'default';
  const resume = configuration.agent_session_id || null;
  return {
    kind: 'plan',
    plan: {
      args: [
        ...['--permission-mode', mode],
        ...['--disallowedTools', withoutTools.join(',')],
        ...(noTools ? ['--tools', '', '--strict-mcp-config'] : []),
        ...(configuration.mcp_http_servers && !noTools ? ['--strict-mcp-config'] : []),
        ...(options.model ? ['--model', options.model] : []),
        ...(resume ? ['--resume', resume] : []),
      ],
      mode,
      systemPrompt: options.system_prompt || null,
      withoutTools,
      noTools,
      resume,
    },
  };
}

function unsupported(configuration: ExecutionConfiguration): string | null {
  const controls = configuration.execution_controls;
  const options = configuration.agent_options ?? configuration;
  if (options.model_provider)
    return 'Claude Code runs with the sign-in of this machine and takes no model provider.';
  if (!isEmptyConfig(options.harness_config))
    return 'Claude Code takes no native parameters through this app.';
  if (controls && controls.web_search !== 'disabled')
    return 'Claude Code can only run with web search switched off.';
  if (controls && controls.text_verbosity !== 'medium')
    return 'Claude Code has no text verbosity but medium.';
  if (controls?.output_format) return 'Claude Code cannot give structured output through this app yet.';
  if (configuration.mcp_http_servers?.length)
    return 'Claude Code cannot use MCP servers of an Agent through this app yet.';
  if (configuration.function_tools?.length)
    return 'Claude Code cannot use functions of an Agent through this app yet.';
  if (configuration.tool_search) return 'Claude Code cannot use tool search through this app yet.';
  if (configuration.require_existing_native_session && !configuration.agent_session_id)
    return 'The earlier Claude Code conversation of this Session is not known, so it cannot be continued.';
  if (configuration.agent_session_id && !isUuid(configuration.agent_session_id))
    return 'The earlier conversation of this Session is not one of Claude Code.';
  return null;
}

/** Absent and `{}` are the same; what it is otherwise does not matter. */
function isEmptyConfig(config: unknown): boolean {
  if (config === undefined) return true;
  return (
    typeof config === 'object' &&
    config !== null &&
    !Array.isArray(config) &&
    Object.keys(config).length === 0
  );
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
