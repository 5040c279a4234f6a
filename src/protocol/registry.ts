import type * as z from 'zod';

import { promptCancelPayload } from './cancellation.ts';
import { executionConfiguration } from './execution.ts';
import { functionCallPayload, functionResultPayload } from './functions.ts';
import { heartbeatPayload } from './heartbeat.ts';
import { runtimePreparePayload, runtimePrepareResultPayload } from './initialization.ts';
import {
  decisionAckSenderRule,
  interactionDecisionAckPayload,
  permissionCancelPayload,
  permissionDecisionPayload,
  permissionRequestPayload,
  promptForUserChoiceDecisionPayload,
  promptForUserChoicePayload,
  userChoiceSenderRule,
} from './interactions.ts';
import {
  RESUME_PAYLOAD_BYTES,
  RUNTIME_PREPARE_PAYLOAD_BYTES,
  WORKSPACE_EXPORT_RESULT_PAYLOAD_BYTES,
  WORKSPACE_REQUEST_PAYLOAD_BYTES,
  WORKSPACE_WRITE_PAYLOAD_BYTES,
} from './limits.ts';
import {
  executionPreparePayload,
  executionReleasePayload,
  executionStartPayload,
  preparationSenderRule,
  preparationStatusPayload,
} from './preparation.ts';
import {
  commandOutputPayload,
  deltaPayload,
  donePayload,
  doneSenderRule,
  errorPayload,
  outputMessagePayload,
  thinkingPayload,
  toolCallPayload,
  toolCallSenderRule,
  usagePayload,
} from './run-output.ts';
import { deviceShutdownPayload } from './shutdown.ts';
import { promptSteerAckPayload, promptSteerPayload, steerAckSenderRule } from './steering.ts';
import {
  subagentCoordinationPayload,
  subagentIdentityPayload,
  subagentItemPayload,
  subagentItemSenderRule,
  subagentLifecyclePayload,
  subagentTurnPayload,
} from './subagents.ts';
import {
  environmentQuiescePayload,
  environmentResumePayload,
  suspensionResultPayload,
  suspensionSenderRule,
} from './suspension.ts';
import { transferResultSenderRule } from './transfer.ts';
import {
  exportResultSenderRule,
  workspaceExportPayload,
  workspaceExportResultPayload,
} from './workspace-export.ts';
import { workspaceReadPayload, workspaceReadResultPayload } from './workspace-read.ts';
import { workspaceWritePayload, workspaceWriteResultPayload } from './workspace-write.ts';

export type Direction = 'core-to-runtime' | 'runtime-to-core';

/** What `Envelope.id` means for a type (wire 2.2). */
export type IdMeaning =
  | 'none'
  | 'run'
  | 'preparation'
  | 'interaction'
  /** The interaction for decisions, the Run for `prompt_cancel` and `function_result`. */
  | 'interaction-or-run'
  | 'transfer'
  | 'operation'
  | 'request';

export interface FrameDefinition<S extends z.ZodType = z.ZodType> {
  readonly direction: Direction;
  readonly id: IdMeaning;
  /** `none` and an empty optional body are left out of the Envelope; an absent body reads as an all-zero one. */
  readonly body: 'required' | 'optional' | 'none';
  readonly payload: S;
  /** Bound on the raw bytes of `payload` in either role. */
  readonly payloadBytes?: number;
  /** The finite code a receiver answers an undecodable or invalid body with; absent: no reply. */
  readonly refusal?: { readonly decode?: string; readonly validate?: string };
  /** Families whose decoder and validator are one step. */
  readonly singleStage?: true;
  /** Unknown members are ignored by everybody. */
  readonly open?: true;
  /** Sent often: not checked against its own schema before sending. */
  readonly hot?: true;
  /** A rule for our senders alone: the member that must not be written so. */
  senderRule?(payload: z.output<S>): string | undefined;
}

const frame = <const S extends z.ZodType, const D extends Omit<FrameDefinition<S>, 'payload'>>(
  payload: S,
  definition: D & Pick<FrameDefinition<S>, 'senderRule'>,
): D & FrameDefinition<S> => ({ ...definition, payload });

