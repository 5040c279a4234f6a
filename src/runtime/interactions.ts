import type { ChoiceAnswer, HarnessEvent, PermissionAnswer, SubmitResult } from '../harness/adapter.ts';
import { asError } from '../observe/errors.ts';
import type { Timer } from '../platform/clock.ts';
import {
  checkAnswers,
  type DecisionReceiptCode,
  type PermissionDecisionPayload,
  type PromptForUserChoiceDecisionPayload,
} from '../protocol/interactions.ts';
import { AppliedDecisions, type Replay } from './applied.ts';
import type { InteractionRequest } from './facts.ts';
import { fingerprint } from './fingerprint.ts';
import {
  pendingInteraction,
  resolve,
  type DecidedBy,
  type InteractionEnd,
  type InteractionEvent,
  type InteractionState,
} from './interaction-state.ts';
import { budgets } from './limits.ts';
import type { RuntimePorts, Sender } from './ports.ts';
import type { Run } from './run.ts';
import type { Interception } from './run-output.ts';

/** An answer, whoever gave it. */
export type InteractionAnswer =
  | { readonly kind: 'permission'; readonly answer: PermissionAnswer; readonly scope: 'once' | 'turn' }
  | { readonly kind: 'choice'; readonly answer: ChoiceAnswer };

/** What became of a local answer; the front end says it in words. */
export type LocalResult =
  | { readonly kind: 'applied'; readonly end: InteractionEnd }
  | { readonly kind: 'not_pending' }
  | { readonly kind: 'refused'; readonly why: 'answered_by_core' | 'wrong_shape' }
  | { readonly kind: 'failed' };

interface Interaction {
  readonly id: string;
  readonly run: Run;
  readonly request: InteractionRequest;
  state: InteractionState;
  /** Core was asked, so it is told when somebody else decided. */
  asked: boolean;
  timer: Timer | null;
  /** The answer under way; later answers wait for its result. */
  deciding: Promise<SubmitResult>;
  /** `permission_cancel` goes out at most once. */
  told: boolean;
}

type CoreResult =
  { readonly applied: true } | { readonly applied: false; readonly code: DecisionReceiptCode };

/**
 * Permissions and questions of all Runs of a connection (wire 9, runtime-behaviour 2.17). Ids are minted here, so no
 * Harness can name another's. The first answer that is admitted is the only one that reaches the Harness.
 */
export class Interactions {
  readonly #ports: RuntimePorts;
  readonly #sender: Sender;
  readonly #open = new Map<string, Interaction>();
  readonly #applied: AppliedDecisions;
  /** What the person allowed for the rest of a Turn: exactly this tool with exactly this input. */
  readonly #turnRules = new Map<string, Set<string>>();

  constructor(ports: RuntimePorts, sender: Sender, isActive: (runId: string) => boolean) {
    this.#ports = ports;
    this.#sender = sender;
    this.#applied = new AppliedDecisions(ports.clock, isActive);
  }

  get pending(): number {
    return this.#open.size;
  }

  /** A prompt or its withdrawal, in its place in the output. */
  async pass(run: Run, event: HarnessEvent): Promise<Interception> {
    switch (event.type) {
      case 'permission':
        return this.#raise(run, { kind: 'permission', native: event.request });
      case 'choice':
        return this.#raise(run, { kind: 'user_choice', native: event.request });
      case 'withdrawn': {
        const known = [...this.#open.values()].find(
          (candidate) => candidate.run === run && candidate.request.native.key === event.key,
        );
        if (known) this.#withdraw(known, 'The agent took the request back. Nothing was allowed or denied.');
        return 'taken';
      }
      default:
        return 'passed';
    }
  }

