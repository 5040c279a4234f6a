/**
 * Notices two programs that evict each other with one credential (runtime-behaviour 1.10): several connections lost
 * soon after they opened. While that lasts, the next attempt waits much longer and the window says why.
 */
export const flapLimits = {
  shortLived: 10_000,
  losses: 4,
  window: 60_000,
  firstDelay: 60_000,
  mostDelay: 240_000,
} as const;

export class FlapGuard {
  #losses: number[] = [];
  #delay = 0;

  /** Call for each lost connection. Returns how long to wait, 0 while it is not flapping. */
  lost(at: number, openedAt: number): number {
    if (at - openedAt >= flapLimits.shortLived) {
      this.#losses = [];
      this.#delay = 0;
      return 0;
    }
    this.#losses = this.#losses.filter((time) => at - time < flapLimits.window + this.#delay);
    this.#losses.push(at);
    if (this.#losses.length < flapLimits.losses) return 0;
    this.#delay = Math.min(flapLimits.mostDelay, this.#delay === 0 ? flapLimits.firstDelay : this.#delay * 2);
    return this.#delay;
  }

  /** A connection that lasted. */
  proved(): void {
    this.#losses = [];
    this.#delay = 0;
  }
}
