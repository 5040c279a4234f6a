import type { Clock, Timer } from '../platform/clock.ts';
import {
  restoreState,
  trimTurns,
  type CoreState,
  type CoreStorage,
  type SessionRecord,
  type TurnRecord,
} from './core-state.ts';
import { StateWriter } from './state-writer.ts';

/** While a Turn runs, its text so far is stored this often. */
const PROGRESS_SAVE_MS = 2_000;

export interface CoreBookHooks {
  /** Brings a record up to date before it is read or stored. */
  refresh(turn: TurnRecord): void;
  storageFailed(): void;
}

/** The Sessions and Turns of the local Core and their way to storage. It decides nothing about them. */
export class CoreBook {
  readonly #clock: Clock;
  readonly #hooks: CoreBookHooks;
  readonly #writer: StateWriter;
  readonly #state: CoreState;
  #progress: Timer | undefined;
  #closed = false;

  private constructor(clock: Clock, storage: CoreStorage, state: CoreState, hooks: CoreBookHooks) {
    this.#clock = clock;
    this.#hooks = hooks;
    this.#state = state;
    this.#writer = new StateWriter(() => storage.save(this.#snapshot()));
  }

  /** @throws CoreStateError when the stored state cannot be read; it is left as it is. */
  static async open(clock: Clock, storage: CoreStorage, hooks: CoreBookHooks): Promise<CoreBook> {
    const state = restoreState(await storage.load(), clock.now());
    const book = new CoreBook(clock, storage, state, hooks);
    await book.#writer.save();
    return book;
  }

  get sessions(): readonly SessionRecord[] {
    return this.#state.sessions;
  }

  get turns(): readonly TurnRecord[] {
    return this.#state.turns;
  }

  session(sessionId: string): SessionRecord | undefined {
    return this.#state.sessions.find((session) => session.sessionId === sessionId);
  }

  sessionOfDevice(deviceId: string): SessionRecord | undefined {
    return this.#state.sessions.find((session) => session.deviceId === deviceId);
  }

  turn(runId: string): TurnRecord | undefined {
    return this.#state.turns.find((turn) => turn.runId === runId);
  }

  /** The Turns of a Session that have not ended, in the order they were submitted. */
  openTurns(sessionId: string): readonly TurnRecord[] {
    return this.#state.turns.filter((turn) => turn.sessionId === sessionId && turn.state !== 'ended');
  }

  /** A copy that later changes do not reach. */
  read(turn: TurnRecord): TurnRecord {
    this.#hooks.refresh(turn);
    return { ...turn, inputs: turn.inputs.map((input) => ({ ...input })) };
  }

  /** @throws what the storage throws. The Session does not exist then. */
  async addSession(session: SessionRecord): Promise<void> {
    this.#state.sessions.push(session);
    try {
      await this.#writer.save();
    } catch (error) {
      this.#state.sessions = this.#state.sessions.filter((other) => other !== session);
      throw error;
    }
  }

  /** False when it could not be made durable. The Turn does not exist then. */
  async addTurn(turn: TurnRecord): Promise<boolean> {
    this.#state.turns = trimTurns([...this.#state.turns, turn]);
    if (await this.save()) return true;
    this.#state.turns = this.#state.turns.filter((other) => other !== turn);
    return false;
  }

  /** @throws what the storage throws: for what must be durable before the next step. */
  saveNow(): Promise<void> {
    return this.#writer.save();
  }

  async save(): Promise<boolean> {
    try {
      await this.#writer.save();
      return true;
    } catch {
      this.#hooks.storageFailed();
      return false;
    }
  }

  /** Stores progress now and then; a claim and an end are stored when they happen. */
  saveSoon(): void {
    if (this.#closed) return;
    this.#progress ??= this.#clock.after(
      PROGRESS_SAVE_MS,
      () => {
        this.#progress = undefined;
        void this.save();
      },
      { background: true },
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#progress?.cancel();
    await this.save();
    await this.#writer.idle();
  }

  #snapshot(): CoreState {
    const withTurns = new Set(this.#state.turns.map((turn) => turn.sessionId));
    const kept = this.#state.sessions.filter((session) => !session.ended || withTurns.has(session.sessionId));
    return {
      version: 1,
      sessions: kept.map((session) => ({ ...session })),
      turns: this.#state.turns.map((turn) => this.read(turn)),
    };
  }
}
