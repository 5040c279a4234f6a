import { expect, test } from '@playwright/test';
import type { Locator } from '@playwright/test';
import type { View } from '../../src/contract/view.ts';
import { launchFixture, type FixtureWindow } from '../support/renderer-fixture/launch.mjs';
import { frames, longestTask } from '../support/renderer-fixture/long-tasks.ts';
import { interaction, prompts, view } from '../support/renderer-fixture/samples.ts';

/** Real key events in the real window: every flow without a pointer, and prompts that arrive while one types. */
let fixture: FixtureWindow;
test.beforeAll(async () => {
  fixture = await launchFixture();
  await fixture.size({ width: 1080, height: 720, zoom: 1 });
});
test.afterAll(() => fixture.close());
test.afterEach(() => expect(fixture.errors).toEqual([]));

interface Call {
  readonly name: string;
  readonly request: Readonly<Record<string, unknown>>;
}
/** What left the window under this name. */
const calls = (name: string): Promise<unknown[]> =>
  fixture.page.evaluate(
    (wanted) =>
      (Reflect.get(globalThis, 'fixture') as { calls: Call[] }).calls
        .filter((call) => call.name === wanted)
        .map((call) => call.request),
    name,
  );
const publish = (next: View): Promise<void> =>
  fixture.page.evaluate((given) => Reflect.get(globalThis, 'fixture').publish(given), next);
const press = async (...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await fixture.page.keyboard.press(key);
};
/** Tab, until `target` has the focus; a person would not go on for ever. */
async function tabTo(target: Locator, key = 'Tab'): Promise<void> {
  for (let i = 0; i < 60; i++) {
    if (await target.evaluateAll((all) => all.some((one) => one === document.activeElement))) return;
    await fixture.page.keyboard.press(key);
  }
  throw new Error(`The keyboard does not reach ${target.toString()}.`);
}
/** The quiet time after a prompt appeared, and after the focus came into it, is over. */
const quietOver = (): Promise<void> =>
  fixture.page.evaluate(() => new Promise((done) => setTimeout(done, 650)));
const button = (name: string | RegExp): Locator =>
  fixture.page.getByRole('button', { name, exact: typeof name === 'string' });

test('a prompt: F6, read, Ctrl+D, and Shift+F6 goes back to where one was', async () => {
  await fixture.show('history');
  const { page } = fixture;
  await press('/');
  await expect(page.getByRole('searchbox')).toBeFocused();
  await press('F6');
  await expect(page.locator('#prompt-title')).toBeFocused();
  await quietOver();
  await press('Shift+F6');
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  await press('F6');
  await quietOver();
  await press('Control+d');
  await expect.poll(() => calls('interaction.answer')).toHaveLength(1);
  expect(await calls('interaction.answer')).toEqual([{ id: expect.any(String), answer: { kind: 'deny' } }]);
});

test('a prompt: Tab to its buttons, each has a ring, Enter acts on the one with the focus alone', async () => {
  const { page } = fixture;
  await fixture.show('prompt-rule');
  await press('F6');
  await quietOver();
  await tabTo(button(/^Allow once/));
  const ring = await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outline);
  expect(ring).toMatch(/solid 2px|2px solid/);
  await tabTo(button(/^Deny with reason/));
  await press('Enter');
  await page.keyboard.type('Use the test database.');
  await press('Control+Enter');
  await expect
    .poll(() => calls('interaction.answer'))
    .toEqual([{ id: 'p-ruled', answer: { kind: 'deny', message: 'Use the test database.' } }]);
});

test('a question: arrows choose, Space checks, Ctrl+Enter sends', async () => {
  const { page } = fixture;
  await fixture.show('question');
  await tabTo(page.getByRole('radio'));
  await press('Space');
  await tabTo(page.getByRole('checkbox').first());
  await press('Space');
  await quietOver();
  await press('Control+Enter');
  await expect.poll(() => calls('interaction.answer')).toHaveLength(1);
});

