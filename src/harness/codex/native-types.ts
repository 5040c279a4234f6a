import * as z from 'zod';

/**
 * What we read of the app server's protocol, as schemas at the border. Lenient on purpose: a member we do not use may
 * change or vanish, an unknown item or notification is passed over. `test/harness/codex/schema.test.ts` compares every
 * member here with the schema that the installed program writes of itself.
 */
const text = z.string();
const maybeText = z.string().nullish();
const maybeNumber = z.number().nullish();
const requestId = z.union([z.number(), text]);
export type RequestId = z.infer<typeof requestId>;
const json = z.unknown().optional();

export const initializeResult = z.object({ userAgent: text });

export const accountResult = z.object({
  account: z.object({ type: text }).nullish(),
  requiresOpenaiAuth: z.boolean(),
});

/** Only names are read of it; values of a person's configuration stay where they are. */
export const configResult = z.object({
  config: z.object({
    model_provider: maybeText,
    mcp_servers: z
      .record(
        z.string(),
        z.object({ bearer_token_env_var: maybeText, env_http_headers: z.record(z.string(), text).nullish() }),
      )
      .nullish()
      .catch(null),
    model_providers: z
      .record(
        z.string(),
        z.object({ env_key: maybeText, env_http_headers: z.record(z.string(), text).nullish() }),
      )
      .nullish()
      .catch(null),
    shell_environment_policy: z
      .object({
        exclude: z.array(text).nullish(),
        include_only: z.array(text).nullish(),
        set: z.record(z.string(), text).nullish(),
      })
      .nullish()
      .catch(null),
  }),
});
export type NativeConfig = z.infer<typeof configResult>['config'];

export const requirementsResult = z.object({
  requirements: z.object({ allowedWebSearchModes: z.array(text).nullish() }).nullish(),
});

export const modelListResult = z.object({
  data: z.array(z.object({ model: text, inputModalities: z.array(text) })),
  nextCursor: maybeText,
});

export const skillsListResult = z.object({
  data: z.array(z.object({ skills: z.array(z.object({ path: text, enabled: z.boolean() })) })),
});

const thread = z.object({
  id: text,
  environments: z.array(z.object({ environmentId: text })).nullish(),
  ephemeral: z.boolean().nullish(),
  parentThreadId: maybeText,
});
export const threadResult = z.object({ thread });
/** Answer of `thread/start` and `thread/resume`: what is in force, which need not be what was asked for. */
export const threadStartResult = z.object({
  thread,
  model: text,
  approvalPolicy: json,
  approvalsReviewer: text,
  sandbox: z.object({ type: text }),
});
export type ThreadStart = z.infer<typeof threadStartResult>;

export const turnStartResult = z.object({ turn: z.object({ id: text }) });
export const turnSteerResult = z.object({ turnId: text });
export const terminalsResult = z.object({ data: z.array(z.object({ itemId: text })), nextCursor: maybeText });

/** A name, or an object whose only member is the name; unknown ones of either form are possible. */
const errorInfo = z
  .union([text, z.record(z.string(), z.unknown())])
  .nullish()
  .catch(null);
export const turnError = z.object({ message: text, codexErrorInfo: errorInfo });
export type TurnError = z.infer<typeof turnError>;

const webAction = z.object({
  type: text,
  query: maybeText,
  queries: z.array(text).nullish(),
  url: maybeText,
  pattern: maybeText,
});

const fileChangeKind = z.object({ type: text, move_path: maybeText });
const fileUpdate = z.object({ path: text, kind: fileChangeKind, diff: text });
export type FileUpdate = z.infer<typeof fileUpdate>;

export const contentItem = z.union([
  z.object({ type: z.literal('inputText'), text }),
  z.object({ type: z.literal('inputImage'), imageUrl: text }),
]);
export type ContentItem = z.infer<typeof contentItem>;

const agentMessage = z.object({
  type: z.literal('agentMessage'),
  id: text,
  text,
  phase: maybeText,
  delivery: maybeText,
  questions: z.array(z.object({ title: text, options: z.array(text).nullish() })).nullish(),
});
export type AgentMessage = z.infer<typeof agentMessage>;

const commandExecution = z.object({
  type: z.literal('commandExecution'),
  id: text,
  command: text,
  cwd: maybeText,
  status: text,
  commandActions: z.array(z.object({ command: maybeText })).nullish(),
  aggregatedOutput: maybeText,
  exitCode: maybeNumber,
  durationMs: maybeNumber,
});
const fileChange = z.object({
  type: z.literal('fileChange'),
  id: text,
  changes: z.array(fileUpdate),
  status: text,
});
const mcpToolCall = z.object({
  type: z.literal('mcpToolCall'),
  id: text,
  server: text,
  tool: text,
  status: text,
  arguments: json,
  result: json,
  error: json,
  durationMs: maybeNumber,
});
const dynamicToolCall = z.object({
  type: z.literal('dynamicToolCall'),
  id: text,
  namespace: maybeText,
  tool: text,
  arguments: json,
  status: text,
  contentItems: z.array(contentItem).nullish().catch(null),
  success: z.boolean().nullish(),
});
const webSearch = z.object({
  type: z.literal('webSearch'),
  id: text,
  query: text,
  action: webAction.nullish(),
});
export const toolItem = z.union([commandExecution, fileChange, mcpToolCall, dynamicToolCall, webSearch]);
export type ToolItem = z.infer<typeof toolItem>;

