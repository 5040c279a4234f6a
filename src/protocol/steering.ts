import * as z from 'zod';

import { isBoundedId } from './ids.ts';
import { STEER_INPUT_ID_BYTES } from './limits.ts';
import { messageInput } from './message-input.ts';
import { expected, flag, openText, optional, required, text, written } from './presence.ts';
import { violation, type Violation } from './violation.ts';

/** Active input (wire 7). */

/** `prompt_steer`, Core to Runtime; id = Run id. */
export const promptSteerPayload = z.strictObject({
  input_id: expected(text),
  input: required(messageInput),
  /** Core always sends true. */
  durable_receipt: optional(flag),
});
export type PromptSteerPayload = z.output<typeof promptSteerPayload>;

/** At dispatch: the id is not blank and not over-long (`invalid_input`). */
export const steerInputIdViolation = (payload: PromptSteerPayload): Violation | undefined =>
  isBoundedId(payload.input_id, STEER_INPUT_ID_BYTES) ? undefined : violation(['input_id'], 'invalid_input');

/** The id to echo for a refused `prompt_steer`; empty when the body does not tell. */
export function steerInputIdOf(body: unknown): string {
  const parsed = z.object({ input_id: z.string() }).safeParse(body);
  return parsed.success ? parsed.data.input_id : '';
}

export const steeringCodes = [
  'invalid_input',
  'run_inactive',
  'input_conflict',
  'input_limit',
  'not_ready',
  'busy',
  'in_flight',
  'unsupported',
  'contract_violation',
  'rejected',
  'outcome_unknown',
] as const;
export type SteeringCode = (typeof steeringCodes)[number];

/** The only codes after which the same id and body may be sent again. */
export const retryableSteeringCodes: readonly SteeringCode[] = ['not_ready', 'busy'];

/**
 * `prompt_steer_ack`, Runtime to Core; id = Run id. `written` without `accepted` says the native write is complete
 * and consumption is not confirmed; it comes at most once per input.
 */
export const promptSteerAckPayload = z.object({
  input_id: written(text),
  accepted: written(flag),
  written: optional(flag),
  error_code: optional(openText(steeringCodes)),
  /** For people; bounded and untrusted. */
  error: optional(text),
});
export type PromptSteerAckPayload = z.output<typeof promptSteerAckPayload>;

/** Our senders write exactly one of: written, accepted, a code. */
export function steerAckSenderRule(ack: PromptSteerAckPayload): string | undefined {
  const facts = [ack.accepted, ack.written === true, ack.error_code !== undefined].filter(Boolean).length;
  if (facts !== 1) return 'error_code';
  return ack.error !== undefined && ack.error_code === undefined ? 'error' : undefined;
}