const toRuntime = { direction: 'core-to-runtime' } as const;
const toCore = { direction: 'runtime-to-core' } as const;
const ofRun = { ...toCore, id: 'run', body: 'required' } as const;
const invalidRequest = { decode: 'invalid_request', validate: 'invalid_request' } as const;

/** The only list of frames. */
export const frames = {
  runtime_prepare: frame(runtimePreparePayload, {
    ...toRuntime,
    id: 'transfer',
    body: 'required',
    payloadBytes: RUNTIME_PREPARE_PAYLOAD_BYTES,
    refusal: invalidRequest,
  }),
  execution_prepare: frame(executionPreparePayload, {
    ...toRuntime,
    id: 'preparation',
    body: 'required',
    refusal: { decode: 'invalid_request', validate: 'invalid_configuration' },
  }),
  execution_start: frame(executionStartPayload, {
    ...toRuntime,
    id: 'preparation',
    body: 'required',
    refusal: { decode: 'invalid_start', validate: 'invalid_start' },
  }),
  execution_release: frame(executionReleasePayload, {
    ...toRuntime,
    id: 'preparation',
    body: 'required',
    refusal: { decode: 'invalid_release', validate: 'invalid_release' },
  }),
  prompt_request: frame(executionConfiguration, { ...toRuntime, id: 'run', body: 'required' }),
  prompt_cancel: frame(promptCancelPayload, { ...toRuntime, id: 'run', body: 'optional' }),
  device_shutdown: frame(deviceShutdownPayload, { ...toRuntime, id: 'none', body: 'optional' }),
  permission_decision: frame(permissionDecisionPayload, {
    ...toRuntime,
    id: 'interaction',
    body: 'required',
  }),
  prompt_for_user_choice_decision: frame(promptForUserChoiceDecisionPayload, {
    ...toRuntime,
    id: 'interaction',
    body: 'required',
    singleStage: true,
  }),
  prompt_steer: frame(promptSteerPayload, {
    ...toRuntime,
    id: 'run',
    body: 'required',
    refusal: { decode: 'invalid_input', validate: 'invalid_input' },
  }),
  function_result: frame(functionResultPayload, {
    ...toRuntime,
    id: 'run',
    body: 'required',
    refusal: { validate: 'invalid_result' },
  }),
  workspace_read: frame(workspaceReadPayload, {
    ...toRuntime,
    id: 'operation',
    body: 'required',
    payloadBytes: WORKSPACE_REQUEST_PAYLOAD_BYTES,
    refusal: invalidRequest,
  }),
  workspace_write: frame(workspaceWritePayload, {
    ...toRuntime,
    id: 'operation',
    body: 'required',
    payloadBytes: WORKSPACE_WRITE_PAYLOAD_BYTES,
    refusal: invalidRequest,
  }),
  workspace_export: frame(workspaceExportPayload, {
    ...toRuntime,
    id: 'operation',
    body: 'required',
    payloadBytes: WORKSPACE_REQUEST_PAYLOAD_BYTES,
  }),
  environment_quiesce: frame(environmentQuiescePayload, {
    ...toRuntime,
    id: 'request',
    body: 'required',
    refusal: invalidRequest,
  }),
  environment_resume: frame(environmentResumePayload, {
    ...toRuntime,
    id: 'request',
    body: 'required',
    payloadBytes: RESUME_PAYLOAD_BYTES,
    refusal: { decode: 'not_suspended', validate: 'not_suspended' },
  }),

  heartbeat: frame(heartbeatPayload, { ...toCore, id: 'none', body: 'required', singleStage: true }),
  runtime_prepare_result: frame(runtimePrepareResultPayload, {
    ...toCore,
    id: 'transfer',
    body: 'required',
    payloadBytes: RUNTIME_PREPARE_PAYLOAD_BYTES,
    senderRule: transferResultSenderRule,
  }),
  preparation_status: frame(preparationStatusPayload, {
    ...toCore,
    id: 'preparation',
    body: 'required',
    senderRule: preparationSenderRule,
  }),
  delta: frame(deltaPayload, { ...ofRun, hot: true }),
  thinking: frame(thinkingPayload, { ...ofRun, hot: true }),
  output_message: frame(outputMessagePayload, { ...ofRun, hot: true }),
  tool_call: frame(toolCallPayload, {
    ...ofRun,
    singleStage: true,
    hot: true,
    senderRule: toolCallSenderRule,
  }),
  usage: frame(usagePayload, { ...ofRun, hot: true }),
  error: frame(errorPayload, { ...ofRun, open: true }),
  done: frame(donePayload, { ...ofRun, senderRule: doneSenderRule }),
  command_output: frame(commandOutputPayload, { ...ofRun, hot: true }),
  function_call: frame(functionCallPayload, ofRun),
  permission_request: frame(permissionRequestPayload, ofRun),
  permission_cancel: frame(permissionCancelPayload, { ...toCore, id: 'interaction', body: 'none' }),
  prompt_for_user_choice: frame(promptForUserChoicePayload, { ...ofRun, senderRule: userChoiceSenderRule }),
  interaction_decision_ack: frame(interactionDecisionAckPayload, {
    ...toCore,
    id: 'interaction-or-run',
    body: 'required',
    senderRule: decisionAckSenderRule,
  }),
  prompt_steer_ack: frame(promptSteerAckPayload, { ...ofRun, senderRule: steerAckSenderRule }),
  workspace_read_result: frame(workspaceReadResultPayload, { ...toCore, id: 'operation', body: 'required' }),
  workspace_write_result: frame(workspaceWriteResultPayload, {
    ...toCore,
    id: 'operation',
    body: 'required',
    senderRule: transferResultSenderRule,
  }),
  workspace_export_result: frame(workspaceExportResultPayload, {
    ...toCore,
    id: 'operation',
    body: 'required',
    payloadBytes: WORKSPACE_EXPORT_RESULT_PAYLOAD_BYTES,
    senderRule: exportResultSenderRule,
  }),
  environment_quiesced: frame(suspensionResultPayload, {
    ...toCore,
    id: 'request',
    body: 'required',
    senderRule: suspensionSenderRule,
  }),
  environment_resumed: frame(suspensionResultPayload, {
    ...toCore,
    id: 'request',
    body: 'required',
    senderRule: suspensionSenderRule,
  }),
  subagent_identity: frame(subagentIdentityPayload, ofRun),
  subagent_lifecycle: frame(subagentLifecyclePayload, ofRun),
  subagent_turn: frame(subagentTurnPayload, ofRun),
  subagent_item: frame(subagentItemPayload, { ...ofRun, senderRule: subagentItemSenderRule }),
  subagent_coordination: frame(subagentCoordinationPayload, ofRun),
} as const;

