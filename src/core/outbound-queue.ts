import type { Clock } from '../platform/clock.ts';
import { CORE_SEND_QUEUE_FRAMES, WRITE_TIMEOUT_MS } from '../protocol/limits.ts';

/** `queued` says that the frame entered the local queue, and nothing about the peer. */
export type SendResult = 'queued' | 'full' | 'closed' | 'too_large';

export interface FrameWriter {
  /** Writes one message; calls back once, with an error when the write failed. */
  write(text: string, done: (error?: Error) => void): void;
  /** The write failed or took longer than 10 s: the socket is of no more use. */
  broken(reason: 'write_failed' | 'write_timeout'): void;
}

/** A single writer with at most 64 frames, in the order of their arrival. */
export class OutboundQueue {
  readonly #clock: Clock;
  readonly #writer: FrameWriter;
  readonly #frames: string[] = [];
  #writing = false;
  #closed = false;
  #whenIdle: (() => void)[] = [];

  constructor(clock: Clock, writer: FrameWriter) {
    this.#clock = clock;
    this.#writer = writer;
  }

  send(text: string): SendResult {
    if (this.#closed) return 'closed';
    if (this.#frames.length + (this.#writing ? 1 : 0) >= CORE_SEND_QUEUE_FRAMES) return 'full';
    this.#frames.push(text);
    this.#pump();
    return 'queued';
  }

  /** Resolves when everything queued so far was written, or never will be. */
  idle(): Promise<void> {
    if (this.#closed || (!this.#writing && this.#frames.length === 0)) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Frames that were not written are dropped. */
  close(): void {
    this.#closed = true;
    this.#frames.length = 0;
    this.#notifyIdle();
  }

  #notifyIdle(): void {
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #pump(): void {
    if (this.#writing || this.#closed) return;
    const text = this.#frames.shift();
    if (text === undefined) return this.#notifyIdle();
    this.#writing = true;
    const timer = this.#clock.after(WRITE_TIMEOUT_MS, () => this.#fail('write_timeout'), {
      background: true,
    });
    this.#writer.write(text, (error) => {
      timer.cancel();
      this.#writing = false;
      if (error) this.#fail('write_failed');
      else this.#pump();
    });
  }

  #fail(reason: 'write_failed' | 'write_timeout'): void {
    if (this.#closed) return;
    this.close();
    this.#writer.broken(reason);
  }
}
