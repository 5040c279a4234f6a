import type { Logger } from '../observe/logger.ts';
import { asError } from '../observe/errors.ts';
import { within, type Clock } from '../platform/clock.ts';
import { encodeFrame } from '../protocol/codec.ts';
import type { FramePayload, RuntimeFrameType } from '../protocol/registry.ts';
import type { Outbox } from './outbox.ts';
import { socketLimits } from './socket.ts';

type OutboundFrame = {
  [T in RuntimeFrameType]: {
    readonly type: T;
    readonly id?: string | undefined;
    readonly payload: FramePayload<T>;
    readonly trace?: string | undefined;
  };
}[RuntimeFrameType];

/**
 * Encodes and queues frames of one connection. A frame over 4 MiB fails here and alone, instead of breaking the
 * connection and every Run on it.
 */
export class LinkSender {
  readonly #outbox: Outbox;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #closed = false;

  constructor(outbox: Outbox, clock: Clock, logger: Logger) {
    this.#outbox = outbox;
    this.#clock = clock;
    this.#logger = logger;
  }

  get backedUp(): boolean {
    return this.#outbox.backedUp;
  }

  /** No further frame enters; what is queued still leaves (planned suspension). */
  seal(): void {
    this.#closed = true;
  }

  drained(): Promise<void> {
    return this.#outbox.drained();
  }

  async send(frame: OutboundFrame, budgetMs: number | null): Promise<'written' | 'failed' | 'too_large'> {
    const queued = this.#queue(frame, false);
    if (typeof queued === 'string') return queued;
    if (budgetMs === null) return queued.written;
    const result = await within(this.#clock, budgetMs, queued.written);
    if (result.kind === 'value') return result.value;
    queued.withdraw();
    return 'failed';
  }

  async stream(frame: OutboundFrame): Promise<'entered' | 'failed' | 'too_large'> {
    const queued = this.#queue(frame, true);
    if (typeof queued === 'string') return queued;
    return (await queued.entered) ? 'entered' : 'failed';
  }

  #queue(frame: OutboundFrame, bulk: boolean): ReturnType<Outbox['push']> | 'failed' | 'too_large' {
    if (this.#closed) return 'failed';
    let encoded;
    try {
      encoded = encodeFrame(frame.type, frame);
    } catch (error) {
      // A payload that breaks the contract is our own defect: it is not sent, and that operation fails.
      this.#logger.error('frame.not_encodable', { type: frame.type, error: asError(error).message });
      return 'failed';
    }
    if (encoded.bytes > socketLimits.frameBytes) {
      this.#logger.warn('frame.too_large', { type: frame.type, bytes: encoded.bytes });
      return 'too_large';
    }
    return this.#outbox.push(encoded.text, encoded.bytes, bulk);
  }
}
