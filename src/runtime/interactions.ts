import type { HarnessEvent, SubmitResult } from '../harness/adapter.ts';
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
import { lazyFingerprint } from './fingerprint.ts';
import {
  allowOnce,
  choiceOf,
  detailOf,
  endOf,
  expiredAnswer,
  fits,
  permissionOf,
  promptFrame,
  titleOf,
  type InteractionAnswer,
} from './interaction-answers.ts';
import {
  pendingInteraction,
  resolve,
  type DecidedBy,
  type InteractionEnd,
  type InteractionEvent,
  type InteractionState,
} from './interaction-state.ts';
import { budgets } from './limits.ts';
import type { RuntimePorts, SendResult, Sender } from './ports.ts';
import { decided, sendReceipt } from './receipts.ts';
import { RuleBook, type AskedPermission } from './rule-book.ts';
import type { Run } from './run.ts';
import type { Interception } from './run-output.ts';

export type { InteractionAnswer };

/** What became of a local answer; the front end says it in words. */
export type LocalResult =
  | { readonly kind: 'applied'; readonly end: InteractionEnd }
  | { readonly kind: 'not_pending' }
  | { readonly kind: 'refused'; readonly why: 'answered_by_core' | 'wrong_shape' }
  | { readonly kind: 'failed' };

/** How long a rule of a folder lasts unless the person says otherwise, days. */
const WEEK = 7;

interface Interaction {
  readonly id: string;
  readonly run: Run;
  readonly request: InteractionRequest;
  /** By the person, as it was when the prompt was shown. */
  readonly answerable: boolean;
  state: InteractionState;
  /** Core was asked, so it is told when somebody else decided. */
  asked: boolean;
  timer: Timer | null;
  /** The answer under way; later answers wait for its result. */
  deciding: Promise<SubmitResult>;
  /** `permission_cancel` goes out at most once. */
  told: boolean;
}

/**
 * Permissions and questions of all Runs of a connection (wire 9, runtime-behaviour 2.17). Ids are minted here, so no
 * Harness can name another's. The first answer that is admitted is the only one that reaches the Harness.
 */
export class Interactions {
  readonly #ports: RuntimePorts;
  readonly #sender: Sender;
  readonly #open = new Map<string, Interaction>();
  readonly #applied: AppliedDecisions;
  readonly #rules: RuleBook;

  constructor(ports: RuntimePorts, sender: Sender, isActive: (runId: string) => boolean) {
    this.#ports = ports;
    this.#sender = sender;
    this.#applied = new AppliedDecisions(ports.clock, isActive);
    this.#rules = ports.rules?.book ?? new RuleBook(ports);
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
    this.#rules.endTurn(run.id);
  }

  /** The answer of the person at the laptop. Exactly once applied, or a truthful refusal. */
  async answer(id: string, answer: InteractionAnswer): Promise<LocalResult> {
    const interaction = this.#open.get(id);
    if (!interaction) return { kind: 'not_pending' };
    if (!interaction.answerable) return { kind: 'refused', why: 'answered_by_core' };
    if (!fits(interaction.request, answer)) return { kind: 'refused', why: 'wrong_shape' };
    await interaction.run.publishedOrOver;
    const result = await this.#decide(interaction, 'person', answer);
    if (result === 'taken' || result === 'not_pending') return { kind: 'not_pending' };
    if (result !== 'applied') return { kind: 'failed' };
    if (answer.kind === 'permission' && answer.scope !== 'once' && answer.answer.kind === 'allow') {
      const asked = this.#asked(interaction.run, interaction.request);
      if (asked) this.#rules.save(answer.scope, asked, answer.days === undefined ? WEEK : answer.days);
    }
    return { kind: 'applied', end: endOf(answer) };
  }

  /** `permission_decision`. Never blocks the receive loop; the receipt follows. */
  permissionDecision(id: string, payload: PermissionDecisionPayload, trace: string | undefined): void {
    this.#fromCore(id, 'permission', payload, permissionOf(payload), trace);
  }

  /** `prompt_for_user_choice_decision`. */
  choiceDecision(id: string, payload: PromptForUserChoiceDecisionPayload, trace: string | undefined): void {
    this.#fromCore(id, 'user_choice', payload, choiceOf(payload), trace, payload);
  }

