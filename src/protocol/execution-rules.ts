import { capabilitySourcesViolation } from './capability-sources.ts';
import type { CapabilityDeclaration } from './capabilities.ts';
import type { AgentOptions, ExecutionConfiguration, McpHttpServer, ModelProvider } from './execution.ts';
import { isBlank } from './ids.ts';
import { API_KEY_BYTES, FUNCTION_NAME_BYTES, FUNCTION_TOOLS, HARNESS_CONFIG_BYTES } from './limits.ts';
import { messageInputViolation } from './message-input.ts';
import type { ExecutionPreparePayload, ExecutionStartPayload } from './preparation.ts';
import { isJsonObject, type JsonObject } from './presence.ts';
import { hasRepeatedMember } from './raw-json.ts';
import { fitsUtf8, utf8Length } from './utf8.ts';
import { violation, type Violation } from './violation.ts';

/**
 * The rules between members of an execution configuration. They act at dispatch, after decoding, so that each keeps
 * its own code and its place in the order of checks (wire 4.4, 4.5, 4.7, 5.1, 5.4; runtime-behaviour 2.4 to 2.6).
 * Paths lead from the configuration unless said otherwise.
 */

type Rule = Violation | undefined;

export const stateKeyOf = (sessionId: string): string => `agents-api-${sessionId}`;

/** Wire 5.1, for an execution preparation: `invalid_configuration`. Paths lead from the payload. */
export function prepareViolation(payload: ExecutionPreparePayload): Rule {
  const { session_id, configuration } = payload;
  const wrong = (member: keyof ExecutionConfiguration): Violation =>
    violation(['configuration', member], 'invalid_configuration');
  if (isBlank(session_id)) return violation(['session_id'], 'invalid_configuration');
  if (configuration.run_id !== '') return wrong('run_id');
  if (configuration.input && configuration.input.length > 0) return wrong('input');
  if (configuration.conversation_id !== '') return wrong('conversation_id');
  if (configuration.workspace_authoring) return wrong('workspace_authoring');
  if (configuration.agent_state_key !== stateKeyOf(session_id)) return wrong('agent_state_key');
  return configuration.strict_resume ? undefined : wrong('strict_resume');
}

/** Wire 5.1 of `execution_start`: ids that must not be empty (`invalid_start`). Paths lead from the payload. */
export function startViolation(payload: ExecutionStartPayload): Rule {
  if (payload.executor_id === '') return violation(['executor_id'], 'invalid_start');
  if (payload.handle === '') return violation(['handle'], 'invalid_start');
  return isBlank(payload.run_id) ? violation(['run_id'], 'invalid_start') : undefined;
}

/**
 * The combined checks of wire 4.4 in their order: `unsupported_configuration` for a preparation, `error` and `done`
 * for a Run. Without `capabilities` only what needs no declaration is judged.
 */
export function configurationViolation(
  configuration: ExecutionConfiguration,
  capabilities: CapabilityDeclaration | undefined,
): Rule {
  return (
    toolCallingViolation(configuration, capabilities) ??
    toolSearchViolation(configuration, capabilities) ??
    environmentViolation(configuration, capabilities) ??
    mcpViolation(configuration, capabilities) ??
    functionToolsViolation(configuration, capabilities)
  );
}

const unsupported = (path: readonly (string | number)[]): Violation =>
  violation(path, 'unsupported_configuration');

function toolCallingViolation(
  configuration: ExecutionConfiguration,
  capabilities: CapabilityDeclaration | undefined,
): Rule {
  const disabled = configuration.execution_controls?.disable_programmatic_tool_calling === true;
  if (disabled && capabilities && !capabilities.programmatic_tool_calling_disable)
    return unsupported(['execution_controls', 'disable_programmatic_tool_calling']);
  return undefined;
}

function toolSearchViolation(
  configuration: ExecutionConfiguration,
  capabilities: CapabilityDeclaration | undefined,
): Rule {
  const search = configuration.tool_search === true;
  const deferred = (configuration.function_tools ?? []).some((tool) => tool.defer_loading);
  if (search !== deferred) return unsupported(['tool_search']);
  return search && capabilities && !capabilities.tool_search ? unsupported(['tool_search']) : undefined;
}

/** Checks 3 and 4: a local Environment and a disabled one exclude each other, and each needs its capability. */
export function environmentViolation(
  configuration: ExecutionConfiguration,
  capabilities: CapabilityDeclaration | undefined,
): Rule {
  const disabled = configuration.disable_execution_environment === true;
  const local = configuration.local_environment;
  if (local && disabled) return unsupported(['local_environment']);
  if (local && capabilities && !capabilities.local_environment) return unsupported(['local_environment']);
  if (disabled && capabilities && !capabilities.environment_none)
    return unsupported(['disable_execution_environment']);
  return undefined;
}

