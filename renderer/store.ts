import type { FrontEnd } from '../src/contract/commands.ts';
import type { JournalEntry } from '../src/contract/journal.ts';
import type { View } from '../src/contract/view.ts';
import type { LinkStatus, WindowLink } from './bridge.ts';
import { JournalBlocks, type Chunk } from './select/journal-blocks.ts';
import { share } from './select/share.ts';
import type { WindowClock } from './window-clock.ts';

/** Tells its listeners that something changed; they read it with `get`. The shape `useSyncExternalStore` wants. */
export class Signal {
  readonly #listeners = new Set<() => void>();
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
  notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

export interface WindowState {
  /** The latest snapshot, also while the connection is lost: then `status` says that it is old. */
  readonly view: View | null;
  readonly status: LinkStatus;
  /** Wall clock of the last snapshot, Unix milliseconds. */
  readonly viewAt: number | null;
}

/** The latest snapshot. Parts that did not change keep their identity from one snapshot to the next. */
export class ViewStore extends Signal {
  #state: WindowState = { view: null, status: 'connecting', viewAt: null };

  constructor(link: WindowLink, clock: WindowClock) {
    super();
    link.onStatus((status) => this.#set({ ...this.#state, status }));
    link.onView((view) => {
      const old = this.#state.view;
      const older =
        old !== null && old.runtime.started_at === view.runtime.started_at && view.revision < old.revision;
      if (!older) this.#set({ ...this.#state, view: share(old ?? undefined, view), viewAt: clock.now() });
    });
  }
  readonly get = (): WindowState => this.#state;

  #set(state: WindowState): void {
    this.#state = state;
    this.notify();
  }
}

export interface JournalState {
  readonly chunks: readonly Chunk[];
  readonly count: number;
  /** Everything that exists was read. */
  readonly complete: boolean;
  readonly ended: boolean;
  readonly error: string | null;
}

const emptyJournal: JournalState = { chunks: [], count: 0, complete: false, ended: false, error: null };

/** Entries a call asks for. */
const readLimit = 1_000;
/** Pages that are read before what came so far is drawn. */
const drawnEvery = 10;

/** The journal of one Turn: reads each entry once, from a cursor, whenever the view says that there are more. */
export class TurnJournal extends Signal {
  readonly #link: FrontEnd;
  readonly #runId: string;
  readonly #blocks = new JournalBlocks();
  #cursor = -1;
  #wanted = 0;
  #reading = false;
  #state = emptyJournal;

  constructor(link: FrontEnd, runId: string) {
    super();
    this.#link = link;
    this.#runId = runId;
  }
  readonly get = (): JournalState => this.#state;

  /** `entries`: how many exist by the view, or null for a Turn that is not open (any more). */
  catchUp(entries: number | null): void {
    this.#wanted = Math.max(this.#wanted, entries ?? 0);
    const done =
      entries === null
        ? this.#state.ended && this.#state.complete
        : this.#cursor + 1 >= this.#wanted && this.#state.complete;
    if (!done && !this.#reading) void this.#read();
  }

  async #read(): Promise<void> {
    this.#reading = true;
    try {
      for (let page = 1; ; page++) {
        const answer = await this.#link.call('turn.read', {
          run_id: this.#runId,
          after: this.#cursor,
          limit: readLimit,
        });
        const fresh: readonly JournalEntry[] = answer.entries.filter((entry) => entry.n > this.#cursor);
        this.#blocks.append(fresh);
        this.#cursor = fresh.at(-1)?.n ?? this.#cursor;
        const complete = fresh.length === 0 || this.#cursor + 1 >= answer.total;
        // A long history is drawn a few times on the way, not once a page: its end is what is looked at.
        if (complete || page % drawnEvery === 0) {
          this.#set({
            chunks: this.#blocks.chunks,
            count: this.#blocks.count,
            complete,
            ended: answer.ended,
            error: null,
          });
        }
        if (complete && (answer.ended || fresh.length === 0 || this.#cursor + 1 >= this.#wanted)) return;
      }
    } catch (error) {
      this.#set({ ...this.#state, error: error instanceof Error ? error.message : String(error) });
    } finally {
      this.#reading = false;
    }
  }

  #set(state: JournalState): void {
    this.#state = state;
    this.notify();
  }
}

/** The journals that were opened in this window; a Turn seen before is there at once and reads only what is new. */
export class TurnJournals {
  readonly #link: FrontEnd;
  readonly #kept = new Map<string, TurnJournal>();
  /** More are dropped, the one longest not opened first: they can be read again. */
  readonly #most = 12;

  constructor(link: FrontEnd) {
    this.#link = link;
  }
  open(runId: string): TurnJournal {
    const journal = this.#kept.get(runId) ?? new TurnJournal(this.#link, runId);
    this.#kept.delete(runId);
    this.#kept.set(runId, journal);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > this.#most && oldest.done !== true) this.#kept.delete(oldest.value);
    return journal;
  }
}