test('a Turn is started, and one is stopped: the question has its focus on Go back', async () => {
  const { page } = fixture;
  await fixture.show('home');
  await press('Control+n');
  await tabTo(page.getByRole('textbox', { name: 'Task' }));
  await page.keyboard.type('Find the slowest test');
  await press('Control+Enter');
  await expect.poll(() => calls('turn.start')).toHaveLength(1);
  await expect(page.locator('.stream')).toBeVisible();
  await press('Control+.');
  await expect(button('Go back')).toBeFocused();
  await press('Escape');
  expect(await calls('turn.cancel')).toEqual([]);
  await press('Control+.');
  await tabTo(button('End this Turn'));
  await press('Enter');
  await expect.poll(() => calls('turn.cancel')).toEqual([{ run_id: 'run-plan' }]);
});

test('a binding is enrolled', async () => {
  const { page } = fixture;
  await fixture.show('home');
  await tabTo(page.getByRole('link', { name: 'Enrol a binding' }).or(button('Enrol a binding')));
  await press('Enter');
  await tabTo(page.getByLabel('Install command or link'));
  await page.keyboard.type('agent-runtime enroll --code 1234');
  await tabTo(button('Read it'));
  await press('Enter');
  await expect.poll(() => calls('enrol.read')).toHaveLength(1);
  await fixture.show('enrol-check');
  await tabTo(button('Bind this folder'));
  await press('Enter');
  await expect.poll(() => calls('enrol.confirm')).toHaveLength(1);
});

test('settings: the tabs, a rule is removed, a switch, the language', async () => {
  const { page } = fixture;
  await fixture.show('home');
  await press('Control+5');
  await tabTo(page.getByRole('tab', { name: 'Bindings' }));
  await press('ArrowRight', 'ArrowRight');
  await expect(page.getByRole('tab', { name: 'Rules' })).toBeFocused();
  await tabTo(button(/^Remove the rule for/).first());
  await press('Enter');
  await expect.poll(() => calls('rule.remove')).toHaveLength(1);
  await tabTo(page.getByRole('tab', { name: 'Rules' }), 'Shift+Tab');
  await press('ArrowRight', 'ArrowRight');
  await tabTo(page.getByRole('switch').first());
  await press('Space');
  await expect.poll(() => calls('settings.set')).toHaveLength(1);
  await tabTo(page.getByRole('combobox', { name: 'Language' }), 'Shift+Tab');
  await press('ArrowDown');
  await expect(page.getByRole('tab', { name: 'Allgemein' })).toBeVisible();
  await expect(page.locator('#select-language')).toBeFocused();
});

test('history is searched, logs are filtered, the doctor checks again', async () => {
  const { page } = fixture;
  await fixture.show('doctor-log');
  await press('Control+3', '/');
  await page.keyboard.type('no such thing');
  await expect(page.getByText('Nothing in history matches.')).toBeVisible();
  await press('Control+4');
  await tabTo(button('Check again'));
  const before = (await calls('doctor.run')).length;
  await press('Enter');
  await expect.poll(async () => (await calls('doctor.run')).length).toBe(before + 1);
  await tabTo(button('Log'), 'Shift+Tab');
  await press('Enter');
  await tabTo(page.getByLabel('Only lines with'));
  await page.keyboard.type('timeout');
  await expect(page.locator('pre.record')).toHaveText(/docs-site/);
  await expect(page.locator('pre.record')).not.toHaveText(/billing-service/);
});

test('every stop of Tab on Home can be seen, has a ring, and they come in the order of the page', async () => {
  const { page } = fixture;
  await fixture.show('home-cards');
  const stops: { top: number; left: number; seen: boolean; ring: string; side: boolean; what: string }[] = [];
  for (let i = 0; i < 80; i++) {
    await press('Tab');
    const stop = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === null || element === document.body || Reflect.has(element, 'visited')) return null;
      Reflect.set(element, 'visited', true);
      const box = element.getBoundingClientRect();
      const style = getComputedStyle(element);
      return {
        top: box.top,
        left: box.left,
        seen: box.bottom > 0 && box.top < innerHeight && box.width > 0,
        ring: `${style.outlineStyle} ${style.outlineWidth}`,
        side: element.closest('.side') !== null,
        what: (element.getAttribute('aria-label') ?? element.textContent ?? '').slice(0, 40),
      };
    });
    if (stop === null) break;
    stops.push(stop);
  }
  expect(stops.length).toBeGreaterThan(20);
  expect(stops.filter((stop) => !stop.seen || !/solid [2-9]px/.test(stop.ring))).toEqual([]);
  const firstOutside = stops.findIndex((stop) => !stop.side && stop.what !== 'Skip to content');
  expect(stops.slice(firstOutside).every((stop) => !stop.side)).toBe(true);
});