  /** The Run ends or the connection is gone: its prompts can no longer be answered. */
  withdrawAll(run: Run, why: string): void {
    for (const interaction of [...this.#open.values()]) {
      if (interaction.run === run) this.#withdraw(interaction, why);
    }
    this.#turnRules.delete(run.id);
  }

  /** The answer of the person at the laptop. Exactly once applied, or a truthful refusal. */
  async answer(id: string, answer: InteractionAnswer): Promise<LocalResult> {
    const interaction = this.#open.get(id);
    if (!interaction) return { kind: 'not_pending' };
    if (this.#ports.interactions.answeredBy === 'core') return { kind: 'refused', why: 'answered_by_core' };
    if (!fits(interaction.request, answer)) return { kind: 'refused', why: 'wrong_shape' };
    await interaction.run.publishedOrOver;
    const result = await this.#decide(interaction, 'person', answer);
    if (result === 'taken' || result === 'not_pending') return { kind: 'not_pending' };
    if (result !== 'applied') return { kind: 'failed' };
    if (answer.kind === 'permission' && answer.scope === 'turn' && answer.answer.kind === 'allow') {
      const rules = this.#turnRules.get(interaction.run.id) ?? new Set();
      rules.add(ruleKey(interaction.request));
      this.#turnRules.set(interaction.run.id, rules);
    }
    return { kind: 'applied', end: endOf(answer) };
  }

  /** `permission_decision`. Never blocks the receive loop; the receipt follows. */
  permissionDecision(id: string, payload: PermissionDecisionPayload, trace: string | undefined): void {
    const { delivery_id: deliveryId, ...decision } = payload;
    const answer: InteractionAnswer = {
      kind: 'permission',
      scope: 'once',
      answer: payload.approved
        ? { kind: 'allow', ...(payload.updated_input ? { updatedInput: payload.updated_input } : {}) }
        : { kind: 'deny', message: payload.message ?? null },
    };
    this.#fromCore(id, deliveryId, 'permission', fingerprint(decision), answer, trace);
  }

  /** `prompt_for_user_choice_decision`. */
  choiceDecision(id: string, payload: PromptForUserChoiceDecisionPayload, trace: string | undefined): void {
    const { delivery_id: deliveryId, ...decision } = payload;
    const answers = new Map((payload.question_answers ?? []).map((item) => [item.question_id, item.answers]));
    const answer: InteractionAnswer = {
      kind: 'choice',
      answer: payload.cancelled
        ? { kind: 'cancelled', reason: payload.reason ?? null }
        : { kind: 'answers', answers },
    };
    this.#fromCore(id, deliveryId, 'user_choice', fingerprint(decision), answer, trace, payload);
  }

  #fromCore(
    id: string,
    deliveryId: string,
    family: 'permission' | 'user_choice',
    print: string,
    answer: InteractionAnswer,
    trace: string | undefined,
    choice?: PromptForUserChoiceDecisionPayload,
  ): void {
    const key = `${family}:${id}`;
    const replay = this.#applied.check(key, print);
    if (replay === 'same') return this.#receipt(id, deliveryId, { applied: true }, trace);
    if (replay === 'conflict') return this.#refuse(id, deliveryId, 'decision_conflict', trace);
    const interaction = this.#open.get(id);
    if (!interaction || interaction.request.kind !== family || !interaction.asked) {
      return this.#refuse(id, deliveryId, 'not_pending', trace);
    }
    const { run } = interaction;
    if (!run.published) return this.#refuse(id, deliveryId, 'not_ready', trace);
    if (!run.executor.offered.probe.capabilities.permissions)
      return this.#refuse(id, deliveryId, 'unsupported', trace);
    const wrong =
      choice && interaction.request.kind === 'user_choice'
        ? checkAnswers(interaction.request.native.questions, choice)
        : undefined;
    if (wrong) return this.#refuse(id, deliveryId, 'runtime_error', trace);
    void run.join(
      this.#decide(interaction, 'core', answer).then(async (result) => {
        if (result === 'applied') this.#applied.remember(key, print, run.id);
        // Another decision of Core may have been applied meanwhile: then the receipt compares with that one.
        const meanwhile = result === 'applied' ? 'new' : this.#applied.check(key, print);
        await this.#sendReceipt(id, deliveryId, againstApplied(meanwhile) ?? coreResult(result), trace);
      }),
    );
  }

  async #raise(run: Run, request: InteractionRequest): Promise<Interception> {
    if (!run.gateOpen) {
      this.#ports.facts({ type: 'dropped', reason: 'teardown_prompt' });
      return 'taken';
    }
    const permission = request.kind === 'permission';
    const id = `${permission ? 'perm' : 'ask'}_${this.#ports.random.hex(8)}`;
    const { policy, answeredBy, timeoutMs } = this.#ports.interactions;
    const limits = [timeoutMs, request.native.expiresInMs].filter((limit): limit is number => limit !== null);
    const expiresInMs = limits.length > 0 ? Math.min(...limits) : null;
    const automatic = permission ? this.#automatic(run, request, policy) : null;
    const interaction: Interaction = {
      id,
      run,
      request,
      state: pendingInteraction,
      asked: false,
      timer: null,
      deciding: Promise.resolve('failed'),
      told: false,
    };
    this.#open.set(id, interaction);
    if (automatic) {
      void run.join(this.#decide(interaction, automatic, allowOnce));
      return 'taken';
    }
    this.#ports.facts({
      type: 'interaction_opened',
      id,
      runId: run.id,
      request,
      expiresInMs,
      answerable: answeredBy !== 'core',
    });
    if (expiresInMs !== null) {
      interaction.timer = this.#ports.clock.after(expiresInMs, () => this.#expire(interaction));
    }
    if (answeredBy === 'local') return 'taken';
    interaction.asked = true;
    const sent = await this.#sender.stream({
      ...frameOf(interaction),
      id: run.id,
      ...(run.trace !== undefined ? { trace: run.trace } : {}),
    });
    // The person still sees it; only Core does not, so only the person can answer.
    if (sent === 'too_large') interaction.asked = false;
    return sent === 'failed' ? 'failed' : 'taken';
  }

  #automatic(run: Run, request: InteractionRequest, policy: string): 'policy' | 'rule' | null {
    if (policy === 'unattended') return 'policy';
    if (this.#turnRules.get(run.id)?.has(ruleKey(request))) return 'rule';
    return null;
  }

  /** One step decides who answers; everything after it waits for that answer's result. */
  async #decide(
    interaction: Interaction,
    by: DecidedBy,
    answer: InteractionAnswer,
  ): Promise<SubmitResult | 'taken'> {
    const before = await this.#whileDeciding(interaction);
    if (before === 'ended') return 'taken';
    if (!this.#apply(interaction, { type: 'decide', by, towards: endOf(answer) })) return 'taken';
    const submitting = this.#submit(interaction, answer);
    interaction.deciding = submitting;
    const result = await submitting;
    if (result === 'applied') {
      this.#apply(interaction, { type: 'applied' });
      this.#end(interaction, detailOf(answer));
      this.#ports.facts({
        type: 'evidence',
        runId: interaction.run.id,
        fact: 'decision_applied',
        by: 'harness',
        detail: interaction.request.kind === 'permission' ? interaction.request.native.title : 'question',
      });
      if (by !== 'core') this.#tellCore(interaction);
      return 'applied';
    }
    if (result === 'not_pending' || result === 'unsupported') {
      this.#apply(interaction, { type: 'vanished' });
      this.#end(interaction, 'The agent no longer waited for this answer. Nothing was decided by it.');
    } else {
      this.#apply(interaction, { type: 'reopened' });
    }
    return result;
  }

  async #whileDeciding(interaction: Interaction): Promise<'pending' | 'ended'> {
    while (interaction.state.state === 'deciding') await interaction.deciding;
    return interaction.state.state === 'pending' ? 'pending' : 'ended';
  }

  async #submit(interaction: Interaction, answer: InteractionAnswer): Promise<SubmitResult> {
    const { run } = interaction;
    await run.publishedOrOver;
    const { turn } = run;
    const { key } = interaction.request.native;
    if (!turn || !run.published) return 'not_pending';
    try {
      if (answer.kind === 'permission') {
        return (await turn.submitPermission?.(key, answer.answer)) ?? 'unsupported';
      }
      return (await turn.submitChoice?.(key, answer.answer)) ?? 'unsupported';
    } catch (error) {
      this.#ports.logger.warn('interaction.submit_threw', {
        run: interaction.run.id,
        error: asError(error).name,
      });
      return 'failed';
    }
  }

  #expire(interaction: Interaction): void {
    const answer: InteractionAnswer =
      interaction.request.kind === 'permission'
        ? { kind: 'permission', scope: 'once', answer: { kind: 'expired' } }
        : { kind: 'choice', answer: { kind: 'expired' } };
    if (interaction.state.state !== 'pending') return;
    void interaction.run.join(this.#decide(interaction, 'harness', answer));
  }

  #withdraw(interaction: Interaction, why: string): void {
    if (!this.#apply(interaction, { type: 'withdraw' })) return;
    this.#end(interaction, why);
    this.#tellCore(interaction);
  }

  #apply(interaction: Interaction, event: InteractionEvent): boolean {
    const next = resolve(interaction.state, event);
    if (!next) return false;
    interaction.state = next;
    if (next.state !== 'ended') {
      this.#ports.facts({ type: 'interaction_state', id: interaction.id, state: next.state });
    }
    return true;
  }

  #end(interaction: Interaction, detail: string | null): void {
    interaction.timer?.cancel();
    if (!this.#open.delete(interaction.id) || interaction.state.state !== 'ended') return;
    this.#ports.facts({
      type: 'interaction_ended',
      id: interaction.id,
      runId: interaction.run.id,
      kind: interaction.request.kind,
      title: titleOf(interaction.request),
      end: interaction.state.end,
      by: interaction.state.by,
      detail,
    });
  }

  /** Core's waiter for a permission is released; a question has no such frame (wire 9.2). */
  #tellCore(interaction: Interaction): void {
    if (!interaction.asked || interaction.told || interaction.request.kind !== 'permission') return;
    if (interaction.run.release.state === 'settled') return;
    interaction.told = true;
    void interaction.run.join(
      this.#sender.send({ type: 'permission_cancel', id: interaction.id, payload: {} }, budgets.receiptSend),
    );
  }

  #refuse(id: string, deliveryId: string, code: DecisionReceiptCode, trace: string | undefined): void {
    this.#receipt(id, deliveryId, { applied: false, code }, trace);
  }
  #receipt(id: string, deliveryId: string, result: CoreResult, trace: string | undefined): void {
    void this.#sendReceipt(id, deliveryId, result, trace);
  }
  async #sendReceipt(
    id: string,
    deliveryId: string,
    result: CoreResult,
    trace: string | undefined,
  ): Promise<void> {
    await this.#sender.send(
      {
        type: 'interaction_decision_ack',
        id,
        payload: {
          delivery_id: deliveryId,
          applied: result.applied,
          ...(result.applied ? {} : { error_code: result.code }),
        },
        ...(trace !== undefined ? { trace } : {}),
      },
      budgets.receiptSend,
    );
  }
}

