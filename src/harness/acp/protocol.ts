import * as z from 'zod';

/**
 * What we read of the Agent Client Protocol, version 1. Lenient on purpose: agents of many makers and ages are behind
 * it, a member we do not use may be missing or new, and an update of an unknown kind is passed over. Everything that
 * comes from an agent goes through here.
 */
const text = z.string().nullish().catch(null);
const textContent = z.object({ type: z.literal('text'), text: z.string() });
const anyContent = z.looseObject({ type: z.string() });
const contentBlock = z.union([textContent, anyContent.transform(() => ({ type: 'other' as const }))]);

const toolContent = z.union([
  z.object({ type: z.literal('content'), content: contentBlock }),
  z.object({ type: z.literal('diff'), path: z.string(), oldText: z.string().nullish(), newText: z.string() }),
  anyContent.transform(() => ({ type: 'other' as const })),
]);
export type ToolContent = z.infer<typeof toolContent>;

/** A tool call or what changed of it; members that are absent stay as they were. */
export const toolCall = z.object({
  toolCallId: z.string(),
  title: text,
  kind: text,
  status: text,
  content: z.array(toolContent).nullish().catch(null),
  locations: z
    .array(z.object({ path: z.string() }))
    .nullish()
    .catch(null),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
});
export type ToolCall = z.infer<typeof toolCall>;

const chunk = <K extends string>(kind: K) =>
  z.object({ sessionUpdate: z.literal(kind), messageId: text, content: contentBlock });

export const sessionUpdate = z.union([
  chunk('agent_message_chunk'),
  chunk('agent_thought_chunk'),
  z.object({ sessionUpdate: z.literal('tool_call'), ...toolCall.shape }),
  z.object({ sessionUpdate: z.literal('tool_call_update'), ...toolCall.shape }),
  z.object({
    sessionUpdate: z.literal('plan'),
    entries: z.array(z.object({ content: z.string(), status: text })),
  }),
  z.object({ sessionUpdate: z.literal('current_mode_update'), currentModeId: z.string() }),
  z.looseObject({ sessionUpdate: z.string() }).transform(() => ({ sessionUpdate: 'other' as const })),
]);
export type SessionUpdate = z.infer<typeof sessionUpdate>;

export const sessionNotification = z.object({ sessionId: z.string(), update: sessionUpdate });

export const permissionRequest = z.object({
  sessionId: z.string(),
  toolCall,
  options: z.array(z.object({ optionId: z.string(), name: text, kind: z.string() })),
});
export type PermissionRequest = z.infer<typeof permissionRequest>;

const choice = z.object({ const: z.string(), title: text, description: text });
const choices = z.union([
  z
    .object({ enum: z.array(z.string()) })
    .transform(({ enum: values }) =>
      values.map((value) => ({ const: value, title: null, description: null })),
    ),
  z.object({ oneOf: z.array(choice) }).transform(({ oneOf }) => oneOf),
  z.object({ anyOf: z.array(choice) }).transform(({ anyOf }) => anyOf),
]);
const property = z.looseObject({ type: text, title: text, description: text, format: text });
export const elicitationProperty = property.transform((raw) => {
  const options = choices.safeParse(raw.type === 'array' ? raw['items'] : raw);
  return {
    kind: raw.type ?? 'string',
    title: raw.title ?? null,
    description: raw.description ?? null,
    secret: raw.format === 'password',
    options: options.success ? options.data : null,
  };
});
export type ElicitationProperty = z.infer<typeof elicitationProperty>;

export const elicitationRequest = z.object({
  mode: z.string().default('form'),
  message: z.string(),
  sessionId: text,
  toolCallId: text,
  requestedSchema: z
    .object({ properties: z.record(z.string(), elicitationProperty).default({}) })
    .nullish()
    .catch(null),
});
export type ElicitationRequest = z.infer<typeof elicitationRequest>;

/** An object that is there says yes; so does `true`. */
const offered = z
  .unknown()
  .optional()
  .transform((value) => value !== undefined && value !== null && value !== false);
export const initializeResponse = z.object({
  protocolVersion: z.number(),
  agentInfo: z.object({ name: text, title: text, version: text }).nullish().catch(null),
  agentCapabilities: z
    .object({
      loadSession: offered,
      promptCapabilities: z.object({ image: offered }).default({ image: false }),
      mcpCapabilities: z.object({ http: offered }).default({ http: false }),
      sessionCapabilities: z
        .object({ resume: offered, close: offered, delete: offered })
        .default({ resume: false, close: false, delete: false }),
    })
    .nullish()
    .catch(null),
});
export type InitializeResponse = z.infer<typeof initializeResponse>;

const modes = z.object({
  currentModeId: z.string(),
  availableModes: z.array(z.object({ id: z.string(), name: text, description: text })),
});
const configOption = z.object({
  id: z.string(),
  category: text,
  currentValue: z.unknown(),
  options: z
    .array(
      z.union([
        z.object({ value: z.string(), name: text }),
        // Grouped choices.
        z.looseObject({ options: z.array(z.object({ value: z.string(), name: text })) }),
      ]),
    )
    .nullish()
    .catch(null),
});
export type ConfigOption = z.infer<typeof configOption>;

/** Answer to `session/new`, `session/load` and `session/resume`; the last two tell no id. */
export const sessionResponse = z.object({
  sessionId: z.string().optional(),
  modes: modes.nullish().catch(null),
  configOptions: z.array(configOption).nullish().catch(null),
});
export type SessionResponse = z.infer<typeof sessionResponse>;

export const promptResponse = z.object({ stopReason: z.string() });

/** Code of an agent that wants a sign-in first. */
export const SIGN_IN_NEEDED = -32000;
