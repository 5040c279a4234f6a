import { backoffDelay, backoffLimits } from './backoff.ts';
import { permanent, transient, type Failure } from '../observe/failure.ts';
import { FlapGuard } from './flap-guard.ts';
import { watchClock } from './liveness.ts';
import type { LinkSender } from './link-sender.ts';
import { Serving, SocketInbox } from './serving.ts';
import { Socket } from './socket.ts';
import { advance, type ConnectionEvent, type ConnectionState } from './states.ts';
import type { Logger } from '../observe/logger.ts';
import { delay, within, type Clock, type Timer } from '../platform/clock.ts';
import type { Network } from '../platform/network.ts';
import type { Random } from '../platform/random.ts';
import type { HeartbeatPayload } from '../protocol/heartbeat.ts';
import { WIRE_VERSION } from '../protocol/version.ts';

/** What serves one physical connection. A new one is made for each; nothing of the old one survives in it. */
export interface ConnectionRouter {
  /** One inbound message, whole. Decides synchronously and never throws. */
  receive(data: Uint8Array): void;
  /**
   * Ends everything this connection owned. `unsettled` lists what blocks; calling again retries only that. A
   * caller's patience never discards anything.
   */
  shutdown(): Promise<
    { readonly kind: 'settled' } | { readonly kind: 'unsettled'; readonly blockers: readonly string[] }
  >;
  /** First message after a planned suspension; true when it was the matching resume. */
  resumeOn(sender: LinkSender, data: Uint8Array): Promise<boolean>;
}

/** What a router may ask of its link for a planned suspension. */
export interface LinkHooks {
  /** Everything is drained and told: close the socket, keep the router. */
  suspended(): void;
  /** Give this connection up. */
  drop(): void;
}

export type BootstrapOutcome =
  | { readonly kind: 'ok'; readonly url: URL; readonly deviceId: string; readonly heartbeatMs: number }
  | { readonly kind: 'failed'; readonly failure: Failure };

export interface LinkOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly userAgent: string;
  readonly network?: Network;
  readonly deviceId: string;
  /** Reads the credential, or says why there is none. Never logged, never kept longer than a call. */
  credential(): Promise<{ kind: 'ok'; secret: string } | { kind: 'failed'; failure: Failure }>;
  bootstrap(credential: string, deviceId: string, signal: AbortSignal): Promise<BootstrapOutcome>;
  createRouter(sender: LinkSender, hooks: LinkHooks): ConnectionRouter;
  /** Payload of the next heartbeat, computed anew each time. */
  heartbeat(): HeartbeatPayload;
  /** Called after each change of state and of what was last received. */
  onChange(): void;
}

const bootstrapTimeout = 10_000;
/** One wait for a router to settle, and the pause before it is asked again. Milliseconds. */
const shutdownWait = 5_000;
const shutdownPause = 1_000;
const longOutage = 5 * 60_000;
/** Suspended: the first attempt to resume, and how long one waits for Core's word. Milliseconds. */
const firstResume = 30_000;
const resumeAnswer = 30_000;

/** What made it doubtful whether a connection still stands. */
export interface Look {
  readonly why: 'woke' | 'network_changed';
  readonly since: number;
}

/**
 * One authenticated link to Core: the driver of `states.ts`. At most one socket and one router exist at a time, and
 * nothing dials while a router is unsettled.
 */
export class Link {
  readonly #o: LinkOptions;
  readonly #flaps = new FlapGuard();
  #state: ConnectionState;
  #endpoint: { url: URL; deviceId: string; heartbeatMs: number } | null = null;
  #abort: AbortController | null = null;
  #waiting: Timer | null = null;
  #stopClockWatch: () => void;
  /** The open socket at work. */
  #serving: Serving | null = null;
  /** What the present or suspended connection owns; settled before another one may dial. */
  #router: ConnectionRouter | null = null;
  #lastReceivedAt: number | null = null;
  #blockers: readonly string[] = [];
  /** Why a look was due last, and since when. */
  #look: Look | null = null;
  #stopped: (() => void)[] = [];

  constructor(options: LinkOptions) {
    this.#o = options;
    this.#state = { state: 'stopped', since: options.clock.now() };
    this.#stopClockWatch = watchClock(options.clock, () => this.wake());
  }

  get state(): ConnectionState {
    return this.#state;
  }
  /** Wall-clock time of the last inbound frame or pong. */
  get lastReceivedAt(): number | null {
    return this.#lastReceivedAt;
  }
  /** What keeps the connection from settling. */
  get blockers(): readonly string[] {
    return this.#blockers;
  }
  /** Set while it is not yet known whether the connection survived what happened. */
  get checking(): Look | null {
    return this.#serving?.checking ? this.#look : null;
  }

  start(): void {
    this.#apply({ type: 'start' });
  }