/** The MCP rules of wire 4.7 that the Runtime checks before it selects a factory. */
export function mcpViolation(
  configuration: ExecutionConfiguration,
  capabilities: CapabilityDeclaration | undefined,
): Rule {
  for (const [index, server] of (configuration.mcp_http_servers ?? []).entries()) {
    const member = mcpServerFault(server, configuration, capabilities);
    if (member) return unsupported(['mcp_http_servers', index, ...(member === 'server' ? [] : [member])]);
  }
  return undefined;
}

function mcpServerFault(
  server: McpHttpServer,
  configuration: ExecutionConfiguration,
  capabilities: CapabilityDeclaration | undefined,
): keyof McpHttpServer | 'server' | undefined {
  const disabled = configuration.disable_execution_environment === true;
  const hasLocal = configuration.local_environment !== undefined;
  if (server.connection_origin !== 'service' && server.connection_origin !== 'environment')
    return 'connection_origin';
  if (server.connection_origin === 'service' ? !disabled || hasLocal : disabled || !hasLocal)
    return 'connection_origin';
  if (capabilities && !capabilities.mcp_http_tools) return 'server';
  if (server.required && capabilities && !capabilities.mcp_http_required) return 'required';
  if (server.bearer_token === undefined) return undefined;
  if (capabilities && !capabilities.mcp_http_bearer_auth) return 'bearer_token';
  return parseUrl(server.server_url)?.scheme === 'https' ? undefined : 'bearer_token';
}

/** The rules of a server that its sender keeps (wire 4.7): label, address and tool names. */
export function mcpServersSenderViolation(servers: readonly McpHttpServer[]): Rule {
  const labels = new Set<string>();
  for (const [index, server] of servers.entries()) {
    const url = parseUrl(server.server_url);
    const plain =
      url &&
      !url.userInfo &&
      !url.query &&
      !url.fragment &&
      (url.scheme === 'https' || url.scheme === 'http');
    if (isBlank(server.server_label) || labels.has(server.server_label))
      return violation([index, 'server_label']);
    if (!plain) return violation([index, 'server_url']);
    if ((server.allowed_tools ?? []).some((tool) => tool === '')) return violation([index, 'allowed_tools']);
    labels.add(server.server_label);
  }
  return undefined;
}

/** Check 6: declared functions need the capability. */
export function functionToolsViolation(
  configuration: ExecutionConfiguration,
  capabilities: CapabilityDeclaration | undefined,
): Rule {
  const tools = configuration.function_tools ?? [];
  return tools.length > 0 && capabilities && !capabilities.function_tools
    ? unsupported(['function_tools'])
    : undefined;
}

/** The rules of function tools that their sender keeps (wire 4.9): count and names. */
export function functionToolsSenderViolation(tools: readonly { readonly name: string }[]): Rule {
  if (tools.length > FUNCTION_TOOLS) return violation([]);
  const names = new Set<string>();
  for (const [index, { name }] of tools.entries()) {
    if (isBlank(name) || utf8Length(name) > FUNCTION_NAME_BYTES || names.has(name))
      return violation([index, 'name']);
    names.add(name);
  }
  return undefined;
}

/** Capability sources of the local Environment: `unsupported_configuration`. */
export function environmentSourcesViolation(configuration: ExecutionConfiguration): Rule {
  const sources = configuration.local_environment?.capability_sources;
  const found = sources && capabilitySourcesViolation(sources);
  return found ? unsupported(['local_environment', 'capability_sources', ...found.path]) : undefined;
}

/** The exact read-only profile (wire 5.4) without its capabilities: `unsupported_read_preparation`. */
export function readOnlyProfileViolation(configuration: ExecutionConfiguration): Rule {
  const wrong = (member: keyof ExecutionConfiguration): Violation =>
    violation([member], 'unsupported_read_preparation');
  if (!configuration.local_environment || configuration.local_environment.id === '')
    return wrong('local_environment');
  if (isBlank(configuration.agent_state_key ?? '')) return wrong('agent_state_key');
  if (!configuration.strict_resume) return wrong('strict_resume');
  if (!configuration.release_on_completion) return wrong('release_on_completion');
  const foreign = readOnlyAbsent.find((member) => isGiven(configuration[member]));
  return foreign && wrong(foreign);
}

const readOnlyAbsent = [
  'run_id',
  'input',
  'conversation_id',
  'agent_session_id',
  'require_existing_native_session',
  'workspace_authoring',
  'disable_execution_environment',
  'agent_options',
  'model',
  'system_prompt',
  'model_provider',
  'harness_config',
  'execution_controls',
  'mcp_http_servers',
  'function_tools',
  'tool_search',
  'observe_messages',
  'observe_tool_observations',
  'observe_subagent_identities',
] as const satisfies readonly (keyof ExecutionConfiguration)[];

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== '' && value !== false && !(Array.isArray(value) && value.length === 0);

/** Model settings, wherever the sender put them. */
export interface ModelOptions {
  readonly model: string | undefined;
  readonly systemPrompt: string | undefined;
  readonly provider: ModelProvider | undefined;
  /** Absent and empty are the same. */
  readonly harnessConfig: JsonObject;
}

