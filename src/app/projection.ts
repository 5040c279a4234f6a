import type {
  Evidence,
  InteractionView,
  CleanupView,
  TransferView,
  TurnView,
  UsageView,
} from '../contract/view.ts';
import type { HistoryEntry } from '../contract/history.ts';
import type { NativeSubject } from '../harness/adapter.ts';
import type { Clock } from '../platform/clock.ts';
import type { MessageInput } from '../protocol/message-input.ts';
import type { UsagePayload } from '../protocol/run-output.ts';
import { coverageOf } from '../runtime/rule-book.ts';
import type { RuntimeFact } from '../runtime/facts.ts';
import { Journal } from './journal.ts';

/** Ended Turns whose journal stays readable: so many, and in the unit of `journalLimits.weight`. */
const kept = { turns: 30, weight: 48 * 1024 * 1024 } as const;
const evidenceKept = 200;
/** Calls without an end that are told apart, to say whether a tool runs. */
const openToolsKnown = 1_000;

export interface TurnRecord {
  readonly runId: string;
  readonly binding: string;
  readonly local: boolean;
  readonly sessionId: string;
  readonly harness: string;
  readonly title: string;
  readonly prompt: string;
  readonly startedAt: number;
  readonly canSteer: boolean;
  readonly journal: Journal;
  readonly evidence: Evidence[];
  state: TurnView['state'];
  phase: TurnView['phase'];
  lastOutputAt: number | null;
  usage: UsagePayload | null;
  ended: {
    outcome: 'completed' | 'failed' | 'cancelled' | 'unknown';
    at: number;
    detail: string | null;
  } | null;
  readonly tools: Set<string>;
}

interface OpenInteraction extends InteractionView {
  readonly runId: string;
}

/**
 * Folds what the engine observed into what front ends see. It decides nothing: states and words come from facts, and
 * what was not observed stays open.
 */
export class Projection {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #onHistory: (entry: HistoryEntry) => void;
  readonly #turns = new Map<string, TurnRecord>();
  readonly #interactions = new Map<string, OpenInteraction>();
  readonly #cleanup = new Map<string, CleanupView>();
  readonly #transfers = new Map<string, TransferView>();
  readonly #drops: Record<string, number> = {};

  constructor(options: { clock: Clock; onChange: () => void; onHistory: (entry: HistoryEntry) => void }) {
    this.#clock = options.clock;
    this.#onChange = options.onChange;
    this.#onHistory = options.onHistory;
  }

  get turns(): readonly TurnView[] {
    return [...this.#turns.values()].filter((turn) => !turn.ended).map((turn) => this.#turnView(turn));
  }
  get interactions(): readonly InteractionView[] {
    return [...this.#interactions.values()].map(({ runId, ...view }) => {
      void runId;
      return view;
    });
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
    return this.#turnView(turn);
  }
  get records(): readonly TurnRecord[] {
    return [...this.#turns.values()];
  }

  observe(binding: { name: string; local: boolean }, fact: RuntimeFact): void {
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

  #fold(binding: { name: string; local: boolean }, fact: RuntimeFact): void {
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
      case 'output':
        return this.#output(fact);
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

  #startTurn(
    binding: { name: string; local: boolean },
    fact: Extract<RuntimeFact, { type: 'turn_started' }>,
  ): void {
    const prompt = textOf(fact.input);
    const journal = new Journal(this.#clock);
    journal.add({ kind: 'input', input_id: '0', text: prompt, by: binding.local ? 'person' : 'core' });
    this.#turns.set(fact.runId, {
      runId: fact.runId,
      binding: binding.name,
      local: binding.local,
      sessionId: fact.sessionId,
      harness: fact.harness,
      title: titleOf(prompt),
      prompt,
      startedAt: this.#clock.now(),
      canSteer: fact.canSteer,
      journal,
      evidence: [],
      state: 'starting',
      phase: null,
      lastOutputAt: null,
      usage: null,
      ended: null,
      tools: new Set(),
    });
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

  #output(fact: Extract<RuntimeFact, { type: 'output' }>): void {
    const turn = this.#turns.get(fact.runId);
    if (!turn) return;
    const { event } = fact;
    if (turn.journal.observe(event)) turn.lastOutputAt = this.#clock.now();
    switch (event.type) {
      case 'delta':
      case 'output_message':
        turn.phase = 'output';
        return;
      case 'thinking':
        turn.phase = 'thinking';
        return;
      case 'tool_call':
        if (event.payload.stage === 'before' && turn.tools.size < openToolsKnown)
          turn.tools.add(event.payload.id);
        else turn.tools.delete(event.payload.id);
        turn.phase = turn.tools.size > 0 ? 'tool' : 'output';
        return;
      case 'usage':
        turn.usage = event.payload;
        return;
      default:
        return;
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

  #openInteraction(
    binding: { name: string; local: boolean },
    fact: Extract<RuntimeFact, { type: 'interaction_opened' }>,
  ): void {
    const turn = this.#turns.get(fact.runId);
    const now = this.#clock.now();
    const { request } = fact;
    const permission = request.kind === 'permission' ? request.native : null;
    this.#interactions.set(fact.id, {
      id: fact.id,
      kind: request.kind,
      binding: binding.name,
      runId: fact.runId,
      run_id: fact.runId,
      harness: turn?.harness ?? '',
      title:
        permission?.title ??
        questionTitle(request.kind === 'user_choice' ? request.native.questions.length : 0),
      tool: permission?.tool ?? null,
      detail: permission ? detailOf(permission.subject) : null,
      subject: permission ? subjectOf(permission.subject) : { kind: 'question' },
      reason: permission?.reason ?? null,
      questions:
        request.kind === 'user_choice'
          ? request.native.questions.map((question) => withoutUndefined(question))
          : [],
      since: new Date(now).toISOString(),
      expires_at: fact.expiresInMs === null ? null : new Date(now + fact.expiresInMs).toISOString(),
      state: 'pending',
      answerable: fact.answerable,
      rule: permission ? coverageOf(permission) : null,
      editable: permission?.editable ?? null,
    });
    const asks = request.kind === 'user_choice' ? questionTitle(request.native.questions.length) : '';
    turn?.journal.add({ kind: 'prompt', interaction_id: fact.id, title: permission?.title ?? asks });
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

