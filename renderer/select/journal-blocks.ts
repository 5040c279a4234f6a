import type { JournalEntry } from '../../src/contract/journal.ts';

/** The journal of a Turn as the blocks that the stream draws. */
export type Block = { readonly key: string; readonly at: string } & (
  | {
      readonly kind: 'input';
      readonly by: 'person' | 'core';
      readonly text: string;
      readonly state: {
        readonly name: 'written' | 'accepted' | 'rejected' | 'unknown';
        readonly at: string;
        readonly detail: string | null;
      } | null;
    }
  | {
      readonly kind: 'say';
      readonly message_id: string | null;
      readonly text: string;
      readonly whole: boolean;
    }
  | { readonly kind: 'think'; readonly text: string; readonly until: string }
  | {
      readonly kind: 'tool';
      readonly call_id: string;
      readonly name: string;
      readonly summary: string;
      readonly input: unknown;
      readonly output: string;
      /** Line feeds in `output`, counted as it grew. */
      readonly breaks: number;
      readonly status: 'running' | 'completed' | 'failed' | 'incomplete';
      readonly exit_code: number | null;
      readonly duration_ms: number | null;
    }
  | {
      readonly kind: 'prompt';
      readonly interaction_id: string;
      readonly title: string;
      readonly end: string | null;
    }
  | { readonly kind: 'error'; readonly code: string | null; readonly text: string }
  | { readonly kind: 'notice'; readonly text: string }
  | {
      readonly kind: 'end';
      readonly outcome: 'completed' | 'failed' | 'cancelled' | 'unknown';
      readonly text: string;
    }
);
export type BlockOf<K extends Block['kind']> = Extract<Block, { kind: K }>;

/** Blocks lie in chunks of this many: a new line of output makes one small array anew, not one of thousands. */
export const chunkSize = 20;
export type Chunk = readonly Block[];

const countBreaks = (text: string): number => {
  let count = 0;
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) count += 1;
  return count;
};

/** Builds the blocks entry by entry. `chunks` is a new array when something changed since it was last asked for. */
export class JournalBlocks {
  readonly #growing: Chunk[] = [];
  /** What was given out; null when something changed since. */
  #given: readonly Chunk[] | null = null;
  #count = 0;
  /** Where a block that may still change lies: `kind:id` to its place. */
  readonly #places = new Map<string, number>();
  readonly #parts = new Map<string, number[]>();

  get chunks(): readonly Chunk[] {
    return (this.#given ??= [...this.#growing]);
  }
  get count(): number {
    return this.#count;
  }

  append(entries: readonly JournalEntry[]): void {
    for (const entry of entries) this.#add(entry);
  }

  #get(place: number): Block | undefined {
    return this.#growing[Math.floor(place / chunkSize)]?.[place % chunkSize];
  }

