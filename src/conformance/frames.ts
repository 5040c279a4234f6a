import * as z from 'zod';

import { decodeBody, type RefusalStage } from '../protocol/codec.ts';
import { decodeEnvelope } from '../protocol/envelope.ts';
import { sharedConfigurationViolation, sharedRunViolation } from '../protocol/execution-rules.ts';
import { checkAnswers } from '../protocol/interactions.ts';
import { isJsonObject } from '../protocol/presence.ts';
import { definitionOf, isFrameType, type FramePayload, type FrameType } from '../protocol/registry.ts';
import { canonicalPayload, pointerToken, undeclaredMember } from '../protocol/schema-walk.ts';
import type { Violation } from '../protocol/violation.ts';
import { receiptViolation } from '../protocol/transfer.ts';
import { readResultViolation } from '../protocol/workspace-read.ts';

/**
 * The verdict on one frame, in either direction: its strict decoder and its family's shared validator. Rules that act
 * at dispatch and everything that needs state are not asked. What a validator needs beside the frame is in `context`;
 * without it a reply is judged by itself.
 */
export interface Verdict {
  readonly ok: boolean;
  readonly stage?: RefusalStage;
  /** The wire code a Runtime answers with, where there is one. */
  readonly code?: string;
  /** JSON pointer in the frame. */
  readonly path?: string;
  /** The payload as we encode it. */
  readonly canonical?: unknown;
}

const questionList = z.array(z.object({ id: z.string() }));

export const judgeContext = z.object({
  expected: z
    .object({ outcome: z.string(), offset: z.number().optional(), size_bytes: z.number().optional() })
    .nullish(),
  /** The frame that was answered, or its payload. */
  request: z.record(z.string(), z.unknown()).nullish(),
  /** The emitted questions, or the payload that holds them. */
  questions: z
    .union([questionList, z.object({ questions: questionList }).transform((payload) => payload.questions)])
    .nullish(),
});
export type JudgeContext = z.input<typeof judgeContext>;

export interface JudgeInput {
  readonly frame: unknown;
  readonly context?: JudgeContext | null | undefined;
}

export function judgeFrame(input: JudgeInput): Verdict {
  const envelope = decodeEnvelope(JSON.stringify(input.frame) ?? '');
  if (!envelope) return { ok: false, stage: 'decode', path: '' };
  const type = envelope.type;
  if (!isFrameType(type)) return { ok: false, stage: 'decode', path: '/type' };
  const definition = definitionOf(type);
  const decoded = decodeBody(type, envelope);
  if (decoded.outcome !== 'frame') {
    if (decoded.outcome !== 'refused') return { ok: false, stage: 'decode', path: '' };
    return refused(decoded.refusal.stage, decoded.refusal.code, decoded.refusal.path);
  }
  const undeclared = definition.open ? undefined : undeclaredMember(definition.payload, envelope.payload);
  if (undeclared !== undefined) return refused('decode', definition.refusal?.decode, `/payload${undeclared}`);
  const { payload } = decoded.frame;
  const broken =
    sharedRule({ type, payload }) ?? contextRule({ type, payload }, judgeContext.parse(input.context ?? {}));
  if (broken) return refused('validate', broken.code ?? definition.refusal?.validate, pointer(broken));
  return { ok: true, canonical: canonicalPayload(definition.payload, payload) };
}

function refused(stage: RefusalStage, code: string | undefined, path: string): Verdict {
  return { ok: false, stage, ...(code === undefined ? {} : { code }), path };
}

const pointer = (broken: Violation): string => ['/payload', ...broken.path.map(pointerToken)].join('/');

type Typed<T extends FrameType = FrameType> = {
  [K in T]: { readonly type: K; readonly payload: FramePayload<K> };
}[T];

/** The part of a shared validator that a Runtime asks at dispatch, because each rule has its own code and place. */
function sharedRule(frame: { type: FrameType; payload: unknown }): Violation | undefined {
  const typed = frame as Typed;
  if (typed.type === 'prompt_request') return sharedRunViolation(typed.payload);
  if (typed.type !== 'execution_prepare') return undefined;
  const broken = sharedConfigurationViolation(typed.payload.configuration);
  return broken && { ...broken, path: ['configuration', ...broken.path] };
}

function contextRule(
  frame: { type: FrameType; payload: unknown },
  context: z.output<typeof judgeContext>,
): Violation | undefined {
  const typed = frame as Typed;
  const { expected, request, questions } = context;
  switch (typed.type) {
    case 'workspace_write_result':
    case 'runtime_prepare_result':
      return expected ? receiptViolation(expected, typed.payload) : undefined;
    case 'workspace_read_result': {
      const asked = request && decodeRequest('workspace_read', request);
      return asked ? readResultViolation(asked, typed.payload) : undefined;
    }
    case 'prompt_for_user_choice_decision':
      return questions ? checkAnswers(questions, typed.payload) : undefined;
    case 'environment_quiesced':
    case 'environment_resumed': {
      const asked =
        request &&
        decodeRequest(
          typed.type === 'environment_quiesced' ? 'environment_quiesce' : 'environment_resume',
          request,
        );
      if (!asked) return undefined;
      if (asked.environment_id !== typed.payload.environment_id) return { path: ['environment_id'] };
      return asked.suspend_id === typed.payload.suspend_id ? undefined : { path: ['suspend_id'] };
    }
    default:
      return undefined;
  }
}

function decodeRequest<T extends FrameType>(
  type: T,
  request: Record<string, unknown>,
): FramePayload<T> | undefined {
  const payload = isJsonObject(request['payload']) && request['type'] === type ? request['payload'] : request;
  const envelope = decodeEnvelope(JSON.stringify({ type, payload }));
  const decoded = envelope && decodeBody(type, envelope);
  return decoded?.outcome === 'frame' ? (decoded.frame as Typed<T>).payload : undefined;
}