const allowOnce: InteractionAnswer = { kind: 'permission', scope: 'once', answer: { kind: 'allow' } };

function endOf(answer: InteractionAnswer): InteractionEnd {
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

function detailOf(answer: InteractionAnswer): string | null {
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

function againstApplied(replay: Replay): CoreResult | null {
  if (replay === 'new') return null;
  return replay === 'same' ? { applied: true } : { applied: false, code: 'decision_conflict' };
}

function coreResult(result: SubmitResult | 'taken'): CoreResult {
  switch (result) {
    case 'applied':
      return { applied: true };
    case 'taken':
    case 'not_pending':
      return { applied: false, code: 'not_pending' };
    case 'unsupported':
      return { applied: false, code: 'contract_violation' };
    case 'failed':
      return { applied: false, code: 'runtime_error' };
  }
}

function fits(request: InteractionRequest, answer: InteractionAnswer): boolean {
  if (request.kind === 'permission') return answer.kind === 'permission';
  if (answer.kind !== 'choice') return false;
  if (answer.answer.kind !== 'answers') return true;
  const known = new Set(request.native.questions.map((question) => question.id));
  return [...answer.answer.answers.keys()].every((id) => known.has(id));
}

function titleOf(request: InteractionRequest): string {
  if (request.kind === 'permission') return request.native.title;
  const count = request.native.questions.length;
  return count === 1 ? '1 question' : `${count} questions`;
}

/** Exactly the same tool with exactly the same input; nothing widens it. */
function ruleKey(request: InteractionRequest): string {
  if (request.kind !== 'permission') return '';
  return fingerprint({
    tool: request.native.tool,
    subject: request.native.subject,
    payload: request.native.payload,
  });
}

function frameOf(interaction: Interaction) {
  const { id, request } = interaction;
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
