import { describe, expect, test } from 'vitest';
import { runChaos } from './chaos/run.ts';

const seed = Number(process.env['CHAOS_SEED'] ?? 20_260_101);
const runs = Number(process.env['CHAOS_RUNS'] ?? 20);

describe('a misbehaving network between Runtime and Core', () => {
  test(
    `${runs} generated storms leave a true record and a working pair`,
    { timeout: 15 * 60_000 },
    async () => {
      let lost = 0;
      let turns = 0;
      for (let run = 0; run < runs; run++) {
        const result = await runChaos(seed + run);
        lost += result.connections - 1;
        turns += result.turns;
      }
      // A storm that breaks nothing shows nothing.
      expect(lost).toBeGreaterThanOrEqual(runs / 2);
      expect(turns).toBeGreaterThan(runs);
    },
  );
});
