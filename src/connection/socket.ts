import WebSocket from 'ws';
import type { Clock, Timer } from '../platform/clock.ts';
import { directRoute, type Network, type Route } from '../platform/network.ts';
import { fromNetworkError, fromStatus, permanent, transient, type Failure } from '../observe/failure.ts';
import { Outbox } from './outbox.ts';

/** Transport numbers (wire 1.1, runtime-behaviour 1.3, 1.7, 1.9). Milliseconds and bytes. */
export const socketLimits = {
  handshake: 10_000,
  frameBytes: 4 * 1024 * 1024,
  closeFrame: 1_000,
  fragments: 1_024,
  retiredCode: 4001,
} as const;

export interface SocketEvents {
  /** A text or binary message, whole. Called in arrival order. */
  onMessage(data: Buffer): void;
  /** A pong or a message arrived. */
  onAlive(): void;
  /** Exactly once, after it was open. `null`: this side closed it. */
  onClosed(failure: Failure | null): void;
}

/**
 * One physical connection. The credential travels in the Authorization header alone; a refused upgrade is reported by
 * its status only, since a peer may echo what it was sent.
 */
export class Socket {
  readonly outbox: Outbox;
  readonly #ws: WebSocket;
  readonly #clock: Clock;
  readonly #events: SocketEvents;
  #closedBy: Failure | null | undefined;
  #reported = false;

  private constructor(ws: WebSocket, clock: Clock, events: SocketEvents) {
    this.#ws = ws;
    this.#clock = clock;
    this.#events = events;
    this.outbox = new Outbox({
      clock,
      write: (text, done) => ws.send(text, { binary: false, compress: false }, done),
      onStall: () => this.fail(transient('write_failed')),
    });
    ws.on('message', (data, isBinary) => {
      void isBinary;
      events.onAlive();
      events.onMessage(toBuffer(data));
    });
    ws.on('pong', () => events.onAlive());
    ws.on('ping', () => events.onAlive());
    ws.on('error', (error) => {
      this.#closedBy ??= isTooLarge(error) ? transient('frame_too_large') : fromNetworkError(error);
    });
    ws.on('close', (code) => this.#report(code));
  }

  static dial(options: {
    url: URL;
    credential: string;
    userAgent: string;
    clock: Clock;
    events: SocketEvents;
    signal: AbortSignal;
    /** The way there; without one it is direct. */
    network?: Network;
  }): Promise<{ kind: 'open'; socket: Socket } | { kind: 'failed'; failure: Failure } | { kind: 'aborted' }> {
    if (!options.network) return Socket.#dial(options, directRoute, new AbortController());
    const tunnel = new AbortController();
    return options.network
      .routeFor(options.url, tunnel.signal)
      .then((route) => Socket.#dial(options, route, tunnel));
  }

  static #dial(
    options: Parameters<typeof Socket.dial>[0],
    route: Route,
    tunnel: AbortController,
  ): ReturnType<typeof Socket.dial> {
    return new Promise((resolve) => {
      let ws: WebSocket;
      try {
        ws = new WebSocket(options.url, {
          headers: { Authorization: `Bearer ${options.credential}`, 'User-Agent': options.userAgent },
          maxPayload: socketLimits.frameBytes,
          perMessageDeflate: false,
          handshakeTimeout: socketLimits.handshake,
          followRedirects: false,
          ...(route.agent ? { agent: route.agent } : {}),
          ...route.tls,
        });
      } catch (error) {
        // A header that cannot be sent is thrown rather than emitted.
        resolve({ kind: 'failed', failure: fromNetworkError(error) });
        return;
      }
      let done = false;
      const finish = (
        result: { kind: 'open'; socket: Socket } | { kind: 'failed'; failure: Failure } | { kind: 'aborted' },
      ): void => {
        if (done) return;
        done = true;
        timer.cancel();
        options.signal.removeEventListener('abort', onAbort);
        resolve(result);
      };
      const onAbort = (): void => {
        tunnel.abort();
        finish({ kind: 'aborted' });
        ws.terminate();
      };
      const timer: Timer = options.clock.after(socketLimits.handshake, () => {
        tunnel.abort();
        finish({ kind: 'failed', failure: transient('timeout') });
        ws.terminate();
      });
      options.signal.addEventListener('abort', onAbort, { once: true });
      ws.once('open', () => {
        if (done) return;
        finish({ kind: 'open', socket: new Socket(ws, options.clock, options.events) });
      });
      ws.once('unexpected-response', (request, response) => {
        const status = response.statusCode ?? 0;
        response.resume();
        request.destroy();
        finish({ kind: 'failed', failure: fromStatus(status) });
      });
      // ws reports an error of its own after an unexpected response or a terminate; the first verdict stands.
      ws.on('error', (error) => finish({ kind: 'failed', failure: fromNetworkError(error) }));
      if (options.signal.aborted) onAbort();
    });
  }

  ping(): void {
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.ping();
  }

  /** Gives the connection up at once: no close frame, the peer sees a reset. */
  fail(failure: Failure): void {
    this.#closedBy ??= failure;
    this.outbox.close();
    this.#ws.terminate();
  }

  /** An orderly end from this side: close frame 1000, then the socket. */
  close(): void {
    if (this.#closedBy === undefined) this.#closedBy = null;
    this.outbox.close();
    this.#ws.close(1000, 'runtime closed');
    this.#clock.after(socketLimits.closeFrame, () => this.#ws.terminate(), { background: true });
  }

  #report(code: number): void {
    if (this.#reported) return;
    this.#reported = true;
    this.outbox.close();
    if (this.#closedBy !== undefined && this.#closedBy === null) return this.#events.onClosed(null);
    if (code === socketLimits.retiredCode)
      return this.#events.onClosed(permanent('binding_retired', String(code)));
    this.#events.onClosed(this.#closedBy ?? transient('closed_by_core', code === 1006 ? null : String(code)));
  }
}

function toBuffer(data: WebSocket.RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.from(data);
}

function isTooLarge(error: Error): boolean {
  return 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
}
