/**
 * Reconnect schedule (runtime-behaviour 1.5): 1 s doubled per attempt, at most 30 s, jitter of 20 % either way.
 * Failures that need a look wait the full 30 s each time.
 */
export const backoffLimits = { first: 1_000, most: 30_000, jitter: 0.2, pauseAfterLoss: 1_000 } as const;

/** Delay in ms before retry `n` (1 = the first retry). `fraction` is uniform in [0, 1). */
export function backoffDelay(n: number, fraction: number): number {
  const base = Math.min(backoffLimits.most, backoffLimits.first * 2 ** Math.min(30, Math.max(0, n - 1)));
  const jittered = base * (1 + backoffLimits.jitter * (2 * fraction - 1));
  return Math.round(Math.min(backoffLimits.most, Math.max(0, jittered)));
}