/** One operation on sub-agents. */
const collabCall = z.object({
  type: z.literal('collabAgentToolCall'),
  id: text,
  tool: text,
  status: text,
  receiverThreadIds: z.array(text),
  prompt: maybeText,
  model: maybeText,
  reasoningEffort: maybeText,
});
export type CollabCall = z.infer<typeof collabCall>;
/** The same from the newest models, whose messages to their sub-agents nobody may read: only that it was done. */
const subAgentActivity = z.object({
  type: z.literal('subAgentActivity'),
  id: text,
  kind: text,
  agentThreadId: text,
  agentPath: text,
  model: maybeText,
  reasoningEffort: maybeText,
});
export type SubAgentActivity = z.infer<typeof subAgentActivity>;

export const knownItem = z.union([
  agentMessage,
  ...toolItem.options,
  collabCall,
  subAgentActivity,
  z.object({
    type: z.literal('userMessage'),
    id: text,
    clientId: maybeText,
    content: z
      .array(z.object({ type: text, text: maybeText }))
      .nullish()
      .catch(null),
  }),
  z.object({ type: z.literal('reasoning'), id: text, summary: z.array(text).nullish() }),
  z.object({ type: z.literal('contextCompaction'), id: text }),
]);
export const item = z.union([
  knownItem,
  z.object({ type: text }).transform(() => ({ type: 'other' as const })),
]);
export type Item = z.infer<typeof item>;

const breakdown = z.object({
  totalTokens: z.number(),
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  outputTokens: z.number(),
  reasoningOutputTokens: z.number(),
});
export type TokenBreakdown = z.infer<typeof breakdown>;

const where = { threadId: text, turnId: text };
const turn = z.object({
  id: text,
  status: text,
  error: turnError.nullish(),
  startedAt: maybeNumber,
  completedAt: maybeNumber,
});
export type NativeTurn = z.infer<typeof turn>;

const on = <M extends string, S extends z.ZodType>(method: M, params: S) =>
  z.object({ method: z.literal(method), params });

/** Notifications we act on. */
export const notification = z.discriminatedUnion('method', [
  on('thread/started', z.object({ thread })),
  on('turn/started', z.object({ threadId: text, turn })),
  on('turn/completed', z.object({ threadId: text, turn })),
  on('item/started', z.object({ ...where, item })),
  on('item/completed', z.object({ ...where, item, completedAtMs: maybeNumber })),
  on('item/agentMessage/delta', z.object({ ...where, itemId: text, delta: text })),
  on('item/reasoning/summaryTextDelta', z.object({ ...where, itemId: text, delta: text })),
  on('item/reasoning/summaryPartAdded', z.object({ ...where, itemId: text, summaryIndex: z.number() })),
  on('item/reasoning/textDelta', z.object({ ...where, itemId: text, delta: text })),
  on('item/commandExecution/outputDelta', z.object({ ...where, itemId: text, delta: text })),
  on('item/commandExecution/terminalInteraction', z.object({ ...where, itemId: text, stdin: text })),
  on('item/fileChange/patchUpdated', z.object({ ...where, itemId: text, changes: z.array(fileUpdate) })),
  on(
    'thread/tokenUsage/updated',
    z.object({ ...where, tokenUsage: z.object({ total: breakdown, last: breakdown }) }),
  ),
  on('mcpServer/startupStatus/updated', z.object({ threadId: maybeText, name: text, status: text })),
  on('serverRequest/resolved', z.object({ threadId: text, requestId })),
  on('model/rerouted', z.object({ ...where, toModel: text })),
  on('error', z.object({ ...where, error: turnError, willRetry: z.boolean() })),
  on('warning', z.object({ threadId: maybeText, message: text })),
]);
export type Notification = z.infer<typeof notification>;

const option = z.object({ label: text, description: maybeText });

