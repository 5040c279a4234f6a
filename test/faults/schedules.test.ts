import { describe, expect, test } from 'vitest';
import { runSchedules } from './schedule/run.ts';

/** Fixed for `npm test`, so that a failure is the same everywhere; the soak takes new ones. */
const seed = Number(process.env['SCHEDULE_SEED'] ?? 20_260_101);
const runs = Number(process.env['SCHEDULES'] ?? 20_000);

describe('generated schedules', () => {
  test(
    `${runs} programs of Core, Harness, time, failures and people keep every invariant`,
    { timeout: 15 * 60_000 },
    async () => {
      expect(await runSchedules({ seed, runs })).toBeGreaterThanOrEqual(runs);
    },
  );
});