/** Everything that could decide something if it reached a prompt. */
const typed =
  'Yes, do it: y d Y D 1 2 3 allow once. Nothing here decides anything; it is a sentence about ledgers, 0123456789.';

for (const [where, scenario, field] of [
  ['the composer', 'compose', 'textarea'],
  ['the search of history', 'history', 'input[type=search]'],
  ['the words to steer a Turn', 'turn', 'textarea'],
] as const) {
  test(`typing at full speed into ${where} while fifty prompts arrive decides nothing and loses nothing`, async () => {
    const { page } = fixture;
    await fixture.show(scenario);
    const target = page.locator(field).first();
    await target.focus();
    await arrive(50);
    await page.keyboard.type(typed);
    await page.waitForFunction(() => Reflect.get(globalThis, 'arrived') === 50);
    await expect(target).toBeFocused();
    expect(await target.inputValue()).toBe(typed);
    expect(await calls('interaction.answer')).toEqual([]);
    await expect(page.locator('#live')).toContainText('needs you');
    expect(await page.title()).toContain('prompts need you');
  });
}

test('typing with the focus nowhere, and with it on a prompt, decides nothing', async () => {
  const { page } = fixture;
  for (const scenario of ['home-cards', 'prompt-command']) {
    await fixture.show(scenario);
    if (scenario === 'prompt-command') await press('F6');
    await quietOver();
    await arrive(50);
    await page.keyboard.type(typed.replace(/\//g, ''));
    await press('Enter', 'Space');
    await page.waitForFunction(() => Reflect.get(globalThis, 'arrived') === 50);
    expect(await calls('interaction.answer')).toEqual([]);
  }
});

/** Lets prompts arrive, one every 15 ms, on top of what is there. */
const arrive = (count: number): Promise<void> =>
  fixture.page.evaluate(
    ({ base, many }) => {
      const { publish: send } = Reflect.get(globalThis, 'fixture') as { publish(view: unknown): void };
      Reflect.set(globalThis, 'arrived', 0);
      const step = (shown: number): void => {
        send({ ...base, revision: base.revision + shown, interactions: many.slice(0, shown) });
        Reflect.set(globalThis, 'arrived', shown);
        if (shown < many.length) setTimeout(() => step(shown + 1), 15);
      };
      setTimeout(() => step(1), 15);
    },
    { base: view({ revision: 10 }), many: hundred.slice(0, count) },
  );

const hundred = Array.from({ length: 101 }, (_, i) =>
  interaction({
    id: `many-${i}`,
    since: new Date(Date.parse('2026-11-27T14:20:00Z') + i * 1_000).toISOString(),
    subject:
      i % 3 === 1
        ? prompts.diff.subject
        : {
            kind: 'command',
            command: `npm test -w package-${i}`,
            cwd: '/home/user/projects/billing-service',
          },
  }),
);

test('a hundred prompts at once: a new one, a change of screen and thirty steps through them take no task over 100 ms', async () => {
  const { page } = fixture;
  const shown = async (): Promise<void> => {
    await fixture.show('home');
    await publish(view({ revision: 10, interactions: hundred.slice(0, 100) }));
    await expect(page.getByRole('heading', { name: '100 prompts need you' })).toBeVisible();
  };
  await shown();
  let revision = 20;
  const arriving = await longestTask(
    page,
    async () => {
      for (const count of [101, 100, 101, 100]) {
        await publish(view({ revision: revision++, interactions: hundred.slice(0, count) }));
        await frames(page, 2);
      }
    },
    () => Promise.resolve(),
  );
  const stepping = await longestTask(
    page,
    async () => {
      await press('F6');
      await expect(page.locator('#prompt-title')).toBeFocused();
      for (let i = 0; i < 30; i++) {
        await press('Alt+ArrowDown');
        await frames(page, 1);
      }
      await expect(page.getByText('31 of 100')).toBeVisible();
      await press('Escape');
    },
    shown,
  );
  console.log(`a hundred prompts: arriving ${arriving.toFixed(0)} ms, stepping ${stepping.toFixed(0)} ms`);
  expect(await calls('interaction.answer')).toEqual([]);
  expect(Math.max(arriving, stepping)).toBeLessThan(100);
});
