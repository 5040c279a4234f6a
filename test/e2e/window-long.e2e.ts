import { expect, test } from '@playwright/test';
import { launchFixture, type FixtureWindow } from '../support/renderer-fixture/launch.mjs';
import { frames, longestTask } from '../support/renderer-fixture/long-tasks.ts';

/** Long Turns in the real window: what each task of it costs, and what it keeps. */
let fixture: FixtureWindow;
test.beforeAll(async () => {
  fixture = await launchFixture();
  await fixture.size({ width: 1080, height: 720, zoom: 1 });
});
test.afterAll(() => fixture.close());
test.afterEach(() => expect(fixture.errors).toEqual([]));

/** What is a task of the window: under this nobody notices a wait. */
const goal = 100;

const open = async (): Promise<void> => {
  await fixture.page.evaluate(() => void (location.hash = '#/turns/run-plan'));
  await expect(fixture.page.locator('.stream')).toBeVisible();
};

test('a Turn of 100,000 events is read, followed and scrolled without a task over 100 ms', async () => {
  const { page } = fixture;
  const fresh = (): Promise<void> => fixture.show('long-events');
  await fresh();
  const reading = await longestTask(
    page,
    async () => {
      await open();
      await expect(page.getByText('The list is in docs/untested.md.')).toBeVisible({ timeout: 60_000 });
    },
    fresh,
  );
  const read: unknown[] = await page.evaluate(() =>
    Reflect.get(globalThis, 'fixture')
      .calls.filter((call: { name: string }) => call.name === 'turn.read')
      .map((call: { request: { after: number } }) => call.request.after),
  );
  expect(read).toEqual([...new Set(read)].sort((a, b) => Number(a) - Number(b)));
  expect(read.length).toBeGreaterThanOrEqual(100);

  const stream = page.locator('.stream');
  const scrolling = await longestTask(
    page,
    async () => {
      const box = await stream.boundingBox();
      await page.mouse.move((box?.x ?? 0) + 200, (box?.y ?? 0) + 200);
      for (let i = 0; i < 60; i++) {
        await page.mouse.wheel(0, -600);
        await frames(page, 1);
      }
    },
    () => page.keyboard.press('End'),
  );
  expect(await stream.evaluate((element) => element.scrollHeight - element.scrollTop)).toBeGreaterThan(5_000);
  // A fraction of the fifty thousand blocks is in the page.
  expect(await page.locator('.stream .chunk').count()).toBeLessThan(150);
  await stream.focus();
  await page.keyboard.press('End');
  await expect(page.getByText('The list is in docs/untested.md.')).toBeInViewport();
  console.log(`100,000 events: reading ${reading.toFixed(0)} ms, scrolling ${scrolling.toFixed(0)} ms`);
  expect(Math.max(reading, scrolling)).toBeLessThan(goal);
});

test('10 MiB of one output are opened, shown whole and scrolled without a task over 100 ms', async () => {
  const { page } = fixture;
  const out = page.locator('.tool .out').last();
  const fresh = (): Promise<void> => fixture.show('long-output');
  await fresh();
  const reading = await longestTask(
    page,
    async () => {
      await open();
      await expect(page.getByLabel('Completed').first()).toBeVisible({ timeout: 60_000 });
      await page.locator('details.tool summary').click();
      await expect(page.getByText('[159.999] compiled')).toBeVisible();
    },
    fresh,
  );
  const all = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Show all 160,000 lines' }).click();
    await expect(page.getByText('[159.999] compiled')).toBeVisible();
  };
  const showing = await longestTask(page, all, async () => {
    await fresh();
    await open();
    await page.locator('details.tool summary').click();
  });
  const to = (part: number): Promise<void> =>
    out.evaluate((element, at) => void (element.scrollTop = element.scrollHeight * at), part);
  const scrolling = await longestTask(
    page,
    async () => {
      for (const part of [0.9, 0.5, 0.25, 0.1]) {
        await to(part);
        await frames(page, 4);
      }
      await to(0);
      await expect(page.getByText('[0.0] compiled')).toBeVisible();
    },
    () => to(1),
  );
  const drawn = await out.evaluate((element) => (element.textContent ?? '').length);
  console.log(
    `10 MiB: reading ${reading.toFixed(0)} ms, all ${showing.toFixed(0)} ms, scrolling ${scrolling.toFixed(0)} ms, drawn ${(drawn / 1e6).toFixed(1)} MB`,
  );
  expect(drawn).toBeLessThan(3_000_000);
  expect(Math.max(reading, showing, scrolling)).toBeLessThan(goal);
});
