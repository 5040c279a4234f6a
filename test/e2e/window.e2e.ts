import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import type { AxeResults, RunOptions } from 'axe-core';
import { launchFixture, type FixtureWindow } from '../support/renderer-fixture/launch.mjs';
import { scenarios } from '../support/renderer-fixture/scenarios.ts';

/** The real window in a real engine with a stand-in for the daemon: what only a page that is laid out can show. */
const names = Object.keys(scenarios);
const pictures = join(import.meta.dirname, '../../test-results/window');
const sizes = [
  { name: 'default', width: 1080, height: 720, zoom: 1 },
  { name: 'least', width: 720, height: 520, zoom: 1 },
  { name: 'default at 200 %', width: 1080, height: 720, zoom: 2 },
  { name: 'least at 200 %', width: 720, height: 520, zoom: 2 },
];

let fixture: FixtureWindow;
test.beforeAll(async () => {
  fixture = await launchFixture();
  await mkdir(pictures, { recursive: true });
});
test.afterAll(() => fixture.close());
test.afterEach(() => expect(fixture.errors).toEqual([]));

for (const theme of ['light', 'dark']) {
  test(`axe finds nothing on any screen, ${theme}`, async () => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const found: string[] = [];
    await fixture.size({ width: 1080, height: 720, zoom: 1 });
    for (const name of names) {
      await fixture.show(name, { theme });
      await writeFile(join(pictures, `${name}-${theme}.png`), await fixture.picture());
      await fixture.page.evaluate(axe);
      const { violations } = await fixture.page.evaluate(runAxe, theme === 'light');
      for (const { id, nodes } of violations)
        for (const node of nodes.slice(0, 3)) found.push(`${name}: ${id}: ${node.html.slice(0, 160)}`);
    }
    expect(found).toEqual([]);
  });
}

for (const language of ['en', 'de']) {
  test(`no screen is cut or scrolls sideways at any size, ${language}`, async () => {
    const found: string[] = [];
    for (const name of names) {
      await fixture.show(name, { theme: 'light', language });
      for (const size of sizes) {
        await fixture.size(size);
        await fixture.drawn();
        for (const fault of await fixture.page.evaluate(misfits))
          found.push(`${name}, ${size.name}: ${fault}`);
      }
    }
    expect(found).toEqual([]);
  });
}

/** Between the themes only colours differ. */
const runAxe = (all: boolean): Promise<AxeResults> => {
  const axe = Reflect.get(globalThis, 'axe') as {
    run(context: Document, options: RunOptions): Promise<AxeResults>;
  };
  return axe.run(document, {
    resultTypes: ['violations'],
    ...(all ? {} : { runOnly: ['color-contrast'] }),
  });
};

/** What does not fit: a page or a box that scrolls sideways without being meant to, and a control whose words are cut. */
function misfits(): string[] {
  const told = (element: Element): string =>
    `${element.tagName.toLowerCase()}.${[...element.classList].join('.')} "${(element.textContent ?? '').trim().slice(0, 50)}"`;
  const found: string[] = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth)
    found.push(`the page is ${root.scrollWidth - root.clientWidth} px too wide`);
  for (const element of document.querySelectorAll('body *')) {
    if (!(element instanceof HTMLElement) || element.getClientRects().length === 0) continue;
    if (element.closest('.sr, .skip, pre, code, textarea, select, input')) continue;
    const style = getComputedStyle(element);
    // Kept for a screen reader alone.
    if (element.clientWidth <= 1) continue;
    const over = element.scrollWidth - element.clientWidth;
    const scrolls = style.overflowX === 'auto' || style.overflowX === 'scroll';
    if (scrolls && over > 1) found.push(`${told(element)} scrolls sideways by ${over} px`);
    const isControl = element.matches('button, a, [role=tab], label, .chip, .pill, h1, h2, h3');
    const cut = style.overflowX === 'hidden' || style.overflowX === 'clip' || isControl;
    if (isControl && cut && over > 1 && style.textOverflow !== 'ellipsis')
      found.push(`${told(element)} is cut by ${over} px`);
    const box = element.getBoundingClientRect();
    if (isControl && (box.right > innerWidth + 1 || box.left < -1))
      found.push(`${told(element)} lies outside`);
  }
  return found;
}

test('with the colours of the system every card, button and chip keeps a border, and marks stay', async () => {
  const found: string[] = [];
  await fixture.size({ width: 1080, height: 720, zoom: 1 });
  await fixture.page.emulateMedia({ forcedColors: 'active' });
  try {
    for (const name of ['home', 'home-states', 'prompt-command', 'question', 'turn', 'settings', 'history']) {
      await fixture.show(name);
      const faults = await fixture.page.evaluate(() => {
        const bare: string[] = [];
        for (const element of document.querySelectorAll('.card, .btn, .opt, .pill, .chip')) {
          if (element.getClientRects().length === 0) continue;
          const style = getComputedStyle(element);
          if (parseFloat(style.borderTopWidth) < 1 || style.borderTopStyle === 'none')
            bare.push(`${element.className} has no border`);
        }
        for (const mark of document.querySelectorAll('svg.g')) {
          const box = mark.getBoundingClientRect();
          if (mark.getClientRects().length === 0) continue;
          if (box.width < 8) bare.push('a mark is not drawn');
        }
        if (!matchMedia('(forced-colors: active)').matches) bare.push('the colours were not forced');
        return bare;
      });
      for (const fault of faults) found.push(`${name}: ${fault}`);
      await writeFile(join(pictures, `${name}-forced-colours.png`), await fixture.picture());
    }
  } finally {
    await fixture.page.emulateMedia({ forcedColors: null });
  }
  expect([...new Set(found)]).toEqual([]);
});

test('with the colours of the system the cross of what is parked is still cut out of its disc', async () => {
  await fixture.size({ width: 1080, height: 720, zoom: 1 });
  await fixture.page.emulateMedia({ forcedColors: 'active' });
  try {
    await fixture.show('home');
    const mark = fixture.page.locator('.bind svg.g.bad').first();
    const box = await mark.boundingBox();
    if (!box) throw new Error('the mark is not drawn');
    const [middle, rim] = [0.5, 0.25].map((part) => ({
      x: Math.round(box.x + box.width / 2),
      y: Math.round(box.y + box.height * part),
    }));
    expect(await fixture.brightness(middle ?? { x: 0, y: 0 })).toBeGreaterThan(200);
    expect(await fixture.brightness(rim ?? { x: 0, y: 0 })).toBeLessThan(60);
  } finally {
    await fixture.page.emulateMedia({ forcedColors: null });
  }
});

test('nothing moves for whoever asked for less motion', async () => {
  await fixture.page.emulateMedia({ reducedMotion: 'reduce' });
  try {
    for (const name of ['home', 'turn', 'prompt-command', 'home-transfers']) {
      await fixture.show(name);
      const moving = await fixture.page.evaluate(() =>
        document
          .getAnimations()
          .flatMap((animation) => (animation.playState === 'running' ? [String(animation.id)] : [])),
      );
      expect(moving, name).toEqual([]);
    }
  } finally {
    await fixture.page.emulateMedia({ reducedMotion: null });
  }
  // The same screen does move otherwise, so the check above can fail.
  await fixture.show('turn');
  expect(await fixture.page.evaluate(() => document.getAnimations().length)).toBeGreaterThan(0);
});
