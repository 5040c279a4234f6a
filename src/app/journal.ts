import type { JournalEntry } from '../contract/journal.ts';
import type { HarnessEvent } from '../harness/adapter.ts';
import type { Clock } from '../platform/clock.ts';
import type { ToolCallPayload } from '../protocol/run-output.ts';

/** What is kept of one Turn. Past it the middle of the Turn is not kept, and the journal says so. */
export const journalLimits = {
  /** Characters, and `entryCost` for each entry: many short ones weigh as much as a long one. */
  weight: 24 * 1024 * 1024,
  entryCost: 400,
  mergeMs: 50,
  mergeCharacters: 8 * 1024,
} as const;

type EntryBody = JournalEntry extends infer E
  ? E extends JournalEntry
    ? Omit<E, 'n' | 'at'>
    : never
  : never;

/**
 * What a Turn printed, append-only (contract/journal). Text fragments that follow each other within 50 ms become one
 * entry; an entry that a reader may have seen is never changed.
 */
export class Journal {
  readonly #clock: Clock;
  readonly #entries: JournalEntry[] = [];
  #open: {
    kind: 'text' | 'thinking' | 'tool_output';
    key: string | null;
    text: string;
    since: number;
    at: string;
  } | null = null;
  #weight = 0;
  #full = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Entries so far; seals the open text, so that a reader sees all of it. */
  get total(): number {
    this.#seal();
    return this.#entries.length;
  }

  /** Of what is kept, in the unit of `journalLimits.weight`. */
  get weight(): number {
    return Math.min(this.#weight, journalLimits.weight);
  }

  read(after: number, limit: number): JournalEntry[] {
    this.#seal();
    const out: JournalEntry[] = [];
    let size = 0;
    for (let n = after + 1; n < this.#entries.length && out.length < limit; n++) {
      const entry = this.#entries[n];
      if (!entry) break;
      size += sizeOf(entry);
      if (out.length > 0 && size > 1024 * 1024) break;
      out.push(entry);
    }
    return out;
  }

  /** The text of the agent's messages: complete ones where known, else what the fragments built. */
  text(): string {
    this.#seal();
    const order: string[] = [];
    const built = new Map<string, string>();
    for (const entry of this.#entries) {
      if (entry.kind !== 'text' && entry.kind !== 'message') continue;
      const id = entry.message_id ?? '';
      if (!built.has(id)) order.push(id);
      built.set(id, entry.kind === 'message' ? entry.text : (built.get(id) ?? '') + entry.text);
    }
    return order.map((id) => built.get(id) ?? '').join('\n\n');
  }

  add(body: EntryBody): void {
    this.#seal();
    this.#push(body, new Date(this.#clock.now()).toISOString());
  }

  /** One observed event of the Harness; returns true when it belongs into the stream. */
  observe(event: HarnessEvent): boolean {
    switch (event.type) {
      case 'delta':
        this.#append('text', event.payload.item_id ?? null, event.payload.delta);
        return true;
      case 'thinking':
        this.#append('thinking', null, event.payload.text);
        return true;
      case 'command_output':
        this.#append('tool_output', event.payload.id, event.payload.delta);
        return true;
      case 'output_message':
        if (event.payload.status !== 'completed' || event.payload.text === undefined) return false;
        this.add({
          kind: 'message',
          message_id: event.payload.id,
          text: event.payload.text,
          phase: event.payload.phase ?? null,
        });
        return true;
      case 'tool_call':
        this.#tool(event.payload);
        return true;
      case 'error':
        this.add({ kind: 'error', code: event.payload.code ?? null, text: event.payload.error });
        return true;
      case 'notice':
        this.add({ kind: 'notice', text: event.text });
        return true;
      case 'subagent_identity':
        this.add({ kind: 'notice', text: 'The agent began a sub-agent.' });
        return true;
      case 'subagent_lifecycle':
        this.add({
          kind: 'notice',
          text: `The agent ${event.payload.status === 'closed' ? 'closed' : 'reopened'} a sub-agent.`,
        });
        return true;
      case 'subagent_turn':
      case 'subagent_item':
      case 'subagent_coordination':
      case 'usage':
      case 'function_call':
      case 'permission':
      case 'choice':
      case 'withdrawn':
      case 'done':
        return false;
    }
  }

  #tool(call: ToolCallPayload): void {
    const { observation } = call;
    if (call.stage === 'before') {
      this.add({
        kind: 'tool_start',
        call_id: call.id,
        name: call.name,
        summary: summary(call),
        input: call.args ?? null,
      });
      return;
    }
    this.add({
      kind: 'tool_end',
      call_id: call.id,
      status: endStatus(observation?.status),
      output: outputText(call),
      exit_code: observation?.exit_code ?? null,
      duration_ms: observation?.duration_ms ?? null,
    });
  }

  #append(kind: 'text' | 'thinking' | 'tool_output', key: string | null, text: string): void {
    const open = this.#open;
    const now = this.#clock.monotonic();
    const fits =
      open &&
      open.kind === kind &&
      open.key === key &&
      now - open.since < journalLimits.mergeMs &&
      open.text.length < journalLimits.mergeCharacters;
    if (open && fits) {
      open.text += text;
      return;
    }
    this.#seal();
    this.#open = { kind, key, text, since: now, at: new Date(this.#clock.now()).toISOString() };
  }

  #seal(): void {
    const open = this.#open;
    if (!open) return;
    this.#open = null;
    if (open.kind === 'text') this.#push({ kind: 'text', message_id: open.key, text: open.text }, open.at);
    else if (open.kind === 'thinking') this.#push({ kind: 'thinking', text: open.text }, open.at);
    else this.#push({ kind: 'tool_output', call_id: open.key ?? '', text: open.text }, open.at);
  }

  #push(body: EntryBody, at: string): void {
    const entry: JournalEntry = { ...body, n: this.#entries.length, at };
    this.#weight += sizeOf(entry) + journalLimits.entryCost;
    if (this.#weight > journalLimits.weight && entry.kind !== 'end') {
      if (this.#full) return;
      this.#full = true;
      this.#entries.push({
        n: this.#entries.length,
        at,
        kind: 'notice',
        text: 'This Turn wrote more than is kept here. The rest is not shown.',
      });
      return;
    }
    this.#entries.push(entry);
  }
}

