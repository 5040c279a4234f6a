/** Repeatable randomness of one chaos run (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Uniform in [0, 1). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  /** A whole number from 0 to `below` - 1. */
  under(below: number): number {
    return Math.floor(this.fraction() * below);
  }
  between(low: number, high: number): number {
    return low + this.fraction() * (high - low);
  }
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }
  pick<T>(items: readonly T[]): T | undefined {
    return items[this.under(Math.max(1, items.length))];
  }
}
