import type { Evidence, TurnView, UsageView } from '../contract/view.ts';
import type { HarnessEvent } from '../harness/adapter.ts';
import type { Clock } from '../platform/clock.ts';
import type { MessageInput } from '../protocol/message-input.ts';
import type { UsagePayload } from '../protocol/run-output.ts';
import type { RuntimeFact } from '../runtime/facts.ts';
import { Journal } from './journal.ts';

/** Calls without an end that are told apart, to say whether a tool runs. */
const openToolsKnown = 1_000;

/** The binding that a fact comes from. */
export interface BindingOf {
  readonly name: string;
  readonly local: boolean;
}

/** What is kept of a Turn for front ends, open or ended. */
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

/** A Turn that just began. */
export function beginTurn(
  binding: BindingOf,
  fact: Extract<RuntimeFact, { type: 'turn_started' }>,
  clock: Clock,
): TurnRecord {
  const prompt = textOf(fact.input);
  const journal = new Journal(clock);
  journal.add({ kind: 'input', input_id: '0', text: prompt, by: binding.local ? 'person' : 'core' });
  return {
    runId: fact.runId,
    binding: binding.name,
    local: binding.local,
    sessionId: fact.sessionId,
    harness: fact.harness,
    title: titleOf(prompt),
    prompt,
    startedAt: clock.now(),
    canSteer: fact.canSteer,
    journal,
    evidence: [],
    state: 'starting',
    phase: null,
    lastOutputAt: null,
    usage: null,
    ended: null,
    tools: new Set(),
  };
}

/** Folds one event of the agent into a Turn: its journal, its phase, its usage. */
export function takeOutput(turn: TurnRecord, event: HarnessEvent, clock: Clock): void {
  if (turn.journal.observe(event)) turn.lastOutputAt = clock.now();
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

/** `waiting`: a prompt of it is open. */
export function turnView(turn: TurnRecord, waiting: boolean): TurnView {
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

/** What is not known of the usage is null, not 0. */
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

/** The text of an input; an image is named, not shown. */
export function textOf(input: MessageInput): string {
  return input
    .map((message) =>
      message.content.map((part) => (part.type === 'input_text' ? (part.text ?? '') : '[image]')).join(''),
    )
    .join('\n\n');
}

/** The first line, at most 120 characters. */
export function titleOf(prompt: string): string {
  const line = prompt.trim().split('\n')[0]?.trim() ?? '';
  return line.length > 120 ? `${line.slice(0, 119)}…` : line === '' ? 'Turn' : line;
}
