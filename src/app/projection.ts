import type { CleanupView, InteractionView, TransferView, TurnView } from '../contract/view.ts';
import type { HistoryEntry } from '../contract/history.ts';
import type { Clock } from '../platform/clock.ts';
import type { RuntimeFact } from '../runtime/facts.ts';
import { interactionView } from './interaction-view.ts';
import { beginTurn, takeOutput, textOf, turnView, type BindingOf, type TurnRecord } from './turn-record.ts';

/** Ended Turns whose journal stays readable: so many, and in the unit of `journalLimits.weight`. */
const kept = { turns: 30, weight: 48 * 1024 * 1024 } as const;
/** Facts of a Turn that it shows. */
const evidenceKept = 200;

/**
 * Folds what the engine observed into what front ends see. It decides nothing: states and words come from facts, and
 * what was not observed stays open.
 */
export class Projection {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #onHistory: (entry: HistoryEntry) => void;
  readonly #turns = new Map<string, TurnRecord>();
  readonly #interactions = new Map<string, InteractionView>();
  readonly #cleanup = new Map<string, CleanupView>();
  readonly #transfers = new Map<string, TransferView>();
  readonly #drops: Record<string, number> = {};

  constructor(options: { clock: Clock; onChange: () => void; onHistory: (entry: HistoryEntry) => void }) {
    this.#clock = options.clock;
    this.#onChange = options.onChange;
    this.#onHistory = options.onHistory;
  }

