import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import { FRAME_BYTES } from '../protocol/limits.ts';
import { utf8Length } from '../protocol/utf8.ts';
import type { AdmissionRefusal } from './admission.ts';
import { CoreBook } from './core-book.ts';
import type { CoreStorage, SessionRecord, TurnRecord } from './core-state.ts';
import { Gateway, type GatewayObserver } from './gateway.ts';
import type { AnswerResult, CoreDecision, CoreInteraction } from './interaction-desk.ts';
import { Scheduler } from './scheduler.ts';

export interface LocalCoreOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly storage: CoreStorage;
  readonly heartbeatSeconds?: number;
  /** With it a Session can be served by a machine that enrolled for it, whose build of Core this names. */
  readonly build?: string;
  /** Sees everything the gateway sees; may be a test's. */
  readonly observer?: GatewayObserver;
}

/** What a Runtime needs to serve one Session. Core keeps no credential: only its digest, and only in memory. */
export interface SessionAccess {
  readonly sessionId: string;
  readonly environmentId: string;
  readonly deviceId: string;
  readonly credential: string;
}

export type CoreEvent =
  | { readonly kind: 'session'; readonly sessionId: string }
  /** State, inputs or open interactions of a Turn. Fragments of text come as `delta`. */
  | { readonly kind: 'turn'; readonly runId: string }
  | { readonly kind: 'delta'; readonly runId: string; readonly text: string }
  | { readonly kind: 'connection'; readonly sessionId: string; readonly connected: boolean }
  /** What was promised to survive a restart may not. */
  | { readonly kind: 'storage_failed' };

export type SubmitOptions =
  | { readonly prompt: string; readonly sessionId: string }
  | { readonly prompt: string; readonly harness: string; readonly workspaceDirectory: string | null };

export type SubmitResult =
  | { readonly kind: 'queued'; readonly runId: string; readonly sessionId: string }
  | {
      readonly kind: 'refused';
      readonly reason: 'empty_prompt' | 'prompt_too_large' | 'unknown_session' | 'storage_failed';
    };

/** Room for the rest of an `execution_start` beside its text. */
const START_OVERHEAD_BYTES = 65_536;

/**
 * A Core for one person's machine: Sessions and Turns that survive a restart, reached by Runtimes through its gateway
 * alone. Each Session has one device, one Environment and one Harness kind for good; its Turns run one at a time.
 */
export class LocalCore {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #gateway: Gateway;
  readonly #book: CoreBook;
  readonly #scheduler: Scheduler;
  readonly #listeners = new Set<(event: CoreEvent) => void>();

