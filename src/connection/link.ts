import { backoffDelay, backoffLimits } from './backoff.ts';
import { transient, type Failure } from '../observe/failure.ts';
import { FlapGuard } from './flap-guard.ts';
import { Liveness, watchClock } from './liveness.ts';
import { LinkSender } from './link-sender.ts';
import { Socket } from './socket.ts';
import { advance, type ConnectionEvent, type ConnectionState } from './states.ts';
import type { Logger } from '../observe/logger.ts';
import { delay, within, type Clock, type Timer } from '../platform/clock.ts';
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
  shutdown(): Promise<{ readonly kind: 'settled' } | { readonly kind: 'unsettled'; readonly blockers: readonly string[] }>;
}

export type BootstrapOutcome =
  | { readonly kind: 'ok'; readonly url: URL; readonly deviceId: string; readonly heartbeatMs: number }
  | { readonly kind: 'failed'; readonly failure: Failure };

export interface LinkOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly userAgent: string;
  readonly deviceId: string;
  /** Reads the credential, or says why there is none. Never logged, never kept longer than a call. */
  credential(): Promise<{ kind: 'ok'; secret: string } | { kind: 'failed'; failure: Failure }>;
  bootstrap(credential: string, deviceId: string, signal: AbortSignal): Promise<BootstrapOutcome>;
  createRouter(sender: LinkSender): ConnectionRouter;
  /** Payload of the next heartbeat, computed anew each time. */
  heartbeat(): HeartbeatPayload;
  /** Called after each change of state and of what was last received. */
  onChange(): void;
}

