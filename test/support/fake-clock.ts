import type { Clock, Timer } from '../../src/platform/clock.ts';

/** A clock that stands still until `advance` is called. Timers fire in due order, ties in creation order. */
export class FakeClock implements Clock {
  #wall: number;
  #mono = 0;
  #sequence = 0;
  readonly #timers = new Map<number, { due: number; fire: () => void }>();

  constructor(wall = Date.UTC(2026, 0, 1)) {
    this.#wall = wall;
  }
  now(): number {
    return this.#wall;
  }
  monotonic(): number {
    return this.#mono;
  }
  after(ms: number, fire: () => void): Timer {
    const id = ++this.#sequence;
    this.#timers.set(id, { due: this.#mono + Math.max(0, ms), fire });
    return { cancel: () => void this.#timers.delete(id) };
  }
  get pending(): number {
    return this.#timers.size;
  }
  /** Moves the wall clock alone, as a sleeping machine or a corrected clock does. */
  jumpWall(ms: number): void {
    this.#wall += ms;
  }
  /** Lets time pass in which no timer could fire: the process was busy or stood still. */
  stall(ms: number): void {
    this.#wall += ms;
    this.#mono += ms;
  }
  /** Fires everything due within `ms`, letting promises settle after each timer. */
  async advance(ms: number): Promise<void> {
    const end = this.#mono + ms;
    for (;;) {
      await settle();
      const next = [...this.#timers]
        .filter(([, t]) => t.due <= end)
        .sort((a, b) => a[1].due - b[1].due || a[0] - b[0])[0];
      if (!next) break;
      this.#timers.delete(next[0]);
      this.#wall += next[1].due - this.#mono;
      this.#mono = next[1].due;
      next[1].fire();
    }
    this.#wall += end - this.#mono;
    this.#mono = end;
    await settle();
  }
}

/** Lets every already resolved promise chain run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