  #fromCore(
    id: string,
    family: 'permission' | 'user_choice',
    payload: PermissionDecisionPayload | PromptForUserChoiceDecisionPayload,
    answer: InteractionAnswer,
    trace: string | undefined,
    choice?: PromptForUserChoiceDecisionPayload,
  ): void {
    const { delivery_id: deliveryId } = payload;
    const print = lazyFingerprint(() => ({ ...payload, delivery_id: undefined }));
    const key = `${family}:${id}`;
    const replay = this.#applied.check(key, print);
    const reply = (code: DecisionReceiptCode | null): void => void this.#receipt(id, deliveryId, code, trace);
    if (replay === 'same') return reply(null);
    if (replay === 'conflict') return reply('decision_conflict');
    const interaction = this.#open.get(id);
    if (!interaction || interaction.request.kind !== family || !interaction.asked) {
      return reply('not_pending');
    }
    const { run } = interaction;
    if (!run.published) return reply('not_ready');
    if (!run.executor.offered.probe.capabilities.permissions) return reply('unsupported');
    const wrong =
      choice && interaction.request.kind === 'user_choice'
        ? checkAnswers(interaction.request.native.questions, choice)
        : undefined;
    if (wrong) return reply('runtime_error');
    void run.join(
      this.#decide(interaction, 'core', answer).then(async (result) => {
        if (result === 'applied') this.#applied.remember(key, print(), run.id);
        // Another decision of Core may have been applied meanwhile: then the receipt compares with that one.
        const meanwhile = result === 'applied' ? 'new' : this.#applied.check(key, print);
        await this.#receipt(id, deliveryId, receiptCode(meanwhile, result), trace);
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
    const { answeredBy, timeoutMs } = this.#ports.interactions;
    const limits = [timeoutMs, request.native.expiresInMs].filter((limit): limit is number => limit !== null);
    const expiresInMs = limits.length > 0 ? Math.min(...limits) : null;
    const automatic = permission ? this.#automatic(run, request) : null;
    const interaction: Interaction = {
      id,
      run,
      request,
      answerable: answeredBy !== 'core',
      state: pendingInteraction,
      asked: false,
      timer: null,
      deciding: Promise.resolve('failed'),
      told: false,
    };
    this.#open.set(id, interaction);
    if (automatic) {
      void run.join(this.#decide(interaction, automatic.by, allowOnce, automatic.detail));
      return 'taken';
    }
    this.#ports.facts({
      type: 'interaction_opened',
      id,
      runId: run.id,
      request,
      expiresInMs,
      answerable: interaction.answerable,
    });
    if (expiresInMs !== null) {
      interaction.timer = this.#ports.clock.after(expiresInMs, () => this.#expire(interaction));
    }
    if (answeredBy === 'local') return 'taken';
    interaction.asked = true;
    const sent = await this.#sender.stream({
      ...promptFrame(interaction.id, interaction.request),
      id: run.id,
      trace: run.trace,
    });
    // The person still sees it; only Core does not, so only the person can answer.
    if (sent === 'too_large') interaction.asked = false;
    return sent === 'failed' ? 'failed' : 'taken';
  }

  /** Who answers instead of a person, and what a person should know of it. */
  #automatic(
    run: Run,
    request: InteractionRequest,
  ): { readonly by: 'policy' | 'rule'; readonly detail: string | null } | null {
    const { policy } = run.executor;
    if (policy === 'unattended') return { by: 'policy', detail: null };
    const asked = this.#asked(run, request);
    if (!asked) return null;
    if (policy === 'accept_edits' && asked.native.isEditInside) return { by: 'policy', detail: null };
    const rule = this.#rules.apply(asked);
    if (!rule) return null;
    const made = new Date(rule.createdAt).toISOString().slice(0, 10);
    return { by: 'rule', detail: `Rule for ${rule.match}, made ${made}.` };
  }

  #asked(run: Run, request: InteractionRequest): AskedPermission | null {
    if (request.kind !== 'permission') return null;
    const { binding } = this.#ports;
    return {
      owner: this.#ports.rules?.owner ?? binding?.environmentId ?? '',
      workspace: binding?.workspace ?? null,
      harness: run.executor.offered.adapter.kind,
      sessionId: run.executor.sessionId,
      runId: run.id,
      native: request.native,
    };
  }

  /** One step decides who answers; everything after it waits for that answer's result. */
  async #decide(
    interaction: Interaction,
    by: DecidedBy,
    answer: InteractionAnswer,
    detail: string | null = detailOf(answer),
  ): Promise<SubmitResult | 'taken'> {
    const before = await this.#whileDeciding(interaction);
    if (before === 'ended') return 'taken';
    if (!this.#apply(interaction, { type: 'decide', by, towards: endOf(answer) })) return 'taken';
    const submitting = this.#submit(interaction, answer);
    interaction.deciding = submitting;
    const result = await submitting;
    if (result === 'applied') {
      this.#apply(interaction, { type: 'applied' });
      this.#end(interaction, detail);
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
    if (interaction.state.state !== 'pending') return;
    void interaction.run.join(this.#decide(interaction, 'harness', expiredAnswer(interaction.request)));
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

  #receipt(
    id: string,
    deliveryId: string,
    code: DecisionReceiptCode | null,
    trace: string | undefined,
  ): Promise<SendResult> {
    return sendReceipt(this.#sender, id, decided(deliveryId, code), trace);
  }
}

/** The receipt of one decision of Core; one that was applied meanwhile is what it is compared with. */
function receiptCode(meanwhile: Replay, result: SubmitResult | 'taken'): DecisionReceiptCode | null {
  if (meanwhile !== 'new') return meanwhile === 'same' ? null : 'decision_conflict';
  switch (result) {
    case 'applied':
      return null;
    case 'taken':
    case 'not_pending':
      return 'not_pending';
    case 'unsupported':
      return 'contract_violation';
    case 'failed':
      return 'runtime_error';
  }
}