  #turnView(turn: TurnRecord): TurnView {
    const waiting = [...this.#interactions.values()].some((open) => open.runId === turn.runId);
    return {
      run_id: turn.runId,
      session_id: turn.sessionId,
      binding: turn.binding,
      harness: turn.harness,
      title: turn.title,
      state: turn.state,
      phase: waiting ? 'waiting_for_answer' : turn.phase,
      started_at: new Date(turn.startedAt).toISOString(),
      last_output_at: turn.lastOutputAt === null ? null : new Date(turn.lastOutputAt).toISOString(),
      usage: usageView(turn.usage),
      evidence: [...turn.evidence],
      local: turn.local,
      can_steer: turn.canSteer,
      entries: turn.journal.total,
    };
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

export function usageView(usage: UsagePayload | null): UsageView | null {
  if (!usage) return null;
  const { tokens } = usage;
  return {
    input_tokens: tokens?.input_tokens ?? usage.input_tokens ?? null,
    cached_input_tokens: tokens?.cached_input_tokens ?? null,
    output_tokens: tokens?.output_tokens ?? usage.output_tokens ?? null,
    reasoning_output_tokens: tokens?.reasoning_output_tokens ?? null,
    total_tokens: tokens?.total_tokens ?? null,
    cost_usd: usage.cost_usd ?? null,
    model: usage.model ?? null,
  };
}

export function textOf(input: MessageInput): string {
  return input
    .map((message) =>
      message.content.map((part) => (part.type === 'input_text' ? (part.text ?? '') : '[image]')).join(''),
    )
    .join('\n\n');
}

export function titleOf(prompt: string): string {
  const line = prompt.trim().split('\n')[0]?.trim() ?? '';
  return line.length > 120 ? `${line.slice(0, 119)}…` : line === '' ? 'Turn' : line;
}

const questionTitle = (count: number): string =>
  count === 1 ? 'Answer a question' : `Answer ${count} questions`;

function detailOf(subject: NativeSubject): string | null {
  switch (subject.kind) {
    case 'command':
      return subject.command;
    case 'file_change':
      return subject.changes.map((change) => `${change.kind} ${change.path}`).join('\n');
    case 'network':
      return subject.port === null ? subject.host : `${subject.host}:${subject.port}`;
    case 'tool':
      return JSON.stringify(subject.input) ?? null;
  }
}

function subjectOf(subject: NativeSubject): InteractionView['subject'] {
  if (subject.kind !== 'file_change') return subject;
  return {
    kind: 'file_change',
    changes: subject.changes.map(({ path, kind, diff, insideWorkspace }) => ({
      path,
      kind,
      diff,
      inside_workspace: insideWorkspace ?? null,
    })),
  };
}

function withoutUndefined(question: {
  id: string;
  header?: string | undefined;
  question: string;
  multi_select?: boolean | undefined;
  is_other?: boolean | undefined;
  is_secret?: boolean | undefined;
  options: { label: string; description?: string | undefined }[];
}): InteractionView['questions'][number] {
  return {
    id: question.id,
    question: question.question,
    ...(question.header === undefined ? {} : { header: question.header }),
    ...(question.multi_select === undefined ? {} : { multi_select: question.multi_select }),
    ...(question.is_other === undefined ? {} : { is_other: question.is_other }),
    ...(question.is_secret === undefined ? {} : { is_secret: question.is_secret }),
    options: question.options.map((option) => ({
      label: option.label,
      ...(option.description === undefined ? {} : { description: option.description }),
    })),
  };
}
