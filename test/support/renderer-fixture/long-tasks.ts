import type { Page } from '@playwright/test';

/**
 * The longest task of the window, in milliseconds, while `work` ran: 0 when none took longer than 50. A machine that is
 * busy with other things makes tasks look longer than they are, so the best of a few tries counts.
 */
export async function longestTask(
  page: Page,
  work: () => Promise<void>,
  again: () => Promise<void>,
  goal = 100,
): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 4 && best >= goal; attempt++) {
    if (attempt > 0) await again();
    await page.evaluate(() => void (Reflect.get(globalThis, 'longTasks') as number[]).splice(0));
    await work();
    await frames(page, 3);
    best = Math.min(
      best,
      await page.evaluate(() => Math.max(0, ...(Reflect.get(globalThis, 'longTasks') as number[]))),
    );
  }
  return best;
}

/** Waits until the page has drawn this often. */
export const frames = (page: Page, count: number): Promise<void> =>
  page.evaluate(async (wanted) => {
    for (let i = 0; i < wanted; i++)
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  }, count);