  /** Tries now: ends a wait, or leaves the parked state after a person fixed its cause. */
  retry(): void {
    this.#endpoint = this.#state.state === 'parked' ? null : this.#endpoint;
    this.#apply({ type: 'retry' });
  }

  /** The machine woke or the network changed. */
  wake(why: Look['why'] = 'woke'): void {
    this.#look = { why, since: this.#o.clock.now() };
    switch (this.#state.state) {
      case 'serving':
        this.#serving?.check();
        this.#o.onChange();
        return;
      case 'waiting':
      case 'suspended':
        this.retry();
        return;
      default:
        return;
    }
  }

  /** Sends the next heartbeat at once: availability changed. */
  beatNow(): void {
    if (this.#state.state === 'serving') this.#serving?.beat();
  }

  /** Resolves when the link has stopped, which is not before everything it owned has settled. */
  async stop(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#stopped.push(resolve));
    const before = this.#state.state;
    this.#apply({ type: 'stop' });
    if (before === 'stopped') this.#notifyStopped();
    await ended;
  }

  dispose(): void {
    this.#stopClockWatch();
  }

  #apply(event: ConnectionEvent): boolean {
    const next = advance(this.#state, event, this.#o.clock.now());
    if (!next) return false;
    const previous = this.#state;
    this.#state = next;
    if (entryOf(next) !== entryOf(previous)) {
      this.#o.logger.info(`connection.${next.state}`, {
        attempt: 'attempt' in next ? next.attempt : null,
        reason: 'failure' in next ? (next.failure?.code ?? null) : null,
        detail: 'failure' in next ? (next.failure?.detail ?? null) : null,
      });
      this.#leave();
      this.#enter(next);
    }
    this.#o.onChange();
    return true;
  }

  /** Whatever waited or was under way belongs to the state that is left. */
  #leave(): void {
    this.#waiting?.cancel();
    this.#waiting = null;
    this.#abort?.abort();
    this.#abort = null;
  }

  #enter(next: ConnectionState): void {
    switch (next.state) {
      case 'bootstrapping':
        void this.#bootstrap(next.attempt);
        return;
      case 'dialing':
        void this.#dial(next.attempt);
        return;
      case 'waiting':
        this.#waiting = this.#o.clock.after(next.until - next.since, () => this.#apply({ type: 'retry' }));
        return;
      case 'suspended':
        this.#suspended(next);
        return;
      case 'settling':
        void this.#settle();
        return;
      case 'stopped':
        this.#notifyStopped();
        return;
      case 'serving':
      case 'parked':
        return;
    }
  }

  #suspended(next: Extract<ConnectionState, { state: 'suspended' }>): void {
    switch (next.phase) {
      case 'waiting': {
        const wait = Math.max(0, (next.until ?? 0) - this.#o.clock.now());
        this.#waiting = this.#o.clock.after(wait, () => this.#apply({ type: 'retry' }));
        return;
      }
      case 'dialing':
        void this.#dial(next.attempt);
        return;
      case 'awaiting':
        this.#waiting = this.#o.clock.after(resumeAnswer, () => this.#serving?.fail(transient('timeout')));
        return;
    }
  }

  #notifyStopped(): void {
    for (const resolve of this.#stopped.splice(0)) resolve();
  }

  #fail(attempt: number, failure: Failure, bootstrapNext: boolean): void {
    const steady =
      failure.class === 'attention' ? backoffLimits.most : backoffDelay(attempt, this.#o.random.fraction());
    this.#apply({ type: 'failed', failure, delay: steady, bootstrap: bootstrapNext });
  }

  async #bootstrap(attempt: number): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    const secret = await this.#o.credential();
    if (abort.signal.aborted) return;
    if (secret.kind === 'failed') return this.#fail(attempt, secret.failure, true);
    // One bound on the whole call: a peer that drips its answer is no answer.
    const limit = new AbortController();
    abort.signal.addEventListener('abort', () => limit.abort(), { once: true });
    const timer = this.#o.clock.after(bootstrapTimeout, () => limit.abort());
    const result = await this.#o.bootstrap(secret.secret, this.#o.deviceId, limit.signal);
    timer.cancel();
    if (abort.signal.aborted) return;
    if (result.kind === 'failed') {
      return this.#fail(attempt, limit.signal.aborted ? transient('timeout') : result.failure, true);
    }
    this.#endpoint = result;
    this.#apply({ type: 'bootstrapped' });
  }

  async #dial(attempt: number): Promise<void> {
    const endpoint = this.#endpoint;
    if (!endpoint) return this.#fail(attempt, transient('bad_answer'), true);
    const abort = new AbortController();
    this.#abort = abort;
    const secret = await this.#o.credential();
    if (abort.signal.aborted) return;
    if (secret.kind === 'failed') return this.#fail(attempt, secret.failure, true);
    const url = new URL(endpoint.url);
    url.searchParams.delete('token');
    url.searchParams.set('device_id', endpoint.deviceId);
    url.searchParams.set('version', WIRE_VERSION);
    const inbox = new SocketInbox();
    const result = await Socket.dial({
      url,
      credential: secret.secret,
      userAgent: this.#o.userAgent,
      clock: this.#o.clock,
      signal: abort.signal,
      events: inbox,
      ...(this.#o.network ? { network: this.#o.network } : {}),
    });
    if (result.kind === 'aborted') return;
    if (abort.signal.aborted) {
      if (result.kind === 'open') result.socket.close();
      return;
    }
    if (result.kind === 'failed') {
      const lostLong = this.#state.state === 'dialing' && this.#state.lostAt !== null;
      const stale = lostLong && this.#o.clock.now() - (this.#lastReceivedAt ?? 0) > longOutage;
      return this.#fail(attempt, result.failure, stale);
    }
    this.#serve(result.socket, endpoint.heartbeatMs, inbox);
  }

  #serve(socket: Socket, heartbeatMs: number, inbox: SocketInbox): void {
    const { clock, logger } = this.#o;
    const serving: Serving = new Serving(socket, {
      clock,
      logger,
      heartbeatMs,
      heartbeat: () => this.#o.heartbeat(),
      onAlive: () => (this.#lastReceivedAt = clock.now()),
      onProved: () => {
        this.#flaps.proved();
        this.#apply({ type: 'proved' });
      },
      onMessage: (data) => this.#message(serving, data),
      onLost: (failure) => this.#lost(serving, failure),
    });
    const resuming = this.#state.state === 'suspended';
    this.#serving = serving;
    if (!this.#apply({ type: 'dialed' })) {
      this.#serving = null;
      serving.close();
      return;
    }
    if (!resuming) {
      this.#router = this.#o.createRouter(serving.sender, {
        suspended: () => this.#suspend(serving),
        drop: () => serving.fail(transient('closed_by_core')),
      });
      serving.beat();
    }
    inbox.attach(serving);
  }

  #message(serving: Serving, data: Buffer): void {
    if (this.#state.state !== 'suspended') {
      this.#router?.receive(data);
      return;
    }
    // Until the matching resume nothing else is accepted, and nothing is said.
    const router = this.#router;
    if (!router || this.#state.phase !== 'awaiting') return;
    void router.resumeOn(serving.sender, data).then((resumed) => {
      if (this.#serving !== serving) return;
      if (resumed && this.#apply({ type: 'resumed' })) serving.beat();
      else if (!resumed)
        this.#apply({ type: 'resume_refused', failure: permanent('suspended_by_core', 'no resume') });
    });
  }

  #lost(serving: Serving, failure: Failure): void {
    if (this.#serving !== serving) return;
    const { clock } = this.#o;
    if (this.#state.state === 'suspended') {
      const { attempt } = this.#state;
      this.#serving = null;
      this.#apply({ type: 'lost', failure, delay: backoffDelay(attempt, this.#o.random.fraction()) });
      return;
    }
    const flap = this.#flaps.lost(clock.monotonic(), serving.openedAt);
    const attempt = this.#state.state === 'serving' ? this.#state.attempt : 0;
    const pause =
      attempt === 0 ? backoffLimits.pauseAfterLoss : backoffDelay(attempt + 1, this.#o.random.fraction());
    this.#apply({
      type: 'lost',
      failure: flap > 0 && failure.class !== 'permanent' ? transient('flapping') : failure,
      delay: Math.max(pause, flap),
    });
  }

  /** Core's quiesce was answered: the socket is closed, the router waits for the resume. */
  #suspend(serving: Serving): void {
    if (this.#serving !== serving) return;
    this.#serving = null;
    serving.close();
    this.#apply({ type: 'suspended', delay: firstResume });
  }

  /** Closes the socket first, so that nothing more is said, and then waits for the router however long it takes. */
  async #settle(): Promise<void> {
    this.#serving?.close();
    this.#serving = null;
    const router = this.#router;
    while (router) {
      const outcome = await within(this.#o.clock, shutdownWait, router.shutdown());
      if (outcome.kind === 'value' && outcome.value.kind === 'settled') break;
      this.#blockers =
        outcome.kind === 'value' && outcome.value.kind === 'unsettled' ? outcome.value.blockers : [];
      this.#o.logger.warn('connection.unsettled', { blockers: this.#blockers.length });
      this.#o.onChange();
      await delay(this.#o.clock, shutdownPause);
    }
    this.#blockers = [];
    this.#router = null;
    this.#apply({ type: 'settled' });
  }
}

/** What is done on entry: a state, and the phase of a suspension. */
const entryOf = (state: ConnectionState): string =>
  state.state === 'suspended' ? `${state.state}:${state.phase}` : state.state;