const bootstrapTimeout = 10_000;
const longOutage = 5 * 60_000;
const provedAfter = 5_000;

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
  #serving: Serving | null = null;
  #lastReceivedAt: number | null = null;
  #blockers: readonly string[] = [];
  #wokeAt: number | null = null;
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
  /** Set while it is not yet known whether the connection survived a sleep. */
  get checkingSince(): number | null {
    return this.#serving?.liveness.underCheck ? this.#wokeAt : null;
  }
  get router(): ConnectionRouter | null {
    return this.#serving?.router ?? null;
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
  wake(): void {
    this.#wokeAt = this.#o.clock.now();
    if (this.#state.state === 'serving') {
      this.#serving?.liveness.check();
      this.#o.onChange();
    } else if (this.#state.state === 'waiting') this.retry();
  }

  /** Sends the next heartbeat at once: availability changed. */
  beatNow(): void {
    this.#serving?.beat();
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
    if (next.state !== previous.state) {
      this.#o.logger.info(`connection.${next.state}`, {
        attempt: 'attempt' in next ? next.attempt : null,
        reason: 'failure' in next ? (next.failure?.code ?? null) : null,
        detail: 'failure' in next ? (next.failure?.detail ?? null) : null,
      });
      this.#leave(previous);
      this.#enter(next);
    }
    this.#o.onChange();
    return true;
  }

  #leave(previous: ConnectionState): void {
    if (previous.state === 'waiting') {
      this.#waiting?.cancel();
      this.#waiting = null;
    }
    if (previous.state === 'bootstrapping' || previous.state === 'dialing') {
      this.#abort?.abort();
      this.#abort = null;
    }
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
      case 'settling':
        void this.#settle();
        return;
      case 'stopped':
        this.#notifyStopped();
        return;
      case 'serving':
      case 'suspended':
      case 'parked':
        return;
    }
  }

  #notifyStopped(): void {
    for (const resolve of this.#stopped.splice(0)) resolve();
  }

  #fail(attempt: number, failure: Failure, bootstrapNext: boolean): void {
    const steady = failure.class === 'attention' ? backoffLimits.most : backoffDelay(attempt, this.#o.random.fraction());
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
    if (result.kind === 'failed') return this.#fail(attempt, limit.signal.aborted ? transient('timeout') : result.failure, true);
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
    const holder: { serving: Serving | null } = { serving: null };
    const result = await Socket.dial({
      url,
      credential: secret.secret,
      userAgent: this.#o.userAgent,
      clock: this.#o.clock,
      signal: abort.signal,
      events: {
        onMessage: (data) => holder.serving?.router.receive(data),
        onAlive: () => holder.serving?.alive(),
        onClosed: (failure) => holder.serving?.closed(failure),
      },
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
    this.#serve(result.socket, endpoint.heartbeatMs, holder);
  }

  #serve(socket: Socket, heartbeatMs: number, holder: { serving: Serving | null }): void {
    const { clock, logger } = this.#o;
    const sender = new LinkSender(socket.outbox, clock, logger);
    const router = this.#o.createRouter(sender);
    const openedAt = clock.monotonic();
    let beatTimer: Timer | null = null;
    const beat = (): void => {
      beatTimer?.cancel();
      // A late or failed heartbeat is skipped; liveness, not the heartbeat, decides that the connection is gone.
      void sender.send({ type: 'heartbeat', payload: this.#o.heartbeat() }, heartbeatMs).then((sent) => {
        if (sent !== 'written') logger.warn('heartbeat.skipped', { result: sent });
      });
      beatTimer = clock.after(heartbeatMs, beat);
    };
    const liveness = new Liveness({
      clock,
      intervalMs: heartbeatMs,
      ping: () => socket.ping(),
      dead: () => socket.fail(transient('read_timeout')),
    });
    const serving: Serving = {
      socket,
      router,
      liveness,
      beat,
      alive: () => {
        liveness.alive();
        this.#lastReceivedAt = clock.now();
        if (clock.monotonic() - openedAt >= provedAfter && this.#state.state === 'serving' && !this.#state.proved) {
          this.#flaps.proved();
          this.#apply({ type: 'proved' });
        }
      },
      closed: (failure) => {
        if (this.#serving !== serving) return;
        liveness.stop();
        beatTimer?.cancel();
        if (failure === null) return; // our own close, made while settling
        const flap = this.#flaps.lost(clock.monotonic(), openedAt);
        const attempt = this.#state.state === 'serving' ? this.#state.attempt : 0;
        const pause =
          attempt === 0 ? backoffLimits.pauseAfterLoss : backoffDelay(attempt + 1, this.#o.random.fraction());
        this.#apply({
          type: 'lost',
          failure: flap > 0 && failure.class !== 'permanent' ? transient('flapping') : failure,
          delay: Math.max(pause, flap),
        });
      },
    };
    this.#serving = serving;
    holder.serving = serving;
    if (!this.#apply({ type: 'dialed' })) {
      socket.close();
      return;
    }
    beat();
    // Asking early shows soon whether the peer answers at all, and proves the connection when it does.
    const prove = clock.after(provedAfter, () => socket.ping(), { background: true });
    serving.stopProving = () => {
      prove.cancel();
      beatTimer?.cancel();
    };
  }

  /** Closes the socket first, so that nothing more is said, and then waits for the router however long it takes. */
  async #settle(): Promise<void> {
    const serving = this.#serving;
    if (!serving) {
      this.#apply({ type: 'settled' });
      return;
    }
    serving.stopProving?.();
    serving.liveness.stop();
    serving.socket.close();
    for (;;) {
      const outcome = await within(this.#o.clock, 5_000, serving.router.shutdown());
      if (outcome.kind === 'value' && outcome.value.kind === 'settled') break;
      this.#blockers = outcome.kind === 'value' && outcome.value.kind === 'unsettled' ? outcome.value.blockers : [];
      this.#o.logger.warn('connection.unsettled', { blockers: this.#blockers.length });
      this.#o.onChange();
      await delay(this.#o.clock, 1_000);
    }
    this.#blockers = [];
    this.#serving = null;
    this.#apply({ type: 'settled' });
  }
}

interface Serving {
  readonly socket: Socket;
  readonly router: ConnectionRouter;
  readonly liveness: Liveness;
  beat(): void;
  alive(): void;
  closed(failure: Failure | null): void;
  stopProving?: () => void;
}
