import * as z from 'zod';

import { optional, text } from './presence.ts';

/**
 * `prompt_cancel` (wire 8), Core to Runtime; id = Run id, body optional. Without a delivery id it is carried out and
 * not acknowledged. The receipt is `interaction_decision_ack`.
 */
export const promptCancelPayload = z.strictObject({ delivery_id: optional(text) });
export type PromptCancelPayload = z.output<typeof promptCancelPayload>;

/** The delivery id Core uses for the Turns it owns. */
export const cancellationDeliveryId = (runId: string): string => `cancel:${runId}`;
