import fc from 'fast-check';
import { BrokenInvariant, ScheduleBed } from './bed.ts';
import { schedules, type Schedule } from './operations.ts';

/**
 * Plays generated schedules. A broken invariant is shrunk to the smallest program that breaks it and thrown with that
 * program and its history.
 */
export async function runSchedules(options: { seed: number; runs: number }): Promise<number> {
  let played = 0;
  const property = fc.asyncProperty(schedules, async (schedule) => {
    played++;
    const bed = new ScheduleBed(schedule);
    try {
      await bed.play();
    } catch (error) {
      if (!(error instanceof BrokenInvariant)) throw error;
      throw new BrokenInvariant(`${error.message}\n${bed.text}`);
    }
  });
  const result = await fc.check(property, { seed: options.seed, numRuns: options.runs });
  if (!result.failed) return played;
  const why =
    result.errorInstance instanceof Error ? result.errorInstance.message : String(result.errorInstance);
  throw new Error(
    `seed ${result.seed}, after ${result.numRuns} schedules: ${why}\nThe schedule: ${JSON.stringify(result.counterexample?.[0])}`,
  );
}

/** Plays one schedule again, for whoever looks at a failure. */
export async function replay(schedule: Schedule): Promise<string> {
  const bed = new ScheduleBed(schedule);
  try {
    await bed.play();
    return bed.text;
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${bed.text}`;
  }
}
