import * as z from 'zod';

import {
  anyJson,
  expected,
  integer,
  integer32,
  isJsonObject,
  list,
  nullable,
  openText,
  text,
  written,
} from './presence.ts';
import { usagePayload } from './run-output.ts';

/**
 * Subagent observations (wire 15), Runtime to Core, only with `observe_subagent_identities`; id = the root's Run id.
 * Every `*_id` is a native identity.
 */

export const subagentIdentityPayload = z.object({
  native_id: expected(text),
  /** The root's native Session or a known child, never `native_id` itself. */
  parent_native_id: expected(text),
  /** Unix seconds. */
  native_created_at: expected(integer),
  parent_turn_id: expected(text),
  source_item_id: expected(text),
  name: nullable(text),
  instructions: nullable(text),
});
export type SubagentIdentityPayload = z.output<typeof subagentIdentityPayload>;

export const subagentLifecycleStatuses = ['active', 'closed'] as const;

export const subagentLifecyclePayload = z.object({
  native_id: expected(text),
  /** A repeat with the same body is ignored, with another body a conflict. */
  effect_id: expected(text),
  status: expected(openText(subagentLifecycleStatuses)),
  occurred_at_ms: expected(integer),
});
export type SubagentLifecyclePayload = z.output<typeof subagentLifecyclePayload>;

/** The two spellings that are known; any text is read. */
export const subagentTurnStatuses = ['in_progress', 'completed'] as const;

export const subagentTurnPayload = z.object({
  native_id: expected(text),
  turn_id: expected(text),
  status: expected(openText(subagentTurnStatuses)),
  created_at_ms: expected(integer),
  started_at_ms: nullable(integer),
  completed_at_ms: nullable(integer),
  usage: nullable(usagePayload),
});
export type SubagentTurnPayload = z.output<typeof subagentTurnPayload>;

export const subagentItemKinds = [
  'message',
  'output_message',
  'tool_call',
  'reasoning',
  'subagent_coordination',
] as const;

export const subagentItemPayload = z.object({
  native_id: expected(text),
  turn_id: expected(text),
  item_id: expected(text),
  /** Native order in the Turn, 0 to 2^30 - 1. */
  position: written(integer32),
  kind: expected(openText(subagentItemKinds)),
  /** Complete snapshot of the item, never a delta. An object; receivers take any JSON. */
  payload: expected(anyJson),
});
export type SubagentItemPayload = z.output<typeof subagentItemPayload>;

export const subagentItemSenderRule = (item: SubagentItemPayload): string | undefined =>
  isJsonObject(item.payload) ? undefined : 'payload';

export const subagentCoordinationKinds = [
  'create_subagent_call',
  'wait_for_subagents_call',
  'send_subagent_input_call',
  'resume_subagent_call',
  'interrupt_subagent_call',
  'close_subagent_call',
  'agent_message',
] as const;

export const subagentCoordinationPayload = z.object({
  id: expected(text),
  kind: expected(openText(subagentCoordinationKinds)),
  status: expected(text),
  /** Empty is the root. */
  actor_id: written(text),
  recipients: nullable(list(text)),
  text: nullable(text),
  model: nullable(text),
  reasoning_effort: nullable(text),
});
export type SubagentCoordinationPayload = z.output<typeof subagentCoordinationPayload>;
