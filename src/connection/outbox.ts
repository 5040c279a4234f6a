import type { Clock, Timer } from '../platform/clock.ts';

/**
 * Frames on their way to the socket, bounded in number and bytes (runtime-behaviour 1.7 Ours). Order on the wire is
 * the order of entry. Bulk frames (streamed output) leave some places free, so that a flooding Run holds back itself
 * and never a receipt or a heartbeat.
 */
export const outboxLimits = {
  frames: 64,
  reservedForControl: 16,
  bytes: 16 * 1024 * 1024,
  /** Queued or in flight when text starts to merge. */
  behindFrames: 8,
  /** Written to the socket and not yet flushed. */
  inFlightFrames: 16,
  writeDeadline: 10_000,
} as const;

export type SendResult = 'written' | 'failed' | 'too_large';

interface Item {
  readonly text: string;
  readonly bytes: number;
  readonly bulk: boolean;
  /** A control frame whose sender stopped waiting before it entered the queue is dropped unsent. */
  readonly entered: () => void;
  readonly finished: (result: 'written' | 'failed') => void;
}

export class Outbox {
  readonly #write: (text: string, done: (error?: Error | null) => void) => void;
  readonly #clock: Clock;
  readonly #onStall: () => void;
  #queue: Item[] = [];
  #waitingBulk: Item[] = [];
  #waitingControl: Item[] = [];
  /** In the order they were written; the oldest one tells whether the socket still takes anything. */
  #inFlight = new Map<number, { item: Item; since: number }>();
  #watchdog: Timer | null = null;
  #next = 0;
  #bytes = 0;
  #closed = false;
  #idleListeners: (() => void)[] = [];

  constructor(options: {
    write: (text: string, done: (error?: Error | null) => void) => void;
    clock: Clock;
    /** A frame was not flushed within the write deadline, or a write failed: the connection is of no use. */
    onStall: () => void;
  }) {
    this.#write = options.write;
    this.#clock = options.clock;
    this.#onStall = options.onStall;
  }

  /** True while the socket is behind: the moment to merge adjacent text. */
  get backedUp(): boolean {
    return this.#waitingBulk.length > 0 || this.#used() >= outboxLimits.behindFrames;
  }
  get frames(): number {
    return this.#used();
  }

  /**
   * Queues a frame. `entered` resolves when it has a place in the order (or the outbox failed), `written` when the
   * socket flushed it or can no longer do so. `withdraw` takes back a frame that has not entered yet.
   */
  push(
    text: string,
    bytes: number,
    bulk: boolean,
  ): { entered: Promise<boolean>; written: Promise<'written' | 'failed'>; withdraw: () => boolean } {
    if (this.#closed) {
      return { entered: Promise.resolve(false), written: Promise.resolve('failed'), withdraw: () => false };
    }
    let enter: (value: boolean) => void = () => undefined;
    let finish: (value: 'written' | 'failed') => void = () => undefined;
    const entered = new Promise<boolean>((resolve) => (enter = resolve));
    const written = new Promise<'written' | 'failed'>((resolve) => (finish = resolve));
    const item: Item = {
      text,
      bytes,
      bulk,
      entered: () => enter(true),
      finished: (result) => {
        enter(result === 'written');
        finish(result);
      },
    };
    (bulk ? this.#waitingBulk : this.#waitingControl).push(item);
    this.#pump();
    return {
      entered,
      written,
      withdraw: () => {
        const list = bulk ? this.#waitingBulk : this.#waitingControl;
        const index = list.indexOf(item);
        if (index < 0) return false;
        list.splice(index, 1);
        item.finished('failed');
        return true;
      },
    };
  }

  /** Resolves when nothing is queued or in flight any more (or the outbox closed). */
  drained(): Promise<void> {
    if (this.#closed || this.#empty()) return Promise.resolve();
    return new Promise((resolve) => this.#idleListeners.push(resolve));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#watchdog?.cancel();
    const all = [
      ...[...this.#inFlight.values()].map((entry) => entry.item),
      ...this.#queue,
      ...this.#waitingControl,
      ...this.#waitingBulk,
    ];
    this.#inFlight.clear();
    this.#queue = [];
    this.#waitingControl = [];
    this.#waitingBulk = [];
    for (const item of all) item.finished('failed');
    this.#notifyIdle();
  }

  #used(): number {
    return this.#queue.length + this.#inFlight.size;
  }
  #empty(): boolean {
    return this.#used() === 0 && this.#waitingBulk.length === 0 && this.#waitingControl.length === 0;
  }
  #fits(item: Item): boolean {
    const places = item.bulk ? outboxLimits.frames - outboxLimits.reservedForControl : outboxLimits.frames;
    if (this.#used() >= places) return false;
    return this.#bytes + item.bytes <= outboxLimits.bytes || this.#used() === 0;
  }

  #pump(): void {
    for (;;) {
      // Control frames go first among those that wait, in their own order; what has entered keeps its place.
      const source = this.#waitingControl.length > 0 ? this.#waitingControl : this.#waitingBulk;
      const head = source[0];
      if (!head || !this.#fits(head)) break;
      source.shift();
      this.#bytes += head.bytes;
      this.#queue.push(head);
      head.entered();
    }
    while (this.#queue.length > 0 && this.#inFlight.size < outboxLimits.inFlightFrames && !this.#closed) {
      const item = this.#queue.shift();
      if (item) this.#send(item);
    }
  }

  #send(item: Item): void {
    const id = this.#next++;
    this.#inFlight.set(id, { item, since: this.#clock.monotonic() });
    this.#watch();
    this.#write(item.text, (error) => {
      if (!this.#inFlight.delete(id)) return;
      this.#bytes -= item.bytes;
      item.finished(error ? 'failed' : 'written');
      if (error) {
        this.#onStall();
        return;
      }
      this.#pump();
      if (this.#empty()) this.#notifyIdle();
    });
  }

  /** One timer for all of them: a timer a frame would cost more than the frame. */
  #watch(): void {
    if (this.#watchdog || this.#closed) return;
    const [oldest] = this.#inFlight.values();
    if (!oldest) return;
    const left = oldest.since + outboxLimits.writeDeadline - this.#clock.monotonic();
    this.#watchdog = this.#clock.after(Math.max(0, left), () => {
      this.#watchdog = null;
      const [still] = this.#inFlight.values();
      if (still && this.#clock.monotonic() - still.since >= outboxLimits.writeDeadline) this.#onStall();
      else this.#watch();
    });
  }

  #notifyIdle(): void {
    const listeners = this.#idleListeners;
    this.#idleListeners = [];
    for (const listener of listeners) listener();
  }
}
