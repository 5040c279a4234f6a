import * as z from 'zod';

/**
 * What we read of Claude Code's line protocol. Lenient on purpose: a member we do not use may change or vanish, and
 * a message we do not know is passed over. Everything that comes from the program goes through here.
 */
const id = z.string().nullish();
const amount = z.number().nullish().catch(null);

export const nativeUsage = z.object({
  input_tokens: amount,
  cache_read_input_tokens: amount,
  cache_creation_input_tokens: amount,
  output_tokens: amount,
  output_tokens_details: z.object({ thinking_tokens: amount }).nullish().catch(null),
});
export type NativeUsage = z.infer<typeof nativeUsage>;
const usage = nativeUsage.nullish().catch(null);

const toolResultContent = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);
const contentBlock = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown().optional() }),
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: toolResultContent.nullish(),
    is_error: z.boolean().nullish(),
  }),
  z.object({ type: z.string() }).transform(() => ({ type: 'other' as const })),
]);
export type ContentBlock = z.infer<typeof contentBlock>;
/** A message body is text or blocks; text is one block to us. */
const content = z.union([
  z.string().transform((text): ContentBlock[] => [{ type: 'text', text }]),
  z.array(contentBlock),
]);

const streamEvent = z.union([
  z.object({
    type: z.literal('message_start'),
    message: z.object({ id: z.string(), model: z.string().nullish(), usage }),
  }),
  z.object({
    type: z.literal('content_block_start'),
    index: z.number(),
    content_block: z.object({ type: z.string() }),
  }),
  z.object({
    type: z.literal('content_block_delta'),
    index: z.number(),
    delta: z.union([
      z.object({ type: z.literal('text_delta'), text: z.string() }),
      z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
      z.object({ type: z.string() }).transform(() => ({ type: 'other' as const })),
    ]),
  }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish() }).nullish(),
    usage,
  }),
  z.object({ type: z.literal('message_stop') }),
  z.object({ type: z.string() }).transform(() => ({ type: 'other' as const })),
]);

/** Parent is the tool call of a sub-agent; null is the root, the only one whose output belongs to the Turn. */
const scoped = { session_id: id, parent_tool_use_id: id };

const messages = {
  stream_event: z.object({ type: z.literal('stream_event'), ...scoped, event: streamEvent }),
  assistant: z.object({
    type: z.literal('assistant'),
    ...scoped,
    message: z.object({
      id: z.string(),
      model: z.string().nullish(),
      content,
      stop_reason: z.string().nullish(),
    }),
    /** Class of a failed model request. */
    error: z.string().nullish(),
    aborted: z.boolean().nullish(),
    /** There for the output of a command of the program itself, such as `/cost`. */
    local_command_source: z.string().nullish(),
  }),
  user: z.object({
    type: z.literal('user'),
    ...scoped,
    uuid: id,
    isReplay: z.boolean().nullish(),
    message: z.object({ content }),
    tool_use_result: z.unknown().optional(),
  }),
  result: z.object({
    type: z.literal('result'),
    session_id: id,
    subtype: z.string(),
    is_error: z.boolean(),
    result: z.string().nullish(),
    errors: z.array(z.string()).nullish().catch(null),
    stop_reason: z.string().nullish(),
    terminal_reason: z.string().nullish(),
    api_error: z.string().nullish(),
    api_error_status: z.number().nullish(),
    api_error_type: z.string().nullish(),
    user_message_uuids: z.array(z.string()).nullish().catch(null),
    queued_turn_count: z.number().nullish(),
    structured_output: z.unknown().optional(),
    usage,
    model_usage_since_last_result: z
      .record(z.string(), z.object({ costUSD: amount }))
      .nullish()
      .catch(null),
  }),
  command_lifecycle: z.object({
    type: z.literal('command_lifecycle'),
    session_id: id,
    command_uuid: z.string(),
    state: z.string(),
  }),
  conversation_reset: z.object({ type: z.literal('conversation_reset'), session_id: id }),
  control_response: z.object({
    type: z.literal('control_response'),
    response: z.object({
      request_id: z.string(),
      subtype: z.string(),
      response: z.unknown().optional(),
      error: z.string().nullish(),
    }),
  }),
  control_request: z.object({
    type: z.literal('control_request'),
    request_id: z.string(),
    request: z.looseObject({ subtype: z.string() }),
  }),
  control_cancel_request: z.object({ type: z.literal('control_cancel_request'), request_id: z.string() }),
} as const;

const systemMessages = {
  init: z.object({
    type: z.literal('system'),
    subtype: z.literal('init'),
    session_id: z.string(),
    tools: z.array(z.string()),
    capabilities: z.array(z.string()).nullish(),
    permissionMode: z.string().nullish(),
    model: z.string().nullish(),
    mcp_servers: z
      .array(z.object({ name: z.string() }))
      .nullish()
      .catch(null),
  }),
  api_retry: z.object({
    type: z.literal('system'),
    subtype: z.literal('api_retry'),
    session_id: id,
    attempt: z.number().nullish(),
    max_retries: z.number().nullish(),
    retry_delay_ms: z.number().nullish(),
    error_status: z.number().nullish(),
  }),
  compact_boundary: z.object({
    type: z.literal('system'),
    subtype: z.literal('compact_boundary'),
    session_id: id,
  }),
  status: z.object({
    type: z.literal('system'),
    subtype: z.literal('status'),
    session_id: id,
    status: z.string().nullish(),
  }),
} as const;

