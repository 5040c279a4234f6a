/**
 * A bounded sequence of observations with one reader. Overflow ends it: an observer that fell behind is told so and
 * never sees a gap as if it were the end. Nothing is invented when it closes.
 */
export type ObservationEnd =
  /** The last observation was delivered. */
  | 'complete'
  | 'overflow'
  | 'connection_lost'
  /** A newer connection of the same device took over. */
  | 'replaced'
  | 'unsubscribed';

export type Observation<T> =
  { readonly kind: 'event'; readonly event: T } | { readonly kind: 'end'; readonly end: ObservationEnd };

export class BoundedStream<T> {
  readonly #limit: number;
  readonly #onEnd: () => void;
  #buffer: T[] = [];
  #end: ObservationEnd | undefined;
  #waiter: ((observation: Observation<T>) => void) | undefined;

  constructor(limit: number, onEnd: () => void = () => undefined) {
    this.#limit = limit;
    this.#onEnd = onEnd;
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** False when the event was not taken: the stream is over, or it overflowed just now. */
  push(event: T): boolean {
    if (this.#end) return false;
    if (this.#waiter) {
      this.#resume({ kind: 'event', event });
      return true;
    }
    if (this.#buffer.length >= this.#limit) {
      this.end('overflow');
      return false;
    }
    this.#buffer.push(event);
    return true;
  }

  /** What is buffered stays readable before the end. */
  end(end: ObservationEnd): void {
    if (this.#end) return;
    this.#end = end;
    this.#onEnd();
    if (this.#waiter) this.#resume({ kind: 'end', end });
  }

  /** The next observation; after the end, the end again. One caller at a time. */
  next(): Promise<Observation<T>> {
    const event = this.#buffer.shift();
    if (event !== undefined) return Promise.resolve({ kind: 'event', event });
    if (this.#end) return Promise.resolve({ kind: 'end', end: this.#end });
    return new Promise((resolve) => {
      this.#waiter = resolve;
    });
  }

  #resume(observation: Observation<T>): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.(observation);
  }
}
