import type { ChoiceAnswer, PermissionAnswer } from '../harness/adapter.ts';
import type {
  PermissionDecisionPayload,
  PromptForUserChoiceDecisionPayload,
} from '../protocol/interactions.ts';
import type { InteractionRequest } from './facts.ts';
import type { InteractionEnd } from './interaction-state.ts';
import { coverageOf, type RuleScope } from './rule-book.ts';

/** An answer, whoever gave it. */
export type InteractionAnswer =
  | {
      readonly kind: 'permission';
      readonly answer: PermissionAnswer;
      /** Anything but `once` also saves a rule for the same, where one can be made. */
      readonly scope: 'once' | RuleScope;
      /** How long a rule of the folder lasts; null has no end. Left out: a week. */
      readonly days?: number | null;
    }
  | { readonly kind: 'choice'; readonly answer: ChoiceAnswer };

/** What Core decided, as it is put to the Harness. */
export function permissionOf(payload: PermissionDecisionPayload): InteractionAnswer {
  const { approved, message, updated_input: updatedInput } = payload;
  const answer: PermissionAnswer = approved
    ? { kind: 'allow', ...(updatedInput ? { updatedInput } : {}) }
    : { kind: 'deny', message: message ?? null };
  return { kind: 'permission', scope: 'once', answer };
}

export function choiceOf(payload: PromptForUserChoiceDecisionPayload): InteractionAnswer {
  if (payload.cancelled)
    return { kind: 'choice', answer: { kind: 'cancelled', reason: payload.reason ?? null } };
  const answers = new Map((payload.question_answers ?? []).map((item) => [item.question_id, item.answers]));
  return { kind: 'choice', answer: { kind: 'answers', answers } };
}

/** Nobody answered in time, which is not a refusal. */
export function expiredAnswer(request: InteractionRequest): InteractionAnswer {
  return request.kind === 'permission'
    ? { kind: 'permission', scope: 'once', answer: { kind: 'expired' } }
    : { kind: 'choice', answer: { kind: 'expired' } };
}

export const allowOnce: InteractionAnswer = { kind: 'permission', scope: 'once', answer: { kind: 'allow' } };

/** How the request ends once this is applied. */
export function endOf(answer: InteractionAnswer): InteractionEnd {
  switch (answer.answer.kind) {
    case 'allow':
      return 'allowed';
    case 'deny':
      return 'denied';
    case 'answers':
      return 'answered';
    case 'cancelled':
      return 'cancelled';
    case 'expired':
      return 'expired';
  }
}

/** What a person may want to know about it. */
export function detailOf(answer: InteractionAnswer): string | null {
  switch (answer.answer.kind) {
    case 'deny':
      return answer.answer.message === null ? null : 'The agent was told your reason.';
    case 'expired':
      return 'The agent was told that nobody answered, not that you denied.';
    case 'cancelled':
      return 'The agent was told that you declined to answer.';
    case 'allow':
    case 'answers':
      return null;
  }
}

/** Whether an answer is one to this request. */
export function fits(request: InteractionRequest, answer: InteractionAnswer): boolean {
  if (request.kind === 'permission') {
    if (answer.kind !== 'permission') return false;
    const { native } = request;
    const edits = answer.answer.kind === 'allow' && answer.answer.updatedInput !== undefined;
    // What was allowed is what was changed, so there is nothing to repeat.
    if (edits && (native.editable === undefined || answer.scope !== 'once')) return false;
    return answer.scope === 'once' || answer.scope === 'turn' || coverageOf(native) !== null;
  }
  if (answer.kind !== 'choice') return false;
  if (answer.answer.kind !== 'answers') return true;
  const known = new Set(request.native.questions.map((question) => question.id));
  return [...answer.answer.answers.keys()].every((id) => known.has(id));
}

export function titleOf(request: InteractionRequest): string {
  if (request.kind === 'permission') return request.native.title;
  const count = request.native.questions.length;
  return count === 1 ? '1 question' : `${count} questions`;
}

/** The frame that asks Core. */
export function promptFrame(id: string, request: InteractionRequest) {
  if (request.kind === 'permission') {
    const { tool, title, reason, payload } = request.native;
    return {
      type: 'permission_request' as const,
      payload: { request_id: id, tool, title, ...(reason ? { detail: reason } : {}), payload },
    };
  }
  const { questions, toolUseId, expiresInMs } = request.native;
  return {
    type: 'prompt_for_user_choice' as const,
    payload: {
      ask_id: id,
      questions: [...questions],
      ...(toolUseId === null ? {} : { tool_use_id: toolUseId }),
      ...(expiresInMs === null ? {} : { auto_resolution_ms: expiresInMs }),
    },
  };
}
