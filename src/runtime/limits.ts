import {
  ACTIVE_EXECUTORS,
  ADMISSION_LIFETIME_MS,
  ADMISSION_RECORDS,
  CANCEL_RECEIPT_MS,
  EXECUTOR_IDLE_MS,
  IDLE_EXECUTORS,
  NATIVE_SETTLEMENT_MS,
  QUIESCE_DRAIN_MS,
  RECEIPT_SEND_MS,
  STEER_BEFORE_DONE_MS,
  STEER_INPUTS_PER_RUN,
  STEER_WRITE_MS,
  TOTAL_EXECUTORS,
} from '../protocol/limits.ts';

/** Time the Runtime gives its own side, milliseconds. The wire's numbers come from `protocol/limits`. */
export const budgets = {
  /** Every receipt, status and transfer reply: how long it may wait to be written. */
  receiptSend: RECEIPT_SEND_MS,
  /** `prompt_cancel`: after this the receipt says `cancel_timeout`; the settlement goes on. */
  cancelReceipt: CANCEL_RECEIPT_MS,
  /** A natural end: `done` was seen, how long native settlement may take before it counts as failed. */
  naturalSettlement: NATIVE_SETTLEMENT_MS,
  /**
   * An abort: how long one attempt waits for native settlement. Three times the receipt's budget, so that an attempt
   * which settles at ten seconds never races its own `cancel_timeout` receipt.
   */
  abortSettlement: 3 * CANCEL_RECEIPT_MS,
  /** Native close of an Executor, one attempt. */
  nativeClose: NATIVE_SETTLEMENT_MS,
  /** Native write of an active input; the clock stops when the write is complete. */
  steerWrite: STEER_WRITE_MS,
  /** How long `done` waits for an input whose Turn has settled. */
  steerBeforeDone: STEER_BEFORE_DONE_MS,
  /** From admission to start. Never extended. */
  admissionLifetime: ADMISSION_LIFETIME_MS,
  executorIdle: EXECUTOR_IDLE_MS,
  /** Quiesce: all work drained and idle Executors closed within. */
  quiesceDrain: QUIESCE_DRAIN_MS,
} as const;

export const capacity = {
  activeExecutors: ACTIVE_EXECUTORS,
  idleExecutors: IDLE_EXECUTORS,
  executors: TOTAL_EXECUTORS,
  admissionRecords: ADMISSION_RECORDS,
  /** Different active-input ids one Run remembers. */
  inputsPerRun: STEER_INPUTS_PER_RUN,
  /** Events a Run's output holds before the adapter is held back. */
  outputEvents: 64,
} as const;
