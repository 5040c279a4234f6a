import { OWNER_VARIABLE } from '../../platform/process-tree.ts';
import type { ExecutionConfiguration } from '../../protocol/execution.ts';
import type { InteractionPolicy, McpServer, PrepareRequest } from '../adapter.ts';
import { compileOutputSchema, type OutputSchema } from '../output-schema.ts';
import type { NativeConfig } from './native-types.ts';
import { COMMAND_VARIABLE } from './leftovers.ts';
import { nativeFunctions, nativeName } from './map-functions.ts';
import { mapServer } from './map-servers.ts';
import { functionsMark, isThreadId } from './session-record.ts';

/** What an execution asks of the program, and what its answers must show before anything is believed. */
export interface LaunchPlan {
  readonly approvalPolicy: 'untrusted' | 'on-request' | 'never';
  readonly sandbox: 'read-only' | 'workspace-write' | 'danger-full-access';
  readonly model: string | null;
  readonly modelProvider: string | null;
  readonly instructions: string | null;
  /** Settings of the program by dotted name, for this conversation alone. Goes over standard input. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly servers: Readonly<Record<string, unknown>>;
  readonly requiredServers: readonly string[];
  /** No MCP server but `servers`. */
  readonly onlyTheseServers: boolean;
  /** Reference variables of the process. Kept from the agent's commands. Secret. */
  readonly references: Readonly<Record<string, string>>;
  /** For the agent's commands. May be secret. */
  readonly shellVariables: Readonly<Record<string, string>>;
  readonly dynamicTools: readonly unknown[];
  readonly functions: ReadonlyMap<string, string>;
  readonly functionsMark: string;
  readonly noEnvironment: boolean;
  /** Why the model must be one that the program knows, for a person; null when any will do. */
  readonly knownModel: string | null;
  readonly webSearch: string | null;
  readonly skillFolders: readonly string[];
  readonly outputSchema: OutputSchema | null;
  readonly resume: string | null;
  /** Continue the one conversation of this Session, whose id Core does not know. */
  readonly recover: boolean;
}

export type PlannedLaunch =
  | { readonly kind: 'plan'; readonly plan: LaunchPlan }
  /** For a person; names no submitted value. */
  | { readonly kind: 'refused'; readonly message: string };

/** `ask` and the others of the product's policy table, in the program's words. */
const policies: Readonly<Record<InteractionPolicy, Pick<LaunchPlan, 'approvalPolicy' | 'sandbox'>>> = {
  ask: { approvalPolicy: 'untrusted', sandbox: 'workspace-write' },
  accept_edits: { approvalPolicy: 'on-request', sandbox: 'workspace-write' },
  unattended: { approvalPolicy: 'never', sandbox: 'danger-full-access' },
};

const PROVIDER = 'agent-runtime';
const PROVIDER_KEY = 'AGENT_RUNTIME_PROVIDER_KEY';
const webSearchModes: readonly string[] = ['disabled', 'cached', 'live'];
const verbosities: readonly string[] = ['low', 'medium', 'high'];
/** Native parameters that are passed on. */
const nativeParameters: readonly string[] = [
  'model_reasoning_effort',
  'model_reasoning_summary',
  'service_tier',
];

/**
 * An execution configuration as the program's options (input-and-tools 2). What has no honest native form is refused
 * before anything is started. Nothing becomes an argument of the process.
 */