function sizeOf(entry: JournalEntry): number {
  switch (entry.kind) {
    case 'text':
    case 'message':
    case 'thinking':
    case 'tool_output':
    case 'input':
    case 'error':
    case 'notice':
      return entry.text.length;
    case 'tool_end':
      return entry.output?.length ?? 16;
    case 'tool_start':
      return entry.summary.length + (JSON.stringify(entry.input)?.length ?? 0);
    case 'input_state':
    case 'prompt':
    case 'prompt_end':
    case 'end':
      return 64;
  }
}

const endStatus = (status: string | undefined): 'completed' | 'failed' | 'incomplete' =>
  status === 'failed' || status === 'incomplete' ? status : 'completed';

function summary(call: ToolCallPayload): string {
  const args = call.args ?? {};
  const first =
    call.observation?.command ??
    ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'description']
      .map((key) => args[key])
      .find((value): value is string => typeof value === 'string');
  return (first ?? '').split('\n')[0]?.slice(0, 300) ?? '';
}

function outputText(call: ToolCallPayload): string | null {
  const output = call.observation?.output;
  if (typeof output === 'string') return output;
  const result = call.result;
  if (!result) return output === undefined || output === null ? null : JSON.stringify(output, null, 2);
  for (const key of ['stdout', 'output', 'content', 'text']) {
    const value = result[key];
    if (typeof value === 'string') return value;
  }
  return JSON.stringify(result, null, 2);
}
