import type { Clock } from '../platform/clock.ts';

/**
 * What Core decided and the Harness applied, so that a repeat is acknowledged without touching the Harness again
 * (wire 9.6). At most 1,024 entries; the oldest of ended Runs leave first and an active Run never loses one.
 */
const limits = { entries: 1_024, age: 60 * 60_000 } as const;

export type Replay = 'new' | 'same' | 'conflict';

export class AppliedDecisions {
  readonly #clock: Clock;
  readonly #isActive: (runId: string) => boolean;
  readonly #entries = new Map<string, { fingerprint: string; runId: string; at: number }>();

  constructor(clock: Clock, isActive: (runId: string) => boolean) {
    this.#clock = clock;
    this.#isActive = isActive;
  }

  get size(): number {
    return this.#entries.size;
  }

  check(key: string, fingerprint: () => string): Replay {
    const known = this.#entries.get(key);
    if (!known) return 'new';
    return known.fingerprint === fingerprint() ? 'same' : 'conflict';
  }

  remember(key: string, fingerprint: string, runId: string): void {
    this.#entries.set(key, { fingerprint, runId, at: this.#clock.monotonic() });
    if (this.#entries.size <= limits.entries) return;
    const now = this.#clock.monotonic();
    for (const old of [true, false]) {
      for (const [candidate, entry] of this.#entries) {
        if (this.#entries.size <= limits.entries) return;
        if (this.#isActive(entry.runId)) continue;
        if (!old || now - entry.at > limits.age) this.#entries.delete(candidate);
      }
    }
  }
}