export function planLaunch(request: PrepareRequest): PlannedLaunch {
  const { configuration, policy, prepared } = request;
  const options = configuration.agent_options ?? configuration;
  const controls = configuration.execution_controls;
  const problem = unsupported(configuration) ?? unsupportedServers(prepared.mcpServers);
  if (problem !== null) return { kind: 'refused', message: problem };
  const form = controls?.output_format;
  const compiled = form ? compileOutputSchema(form.schema) : null;
  if (form && form.type !== 'json_schema')
    return { kind: 'refused', message: 'Codex gives structured output by a JSON schema only.' };
  if (compiled?.kind === 'refused')
    return {
      kind: 'refused',
      message: `Codex cannot give structured output by this schema: ${compiled.why}.`,
    };

  const noEnvironment = configuration.disable_execution_environment === true;
  const stated = configuration.mcp_http_servers !== undefined || noEnvironment;
  const functions = configuration.function_tools ?? [];
  const deferred = functions.some((tool) => tool.defer_loading);
  const verbosity = controls?.text_verbosity ?? null;
  const provider = options.model_provider;
  const servers = prepared.mcpServers.map((server, index) => mapServer(server, index));
  return {
    kind: 'plan',
    plan: {
      ...policies[policy],
      ...(noEnvironment ? { sandbox: 'read-only' as const } : {}),
      model: options.model || null,
      modelProvider: provider ? PROVIDER : null,
      instructions: options.system_prompt || null,
      config: {
        // Work that begins by itself would be a Turn that nobody asked for; endless retries would be one without end.
        'features.goals': false,
        'features.unbounded_connection_retries': false,
        // What is typed into a running command is not asked about, so under "ask" a command has no terminal.
        ...(policy === 'ask' ? { 'features.unified_exec_tty': false } : {}),
        // Questions reach the person outside the planning mode too.
        'features.default_mode_request_user_input': true,
        suppress_unstable_features_warning: true,
        check_for_update_on_startup: false,
        ...trust(request.workspace ?? request.stateDir),
        ...(controls ? { web_search: controls.web_search } : {}),
        ...(verbosity === null ? {} : { model_verbosity: verbosity }),
        ...(configuration.disable_subagents
          ? { 'agents.enabled': false, 'features.multi_agent': false }
          : {}),
        ...(configuration.observe_subagent_identities ? { 'features.multi_agent': true } : {}),
        ...(stated ? { 'features.apps': false, 'features.plugins': false } : {}),
        ...(provider ? { model_providers: { [PROVIDER]: mapProvider(provider) } } : {}),
        ...(provider?.context_window ? { model_context_window: provider.context_window } : {}),
        ...(configuration.max_concurrent_subagents
          ? { 'agents.max_threads': configuration.max_concurrent_subagents }
          : {}),
        ...asObject(options.harness_config),
      },
      servers: Object.fromEntries(servers.map(({ name, config }) => [name, config])),
      requiredServers: prepared.mcpServers.flatMap((server) => (server.required ? [server.name] : [])),
      onlyTheseServers: stated,
      references: Object.fromEntries([
        ...(provider ? [[PROVIDER_KEY, provider.api_key] as const] : []),
        ...servers.flatMap(({ references }) => Object.entries(references)),
      ]),
      shellVariables: prepared.variables,
      dynamicTools: nativeFunctions(functions),
      functions: new Map(functions.map((tool) => [nativeName(tool), tool.name])),
      functionsMark: functionsMark(functions),
      noEnvironment,
      knownModel:
        verbosity === 'low' || verbosity === 'high'
          ? 'Codex does not know whether this model can change the length of its answers. Choose another model.'
          : deferred
            ? 'Codex does not know whether this model can search for functions. Choose another model.'
            : null,
      webSearch: controls?.web_search ?? null,
      skillFolders: prepared.skills.map((skill) => skill.folder),
      outputSchema: compiled?.schema ?? null,
      resume: configuration.agent_session_id || null,
      recover: configuration.require_existing_native_session === true && !configuration.agent_session_id,
    },
  };
}

function unsupported(configuration: ExecutionConfiguration): string | null {
  const controls = configuration.execution_controls;
  const options = configuration.agent_options ?? configuration;
  const provider = options.model_provider;
  const parameters = asObject(options.harness_config);
  if (provider && provider.protocol !== 'responses')
    return 'Codex can only use a model provider that speaks the OpenAI Responses protocol.';
  if (provider?.max_output_tokens) return 'Codex cannot limit the length of an answer of a model provider.';
  if (parameters === null) return 'The native parameters for Codex are not an object.';
  if (
    Object.entries(parameters).some(
      ([name, value]) => !nativeParameters.includes(name) || typeof value !== 'string',
    )
  )
    return `Codex takes no native parameters through this app but ${nativeParameters.join(', ')}.`;
  if (controls && !webSearchModes.includes(controls.web_search))
    return `Codex knows only these kinds of web search: ${webSearchModes.join(', ')}.`;
  if (controls && !verbosities.includes(controls.text_verbosity))
    return `Codex knows only these text verbosities: ${verbosities.join(', ')}.`;
  if (controls?.disable_programmatic_tool_calling)
    return 'The newest models of Codex cannot be kept from calling tools by program.';
  if (configuration.agent_session_id && !isThreadId(configuration.agent_session_id))
    return 'The earlier conversation of this Session is not one of Codex.';
  const functions = configuration.function_tools ?? [];
  if (functions.some((tool) => !/^[A-Za-z0-9_-]{1,64}$/.test(tool.name)))
    return 'Codex takes functions whose names are made of letters, digits, "_" and "-", 64 at most.';
  return null;
}