  #replace(place: number, block: Block): void {
    const index = Math.floor(place / chunkSize);
    const chunk = this.#growing[index] ?? [];
    this.#growing[index] = chunk.map((old, j) => (j === place % chunkSize ? block : old));
    this.#given = null;
  }

  #push(block: Block): number {
    const last = this.#growing.at(-1);
    if (last === undefined || last.length >= chunkSize) this.#growing.push([block]);
    else this.#growing[this.#growing.length - 1] = [...last, block];
    this.#given = null;
    return this.#count++;
  }

  #add(entry: JournalEntry): void {
    const base = { key: String(entry.n), at: entry.at };
    switch (entry.kind) {
      case 'input':
        this.#places.set(
          `input:${entry.input_id}`,
          this.#push({ ...base, kind: 'input', by: entry.by, text: entry.text, state: null }),
        );
        return;
      case 'input_state':
        this.#change(`input:${entry.input_id}`, 'input', (block) => ({
          ...block,
          state: { name: entry.state, at: entry.at, detail: entry.detail },
        }));
        return;
      case 'text':
        this.#text(entry, base);
        return;
      case 'message':
        this.#message(entry, base);
        return;
      case 'thinking': {
        const last = this.#get(this.#count - 1);
        if (last?.kind === 'think')
          this.#replace(this.#count - 1, { ...last, text: last.text + entry.text, until: entry.at });
        else this.#push({ ...base, kind: 'think', text: entry.text, until: entry.at });
        return;
      }
      case 'tool_start':
        this.#startTool(entry.call_id, {
          ...base,
          name: entry.name,
          summary: entry.summary,
          input: entry.input,
        });
        return;
      case 'tool_output':
        if (!this.#places.has(`tool:${entry.call_id}`))
          this.#startTool(entry.call_id, { ...base, name: '', summary: '', input: null });
        this.#change(`tool:${entry.call_id}`, 'tool', (block) => ({
          ...block,
          output: block.output + entry.text,
          breaks: block.breaks + countBreaks(entry.text),
        }));
        return;
      case 'tool_end':
        if (!this.#places.has(`tool:${entry.call_id}`))
          this.#startTool(entry.call_id, { ...base, name: '', summary: '', input: null });
        this.#change(`tool:${entry.call_id}`, 'tool', (block) => ({
          ...block,
          status: entry.status,
          exit_code: entry.exit_code,
          duration_ms: entry.duration_ms,
          ...(entry.output === null ? {} : { output: entry.output, breaks: countBreaks(entry.output) }),
        }));
        return;
      case 'prompt':
        this.#places.set(
          `prompt:${entry.interaction_id}`,
          this.#push({
            ...base,
            kind: 'prompt',
            interaction_id: entry.interaction_id,
            title: entry.title,
            end: null,
          }),
        );
        return;
      case 'prompt_end':
        this.#change(`prompt:${entry.interaction_id}`, 'prompt', (block) => ({ ...block, end: entry.text }));
        return;
      case 'error':
        this.#push({ ...base, kind: 'error', code: entry.code, text: entry.text });
        return;
      case 'notice':
        this.#push({ ...base, kind: 'notice', text: entry.text });
        return;
      case 'end':
        this.#push({ ...base, kind: 'end', outcome: entry.outcome, text: entry.text });
        return;
    }
  }

  #startTool(
    call_id: string,
    start: Pick<BlockOf<'tool'>, 'key' | 'at' | 'name' | 'summary' | 'input'>,
  ): void {
    const block: BlockOf<'tool'> = {
      ...start,
      kind: 'tool',
      call_id,
      output: '',
      breaks: 0,
      status: 'running',
      exit_code: null,
      duration_ms: null,
    };
    this.#places.set(`tool:${call_id}`, this.#push(block));
  }

  #change<K extends Block['kind']>(id: string, kind: K, change: (block: BlockOf<K>) => BlockOf<K>): void {
    const place = this.#places.get(id);
    const block = place === undefined ? undefined : this.#get(place);
    if (place !== undefined && isKind(block, kind)) this.#replace(place, change(block));
  }

  /** Text goes to the last block of its message while nothing came between; a tool call between starts a new one. */
  #text(entry: Extract<JournalEntry, { kind: 'text' }>, base: { key: string; at: string }): void {
    const last = this.#get(this.#count - 1);
    if (last?.kind === 'say' && last.message_id === entry.message_id && !last.whole) {
      this.#replace(this.#count - 1, { ...last, text: last.text + entry.text });
      return;
    }
    const place = this.#push({
      ...base,
      kind: 'say',
      message_id: entry.message_id,
      text: entry.text,
      whole: false,
    });
    if (entry.message_id !== null)
      this.#parts.set(entry.message_id, [...(this.#parts.get(entry.message_id) ?? []), place]);
  }

  /** The complete text of a message. Its parts stay where they are when together they already say the same. */
  #message(entry: Extract<JournalEntry, { kind: 'message' }>, base: { key: string; at: string }): void {
    const places = this.#parts.get(entry.message_id) ?? [];
    const parts = places
      .map((place) => this.#get(place))
      .filter((block): block is BlockOf<'say'> => block?.kind === 'say');
    const first = places[0];
    if (first === undefined) {
      const place = this.#push({
        ...base,
        kind: 'say',
        message_id: entry.message_id,
        text: entry.text,
        whole: true,
      });
      this.#parts.set(entry.message_id, [place]);
      return;
    }
    const same = parts.map((part) => part.text).join('') === entry.text;
    parts.forEach((part, index) => {
      const place = places[index];
      if (place !== undefined)
        this.#replace(place, {
          ...part,
          whole: true,
          text: same ? part.text : index === 0 ? entry.text : '',
        });
    });
  }
}

const isKind = <K extends Block['kind']>(block: Block | undefined, kind: K): block is BlockOf<K> =>
  block?.kind === kind;

/** How many lines of a tool's output are drawn before "Show all". */
export const shownLines = 200;

/** The last `most` lines of `text`, found from its end so that a long output costs no more than a short one. */
export function lastLines(text: string, most: number): { readonly text: string; readonly cut: boolean } {
  let from = text.endsWith('\n') ? text.length - 1 : text.length;
  for (let line = 0; line < most; line++) {
    const before = text.lastIndexOf('\n', from - 1);
    if (before < 0 || from === 0) return { text, cut: false };
    from = before;
  }
  return { text: text.slice(from + 1), cut: true };
}

/** Lines in an output that has `breaks` line feeds. */
export const lineCount = (output: string, breaks: number): number =>
  output === '' ? 0 : breaks + (output.endsWith('\n') ? 0 : 1);

/**
 * Parts of at most `lines` lines and `most` characters, so that a long output is drawn only where it is looked at. A
 * line that is longer is cut. The text is walked through once and copied nowhere.
 */
export function outputParts(text: string, lines: number, most: number): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  while (from < text.length) {
    let end = from;
    for (let line = 0; line < lines && end < text.length; line++) {
      const next = text.indexOf('\n', end);
      const after = next < 0 ? text.length : next + 1;
      if (after - from > most && end > from) break;
      end = after;
    }
    const cut = end - from > most ? wholeCharacter(text, from + most) : end;
    parts.push(text.slice(from, text[cut - 1] === '\n' ? cut - 1 : cut));
    from = cut;
  }
  return parts;
}

/** `at`, or one less where it would part the two halves of a character. */
const wholeCharacter = (text: string, at: number): number =>
  /[\uD800-\uDBFF]/.test(text[at - 1] ?? '') ? at - 1 : at;
