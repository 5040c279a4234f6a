import { describe, expect, test } from 'vitest';
import { runFuzz } from './fuzz/run.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? 20_260_101);
const frames = Number(process.env['FUZZ_FRAMES'] ?? 100_000);

describe('mutated frames', () => {
  test(
    `${frames} of them crash nothing, leak nothing and get no reply that the contract does not name`,
    { timeout: 15 * 60_000 },
    async () => {
      const result = await runFuzz({ seed, frames });
      expect(result.frames).toBe(frames);
      // Frames that nobody answers show little.
      expect(result.replies).toBeGreaterThan(frames / 10);
      expect(result.types.size).toBeGreaterThanOrEqual(10);
      expect(result.growth).toBeLessThan(32 * 1024 * 1024);
    },
  );
});
