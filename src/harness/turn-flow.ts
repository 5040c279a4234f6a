import { within, type Clock } from '../platform/clock.ts';
import type { HarnessEvent, TurnOutput } from './adapter.ts';

/** What the waits of one Turn hang on: after each change everybody who waits looks again. */
export class Changes {
  readonly #watchers = new Set<() => void>();

  tell(): void {
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    for (const watcher of watchers) watcher();
  }

  next(): Promise<void> {
    return new Promise((resolve) => this.#watchers.add(resolve));
  }

  async until(reached: () => boolean): Promise<void> {
    while (!reached()) await this.next();
  }

  /** False: it was not reached in `ms` milliseconds. */
  async within(clock: Clock, ms: number, reached: () => boolean): Promise<boolean> {
    return (await within(clock, ms, this.until(reached))).kind === 'value';
  }
}

/**
 * The way out of one Turn: one event at a time and in this order, also when the end is found while an earlier event
 * waits for room. `refused`: the way out is the Runtime's and does not fail by contract; the Turn still comes to its end.
 */
export class OrderedOutput {
  readonly #output: TurnOutput;
  readonly #refused: (error: unknown) => void;
  #sending: Promise<void> = Promise.resolve();

  constructor(output: TurnOutput, refused: (error: unknown) => void) {
    this.#output = output;
    this.#refused = refused;
  }

  /** Resolves when all of them found room. Never rejects. */
  send(events: readonly HarnessEvent[]): Promise<void> {
    this.#sending = this.#sending.then(async () => {
      for (const event of events) await this.#output.emit(event).catch(this.#refused);
    });
    return this.#sending;
  }

  close(): void {
    this.#output.close();
  }
}