const commandApproval = z.object({
  ...where,
  /** `command`, or `writeStdin`: input for a command that runs already. */
  kind: maybeText,
  itemId: text,
  reason: maybeText,
  command: maybeText,
  cwd: maybeText,
  commandActions: z.array(z.object({ command: maybeText })).nullish(),
  networkApprovalContext: z.object({ host: text, protocol: text }).nullish(),
  additionalPermissions: json,
});
const fileApproval = z.object({ ...where, itemId: text, reason: maybeText, grantRoot: maybeText });
const permissionsApproval = z.object({
  ...where,
  itemId: text,
  cwd: text,
  reason: maybeText,
  permissions: z.object({ network: json, fileSystem: json }),
});
const userInput = z.object({
  ...where,
  itemId: text,
  questions: z.array(
    z.object({
      id: text,
      header: text,
      question: text,
      isOther: z.boolean(),
      isSecret: z.boolean(),
      options: z.array(option).nullish(),
    }),
  ),
  autoResolutionMs: maybeNumber,
});
const elicitation = z.object({
  threadId: text,
  turnId: maybeText,
  serverName: text,
  mode: text,
  message: maybeText,
  requestedSchema: json,
  _meta: json,
});
const toolCall = z.object({ ...where, callId: text, namespace: maybeText, tool: text, arguments: json });

export type CommandApproval = z.infer<typeof commandApproval>;
export type FileApproval = z.infer<typeof fileApproval>;
export type PermissionsApproval = z.infer<typeof permissionsApproval>;
export type UserInputRequest = z.infer<typeof userInput>;
export type Elicitation = z.infer<typeof elicitation>;
export type DynamicCall = z.infer<typeof toolCall>;

const ask = <M extends string, S extends z.ZodType>(method: M, params: S) =>
  z.object({ id: requestId, method: z.literal(method), params });

/** Requests of the program that we answer. */
export const serverRequest = z.discriminatedUnion('method', [
  ask('item/commandExecution/requestApproval', commandApproval),
  ask('item/fileChange/requestApproval', fileApproval),
  ask('item/permissions/requestApproval', permissionsApproval),
  ask('item/tool/requestUserInput', userInput),
  ask('mcpServer/elicitation/request', elicitation),
  ask('item/tool/call', toolCall),
]);
export type ServerRequest = z.infer<typeof serverRequest>;

const methodsOf = (options: readonly { readonly shape: { readonly method: { readonly value: string } } }[]) =>
  new Set(options.map((each) => each.shape.method.value));
export const notificationMethods: ReadonlySet<string> = methodsOf(notification.options);
export const requestMethods: ReadonlySet<string> = methodsOf(serverRequest.options);
/** A Turn depends on each of these; one that cannot be read means that this app is too old. */
const vital: ReadonlySet<string> = new Set(['turn/started', 'turn/completed']);

const withMethod = z.object({ id: requestId.optional(), method: text });
const refusal = z.object({ id: requestId, error: z.object({ code: z.number() }) });
const result = z.object({ id: requestId, result: z.unknown() });

export type NativeLine =
  | { readonly kind: 'request'; readonly request: ServerRequest }
  /** A request that we do not serve, or cannot read. */
  | { readonly kind: 'foreign_request'; readonly id: RequestId; readonly method: string }
  | { readonly kind: 'notification'; readonly notification: Notification }
  | { readonly kind: 'result'; readonly id: RequestId; readonly result: unknown }
  /** Its text is the program's own and may repeat anything; only the code is kept. */
  | {
      readonly kind: 'refusal';
      readonly id: RequestId;
      readonly code: number;
      readonly unknownMethod: boolean;
    }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'unreadable'; readonly method: string | null; readonly vital: boolean };

/** One line of the program. What we do not know is `ignored`; a known message of another shape is `unreadable`. */
export function parseNative(value: unknown): NativeLine {
  const named = withMethod.safeParse(value);
  if (named.success) {
    const { id, method } = named.data;
    return id === undefined ? readNotification(method, value) : readRequest(id, method, value);
  }
  const refused = refusal.safeParse(value);
  if (refused.success) {
    const { id, error } = refused.data;
    return { kind: 'refusal', id, code: error.code, unknownMethod: saysUnknownMethod(value) };
  }
  const answered = result.safeParse(value);
  if (answered.success) return { kind: 'result', id: answered.data.id, result: answered.data.result };
  return { kind: 'unreadable', method: null, vital: false };
}

function readRequest(id: RequestId, method: string, value: unknown): NativeLine {
  const parsed = requestMethods.has(method) ? serverRequest.safeParse(value) : null;
  return parsed?.success
    ? { kind: 'request', request: parsed.data }
    : { kind: 'foreign_request', id, method };
}

function readNotification(method: string, value: unknown): NativeLine {
  if (!notificationMethods.has(method)) return { kind: 'ignored' };
  const parsed = notification.safeParse(value);
  return parsed.success
    ? { kind: 'notification', notification: parsed.data }
    : { kind: 'unreadable', method, vital: vital.has(method) };
}

/** The program has no code of its own for a method it does not know. Asked at the start-up check alone. */
function saysUnknownMethod(value: unknown): boolean {
  const parsed = z
    .object({ error: z.object({ code: z.literal([-32600, -32601]), message: text }) })
    .safeParse(value);
  if (!parsed.success) return false;
  return parsed.data.error.code === -32601 || parsed.data.error.message.includes('unknown variant');
}