export type NativeMessage =
  | z.infer<(typeof messages)[keyof typeof messages]>
  | z.infer<(typeof systemMessages)[keyof typeof systemMessages]>;
export type AssistantMessage = z.infer<typeof messages.assistant>;
export type UserMessage = z.infer<typeof messages.user>;
export type ResultMessage = z.infer<typeof messages.result>;
export type StreamMessage = z.infer<typeof messages.stream_event>;
export type InitMessage = z.infer<typeof systemMessages.init>;
export type ControlRequest = z.infer<typeof messages.control_request>;

const head = z.object({ type: z.string(), subtype: z.string().nullish().catch(null) });

/** Messages without which the end of a Turn, or an answer, would be missed. */
const vital: ReadonlySet<string> = new Set([
  'result',
  'command_lifecycle',
  'control_request',
  'control_response',
]);

export type ParsedNative =
  | { readonly kind: 'message'; readonly message: NativeMessage }
  /** Nothing we know. */
  | { readonly kind: 'unknown' }
  /** A message we know in a form we do not. `vital`: going on without it would be guessing. */
  | { readonly kind: 'unreadable'; readonly type: string; readonly vital: boolean };

/** One value of the program's output. */
export function parseNative(value: unknown): ParsedNative {
  const top = head.safeParse(value);
  if (!top.success) return { kind: 'unknown' };
  const { type, subtype } = top.data;
  const parsed =
    type === 'system'
      ? find(systemMessages, subtype ?? '')?.safeParse(value)
      : find(messages, type)?.safeParse(value);
  if (!parsed) return { kind: 'unknown' };
  return parsed.success
    ? { kind: 'message', message: parsed.data }
    : { kind: 'unreadable', type, vital: vital.has(type) };
}

const find = <T extends object>(table: T, key: PropertyKey): T[keyof T] | undefined =>
  isKey(table, key) ? table[key] : undefined;
const isKey = <T extends object>(table: T, key: PropertyKey): key is keyof T => Object.hasOwn(table, key);

/** Answer to `initialize`. `account` tells that a credential exists, never what it is. */
export const initializeResponse = z.object({
  account: z.object({ tokenSource: id, apiKeySource: id, apiProvider: id }).nullish().catch(null),
  claude_code_version: z.string().nullish(),
  current_permission_mode: z.string().nullish(),
});
export type InitializeResponse = z.infer<typeof initializeResponse>;

/** Answer to `interrupt` with `cancel_queued`; an old program answers without these lists. */
export const interruptResponse = z.object({
  still_queued: z.array(z.string()),
  cancelled: z.array(z.string()),
});
export type InterruptResponse = z.infer<typeof interruptResponse>;

export const canUseTool = z.object({
  subtype: z.literal('can_use_tool'),
  tool_name: z.string(),
  input: z.record(z.string(), z.unknown()),
  tool_use_id: id,
  description: z.string().nullish(),
  display_name: z.string().nullish(),
  decision_reason: z.string().nullish().catch(null),
  blocked_path: z.string().nullish().catch(null),
});
/** What the program asks of an MCP server that we are. */
export const mcpMessage = z.object({
  subtype: z.literal('mcp_message'),
  server_name: z.string(),
  message: z.object({
    id: z.union([z.string(), z.number()]).optional(),
    method: z.string().optional(),
    params: z
      .object({
        name: z.string().optional(),
        arguments: z.record(z.string(), z.json()).optional(),
        protocolVersion: z.string().optional(),
        _meta: z.object({ 'claudecode/toolUseId': z.string().optional() }).optional(),
      })
      .optional(),
  }),
});

export const hookCallback = z.object({
  subtype: z.literal('hook_callback'),
  input: z.object({ tool_name: z.string() }),
});

export const mcpStatus = z.object({
  mcpServers: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      tools: z
        .array(z.object({ name: z.string() }))
        .nullish()
        .catch(null),
    }),
  ),
});

export type CanUseTool = z.infer<typeof canUseTool>;

/** Input of the tool that asks the person. Questions have no ids of their own. */
export const askInput = z.object({
  questions: z
    .array(
      z.object({
        question: z.string(),
        header: z.string().nullish(),
        multiSelect: z.boolean().nullish(),
        options: z
          .array(z.object({ label: z.string(), description: z.string().nullish() }))
          .nullish()
          .catch(null),
      }),
    )
    .min(1),
});

/** What a program must advertise in `system/init`, so that receipts and cancellation can be proven. */
export const requiredCapabilities = [
  'msg_lifecycle_v1',
  'interrupt_receipt_v1',
  'interrupt_cancel_queued_v1',
] as const;
