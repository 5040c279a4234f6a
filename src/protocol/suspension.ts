import * as z from 'zod';

import { isBoundedId } from './ids.ts';
import { CORRELATION_ID_BYTES } from './limits.ts';
import { flag, openText, optional, required, text, where, written } from './presence.ts';
import { violation, type Violation } from './violation.ts';

/** Suspension fencing (wire 14). The pair of ids identifies one attempt across connections. */

const present = where(text, (value) => value !== '');

const suspensionShape = z.strictObject({
  environment_id: required(present),
  suspend_id: required(present),
  /** Resume only: the source may still be running. */
  rollback: optional(flag),
});

/** `environment_quiesce`, Core to Runtime; id = request id. */
export const environmentQuiescePayload = suspensionShape.superRefine((request, context) => {
  if (request.rollback)
    context.addIssue({ code: 'custom', message: 'rollback of a quiesce', path: ['rollback'] });
});
export type EnvironmentQuiescePayload = z.output<typeof environmentQuiescePayload>;

/** `environment_resume`, Core to Runtime; id = request id. */
export const environmentResumePayload = suspensionShape;
export type EnvironmentResumePayload = z.output<typeof environmentResumePayload>;

/** At dispatch: the attempt's id is 1 to 128 bytes and not blank. */
export const suspendIdViolation = (payload: EnvironmentQuiescePayload): Violation | undefined =>
  isBoundedId(payload.suspend_id, CORRELATION_ID_BYTES)
    ? undefined
    : violation(['suspend_id'], 'invalid_request');

export const suspensionCodes = ['invalid_request', 'resource_busy', 'not_suspended'] as const;
export type SuspensionCode = (typeof suspensionCodes)[number];

/** `environment_quiesced` and `environment_resumed`, Runtime to Core; id of the request. */
export const suspensionResultPayload = z
  .object({
    environment_id: written(text),
    suspend_id: written(text),
    accepted: written(flag),
    error_code: optional(openText(suspensionCodes)),
  })
  .superRefine((result, context) => {
    if (result.accepted && result.error_code)
      context.addIssue({ code: 'custom', message: 'accepted with a code', path: ['error_code'] });
  });
export type SuspensionResultPayload = z.output<typeof suspensionResultPayload>;

/** Our senders name a code exactly when they refuse. */
export const suspensionSenderRule = (result: SuspensionResultPayload): string | undefined =>
  result.accepted === (result.error_code !== undefined) ? 'error_code' : undefined;