  private constructor(options: LocalCoreOptions, book: CoreBook) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#book = book;
    const outer = options.observer;
    this.#gateway = new Gateway({
      clock: options.clock,
      ...(options.build === undefined ? {} : { enrolment: { random: options.random, build: options.build } }),
      ...(options.heartbeatSeconds === undefined ? {} : { heartbeatSeconds: options.heartbeatSeconds }),
      observer: {
        connected: (connection) => {
          outer?.connected?.(connection);
          this.#connectionChanged(connection.deviceId, true);
        },
        received: (received, connection) => outer?.received?.(received, connection),
        heartbeat: (heartbeat, connection) => {
          outer?.heartbeat?.(heartbeat, connection);
          const session = this.#book.sessionOfDevice(connection.deviceId);
          if (session) this.#scheduler.schedule(session);
        },
        ended: (end, connection) => {
          outer?.ended?.(end, connection);
          if (!this.#gateway.connection(connection.deviceId))
            this.#connectionChanged(connection.deviceId, false);
        },
      },
    });
    this.#scheduler = new Scheduler({
      clock: options.clock,
      random: options.random,
      book: this.#book,
      connectionOf: (deviceId) => this.#gateway.connection(deviceId),
      turnChanged: (turn) => {
        this.#emit({ kind: 'turn', runId: turn.runId });
        this.#book.saveSoon();
      },
      delta: (turn, text) => {
        this.#emit({ kind: 'delta', runId: turn.runId, text });
        this.#book.saveSoon();
      },
    });
  }

  /**
   * Loads what is stored and settles what a restart left open: a Turn whose end was not observed is `unknown`.
   * @throws CoreStateError when the stored state cannot be read; it is left as it is.
   */
  static async create(options: LocalCoreOptions): Promise<LocalCore> {
    let core: LocalCore | undefined;
    const book = await CoreBook.open(options.clock, options.storage, {
      refresh: (turn) => {
        if (core) core.#scheduler.driver(turn.runId)?.syncText();
      },
      storageFailed: () => {
        if (core) core.#emit({ kind: 'storage_failed' });
      },
    });
    core = new LocalCore(options, book);
    return core;
  }

  /** Binds 127.0.0.1, a free port by default. */
  listen(port?: number): Promise<void> {
    return this.#gateway.listen(port);
  }

  /** Ends the connections. Turns in flight become `unknown`, since nobody sees their end. */
  async close(): Promise<void> {
    this.#scheduler.stop();
    await this.#gateway.close();
    await this.#book.close();
  }

  /** For peers that need more than Sessions and Turns. */
  get gateway(): Gateway {
    return this.#gateway;
  }

  /** What a bootstrap file calls `core_url`. */
  get coreUrl(): string {
    return this.#gateway.coreUrl;
  }

  subscribe(listener: (event: CoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * A new Session with a device of its own. `workspaceDirectory` null is Environment type `none`.
   * @throws what the storage throws, when the Session could not be made durable. It does not exist then.
   */
  async createSession(options: {
    harness: string;
    workspaceDirectory: string | null;
  }): Promise<SessionAccess> {
    const session: SessionRecord = {
      sessionId: this.#random.uuid(),
      environmentId: this.#random.uuid(),
      deviceId: this.#random.uuid(),
      harness: options.harness,
      workspaceDirectory: options.workspaceDirectory,
      createdAt: this.#clock.now(),
      nativeSessionId: null,
      ended: false,
    };
    await this.#book.addSession(session);
    this.#emit({ kind: 'session', sessionId: session.sessionId });
    return this.#issue(session);
  }

  /** A fresh credential for a Session's device; the former one is worth nothing any more. */
  issueAccess(sessionId: string): SessionAccess | undefined {
    const session = this.#book.session(sessionId);
    return session && !session.ended ? this.#issue(session) : undefined;
  }

  /**
   * What a Session shows to whoever may serve it: where to enrol and a fresh grant. Undefined for a Session without a
   * folder, one that ended, and a Core that nobody can enrol with.
   */
  invite(sessionId: string): { readonly endpoint: string; readonly grant: string } | undefined {
    const session = this.#book.session(sessionId);
    const { authority } = this.#gateway;
    if (!session || session.ended || session.workspaceDirectory === null || !authority) return undefined;
    const { environmentId, deviceId, workspaceDirectory, harness } = session;
    if (!authority.has(environmentId)) {
      authority.offer({ environmentId, sessionId, deviceId, workspaceDirectory, harness });
    }
    const endpoint = `${this.coreUrl}/agent-daemon/installation`;
    return { endpoint, grant: authority.grant(environmentId) };
  }

  /** No Turn and no connection any more: open Turns are cancelled, the device is retired. */
  async endSession(sessionId: string): Promise<void> {
    const session = this.#book.session(sessionId);
    if (!session || session.ended) return;
    session.ended = true;
    for (const turn of this.#book.openTurns(sessionId)) this.#scheduler.cancel(turn);
    this.#gateway.retireDevice(session.deviceId);
    this.#gateway.authority?.deleteSession(session.environmentId);
    this.#emit({ kind: 'session', sessionId });
    await this.#book.save();
  }

  sessions(): readonly (SessionRecord & { readonly connected: boolean })[] {
    return this.#book.sessions.map((session) => ({
      ...session,
      connected: this.#gateway.connection(session.deviceId) !== undefined,
    }));
  }

  /**
   * Queues a Turn. It runs when its Session's Runtime is there, offers the kind and is through with earlier ones.
   * Without a Session it gets a new one: the `session` event and `issueAccess` lead to its connection.
   */
  async submit(options: SubmitOptions): Promise<SubmitResult> {
    if (options.prompt === '') return { kind: 'refused', reason: 'empty_prompt' };
    if (utf8Length(JSON.stringify(options.prompt)) > FRAME_BYTES - START_OVERHEAD_BYTES)
      return { kind: 'refused', reason: 'prompt_too_large' };
    const sessionId =
      'sessionId' in options ? options.sessionId : (await this.createSession(options)).sessionId;
    const session = this.#book.session(sessionId);
    if (!session || session.ended) return { kind: 'refused', reason: 'unknown_session' };
    const turn = newTurn(this.#random.uuid(), session.sessionId, options.prompt, this.#clock.now());
    if (!(await this.#book.addTurn(turn))) return { kind: 'refused', reason: 'storage_failed' };
    this.#emit({ kind: 'turn', runId: turn.runId });
    this.#scheduler.schedule(session);
    return { kind: 'queued', runId: turn.runId, sessionId: session.sessionId };
  }

  /** Asks for the end of a Turn. False when there is none to end. What came of it is the Turn's outcome. */
  cancel(runId: string): boolean {
    const turn = this.#book.turn(runId);
    if (!turn || turn.state === 'ended') return false;
    this.#scheduler.cancel(turn);
    return true;
  }

  /** Adds input to a running Turn. False when it takes none: not running, or not declared. See the Turn's `inputs`. */
  steer(runId: string, text: string): boolean {
    return text !== '' && (this.#scheduler.driver(runId)?.steer(text) ?? false);
  }

  /** Core's own answer to an interaction it was told of. Nobody needs to call it: the person at the Runtime decides. */
  answer(interactionId: string, decision: CoreDecision): Promise<AnswerResult> {
    return this.#scheduler.answer(interactionId, decision);
  }

  /** Interactions that Core was told of and that are open as far as it knows. */
  interactions(): readonly CoreInteraction[] {
    return this.#scheduler.interactions;
  }

  /** In the order they were submitted. */
  turns(): readonly TurnRecord[] {
    return this.#book.turns.map((turn) => this.#book.read(turn));
  }

  turn(runId: string): TurnRecord | undefined {
    const turn = this.#book.turn(runId);
    return turn && this.#book.read(turn);
  }

  /** Why a queued Turn does not run yet; undefined when it only waits for earlier Turns or for room. */
  waitingFor(runId: string): AdmissionRefusal | undefined {
    const turn = this.#book.turn(runId);
    return turn && this.#scheduler.waitingFor(turn);
  }

  #issue(session: SessionRecord): SessionAccess {
    const { sessionId, environmentId, deviceId } = session;
    const credential = this.#random.hex(32);
    this.#gateway.registerDevice(deviceId, credential);
    return { sessionId, environmentId, deviceId, credential };
  }

  #connectionChanged(deviceId: string, connected: boolean): void {
    const session = this.#book.sessionOfDevice(deviceId);
    if (session) this.#emit({ kind: 'connection', sessionId: session.sessionId, connected });
  }

  #emit(event: CoreEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}

/** @see LocalCore.create */
export const createLocalCore = (options: LocalCoreOptions): Promise<LocalCore> => LocalCore.create(options);

const newTurn = (runId: string, sessionId: string, prompt: string, createdAt: number): TurnRecord => ({
  runId,
  sessionId,
  prompt,
  state: 'queued',
  outcome: null,
  errorCode: null,
  errorText: null,
  engineErrorCode: null,
  engineHttpStatus: null,
  text: '',
  textTruncated: false,
  usage: null,
  createdAt,
  startedAt: null,
  endedAt: null,
  history: null,
  inputs: [],
});
