import type { Random } from '../platform/random.ts';
import { checkAnswers, type ChoiceQuestion, type InteractionDecisionAck } from '../protocol/interactions.ts';
import type { CoreConnection } from './connection.ts';
import type { ReceiptResult } from './receipts.ts';
import type { RunFrame } from './run-subscription.ts';

/** What a Run asks a person and Core was told of. */
export type CoreInteraction =
  | {
      readonly kind: 'permission';
      readonly interactionId: string;
      readonly runId: string;
      readonly tool: string;
      readonly title: string;
      readonly detail: string | undefined;
      readonly payload: Readonly<Record<string, unknown>> | undefined;
    }
  | {
      readonly kind: 'user_choice';
      readonly interactionId: string;
      readonly runId: string;
      readonly questions: readonly ChoiceQuestion[];
    };

export type CoreDecision =
  | {
      readonly kind: 'permission';
      readonly approved: boolean;
      readonly message?: string;
      readonly updatedInput?: Record<string, unknown>;
    }
  | { readonly kind: 'answers'; readonly answers: ReadonlyMap<string, readonly string[]> }
  | { readonly kind: 'cancelled'; readonly reason?: string };

export type AnswerResult =
  /** The Runtime applied it and it settled. */
  | { readonly kind: 'applied' }
  /** The Runtime said no, with its code; `retryable` keeps the interaction open. */
  | { readonly kind: 'refused'; readonly code: string; readonly retryable: boolean }
  /** No receipt: it may have been applied. */
  | { readonly kind: 'unknown' }
  /** Nothing was sent. */
  | { readonly kind: 'not_pending' | 'busy' | 'invalid' | 'not_sent' };

/** The open interactions of one Run, and Core's own answers to them: one delivery at a time for each. */
export class InteractionDesk {
  readonly #random: Random;
  readonly #open = new Map<string, CoreInteraction>();
  readonly #deciding = new Set<string>();

  constructor(random: Random) {
    this.#random = random;
  }

  get open(): readonly CoreInteraction[] {
    return [...this.#open.values()];
  }

  /** True when the frame changed what is open. */
  observe(frame: RunFrame): boolean {
    switch (frame.type) {
      case 'permission_request': {
        const { tool, title, detail, payload } = frame.payload;
        const interactionId = frame.payload.request_id.trim();
        this.#open.set(interactionId, {
          kind: 'permission',
          interactionId,
          runId: frame.id,
          tool,
          title,
          detail,
          payload,
        });
        return true;
      }
      case 'prompt_for_user_choice': {
        const interactionId = frame.payload.ask_id.trim();
        this.#open.set(interactionId, {
          kind: 'user_choice',
          interactionId,
          runId: frame.id,
          questions: frame.payload.questions,
        });
        return true;
      }
      case 'permission_cancel':
        return this.#open.delete(frame.id);
      default:
        return false;
    }
  }

  /** The Run is over: nothing is open any more. */
  clear(): void {
    this.#open.clear();
  }

  async answer(
    connection: CoreConnection,
    interactionId: string,
    decision: CoreDecision,
  ): Promise<AnswerResult> {
    const interaction = this.#open.get(interactionId);
    if (!interaction) return { kind: 'not_pending' };
    if (this.#deciding.has(interactionId)) return { kind: 'busy' };
    const deliveryId = `decision:${this.#random.uuid()}`;
    const send = prepareDecision(connection, interaction, deliveryId, decision);
    if (!send) return { kind: 'invalid' };
    this.#deciding.add(interactionId);
    try {
      const receipt = connection.receipt(deliveryId);
      if (send() !== 'queued') return { kind: 'not_sent' };
      return this.#settle(interactionId, await receipt);
    } finally {
      this.#deciding.delete(interactionId);
    }
  }

  #settle(interactionId: string, result: ReceiptResult): AnswerResult {
    if (result.kind !== 'receipt') return { kind: 'unknown' };
    const answer = fromReceipt(result.receipt);
    if (answer.kind === 'applied' || (answer.kind === 'refused' && !answer.retryable))
      this.#open.delete(interactionId);
    return answer;
  }
}

/** How to send the decision, or undefined when it does not fit the interaction. */
function prepareDecision(
  connection: CoreConnection,
  interaction: CoreInteraction,
  deliveryId: string,
  decision: CoreDecision,
): (() => string) | undefined {
  const id = interaction.interactionId;
  if (interaction.kind === 'permission') {
    if (decision.kind !== 'permission') return undefined;
    const { approved, message, updatedInput } = decision;
    const payload = { delivery_id: deliveryId, approved, message, updated_input: updatedInput };
    return () => connection.send('permission_decision', { id, payload });
  }
  if (decision.kind === 'permission') return undefined;
  if (decision.kind === 'cancelled') {
    const payload = { delivery_id: deliveryId, cancelled: true, reason: decision.reason };
    return () => connection.send('prompt_for_user_choice_decision', { id, payload });
  }
  const question_answers = [...decision.answers].map(([question_id, answers]) => ({
    question_id,
    answers: [...answers],
  }));
  const payload = { delivery_id: deliveryId, question_answers };
  if (checkAnswers(interaction.questions, payload)) return undefined;
  return () => connection.send('prompt_for_user_choice_decision', { id, payload });
}

function fromReceipt(receipt: InteractionDecisionAck): AnswerResult {
  if (receipt.applied) return { kind: 'applied' };
  const code = receipt.error_code ?? 'runtime_error';
  return { kind: 'refused', code, retryable: code === 'not_ready' || code === 'runtime_error' };
}
