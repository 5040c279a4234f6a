import * as z from 'zod';

import { inputContent } from './message-input.ts';
import { anyJson, expected, flag, plainList, required, text, written } from './presence.ts';

/** Functions (wire 10). */

/** `function_call`, Runtime to Core; id = Run id. */
export const functionCallPayload = z.object({
  /** Native call id, unique in the Run. */
  call_id: expected(text),
  /** One of the declared `function_tools`. */
  name: expected(text),
  /** Raw native arguments, normally an object. */
  arguments: written(anyJson),
});
export type FunctionCallPayload = z.output<typeof functionCallPayload>;

/**
 * `function_result`, Core to Runtime; id = Run id. Missing or null `content` and an invalid part are
 * `invalid_result`; an empty list is valid. Empty ids are told at dispatch, without a reply.
 */
export const functionResultPayload = z.strictObject({
  delivery_id: expected(text),
  call_id: expected(text),
  success: written(flag),
  content: required(plainList(inputContent)),
});
export type FunctionResultPayload = z.output<typeof functionResultPayload>;

/** The ids a reply to a refused `function_result` needs; undefined when the body does not tell both. */
export function functionResultIdsOf(
  body: unknown,
): { readonly deliveryId: string; readonly callId: string } | undefined {
  const parsed = z.object({ delivery_id: z.string().min(1), call_id: z.string().min(1) }).safeParse(body);
  return parsed.success ? { deliveryId: parsed.data.delivery_id, callId: parsed.data.call_id } : undefined;
}
