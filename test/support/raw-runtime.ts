import { WebSocket } from 'ws';
import * as z from 'zod';

import { capabilityNames } from '../../src/protocol/capabilities.ts';
import { WIRE_VERSION } from '../../src/protocol/version.ts';

const received = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  payload: z.record(z.string(), z.unknown()).optional(),
});
export type ReceivedFrame = z.output<typeof received>;

export interface Dial {
  readonly url: string;
  readonly deviceId: string;
  readonly credential: string;
  readonly version?: string;
}

/**
 * A Runtime that is nothing but a socket: it sends what a test tells it and hands out what it receives, in order.
 * It knows no schema, so that what it says about a Core does not rest on the code under test.
 */
export class RawRuntime {
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  readonly #frames: ReceivedFrame[] = [];
  #waiter: ((frame: ReceivedFrame) => void) | undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => {
      const frame = received.parse(JSON.parse(data.toString('utf8')));
      const waiter = this.#waiter;
      this.#waiter = undefined;
      if (waiter) waiter(frame);
      else this.#frames.push(frame);
    });
  }

  static connect(dial: Dial): Promise<RawRuntime> {
    const query = new URLSearchParams({ device_id: dial.deviceId, version: dial.version ?? WIRE_VERSION });
    const socket = new WebSocket(`${dial.url}?${query}`, {
      headers: { authorization: `Bearer ${dial.credential}` },
      perMessageDeflate: false,
    });
    const runtime = new RawRuntime(socket);
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(runtime));
      socket.once('error', reject);
    });
  }

  /** The next frame; fails after two seconds, since a Core that should have spoken did not. */
  next(): Promise<ReceivedFrame> {
    const frame = this.#frames.shift();
    if (frame) return Promise.resolve(frame);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no frame came')), 2_000);
      this.#waiter = (next) => {
        clearTimeout(timer);
        resolve(next);
      };
    });
  }

  /** Everything that has come and was not taken, after a round trip through the peer's socket. */
  async drain(): Promise<ReceivedFrame[]> {
    await this.roundTrip();
    return this.#frames.splice(0);
  }

  /** Resolves when everything sent before was read by the peer, and everything it had written has come. */
  roundTrip(): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.once('pong', () => resolve());
      this.#socket.ping();
    });
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  heartbeat(kinds: readonly unknown[] = []): void {
    this.send({ type: 'heartbeat', payload: { ts: 1, active_requests: 0, supported_agent_kinds: kinds } });
  }

  ping(): void {
    this.#socket.ping();
  }

  /** Loses the connection without a close frame. */
  drop(): void {
    this.#socket.terminate();
  }
}

/** A descriptor that declares everything but what is named. */
export const descriptor = (
  kind: string,
  options: { without?: readonly string[]; available?: boolean } = {},
) => ({
  kind,
  available: options.available ?? true,
  capabilities: Object.fromEntries(
    capabilityNames.map((name) => [name, !(options.without ?? []).includes(name)]),
  ),
});
