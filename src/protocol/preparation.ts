import * as z from 'zod';

import { executionConfiguration } from './execution.ts';
import { messageInput } from './message-input.ts';
import { count, expected, flag, integer, optional, required, text, written, openText } from './presence.ts';

/** Preparation family (wire 5): a per-Turn admission in front of an Executor. */

/** `execution_prepare`, Core to Runtime; id = preparation request id. */
export const executionPreparePayload = z.strictObject({
  session_id: expected(text),
  configuration: written(executionConfiguration),
});
export type ExecutionPreparePayload = z.output<typeof executionPreparePayload>;

/** `execution_start`, Core to Runtime; id = the same request id. Which of the ids is empty is told at dispatch. */
export const executionStartPayload = z.strictObject({
  executor_id: expected(text),
  handle: expected(text),
  run_id: expected(text),
  input: required(messageInput),
});
export type ExecutionStartPayload = z.output<typeof executionStartPayload>;

/** `execution_release`, Core to Runtime; abandons the admission and nothing else. */
export const executionReleasePayload = z.strictObject({ handle: expected(text) });
export type ExecutionReleasePayload = z.output<typeof executionReleasePayload>;

export const preparationStates = [
  'preparing',
  'ready',
  'starting',
  'started',
  'released',
  'expired',
  'failed',
  'rejected',
] as const;
export type PreparationState = (typeof preparationStates)[number];

/** States after which Core's subscription ends. `rejected` answers one request and ends nothing. */
export const finalPreparationStates: readonly PreparationState[] = [
  'started',
  'released',
  'expired',
  'failed',
];

export const preparationFailureCodes = [
  'preparation_failed',
  'executor_cleanup_unconfirmed',
  'cleanup_unconfirmed',
  'start_cancelled',
  'status_delivery_failed',
  'connection_closed',
] as const;
export type PreparationFailureCode = (typeof preparationFailureCodes)[number];

export const preparationRejectionCodes = [
  'invalid_request',
  'invalid_configuration',
  'resource_unavailable',
  'unsupported_preparation',
  'unsupported_read_preparation',
  'unsupported_configuration',
  'request_conflict',
  'preparation_capacity',
  'executor_capacity',
  'session_binding_conflict',
  'configuration_conflict',
  'executor_cleanup_unconfirmed',
  'native_session_conflict',
  'history_unavailable',
  'invalid_start',
  'unknown_preparation',
  'read_only_preparation',
  'unknown_executor',
  'start_conflict',
  'preparation_not_ready',
  'run_conflict',
  'executor_unavailable',
  'start_cancelled',
  'invalid_release',
] as const;
export type PreparationRejectionCode = (typeof preparationRejectionCodes)[number];

export const preparationOperations = ['execution_prepare', 'execution_start', 'execution_release'] as const;
export type PreparationOperation = (typeof preparationOperations)[number];

/**
 * `preparation_status`, Runtime to Core; id = preparation request id, never a Run id. A status of a handle carries
 * the handle and a revision from 1; only a rejection may carry neither.
 */
export const preparationStatusPayload = z
  .object({
    executor_id: optional(text),
    /** Readiness came from an existing settled Executor. */
    reused: optional(flag),
    handle: optional(text),
    revision: written(count),
    state: expected(openText(preparationStates)),
    /** Unix milliseconds; fixed when granted. */
    expires_at: optional(integer),
    run_id: optional(text),
    error_code: optional(openText([...preparationFailureCodes, ...preparationRejectionCodes])),
    operation: optional(openText(preparationOperations)),
  })
  .superRefine((status, context) => {
    if (status.state === 'rejected') return;
    if (status.handle === undefined || status.handle === '')
      context.addIssue({ code: 'custom', message: 'no handle', path: ['handle'] });
    else if (status.revision === 0)
      context.addIssue({ code: 'custom', message: 'no revision', path: ['revision'] });
  });
export type PreparationStatusPayload = z.output<typeof preparationStatusPayload>;

/** Codes of `failed` and `rejected`; undefined where a status of that state carries none. */
export function preparationSenderRule(status: PreparationStatusPayload): string | undefined {
  const failed = status.state === 'failed' || status.state === 'rejected';
  if (failed !== (status.error_code !== undefined)) return 'error_code';
  if ((status.state === 'rejected') !== (status.operation !== undefined)) return 'operation';
  return undefined;
}
