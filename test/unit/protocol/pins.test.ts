import { expect, test } from 'vitest';
import * as z from 'zod';

import * as limits from '../../../src/protocol/limits.ts';
import { cancellationReceiptCodes, decisionReceiptCodes } from '../../../src/protocol/interactions.ts';
import {
  preparationFailureCodes,
  preparationRejectionCodes,
  preparationStates,
} from '../../../src/protocol/preparation.ts';
import { frames } from '../../../src/protocol/registry.ts';
import { engineErrorCodes } from '../../../src/protocol/run-output.ts';
import { steeringCodes } from '../../../src/protocol/steering.ts';
import { WIRE_VERSION } from '../../../src/protocol/version.ts';

/** Literal copies of what a peer relies on: a change here is a change of the contract. */

test('the wire version', () => expect(WIRE_VERSION).toBe('0.10.0'));

test('limits', () => {
  expect({
    frame: limits.FRAME_BYTES,
    silence: limits.CORE_SILENCE_MS,
    heartbeat: limits.HEARTBEAT_DEFAULT_SECONDS,
    queues: [
      limits.RUNTIME_SEND_QUEUE_FRAMES,
      limits.RUNTIME_RECEIVE_QUEUE_FRAMES,
      limits.CORE_SEND_QUEUE_FRAMES,
    ],
    retired: limits.CLOSE_DEVICE_RETIRED,
    admissions: [
      limits.ADMISSION_LIFETIME_MS,
      limits.ACTIVE_EXECUTORS,
      limits.IDLE_EXECUTORS,
      limits.TOTAL_EXECUTORS,
      limits.ADMISSION_RECORDS,
    ],
    receipts: [
      limits.RECEIPT_SEND_MS,
      limits.CORE_RECEIPT_MS,
      limits.CANCEL_RECEIPT_MS,
      limits.NATIVE_SETTLEMENT_MS,
    ],
    steering: [
      limits.STEER_WRITE_MS,
      limits.STEER_WRITTEN_MS,
      limits.STEER_BEFORE_DONE_MS,
      limits.STEER_INPUTS_PER_RUN,
      limits.STEER_INPUT_ID_BYTES,
    ],
    reads: [
      limits.READ_MS,
      limits.CORE_READ_MS,
      limits.PENDING_READS,
      limits.READ_BYTES,
      limits.DIRECTORY_ENTRIES,
      limits.ENTRY_NAME_BYTES,
    ],
    writes: [
      limits.WRITE_STAGING_MS,
      limits.CORE_WRITE_MS,
      limits.WRITE_BODY_BYTES,
      limits.TRANSFER_CHUNK_BYTES,
      limits.WORKSPACE_WRITE_PAYLOAD_BYTES,
    ],
    exports: [limits.EXPORT_MS, limits.EXPORT_ARCHIVE_BYTES, limits.WORKSPACE_EXPORT_RESULT_PAYLOAD_BYTES],
    preparations: [
      limits.RUNTIME_PREPARE_MS,
      limits.CORE_RUNTIME_PREPARE_MS,
      limits.RUNTIME_PREPARE_BODY_BYTES,
      limits.RUNTIME_PREPARE_PAYLOAD_BYTES,
    ],
    suspension: [
      limits.QUIESCE_DRAIN_MS,
      limits.RESUME_ATTEMPT_MS,
      limits.RESUME_PAYLOAD_BYTES,
      limits.CORRELATION_ID_BYTES,
    ],
    decisions: [limits.APPLIED_DECISIONS, limits.APPLIED_DECISION_MS],
  }).toEqual({
    frame: 4_194_304,
    silence: 60_000,
    heartbeat: 15,
    queues: [64, 64, 64],
    retired: 4001,
    admissions: [300_000, 4, 16, 20, 64],
    receipts: [5_000, 15_000, 10_000, 10_000],
    steering: [10_000, 30_000, 15_000, 256, 256],
    reads: [12_000, 17_000, 4, 1_048_576, 1_024, 255],
    writes: [120_000, 195_000, 52_428_800, 65_536, 98_304],
    exports: [180_000, 553_648_128, 98_304],
    preparations: [120_000, 195_000, 52_428_800, 1_048_576],
    suspension: [5_000, 30_000, 1_024, 128],
    decisions: [1_024, 3_600_000],
  });
});

test('finite sets', () => {
  const set = (values: readonly string[]): string => values.join(' ');
  expect(set(preparationStates)).toBe('preparing ready starting started released expired failed rejected');
  expect(set(preparationFailureCodes)).toBe(
    'preparation_failed executor_cleanup_unconfirmed cleanup_unconfirmed start_cancelled status_delivery_failed connection_closed',
  );
  expect(set(preparationRejectionCodes)).toBe(
    'invalid_request invalid_configuration resource_unavailable unsupported_preparation unsupported_read_preparation unsupported_configuration request_conflict preparation_capacity executor_capacity session_binding_conflict configuration_conflict executor_cleanup_unconfirmed native_session_conflict history_unavailable invalid_start unknown_preparation read_only_preparation unknown_executor start_conflict preparation_not_ready run_conflict executor_unavailable start_cancelled invalid_release',
  );
  expect(set(steeringCodes)).toBe(
    'invalid_input run_inactive input_conflict input_limit not_ready busy in_flight unsupported contract_violation rejected outcome_unknown',
  );
  expect(set(decisionReceiptCodes)).toBe(
    'not_pending not_ready unsupported contract_violation runtime_error decision_conflict invalid_result',
  );
  expect(set(cancellationReceiptCodes)).toBe(
    'run_inactive not_ready cancel_failed cancel_timeout cancel_output_unavailable cancel_outcome_unavailable',
  );
  expect(set(engineErrorCodes)).toBe(
    'authentication_error rate_limit_exceeded usage_limit_exceeded server_overloaded server_error invalid_request resource_not_found request_timeout context_length_exceeded cyber_policy connection_failed',
  );
});

test('the registry of frames', () => {
  const of = (direction: string): string =>
    Object.entries(frames)
      .filter(([, frame]) => frame.direction === direction)
      .map(([type]) => type)
      .sort()
      .join(' ');
  expect(of('core-to-runtime')).toBe(
    'device_shutdown environment_quiesce environment_resume execution_prepare execution_release execution_start function_result permission_decision prompt_cancel prompt_for_user_choice_decision prompt_request prompt_steer runtime_prepare workspace_export workspace_read workspace_write',
  );
  expect(of('runtime-to-core')).toBe(
    'command_output delta done environment_quiesced environment_resumed error function_call heartbeat interaction_decision_ack output_message permission_cancel permission_request preparation_status prompt_for_user_choice prompt_steer_ack runtime_prepare_result subagent_coordination subagent_identity subagent_item subagent_lifecycle subagent_turn thinking tool_call usage workspace_export_result workspace_read_result workspace_write_result',
  );
});

test.each(Object.entries(frames))('the decoder of %s compiles whole', (_, frame) => {
  expect(() => z.compile(frame.payload as z.ZodType, { strict: true })).not.toThrow();
});
