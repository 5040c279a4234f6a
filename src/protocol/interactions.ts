import * as z from 'zod';

import { isBlank } from './ids.ts';
import {
  count,
  expected,
  flag,
  given,
  jsonObject,
  list,
  openText,
  optional,
  required,
  text,
  where,
  written,
} from './presence.ts';
import { donePayload, doneSenderRule } from './run-output.ts';
import { violation, type Violation } from './violation.ts';

/** Permissions, user choices and the receipt of decisions (wire 8 and 9). */

const present = where(text, (value) => value !== '');

/** `permission_request`, Runtime to Core. The envelope carries the Run id, `request_id` is the interaction id. */
export const permissionRequestPayload = z.object({
  request_id: required(present),
  tool: written(text),
  title: written(text),
  detail: optional(text),
  payload: optional(jsonObject),
});
export type PermissionRequestPayload = z.output<typeof permissionRequestPayload>;

/** `permission_cancel`, Runtime to Core; id = interaction id, no body. */
export const permissionCancelPayload = z.object({});

/** `permission_decision`, Core to Runtime; id = interaction id. An empty `delivery_id` is told at dispatch. */
export const permissionDecisionPayload = z.strictObject({
  delivery_id: expected(text),
  approved: written(flag),
  message: optional(text),
  /** Replacement tool input ("approve with changes"). */
  updated_input: optional(jsonObject),
});
export type PermissionDecisionPayload = z.output<typeof permissionDecisionPayload>;

export const choiceOption = z.object({ label: written(text), description: optional(text) });
export type ChoiceOption = z.output<typeof choiceOption>;

export const choiceQuestion = z.object({
  /** The only identity of a question. */
  id: expected(text),
  header: optional(text),
  question: written(text),
  multi_select: optional(flag),
  /** Free text allowed. */
  is_other: optional(flag),
  is_secret: optional(flag),
  options: written(list(choiceOption)),
});
export type ChoiceQuestion = z.output<typeof choiceQuestion>;

/** `prompt_for_user_choice`, Runtime to Core. The envelope carries the Run id, `ask_id` is the interaction id. */
export const promptForUserChoicePayload = z.object({
  ask_id: required(present),
  questions: expected(list(choiceQuestion)),
  tool_use_id: optional(text),
  auto_resolution_ms: given(count),
});
export type PromptForUserChoicePayload = z.output<typeof promptForUserChoicePayload>;

/** Our senders emit at least one question, each with an id of its own. */
export function userChoiceSenderRule(payload: PromptForUserChoicePayload): string | undefined {
  const ids = payload.questions.map((question) => question.id);
  if (ids.length === 0 || ids.some(isBlank) || new Set(ids).size !== ids.length) return 'questions';
  return undefined;
}

export const questionAnswer = z.strictObject({
  question_id: required(where(text, (id) => !isBlank(id))),
  /** Empty is an explicit non-answer. */
  answers: required(list(text)),
});
export type QuestionAnswer = z.output<typeof questionAnswer>;

/**
 * `prompt_for_user_choice_decision`, Core to Runtime; id = interaction id. Strict for every receiver; a body that
 * breaks a rule gets no acknowledgement. Whether the ids belong to the emitted questions is `checkAnswers`.
 */
export const promptForUserChoiceDecisionPayload = z
  .strictObject({
    delivery_id: expected(text),
    question_answers: optional(z.array(questionAnswer)),
    cancelled: optional(flag),
    /** Machine tag, for instance `timeout`. */
    reason: optional(text),
  })
  .superRefine((decision, context) => {
    const answers = decision.question_answers ?? [];
    const repeated = answers.findIndex(
      (answer, index) => answers.findIndex((other) => other.question_id === answer.question_id) !== index,
    );
    if (repeated >= 0)
      context.addIssue({
        code: 'custom',
        message: 'repeated question',
        path: ['question_answers', repeated, 'question_id'],
      });
    if (decision.cancelled && answers.length > 0)
      context.addIssue({ code: 'custom', message: 'cancelled with answers', path: ['cancelled'] });
  });
export type PromptForUserChoiceDecisionPayload = z.output<typeof promptForUserChoiceDecisionPayload>;

/**
 * The rule that needs the emitted questions: every answered id is one of theirs. Questions that are left out stay
 * unanswered. The first answer that breaks it, or undefined.
 */
export function checkAnswers(
  questions: readonly Pick<ChoiceQuestion, 'id'>[],
  decision: Pick<PromptForUserChoiceDecisionPayload, 'question_answers'>,
): Violation | undefined {
  const known = new Set(questions.map((question) => question.id));
  const wrong = (decision.question_answers ?? []).findIndex((answer) => !known.has(answer.question_id));
  return wrong < 0 ? undefined : violation(['question_answers', wrong, 'question_id']);
}

/** Receipt codes of decisions and function results. */
export const decisionReceiptCodes = [
  'not_pending',
  'not_ready',
  'unsupported',
  'contract_violation',
  'runtime_error',
  'decision_conflict',
  'invalid_result',
] as const;
export type DecisionReceiptCode = (typeof decisionReceiptCodes)[number];

export const cancellationReceiptCodes = [
  'run_inactive',
  'not_ready',
  'cancel_failed',
  'cancel_timeout',
  'cancel_output_unavailable',
  'cancel_outcome_unavailable',
] as const;
export type CancellationReceiptCode = (typeof cancellationReceiptCodes)[number];

/**
 * `interaction_decision_ack`, Runtime to Core; id = interaction id for decisions, Run id for `prompt_cancel` and
 * `function_result`. `applied` is true only after the operation settled; Core matches it by `delivery_id` alone.
 */
export const interactionDecisionAckPayload = z.object({
  delivery_id: required(present),
  applied: written(flag),
  error_code: optional(openText([...decisionReceiptCodes, ...cancellationReceiptCodes])),
  /** For people; bounded and untrusted. */
  error: optional(text),
  /** Continuity snapshot of a cancelled Turn. */
  outcome: given(donePayload),
});
export type InteractionDecisionAck = z.output<typeof interactionDecisionAckPayload>;

/** Our senders name a code exactly with a refusal, and an outcome only with an applied receipt. */
export function decisionAckSenderRule(ack: InteractionDecisionAck): string | undefined {
  if (ack.applied && (ack.error_code !== undefined || ack.error !== undefined)) return 'error_code';
  if (!ack.applied && !ack.error_code) return 'error_code';
  if (!ack.applied && ack.outcome) return 'outcome';
  return ack.outcome && doneSenderRule(ack.outcome);
}
