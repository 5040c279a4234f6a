import type { Clock, Timer } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import type { CapabilityDeclaration } from '../protocol/capabilities.ts';
import { admit, type AdmissionRefusal } from './admission.ts';
import type { CoreConnection } from './connection.ts';
import type { CoreBook } from './core-book.ts';
import type { SessionRecord, TurnRecord } from './core-state.ts';
import type { AnswerResult, CoreDecision, CoreInteraction } from './interaction-desk.ts';
import { TurnDriver } from './turn-driver.ts';
import type { TurnState } from './turn-state.ts';

/** Between two attempts for a Turn that was turned away for lack of room. */
const CAPACITY_RETRY_MS = 1_000;

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly book: CoreBook;
  readonly connectionOf: (deviceId: string) => CoreConnection | undefined;
  readonly turnChanged: (turn: TurnRecord) => void;
  readonly delta: (turn: TurnRecord, text: string) => void;
}

/** Decides when a queued Turn is claimed: one Turn of a Session at a time, in order, on the Session's own device. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #drivers = new Map<string, TurnDriver>();
  /** Sessions with a Turn at work, or with an admission that is being given back. */
  readonly #taken = new Set<string>();
  /** Turns that are queued again after a start that took nothing. */
  readonly #attempts = new Map<string, 1 | 2>();
  readonly #retries = new Map<string, Timer>();
  #stopped = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  driver(runId: string): TurnDriver | undefined {
    return this.#drivers.get(runId);
  }

  get interactions(): readonly CoreInteraction[] {
    return [...this.#drivers.values()].flatMap((driver) => driver.interactions);
  }

  /** Claims nothing any more; what runs goes on until its connection ends. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#retries.values()) timer.cancel();
    this.#retries.clear();
  }

  /** Looks again: a Turn was added or ended, or the Runtime said what it offers. */
  schedule(session: SessionRecord): void {
    if (this.#stopped || session.ended || this.#retries.has(session.sessionId)) return;
    if (this.#taken.has(session.sessionId)) return;
    const turn = this.#options.book.openTurns(session.sessionId)[0];
    if (!turn) return;
    const connection = this.#options.connectionOf(session.deviceId);
    const admission = admit(session, connection);
    if (admission.kind === 'never') this.#endQueued(turn, 'failed', admission.code);
    else if (admission.kind === 'admit' && connection)
      this.#run(session, turn, connection, admission.capabilities);
  }

  /** Why a queued Turn does not run; undefined when it only waits for earlier ones or for room. */
  waitingFor(turn: TurnRecord): AdmissionRefusal | undefined {
    const session = turn.state === 'queued' ? this.#options.book.session(turn.sessionId) : undefined;
    const admission = session && admit(session, this.#options.connectionOf(session.deviceId));
    return admission?.kind === 'admit' ? undefined : admission;
  }

  cancel(turn: TurnRecord): void {
    const driver = this.#drivers.get(turn.runId);
    if (driver) driver.cancel();
    else this.#endQueued(turn, 'cancelled', 'cancelled_before_start');
  }

  async answer(interactionId: string, decision: CoreDecision): Promise<AnswerResult> {
    for (const driver of this.#drivers.values())
      if (driver.interactions.some((open) => open.interactionId === interactionId))
        return driver.answer(interactionId, decision);
    return { kind: 'not_pending' };
  }

  #run(
    session: SessionRecord,
    turn: TurnRecord,
    connection: CoreConnection,
    capabilities: CapabilityDeclaration,
  ): void {
    const { clock, random, book } = this.#options;
    turn.history = this.#historyOf(session, turn);
    const driver = new TurnDriver({
      clock,
      random,
      connection,
      capabilities,
      session,
      record: turn,
      attempt: this.#attempts.get(turn.runId) ?? 1,
      saveClaim: () => book.saveNow(),
      changed: () => this.#options.turnChanged(turn),
      delta: (text) => this.#options.delta(turn, text),
      over: (state) => this.#over(session, turn, state),
      free: () => {
        this.#taken.delete(session.sessionId);
        this.schedule(session);
      },
    });
    this.#taken.add(session.sessionId);
    this.#drivers.set(turn.runId, driver);
    driver.begin();
  }

  #historyOf(session: SessionRecord, turn: TurnRecord): TurnRecord['history'] {
    if (session.nativeSessionId !== null) return 'continued';
    const earlier = this.#options.book.turns.some(
      (other) => other !== turn && other.sessionId === session.sessionId && other.startedAt !== null,
    );
    return earlier ? 'missing' : 'new';
  }

  #over(session: SessionRecord, turn: TurnRecord, state: TurnState): void {
    this.#drivers.delete(turn.runId);
    if (state.kind === 'queued') this.#retryLater(session, turn, state.attempt);
    else this.#ended(turn);
  }

  #retryLater(session: SessionRecord, turn: TurnRecord, attempt: 1 | 2): void {
    this.#attempts.set(turn.runId, attempt);
    if (this.#stopped) return;
    const retry = (): void => {
      this.#retries.delete(session.sessionId);
      this.schedule(session);
    };
    this.#retries.set(
      session.sessionId,
      this.#options.clock.after(CAPACITY_RETRY_MS, retry, { background: true }),
    );
  }

  #endQueued(turn: TurnRecord, outcome: 'cancelled' | 'failed', code: string): void {
    turn.state = 'ended';
    turn.outcome = outcome;
    turn.errorCode = code;
    turn.endedAt = this.#options.clock.now();
    this.#ended(turn);
  }

  #ended(turn: TurnRecord): void {
    const { book } = this.#options;
    this.#attempts.delete(turn.runId);
    void book.save();
    this.#options.turnChanged(turn);
    const session = book.session(turn.sessionId);
    if (session) this.schedule(session);
  }
}