function unsupportedServers(servers: readonly McpServer[]): string | null {
  if (servers.some((server) => !/^[A-Za-z0-9_-]+$/.test(server.name)))
    return 'Codex takes MCP servers whose names are made of letters, digits, "_" and "-".';
  return null;
}

/**
 * With a sandbox that can write, the program would mark the folder as trusted in the person's own settings and from
 * then on run what the folder's settings name (MCP servers, hooks) without a question. Said for this conversation
 * alone, and for every folder above, because trust is inherited from the top of a repository.
 */
function trust(folder: string): Record<string, unknown> {
  const projects: Record<string, unknown> = {};
  for (let at = folder; ; at = parentOf(at)) {
    projects[at] = { trust_level: 'untrusted' };
    if (parentOf(at) === at) return { projects };
  }
}

/** No `node:path`: this stays a pure function of its text on every platform. */
function parentOf(folder: string): string {
  const end = Math.max(folder.lastIndexOf('/'), folder.lastIndexOf('\\'));
  if (end < 0) return folder;
  return end === 0 ? folder.slice(0, 1) : folder.slice(0, end);
}

const mapProvider = (provider: { readonly base_url: string }): Record<string, unknown> => ({
  name: 'Agent',
  base_url: provider.base_url,
  env_key: PROVIDER_KEY,
  wire_api: 'responses',
});

/**
 * The settings of a conversation together with the person's own, which ours must not lose or meet by accident. A
 * problem is for a person.
 */
export function threadConfig(
  plan: LaunchPlan,
  own: NativeConfig,
  referred: readonly string[],
  owner: string,
): { readonly config: Record<string, unknown> } | { readonly problem: string } {
  const ownServers = Object.keys(own.mcp_servers ?? {});
  if (ownServers.some((name) => Object.hasOwn(plan.servers, name)))
    return {
      problem: 'An MCP server of the Agent has the name of one in your own Codex settings. Rename yours.',
    };
  const off = plan.onlyTheseServers ? ownServers.map((name) => [name, { enabled: false }] as const) : [];
  const servers = { ...Object.fromEntries(off), ...tracked(plan.servers, owner) };
  const shell = own.shell_environment_policy;
  const hidden = [...Object.keys(plan.references), ...referred];
  // Commands and servers get few variables of the process; this one finds them again when they stray.
  const shown = { ...plan.shellVariables, [OWNER_VARIABLE]: owner, [COMMAND_VARIABLE]: owner };
  return {
    config: {
      ...plan.config,
      ...(Object.keys(servers).length > 0 ? { mcp_servers: servers } : {}),
      ...(hidden.length > 0
        ? { 'shell_environment_policy.exclude': [...new Set([...(shell?.exclude ?? []), ...hidden])] }
        : {}),
      'shell_environment_policy.set': { ...shell?.set, ...shown },
      ...(shell?.include_only?.length
        ? { 'shell_environment_policy.include_only': [...shell.include_only, ...Object.keys(shown)] }
        : {}),
    },
  };
}

/** Servers that are programs, with the variable that says whose they are. */
function tracked(servers: LaunchPlan['servers'], owner: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => {
      const members = asObject(server) ?? {};
      if (!('command' in members)) return [name, server];
      return [name, { ...members, env: { ...asObject(members['env']), [OWNER_VARIABLE]: owner } }];
    }),
  );
}

/** Absent and `{}` are the same; null for anything that is no object. */
function asObject(value: unknown): Record<string, unknown> | null {
  if (value === undefined) return {};
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}
