import type { Clock, Timer } from '../../../src/platform/clock.ts';

interface Entry {
  readonly due: number;
  readonly fire: () => void;
  /** What holds no process open: it may be left over at the end. */
  readonly background: boolean;
}

/**
 * Lets every promise chain that can go on run to its end: microtasks are through before the next macrotask. `turns`: how
 * often one of them may give others a turn on its way.
 */
export async function flush(turns = 1): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** A clock that stands still until it is advanced, cheap enough for tens of thousands of schedules. */
export class ScheduleClock implements Clock {
  #wall = Date.UTC(2026, 0, 1);
  #mono = 0;
  #timers: Entry[] = [];

  now(): number {
    return this.#wall;
  }
  monotonic(): number {
    return this.#mono;
  }
  after(ms: number, fire: () => void, options?: { background?: boolean }): Timer {
    const entry = { due: this.#mono + Math.max(0, ms), fire, background: options?.background === true };
    this.#timers.push(entry);
    return {
      cancel: () => {
        const at = this.#timers.indexOf(entry);
        if (at >= 0) this.#timers.splice(at, 1);
      },
    };
  }
  jumpWall(ms: number): void {
    this.#wall += ms;
  }
  /** Timers that would still fire. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Fires what is due within `ms`, in order; `between` looks at the world after each instant. */
  async advance(ms: number, between: () => void, turns = 1): Promise<void> {
    const end = this.#mono + ms;
    await flush(turns);
    between();
    for (;;) {
      const next = this.#next(end);
      if (!next) break;
      this.#wall += next.due - this.#mono;
      this.#mono = next.due;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      next.fire();
      await flush(turns);
      between();
    }
    this.#wall += end - this.#mono;
    this.#mono = end;
  }

  /** The earliest within the limit; of several the oldest. */
  #next(end: number): Entry | undefined {
    let best: Entry | undefined;
    for (const timer of this.#timers)
      if (timer.due <= end && (best === undefined || timer.due < best.due)) best = timer;
    return best;
  }
}