export type FrameType = keyof typeof frames;
export type FrameTypeOf<D extends Direction> = {
  [T in FrameType]: (typeof frames)[T]['direction'] extends D ? T : never;
}[FrameType];
export type CoreFrameType = FrameTypeOf<'core-to-runtime'>;
export type RuntimeFrameType = FrameTypeOf<'runtime-to-core'>;

/** The payload of a type as receivers read it and senders give it. */
export type FramePayload<T extends FrameType> = z.output<(typeof frames)[T]['payload']>;

export const isFrameType = (type: string): type is FrameType => Object.hasOwn(frames, type);

/** The definition of a type, with the types of its payload erased. */
export const definitionOf = (type: FrameType): FrameDefinition => frames[type];

export interface KnownType<D extends Direction> {
  /** The name as it is written here, which compares faster than one that was read. */
  readonly type: FrameTypeOf<D>;
  readonly definition: FrameDefinition;
}

/** The types of one direction by their names. */
export function typesOf<D extends Direction>(direction: D): ReadonlyMap<string, KnownType<D>> {
  const isOfIt = (type: string): type is FrameTypeOf<D> =>
    isFrameType(type) && frames[type].direction === direction;
  return new Map(
    Object.keys(frames)
      .filter(isOfIt)
      .map((type) => [type, { type, definition: frames[type] }]),
  );
}
