#!/usr/bin/env node
/**
 * Pictures of the window: opens the built renderer with a stand-in for the daemon in a real engine and saves each
 * screen, light and dark, at the default size, the least size and 200 % zoom, into test-results/screens/.
 *
 *   node test/support/screens.mjs [name ...] [--sizes=1080,720,zoom] [--themes=light,dark] [--language=en|de]
 *
 * Needs a display; without one it starts itself again under xvfb-run. Fails on any error in the page's console, so a
 * breach of the page's own content policy fails it too.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchFixture } from './renderer-fixture/launch.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const out = join(root, 'test-results/screens');

if (!process.env.DISPLAY) {
  const again = spawnSync(
    'xvfb-run',
    [
      '-a',
      '-s',
      '-screen 0 1600x1200x24',
      process.execPath,
      fileURLToPath(import.meta.url),
      ...process.argv.slice(2),
    ],
    { stdio: 'inherit' },
  );
  process.exit(again.status ?? 1);
}

const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const option = (name, all) =>
  flags
    .find((flag) => flag.startsWith(`--${name}=`))
    ?.split('=')[1]
    .split(',') ?? all;

/** Name in the file, content size in device pixels, zoom. */
const sizes = [
  { name: '1080', width: 1080, height: 720, zoom: 1 },
  { name: '720', width: 720, height: 520, zoom: 1 },
  { name: 'zoom200', width: 1080, height: 720, zoom: 2 },
  { name: 'least-zoom200', width: 720, height: 520, zoom: 2 },
].filter((size) => option('sizes', ['1080', '720', 'zoom200', 'least-zoom200']).includes(size.name));
const themes = option('themes', ['light', 'dark']);
const [language] = option('language', ['en']);

/** What is done to a screen before its picture. */
const steps = {
  'prompt-reason': {
    scenario: 'prompt-command',
    run: (page) => page.getByRole('button', { name: 'Deny with reason…' }).click(),
  },
  'prompt-rule-form': {
    scenario: 'prompt-rule',
    run: async (page) => {
      await page.waitForFunction(() => performance.now() > 1_500);
      await page.getByRole('button', { name: 'Allow with a rule…' }).click();
      await page.getByRole('button', { name: 'This folder' }).click();
    },
  },
  'prompt-edit-form': {
    scenario: 'prompt-rule',
    run: (page) => page.getByRole('button', { name: 'Change it first…' }).click(),
  },
  'doctor-log': {
    scenario: 'doctor-log',
    run: (page) => page.getByRole('button', { name: 'Log', exact: true }).click(),
  },
  'doctor-diagnostics': {
    scenario: 'doctor-log',
    run: (page) => page.getByRole('button', { name: 'Diagnostics', exact: true }).click(),
  },
  'prompt-raw': {
    scenario: 'prompt-command',
    run: (page) => page.getByRole('button', { name: 'Raw JSON' }).click(),
  },
  'prompt-sending': {
    scenario: 'prompt-command',
    run: async (page) => {
      // The card is quiet for half a second after it appeared; the press before that is lost on purpose.
      const deny = page.getByRole('button', { name: 'Deny', exact: true });
      await deny.click();
      await page.waitForFunction(() => performance.now() > 1_500);
      await deny.click();
      await page.getByText('Sending your answer').first().waitFor();
    },
  },
  'prompt-diff-end': {
    scenario: 'prompt-diff',
    run: (page) => page.locator('.end').last().scrollIntoViewIfNeeded(),
  },
  'question-filled': {
    scenario: 'question',
    run: async (page) => {
      await page.getByLabel('Postgres in a container').check();
      await page.getByLabel('Broken rows').check();
      await page.getByLabel('Duplicate files').check();
      await page.locator('input[type=password]').fill('a made-up word');
    },
  },
  'turn-tool-open': {
    scenario: 'turn',
    run: (page) => page.locator('details.tool').nth(1).locator('summary').click(),
  },
  'turn-ended-output': {
    scenario: 'turn-ended',
    run: (page) => page.locator('details.tool').last().locator('summary').click(),
  },
  'turn-stop': { scenario: 'turn', run: (page) => page.getByRole('button', { name: 'Stop' }).click() },
  'cleanup-details': {
    scenario: 'home',
    run: (page) => page.getByRole('button', { name: 'Details' }).click(),
  },
  'enrol-key': {
    scenario: 'enrol',
    run: (page) => page.getByRole('button', { name: 'I have a credential file instead' }).click(),
  },
  'enrol-empty': {
    scenario: 'enrol',
    run: (page) => page.getByRole('button', { name: 'Read it' }).click(),
  },
  'enrol-file-ask': {
    scenario: 'enrol-no-store',
    run: (page) => page.getByRole('button', { name: 'Keep it in a file…' }).click(),
  },
  'settings-rotate': {
    scenario: 'settings',
    run: (page) => page.getByRole('button', { name: 'Rotate credential' }).first().click(),
  },
  'settings-remove': {
    scenario: 'settings',
    run: (page) =>
      page
        .getByRole('button', { name: /^Remove .*…$/ })
        .first()
        .click(),
  },
  toast: { scenario: 'home', run: (page) => page.getByRole('button', { name: 'Try again' }).click() },
};

const plain = [
  'home',
  'home-quiet',
  'home-states',
  'home-cards',
  'home-hundred',
  'home-withdrawn',
  'home-paused',
  'home-banner',
  'home-closed',
  'first-run',
  'first-run-demo',
  'first-run-none',
  'compose',
  'prompt-command',
  'prompt-diff',
  'prompt-tool',
  'prompt-network',
  'prompt-unshowable',
  'prompt-core',
  'prompt-withdrawn',
  'question',
  'turn',
  'turn-ended',
  'turns',
  'history',
  'doctor',
  'enrol',
  'enrol-check',
  'enrol-refused',
  'enrol-made',
  'enrol-key-check',
  'enrol-no-store',
  'enrol-working',
  'enrol-connecting',
  'enrol-failed',
  'enrol-name',
  'enrol-bound',
  'enrol-not-seen',
  'settings',
  'settings-parked',
  'prompt-rule',
  'home-transfers',
  'settings-rules',
  'settings-rules-none',
  'settings-agents',
  'settings-notifications',
  'settings-general',
];
const wanted = [
  ...plain.map((scenario) => ({ name: scenario, scenario, run: async () => {} })),
  ...Object.entries(steps).map(([name, step]) => ({ name, ...step })),
].filter((picture) => names.length === 0 || names.includes(picture.name));

mkdirSync(out, { recursive: true });
const fixture = await launchFixture();
const { page, errors } = fixture;
let taken = 0;
try {
  for (const size of sizes) {
    await fixture.size(size);
    for (const theme of themes) {
      for (const picture of wanted) {
        const before = errors.length;
        await fixture.show(picture.scenario, { theme, language });
        await picture.run(page);
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 250))));
        writeFileSync(join(out, `${picture.name}-${size.name}-${theme}.png`), await fixture.picture());
        taken += 1;
        if (errors.length > before)
          console.error(`${picture.name} (${size.name}, ${theme}): ${errors.slice(before).join('\n')}`);
      }
    }
  }
} finally {
  await fixture.close();
}
console.log(`${taken} pictures in test-results/screens`);
if (errors.length > 0) process.exit(1);