  get turns(): readonly TurnView[] {
    return [...this.#turns.values()].filter((turn) => !turn.ended).map((turn) => this.turnView(turn));
  }
  get interactions(): readonly InteractionView[] {
    return [...this.#interactions.values()];
  }
  get cleanup(): readonly CleanupView[] {
    return [...this.#cleanup.values()];
  }
  get transfers(): readonly TransferView[] {
    return [...this.#transfers.values()];
  }
  get drops(): Readonly<Record<string, number>> {
    return this.#drops;
  }
  turn(runId: string): TurnRecord | undefined {
    return this.#turns.get(runId);
  }
  turnView(turn: TurnRecord): TurnView {
    return turnView(
      turn,
      [...this.#interactions.values()].some((open) => open.run_id === turn.runId),
    );
  }
  get records(): readonly TurnRecord[] {
    return [...this.#turns.values()];
  }

  observe(binding: BindingOf, fact: RuntimeFact): void {
    this.#fold(binding, fact);
    this.#onChange();
  }

  /** Cleanup that is not an Executor's or a Turn's: processes an earlier run left behind. */
  setCleanup(item: CleanupView): void {
    this.#cleanup.set(item.id, item);
    this.#onChange();
  }
  endCleanup(id: string, how: 'confirmed' | 'forced', detail: string | null): void {
    const item = this.#cleanup.get(id);
    this.#cleanup.delete(id);
    this.#history({
      kind: 'cleanup',
      id,
      run_id: null,
      binding: null,
      harness: null,
      title: item?.owner ?? 'A process of an earlier run',
      outcome: how,
      decided_by: how === 'forced' ? 'person' : null,
      detail,
    });
    this.#onChange();
  }

  #fold(binding: BindingOf, fact: RuntimeFact): void {
    switch (fact.type) {
      case 'turn_started':
        return this.#startTurn(binding, fact);
      case 'turn_state': {
        const turn = this.#turns.get(fact.runId);
        if (turn) turn.state = fact.state;
        return;
      }
      case 'evidence': {
        const turn = this.#turns.get(fact.runId);
        if (!turn || turn.evidence.length >= evidenceKept) return;
        turn.evidence.push({ at: this.#now(), fact: fact.fact, by: fact.by, detail: fact.detail });
        return;
      }
      case 'output': {
        const turn = this.#turns.get(fact.runId);
        if (turn) takeOutput(turn, fact.event, this.#clock);
        return;
      }
      case 'input': {
        const turn = this.#turns.get(fact.runId);
        turn?.journal.add({
          kind: 'input',
          input_id: fact.inputId,
          text: textOf(fact.input),
          by: turn.local ? 'person' : 'core',
        });
        return;
      }
      case 'input_state': {
        const turn = this.#turns.get(fact.runId);
        if (!turn) return;
        turn.journal.add({
          kind: 'input_state',
          input_id: fact.inputId,
          state: fact.state,
          detail: fact.detail,
        });
        const known =
          fact.state === 'written' ? 'input_written' : fact.state === 'accepted' ? 'input_accepted' : null;
        if (known) turn.evidence.push({ at: this.#now(), fact: known, by: 'harness', detail: null });
        return;
      }
      case 'turn_ended':
        return this.#endTurn(binding, fact);
      case 'interaction_opened':
        return this.#openInteraction(binding, fact);
      case 'interaction_state': {
        const open = this.#interactions.get(fact.id);
        if (open) this.#interactions.set(fact.id, { ...open, state: fact.state });
        return;
      }
      case 'interaction_ended':
        return this.#endInteraction(binding, fact);
      case 'cleanup': {
        const turn = fact.runId === null ? undefined : this.#turns.get(fact.runId);
        const known = this.#cleanup.get(fact.id);
        this.#cleanup.set(fact.id, {
          id: fact.id,
          kind: fact.kind,
          owner: turn ? `Turn “${turn.title}”` : this.#ownerOf(fact.sessionId, binding.name),
          since: known?.since ?? this.#now(),
          attempts: fact.attempts,
          reason: fact.reason,
          state: fact.state,
          pid: null,
        });
        return;
      }
      case 'cleanup_ended':
        if (this.#cleanup.has(fact.id)) this.endCleanup(fact.id, fact.how, null);
        return;
      case 'agent_started':
        return;
      case 'transfer': {
        const { kind, id, state, bytes, total, step = null } = fact;
        const key = `${binding.name} ${kind} ${id}`;
        const since = this.#transfers.get(key)?.since ?? this.#now();
        this.#transfers.set(key, {
          id,
          binding: binding.name,
          kind,
          step,
          since,
          state,
          bytes,
          total,
        });
        return;
      }
      case 'transfer_ended':
        this.#transfers.delete(`${binding.name} ${fact.kind} ${fact.id}`);
        return;
      case 'dropped':
        this.#drops[fact.reason] = (this.#drops[fact.reason] ?? 0) + 1;
        return;
    }
  }

  #startTurn(binding: BindingOf, fact: Extract<RuntimeFact, { type: 'turn_started' }>): void {
    this.#turns.set(fact.runId, beginTurn(binding, fact, this.#clock));
    this.#forgetOldTurns();
  }

  /** The newest ended Turns stay, as many as `kept` has room for; the newest one always. */
  #forgetOldTurns(): void {
    const ended = [...this.#turns.values()].filter((turn) => turn.ended).reverse();
    let weight = 0;
    for (const [index, turn] of ended.entries()) {
      weight += turn.journal.weight;
      if (index > 0 && (index >= kept.turns || weight > kept.weight)) this.#turns.delete(turn.runId);
    }
  }

  #endTurn(binding: { name: string }, fact: Extract<RuntimeFact, { type: 'turn_ended' }>): void {
    const turn = this.#turns.get(fact.runId);
    if (!turn || turn.ended) return;
    turn.usage = fact.usage ?? turn.usage;
    turn.ended = { outcome: fact.outcome, at: this.#clock.now(), detail: fact.detail };
    if (fact.outcome === 'unknown') {
      turn.evidence.push({ at: this.#now(), fact: 'unobserved', by: 'runtime', detail: fact.detail });
    }
    turn.journal.add({ kind: 'end', outcome: fact.outcome, text: fact.detail ?? '' });
    this.#history({
      kind: 'turn',
      id: fact.runId,
      run_id: fact.runId,
      binding: binding.name,
      harness: turn.harness,
      title: turn.title,
      outcome: fact.outcome,
      decided_by: null,
      detail: fact.code === null ? fact.detail : `${fact.code}: ${fact.detail ?? ''}`,
    });
  }

  #openInteraction(binding: BindingOf, fact: Extract<RuntimeFact, { type: 'interaction_opened' }>): void {
    const turn = this.#turns.get(fact.runId);
    const view = interactionView(binding.name, turn?.harness ?? '', fact, this.#clock.now());
    this.#interactions.set(fact.id, view);
    turn?.journal.add({ kind: 'prompt', interaction_id: fact.id, title: view.title });
  }

  #endInteraction(
    binding: { name: string },
    fact: Extract<RuntimeFact, { type: 'interaction_ended' }>,
  ): void {
    const turn = this.#turns.get(fact.runId);
    this.#interactions.delete(fact.id);
    turn?.journal.add({ kind: 'prompt_end', interaction_id: fact.id, text: fact.end });
    this.#history({
      kind: fact.kind,
      id: fact.id,
      run_id: fact.runId,
      binding: binding.name,
      harness: turn?.harness ?? null,
      title: fact.title,
      outcome: fact.end,
      decided_by: fact.by,
      detail: fact.detail,
    });
  }

  #history(entry: Omit<HistoryEntry, 'at'>): void {
    this.#onHistory({ ...entry, at: this.#now() });
  }

  #ownerOf(sessionId: string, binding: string): string {
    const last = [...this.#turns.values()].filter((turn) => turn.sessionId === sessionId).pop();
    return last ? `Turn “${last.title}”` : binding;
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}
