import { test } from 'vitest';

import { claude, claudeBed, type ClaudeBed } from '../bed.ts';

/** A test with the real program on a bed of its own; the bed's leak check is part of the test. */
export function claudeTest(
  name: string,
  body: (bed: ClaudeBed) => Promise<void>,
  options: Parameters<typeof claudeBed>[0] = {},
): void {
  test.skipIf(claude === null)(name, { timeout: 30_000 }, async () => {
    const bed = await claudeBed(options);
    try {
      await body(bed);
    } finally {
      await bed.close();
    }
  });
}

/** Polls for something outside that sends no event, such as a process or a file. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('it never came true');
}
