import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Dice } from './dice.ts';

/** What the way between Runtime and Core does to its bytes. */
export type Weather =
  | { readonly kind: 'fair' }
  /** Every piece waits up to so many real milliseconds. */
  | { readonly kind: 'slow'; readonly upTo: number }
  /** Pieces of a few bytes. */
  | { readonly kind: 'split' }
  /** New connections are reset. */
  | { readonly kind: 'closed' }
  /** Connections stay open and nothing comes through in one direction, or in both. */
  | { readonly kind: 'half_open'; readonly direction: 'up' | 'down' | 'both' };

interface Pair {
  readonly up: Socket;
  readonly down: Socket;
  /** Held back while it is half open. */
  readonly held: { to: Socket; data: Buffer }[];
  queue: Promise<void>;
}

/** A TCP proxy in front of a Core that delays, splits, resets, ends and half-opens what goes through it. */
export class ChaosProxy {
  readonly #dice: Dice;
  readonly #target: number;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #weather: Weather = { kind: 'fair' };

  constructor(dice: Dice, targetPort: number) {
    this.#dice = dice;
    this.#target = targetPort;
    this.#server = createServer((down) => this.#accept(down));
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    this.resetAll();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  get weather(): Weather {
    return this.#weather;
  }

  set(weather: Weather): void {
    this.#weather = weather;
    if (weather.kind === 'half_open') return;
    for (const pair of this.#pairs)
      for (const { to, data } of pair.held.splice(0)) if (!to.destroyed) to.write(data);
  }

  /** Both ends see a reset. */
  resetAll(): void {
    for (const { up, down } of [...this.#pairs]) {
      up.resetAndDestroy();
      down.resetAndDestroy();
    }
  }

  /** Both ends see an end, as from a machine that shuts down. */
  endAll(): void {
    for (const { up, down } of [...this.#pairs]) {
      up.end();
      down.end();
    }
  }

  #accept(down: Socket): void {
    if (this.#weather.kind === 'closed') {
      down.on('error', () => undefined);
      down.resetAndDestroy();
      return;
    }
    const up = connect(this.#target, '127.0.0.1');
    const pair: Pair = { up, down, held: [], queue: Promise.resolve() };
    this.#pairs.add(pair);
    const over = (): void => {
      this.#pairs.delete(pair);
      up.destroy();
      down.destroy();
    };
    for (const socket of [up, down]) {
      socket.setNoDelay(true);
      socket.on('error', over);
      socket.on('close', over);
    }
    down.on('data', (data: Buffer) => this.#pass(pair, up, data, 'up'));
    up.on('data', (data: Buffer) => this.#pass(pair, down, data, 'down'));
  }

  /** One queue for both directions of a pair keeps each of them in order. */
  #pass(pair: Pair, to: Socket, data: Buffer, direction: 'up' | 'down'): void {
    const weather = this.#weather;
    if (weather.kind === 'half_open' && (weather.direction === direction || weather.direction === 'both')) {
      pair.held.push({ to, data });
      return;
    }
    if (pair.held.some((held) => held.to === to)) {
      pair.held.push({ to, data });
      return;
    }
    pair.queue = pair.queue.then(async () => {
      if (weather.kind === 'slow') await pause(this.#dice.between(0, weather.upTo));
      if (weather.kind !== 'split') {
        if (!to.destroyed) to.write(data);
        return;
      }
      for (let at = 0; at < data.length && !to.destroyed;) {
        const size = 1 + this.#dice.under(Math.max(8, Math.ceil(data.length / 8)));
        to.write(data.subarray(at, at + size));
        at += size;
        if (this.#dice.chance(0.2)) await pause(0);
      }
    });
  }
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)));
