import type { Answer } from '../src/contract/commands.ts';
import type { InteractionView, View } from '../src/contract/view.ts';
import { CallError, type WindowLink } from './bridge.ts';
import { dropSeen, leavesAt, nextEnded, withFocus, type EndedPrompt } from './select/ended-prompts.ts';
import {
  freshGuard,
  guardStep,
  refusal,
  type GuardEvent,
  type PromptGuard,
  type Refusal,
  type Sent,
} from './select/prompt-guard.ts';
import { Signal, type ViewStore } from './store.ts';
import type { WindowClock } from './window-clock.ts';

export interface DeskState {
  readonly ended: readonly EndedPrompt[];
  readonly guards: ReadonlyMap<string, PromptGuard>;
}

/** What was chosen in a question card and not sent yet. A secret is never among it. */
export interface QuestionDraft {
  readonly chosen: readonly string[];
  readonly other: string;
  readonly otherChosen: boolean;
}
export type QuestionDrafts = Readonly<Record<string, QuestionDraft>>;

const noDrafts: QuestionDrafts = {};

export interface DeskOptions {
  readonly link: WindowLink;
  readonly views: ViewStore;
  readonly clock: WindowClock;
  /** An answer of this window saved this rule. */
  readonly onRule: (rule: View['rules'][number]) => void;
}

/** A rule that was sent with an answer: which one it will be, and whether the answer counted. */
interface SentRule {
  readonly binding: string;
  readonly match: string;
  readonly before: ReadonlySet<string>;
  readonly won: boolean;
}

/**
 * The only way an answer leaves this window. It keeps a guard for each prompt (`select/prompt-guard.ts`), sends what
 * the guard lets through, and remembers what became of prompts that left until the person has seen it.
 */
export class PromptDesk extends Signal {
  readonly #link: WindowLink;
  readonly #views: ViewStore;
  readonly #clock: WindowClock;
  readonly #guards = new Map<string, PromptGuard>();
  readonly #drafts = new Map<string, QuestionDrafts>();
  /** What this window sent last for a prompt, kept until its end was told. */
  readonly #sent = new Map<string, Sent>();
  readonly #sentRules = new Map<string, SentRule>();
  readonly #onRule: DeskOptions['onRule'];
  #view: View | null = null;
  #focused = true;
  #ended: readonly EndedPrompt[] = [];
  #state: DeskState = { ended: [], guards: new Map() };
  #leaving: { cancel(): void } | null = null;

  constructor({ link, views, clock, onRule }: DeskOptions) {
    super();
    this.#link = link;
    this.#views = views;
    this.#clock = clock;
    this.#onRule = onRule;
    views.subscribe(() => this.#follow());
    this.#follow();
  }

  readonly get = (): DeskState => this.#state;

  guard(id: string): PromptGuard | undefined {
    return this.#guards.get(id);
  }

  /** What happened to a prompt on screen. `appeared` also begins the guard of a prompt that was not known. */
  tell(id: string, event: GuardEvent): void {
    const now = this.#clock.monotonic();
    const before = this.#guards.get(id) ?? freshGuard(now);
    const after = guardStep(before, event, now);
    if (after === before && this.#guards.has(id)) return;
    this.#guards.set(id, after);
    this.#publish();
  }

  /** Why an answer would be refused right now, or null. */
  refusal(interaction: InteractionView, answer: Answer['kind'], via: 'click' | 'key'): Refusal | null {
    const guard = this.#guards.get(interaction.id);
    if (guard === undefined) return 'arriving';
    return refusal(guard, answer, via, {
      now: this.#clock.monotonic(),
      connected: this.#connected(),
      answerable: interaction.answerable,
      deciding: interaction.state === 'deciding',
    });
  }

  /**
   * Sends `answer` if the guard lets it through. The prompt stays locked until the daemon's view moves on or its
   * answer says no. Returns why nothing was sent, or null when it was.
   */
  answer(interaction: InteractionView, answer: Answer, via: 'click' | 'key'): Refusal | null {
    const current = this.#view?.interactions.find((open) => open.id === interaction.id);
    if (current === undefined) return 'arriving';
    const refused = this.refusal(current, answer.kind, via);
    if (refused !== null) return refused;
    const sending = {
      answer: answer.kind,
      scope: answer.kind === 'allow' ? answer.scope : null,
      withReason: answer.kind === 'deny' && answer.message !== undefined,
    };
    this.#sent.set(interaction.id, { ...sending, won: null });
    this.tell(interaction.id, { type: 'sent', sending });
    if (current.rule !== null && (sending.scope === 'session' || sending.scope === 'folder')) {
      const before = new Set(this.#view?.rules.map(({ id }) => id));
      const { binding, rule } = current;
      this.#sentRules.set(interaction.id, { binding, match: rule.match, before, won: false });
    }
    this.#link.call('interaction.answer', { id: interaction.id, answer }).then(
      () => this.#settled(interaction.id, true),
      (error: unknown) => this.#failed(interaction.id, error),
    );
    return null;
  }

  drafts(id: string): QuestionDrafts {
    return this.#drafts.get(id) ?? noDrafts;
  }

  draft(id: string, question: string, draft: QuestionDraft): void {
    this.#drafts.set(id, { ...this.drafts(id), [question]: draft });
    this.#publish();
  }

  /** The window got or lost the focus of the system. */
  windowFocus(focused: boolean): void {
    this.#focused = focused;
    this.#setEnded(withFocus(this.#ended, focused, this.#clock.monotonic()));
  }

  /** The person has read how it ended and goes on. */
  dismiss(id: string): void {
    this.#setEnded(this.#ended.filter((item) => item.interaction.id !== id));
  }

  #connected(): boolean {
    const { status } = this.#views.get();
    return status === 'open' || status === 'unreadable';
  }

  /**
   * A definite no opens the buttons again with its reason. Where it is not known whether the answer arrived they stay
   * locked until a new view tells.
   */
  #failed(id: string, error: unknown): void {
    const code = error instanceof CallError ? error.code : 'fault';
    if (code === 'not_pending' || code === 'already_decided') return this.#settled(id, false);
    if (code === 'unconfirmed' || code === 'closed') return;
    this.#sent.delete(id);
    this.#sentRules.delete(id);
    this.tell(id, { type: 'refused', message: error instanceof Error ? error.message : String(error) });
  }

