import type { Logger } from '../observe/logger.ts';
import { transient, type Failure } from '../observe/failure.ts';
import type { Clock, Timer } from '../platform/clock.ts';
import type { HeartbeatPayload } from '../protocol/heartbeat.ts';
import { LinkSender } from './link-sender.ts';
import { Liveness } from './liveness.ts';
import type { Socket, SocketEvents } from './socket.ts';

/** A connection has proved itself when it answered after this long. Milliseconds. */
export const provedAfter = 5_000;

interface ServingOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly heartbeatMs: number;
  heartbeat(): HeartbeatPayload;
  /** A pong or a frame arrived. */
  onAlive(): void;
  /** It answered after it had lasted. */
  onProved(): void;
  onMessage(data: Buffer): void;
  /** The peer or the network ended it; never for an end from this side. */
  onLost(failure: Failure): void;
}

/**
 * Messages and the end of a socket, kept until somebody serves it: Core may speak in the same moment in which the
 * connection opens.
 */
export class SocketInbox implements SocketEvents {
  #serving: Serving | null = null;
  #early: Buffer[] = [];
  #end: { failure: Failure | null } | null = null;

  onMessage(data: Buffer): void {
    if (this.#serving) this.#serving.message(data);
    else this.#early.push(data);
  }
  onAlive(): void {
    this.#serving?.alive();
  }
  onClosed(failure: Failure | null): void {
    if (this.#serving) this.#serving.closed(failure);
    else this.#end = { failure };
  }

  attach(serving: Serving): void {
    this.#serving = serving;
    for (const data of this.#early.splice(0)) serving.message(data);
    if (this.#end) serving.closed(this.#end.failure);
  }
}

/** One open socket at work: its sender, its heartbeats, its liveness. */
export class Serving {
  readonly sender: LinkSender;
  readonly openedAt: number;
  readonly #socket: Socket;
  readonly #o: ServingOptions;
  readonly #liveness: Liveness;
  #beatTimer: Timer | null = null;
  #proving: Timer | null = null;
  #proved = false;
  #over = false;

  constructor(socket: Socket, options: ServingOptions) {
    this.#socket = socket;
    this.#o = options;
    this.openedAt = options.clock.monotonic();
    this.sender = new LinkSender(socket.outbox, options.clock, options.logger);
    this.#liveness = new Liveness({
      clock: options.clock,
      intervalMs: options.heartbeatMs,
      ping: () => socket.ping(),
      dead: () => socket.fail(transient('read_timeout')),
    });
    // Asking early shows soon whether the peer answers at all, and proves the connection when it does.
    this.#proving = options.clock.after(provedAfter, () => socket.ping(), { background: true });
  }

  get checking(): boolean {
    return this.#liveness.underCheck;
  }

  /** One heartbeat now and then one each interval. A late or failed one is skipped; liveness decides, not the heartbeat. */
  beat(): void {
    if (this.#over) return;
    this.#beatTimer?.cancel();
    const payload = this.#o.heartbeat();
    void this.sender.send({ type: 'heartbeat', payload }, this.#o.heartbeatMs).then((sent) => {
      if (sent !== 'written' && !this.#over) this.#o.logger.warn('heartbeat.skipped', { result: sent });
    });
    this.#beatTimer = this.#o.clock.after(this.#o.heartbeatMs, () => this.beat());
  }

  /** The machine woke or the network changed: prove the connection now. */
  check(): void {
    this.#liveness.check();
  }

  message(data: Buffer): void {
    if (!this.#over) this.#o.onMessage(data);
  }

  alive(): void {
    if (this.#over) return;
    this.#liveness.alive();
    this.#o.onAlive();
    if (this.#proved || this.#o.clock.monotonic() - this.openedAt < provedAfter) return;
    this.#proved = true;
    this.#o.onProved();
  }

  closed(failure: Failure | null): void {
    if (this.#over) return;
    this.#stop();
    if (failure) this.#o.onLost(failure);
  }

  /** Ends it from this side; nothing more is sent or heard. */
  close(): void {
    this.#stop();
    this.#socket.close();
  }

  fail(failure: Failure): void {
    this.#socket.fail(failure);
  }

  #stop(): void {
    this.#over = true;
    this.#liveness.stop();
    this.#beatTimer?.cancel();
    this.#proving?.cancel();
  }
}
