import type { Clock } from '../../../src/platform/clock.ts';

/** Real time that runs faster, so that half-minute rules of both ends act within a second of a test. */
export const scaledClock = (factor: number): Clock => {
  const wall = Date.now();
  const begun = performance.now();
  const elapsed = (): number => (performance.now() - begun) * factor;
  return {
    now: () => Math.round(wall + elapsed()),
    monotonic: elapsed,
    after: (ms, fire, options) => {
      const handle = setTimeout(fire, ms / factor);
      if (options?.background) handle.unref();
      return { cancel: () => clearTimeout(handle) };
    },
  };
};
