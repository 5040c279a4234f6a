import * as z from 'zod';

import { capabilitySources } from './capability-sources.ts';
import { inputMessages } from './message-input.ts';
import {
  anyJson,
  expected,
  flag,
  given,
  integer,
  integer32,
  jsonObject,
  list,
  nullable,
  optional,
  text,
  verbatim,
  written,
} from './presence.ts';

/**
 * Execution configuration (wire 4.4 to 4.9): the body of `prompt_request` and the immutable configuration of
 * `execution_prepare`. Decoding checks the structure alone; the rules between members act at dispatch, each with its
 * own code, and are in `execution-rules.ts`.
 */

export const outputFormat = z.strictObject({
  /** `json_schema`. */
  type: expected(text),
  /** Passed on as it was given. */
  schema: expected(anyJson),
});

export const executionControls = z.strictObject({
  disable_programmatic_tool_calling: optional(flag),
  /** Core sends `disabled`; an adapter rejects what it cannot express. */
  web_search: written(text),
  /** Core sends the resolved value, `medium` by default. */
  text_verbosity: written(text),
  output_format: given(outputFormat),
});
export type ExecutionControls = z.output<typeof executionControls>;

/** Confidential: `api_key` is never logged or kept. */
export const modelProvider = z.strictObject({
  protocol: expected(text),
  base_url: expected(text),
  api_key: expected(text),
  context_window: optional(integer32),
  max_output_tokens: optional(integer32),
});
export type ModelProvider = z.output<typeof modelProvider>;

const modelOptionMembers = {
  model: optional(text),
  system_prompt: optional(text),
  model_provider: given(modelProvider),
  /** Native parameters, whose meaning the Harness owns. Any JSON here, so that a wrong kind gets its own refusal. */
  harness_config: verbatim(),
};

export const agentOptions = z.strictObject(modelOptionMembers);
export type AgentOptions = z.output<typeof agentOptions>;

export const mcpHttpServer = z.strictObject({
  connection_origin: expected(text),
  server_label: expected(text),
  server_url: expected(text),
  /** Null is no restriction, an empty list allows nothing. */
  allowed_tools: nullable(list(text)),
  required: optional(flag),
  /** Transient secret. */
  bearer_token: given(text),
});
export type McpHttpServer = z.output<typeof mcpHttpServer>;

export const localEnvironment = z.strictObject({
  id: expected(text),
  /** `/workspace`, or exactly the directory text of the binding. */
  workspace_directory: expected(text),
  capability_sources: nullable(capabilitySources),
  tool_environment: optional(flag),
});
export type LocalEnvironment = z.output<typeof localEnvironment>;

export const functionTool = z.strictObject({
  name: expected(text),
  description: written(text),
  /** JSON Schema, passed on as it was given. */
  parameters: expected(jsonObject),
  defer_loading: optional(flag),
});
export type FunctionTool = z.output<typeof functionTool>;

export const executionConfiguration = z.strictObject({
  agent_kind: written(text),
  conversation_id: written(text),
  run_id: written(text),
  input: optional(inputMessages),
  agent_options: given(agentOptions),
  ...modelOptionMembers,
  execution_controls: given(executionControls),
  /** Undefined makes no statement, an empty list says there are none. */
  mcp_http_servers: given(list(mcpHttpServer)),
  local_environment: given(localEnvironment),
  agent_session_id: optional(text),
  workspace_read_only: optional(flag),
  agent_state_key: optional(text),
  workspace_authoring: optional(flag),
  release_on_completion: optional(flag),
  strict_resume: optional(flag),
  require_existing_native_session: optional(flag),
  observe_messages: optional(flag),
  observe_tool_observations: optional(flag),
  observe_subagent_identities: optional(flag),
  function_tools: optional(list(functionTool)),
  tool_search: optional(flag),
  disable_execution_environment: optional(flag),
  disable_subagents: optional(flag),
  max_concurrent_subagents: given(integer),
});
export type ExecutionConfiguration = z.output<typeof executionConfiguration>;

/** `prompt_request` (wire 6): starts a Run without an admission. */
export type PromptRequestPayload = ExecutionConfiguration;