  /** The daemon's word on whose answer it was, before or after the view in which the prompt is gone. */
  #settled(id: string, won: boolean): void {
    const sent = this.#sent.get(id);
    if (sent) this.#sent.set(id, { ...sent, won });
    const rule = this.#sentRules.get(id);
    if (rule && won) this.#sentRules.set(id, { ...rule, won });
    else this.#sentRules.delete(id);
    this.#tellRules();
    this.#setEnded(
      this.#ended.map((item) =>
        item.interaction.id === id && item.sent !== null ? { ...item, sent: { ...item.sent, won } } : item,
      ),
    );
  }

  /** The view with the rule and the word that the answer counted come in either order. */
  #tellRules(): void {
    for (const [id, { binding, match, before, won }] of this.#sentRules) {
      const rule = this.#view?.rules.find(
        (saved) => saved.binding === binding && saved.match === match && !before.has(saved.id),
      );
      if (!won || rule === undefined) continue;
      this.#sentRules.delete(id);
      this.#onRule(rule);
    }
  }

  #follow(): void {
    const { view, status } = this.#views.get();
    if (status === 'closed') this.#lost = true;
    if (view === null || view === this.#view) return;
    const now = this.#clock.monotonic();
    const previous = this.#view;
    this.#view = view;
    const open = new Set(view.interactions.map((interaction) => interaction.id));
    for (const interaction of view.interactions) {
      if (!this.#guards.has(interaction.id)) this.#guards.set(interaction.id, freshGuard(now));
    }
    if (this.#lost) this.#reopened(view, now);
    this.#ended = nextEnded({
      ended: this.#ended,
      previous,
      view,
      sentFor: (id) => this.#sent.get(id) ?? null,
      focused: this.#focused,
      now,
    });
    for (const id of this.#guards.keys()) if (!open.has(id)) this.#guards.delete(id);
    for (const id of this.#drafts.keys()) if (!open.has(id)) this.#drafts.delete(id);
    for (const id of this.#sent.keys()) if (!open.has(id)) this.#sent.delete(id);
    this.#setEnded(this.#ended);
    this.#tellRules();
  }

  /** After a lost connection the first view is the truth: a prompt that is still pending never got the answer. */
  #lost = false;
  #reopened(view: View, now: number): void {
    this.#lost = false;
    for (const interaction of view.interactions) {
      const guard = this.#guards.get(interaction.id);
      if (guard === undefined) continue;
      const free = interaction.state === 'pending' ? guardStep(guard, { type: 'taken_back' }, now) : guard;
      this.#guards.set(interaction.id, guardStep(free, { type: 'appeared' }, now));
      if (interaction.state === 'pending') this.#sent.delete(interaction.id);
    }
  }

  #setEnded(ended: readonly EndedPrompt[]): void {
    const now = this.#clock.monotonic();
    this.#ended = dropSeen(ended, now);
    this.#leaving?.cancel();
    const next = Math.min(...this.#ended.map((item) => leavesAt(item) ?? Infinity));
    this.#leaving = Number.isFinite(next)
      ? this.#clock.after(Math.max(0, next - now), () => this.#setEnded(this.#ended))
      : null;
    this.#publish();
  }

  #publish(): void {
    this.#state = { ended: this.#ended, guards: new Map(this.#guards) };
    this.notify();
  }
}
