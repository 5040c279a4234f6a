/**
 * Time as the window sees it, the only place of the renderer that reads a clock or sets a timer. Tests pass a clock
 * they advance by hand.
 */
export interface WindowClock {
  /** Wall clock, Unix milliseconds: for display only. May jump. */
  now(): number;
  /** Milliseconds that never go back: for "the first 500 ms". */
  monotonic(): number;
  after(ms: number, fire: () => void): { cancel(): void };
}

export const windowClock: WindowClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fire) {
    const handle = setTimeout(fire, ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** One beat a second for every count-up and countdown on screen; stands still while nobody listens. */
export class Ticker {
  readonly #clock: WindowClock;
  readonly #listeners = new Set<() => void>();
  #now: number;
  #timer: { cancel(): void } | null = null;

  constructor(clock: WindowClock) {
    this.#clock = clock;
    this.#now = clock.now();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#timer === null) {
      this.#arm();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) {
        this.#timer?.cancel();
        this.#timer = null;
      }
    };
  };

  /** The wall clock at the last beat, Unix milliseconds. */
  readonly now = (): number => {
    // Before the first listener nothing beats: keep the answer steady within a second all the same.
    if (this.#timer === null && Math.abs(this.#clock.now() - this.#now) >= 1_000)
      this.#now = this.#clock.now();
    return this.#now;
  };

  #arm(): void {
    this.#timer = this.#clock.after(1_000, () => {
      this.#now = this.#clock.now();
      this.#arm();
      for (const listener of this.#listeners) listener();
    });
  }
}
