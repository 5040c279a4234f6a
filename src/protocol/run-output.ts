import * as z from 'zod';

import { inputContent } from './message-input.ts';
import {
  anyJson,
  count,
  decimal,
  expected,
  given,
  integer,
  integer32,
  jsonObject,
  list,
  openText,
  optional,
  plainList,
  text,
  written,
} from './presence.ts';

/** Output of a Run (wire 4.2, 4.3 and 11), Runtime to Core; id = Run id. */

export const deltaPayload = z.object({
  /** Native message id, only with `observe_messages`. */
  item_id: optional(text),
  delta: written(text),
  /** Rises per Run from 1. */
  sequence: written(count),
});
export type DeltaPayload = z.output<typeof deltaPayload>;

export const thinkingPayload = z.object({ text: written(text), sequence: optional(count) });
export type ThinkingPayload = z.output<typeof thinkingPayload>;

export const outputMessageStatuses = ['in_progress', 'completed', 'incomplete'] as const;
export const outputMessagePhases = ['commentary', 'final_answer'] as const;

/** Only with `observe_messages`. On completion `text` is complete and replaces what deltas built; it may be empty. */
export const outputMessagePayload = z.object({
  id: expected(text),
  status: expected(openText(outputMessageStatuses)),
  phase: optional(openText(outputMessagePhases)),
  text: given(text),
});
export type OutputMessagePayload = z.output<typeof outputMessagePayload>;

export const toolStages = ['before', 'after'] as const;
export const toolKinds = ['command', 'mcp', 'function', 'web_search'] as const;
export const toolStatuses = ['in_progress', 'completed', 'failed', 'incomplete'] as const;
export const webActionTypes = ['search', 'open_page', 'find_in_page', 'other'] as const;

export const webAction = z.strictObject({
  type: expected(openText(webActionTypes)),
  query: optional(text),
  queries: optional(list(text)),
  url: optional(text),
  pattern: optional(text),
});

/** Engine-neutral view of a tool call. Which members belong to which `kind` is in `toolCallSenderRule`. */
export const toolObservation = z.strictObject({
  kind: expected(openText(toolKinds)),
  status: expected(openText(toolStatuses)),
  command: optional(text),
  cwd: given(text),
  exit_code: given(integer),
  duration_ms: given(integer),
  server: optional(text),
  name: optional(text),
  arguments: given(anyJson),
  output: given(anyJson),
  error: given(anyJson),
  /** An empty list says "no content". */
  content: given(plainList(inputContent)),
  action: given(webAction),
});
export type ToolObservation = z.output<typeof toolObservation>;

/** Strict at every depth for every receiver. */
export const toolCallPayload = z.strictObject({
  observation: given(toolObservation),
  id: expected(text),
  name: written(text),
  stage: expected(openText(toolStages)),
  args: optional(jsonObject),
  result: optional(jsonObject),
});
export type ToolCallPayload = z.output<typeof toolCallPayload>;

/** The member of a tool call that our senders must not write so, or undefined. */
export function toolCallSenderRule(call: ToolCallPayload): string | undefined {
  const seen = call.observation;
  if (!seen) return undefined;
  if ((seen.status === 'in_progress') !== (call.stage === 'before')) return 'observation/status';
  if (seen.kind === 'command' && !seen.command) return 'observation/command';
  if (
    seen.kind === 'command' &&
    seen.output !== undefined &&
    typeof seen.output !== 'string' &&
    seen.output !== null
  )
    return 'observation/output';
  if (seen.kind === 'mcp' && !seen.server) return 'observation/server';
  if ((seen.kind === 'mcp' || seen.kind === 'function') && !seen.name) return 'observation/name';
  return undefined;
}

/** Complete measurement; absent means unknown, never zero. */
export const tokenUsage = z.object({
  input_tokens: written(integer),
  cached_input_tokens: written(integer),
  output_tokens: written(integer),
  reasoning_output_tokens: written(integer),
  total_tokens: written(integer),
});
export type TokenUsage = z.output<typeof tokenUsage>;

/** Running total of the execution: each value replaces the last one, nothing is summed. */
export const usagePayload = z.object({
  tokens: given(tokenUsage),
  provider: optional(text),
  model: optional(text),
  /** Native figures, kept as evidence. */
  input_tokens: optional(integer32),
  output_tokens: optional(integer32),
  cost_usd: optional(decimal),
  raw: optional(jsonObject),
});
export type UsagePayload = z.output<typeof usagePayload>;

export const engineErrorCodes = [
  'authentication_error',
  'rate_limit_exceeded',
  'usage_limit_exceeded',
  'server_overloaded',
  'server_error',
  'invalid_request',
  'resource_not_found',
  'request_timeout',
  'context_length_exceeded',
  'cyber_policy',
  'connection_failed',
] as const;
export type EngineErrorCode = (typeof engineErrorCodes)[number];

export interface ErrorPayload {
  /** Untrusted text, never parsed to classify. */
  error: string;
  code?: EngineErrorCode | undefined;
  /** 100 to 599, only with `connection_failed`. */
  http_status?: number | undefined;
}

const isEngineErrorCode = (value: unknown): value is EngineErrorCode =>
  engineErrorCodes.some((code) => code === value);

/** `code` and `http_status` never make the frame invalid: what is not known is left out. */
export const errorPayload = z
  .object({ error: written(text), code: given(anyJson), http_status: given(anyJson) })
  .transform((payload): ErrorPayload => {
    if (!isEngineErrorCode(payload.code)) return { error: payload.error };
    const status = payload.http_status;
    const kept =
      payload.code === 'connection_failed' &&
      typeof status === 'number' &&
      Number.isInteger(status) &&
      status >= 100 &&
      status <= 599;
    return kept
      ? { error: payload.error, code: payload.code, http_status: status }
      : { error: payload.error, code: payload.code };
  });

/**
 * `done`, exactly once and last: the stream closed, which says nothing about success. The same shape is the
 * continuity snapshot of a cancellation receipt.
 */
export const donePayload = z.object({
  /** Native completion time of the root, Unix milliseconds. */
  source_completed_at_ms: given(integer),
  /** Empty when nothing was observed. */
  content: written(text),
  transcript: optional(text),
  usage: optional(usagePayload),
  metadata: optional(jsonObject),
});
export type DonePayload = z.output<typeof donePayload>;

/** The native Session id of a snapshot, where it is a usable text. */
export function nativeSessionId(outcome: DonePayload): string | undefined {
  const id = outcome.metadata?.['agent_session_id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** Our senders write only texts for the two known metadata members. */
export function doneSenderRule(outcome: DonePayload): string | undefined {
  for (const member of ['agent_session_id', 'agent_session_type']) {
    const value = outcome.metadata?.[member];
    if (value !== undefined && typeof value !== 'string') return `metadata/${member}`;
  }
  return undefined;
}

/** Text of a running command, between its `before` and `after`; its completed `output` supersedes it. */
export const commandOutputPayload = z.object({ id: expected(text), delta: written(text) });
export type CommandOutputPayload = z.output<typeof commandOutputPayload>;