const optionMembers = ['model', 'system_prompt', 'model_provider', 'harness_config'] as const;

/**
 * The model settings of a configuration, from `agent_options` or from the top level, or why they are refused
 * (`unsupported_configuration`): both places used, a provider that breaks wire 4.5, native parameters that are no
 * object or too large. Whether the Harness knows each parameter is the adapter's to say.
 */
export function readModelOptions(configuration: ExecutionConfiguration): ModelOptions | Violation {
  const top: AgentOptions = configuration;
  const usesTop = optionMembers.find((member) => top[member] !== undefined);
  if (configuration.agent_options && usesTop !== undefined) return unsupported([usesTop]);
  const place = configuration.agent_options ? ['agent_options'] : [];
  const options = configuration.agent_options ?? top;
  const provider = options.model_provider;
  const fault = provider && modelProviderFault(provider);
  if (fault) return unsupported([...place, 'model_provider', fault]);
  const config = options.harness_config ?? (options.harness_config === undefined ? {} : null);
  if (!isJsonObject(config) || !fitsUtf8(JSON.stringify(config), HARNESS_CONFIG_BYTES))
    return unsupported([...place, 'harness_config']);
  return { model: options.model, systemPrompt: options.system_prompt, provider, harnessConfig: config };
}

/** `isViolation` for results that are either what was asked for or why not. */
export const isViolation = (value: object): value is Violation => 'path' in value;

/**
 * Native parameters that name a member twice (`unsupported_configuration`). Needs the raw message, because parsing
 * forgets it.
 */
export function repeatedHarnessConfig(text: string, configurationPath: readonly string[]): Rule {
  if (!text.includes('"harness_config"')) return undefined;
  for (const place of [['agent_options', 'harness_config'], ['harness_config']])
    if (hasRepeatedMember(text, [...configurationPath, ...place])) return unsupported(place);
  return undefined;
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/;

function modelProviderFault(provider: ModelProvider): keyof ModelProvider | undefined {
  const { protocol, base_url, api_key, context_window = 0, max_output_tokens = 0 } = provider;
  if (protocol !== 'anthropic' && protocol !== 'responses' && protocol !== 'chat_completions')
    return 'protocol';
  const url = parseUrl(base_url);
  if (!url || url.userInfo || url.query || url.fragment || /[\0\r\n]/.test(base_url)) return 'base_url';
  if (url.scheme !== 'https' && !(url.scheme === 'http' && LOOPBACK.test(url.host))) return 'base_url';
  if (protocol === 'anthropic' && /\/v1\/?$/.test(url.path)) return 'base_url';
  if (isBlank(api_key) || !fitsUtf8(api_key, API_KEY_BYTES) || /[\0\r\n]/.test(api_key)) return 'api_key';
  if (context_window < 0) return 'context_window';
  const aboveWindow = context_window > 0 && max_output_tokens > context_window;
  return max_output_tokens < 0 || aboveWindow ? 'max_output_tokens' : undefined;
}

interface UrlParts {
  readonly scheme: string;
  readonly userInfo: boolean;
  /** Without the port; never empty. */
  readonly host: string;
  readonly path: string;
  /** Also for a bare `?`. */
  readonly query: boolean;
  readonly fragment: boolean;
}

const URL_SHAPE = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#\s\\]*)([^?#\s\\]*)(\?[^#\s]*)?(#\S*)?$/;

/** An absolute address with a host. This folder has no `URL`; what the rules ask is little. */
function parseUrl(text: string): UrlParts | undefined {
  const match = URL_SHAPE.exec(text);
  const [, scheme = '', authority = '', path = '', query, fragment] = match ?? [];
  if (!match) return undefined;
  const at = authority.lastIndexOf('@');
  const host = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::\d*)?$/.exec(authority.slice(at + 1))?.[1];
  if (!host) return undefined;
  return {
    scheme: scheme.toLowerCase(),
    userInfo: at >= 0,
    host,
    path,
    query: query !== undefined,
    fragment: fragment !== undefined,
  };
}

/**
 * What the shared validator of `execution_prepare` and `prompt_request` says of a configuration without any state or
 * declaration: the read-only profile, tool search with deferred functions, and the MCP rules.
 */
export function sharedConfigurationViolation(configuration: ExecutionConfiguration): Rule {
  if (configuration.workspace_read_only) return readOnlyProfileViolation(configuration);
  return toolSearchViolation(configuration, undefined) ?? mcpViolation(configuration, undefined);
}

/** The shared validator of a Run's body. A Run needs a valid input and is never read-only. */
export function sharedRunViolation(configuration: ExecutionConfiguration): Rule {
  if (configuration.workspace_read_only) return violation(['workspace_read_only']);
  const input = messageInputViolation(configuration.input ?? []);
  return input ? violation(['input', ...input.path]) : sharedConfigurationViolation(configuration);
}
