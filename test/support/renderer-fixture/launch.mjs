// Opens the built window with a stand-in for the daemon in the Electron of the tests. Needs a display.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { _electron } from '@playwright/test';
import { build } from 'esbuild';
import { bundleRenderer } from '../../../build/bundle-renderer.mjs';

const here = dirname(fileURLToPath(import.meta.url));

export async function launchFixture() {
  const work = mkdtempSync(join(tmpdir(), 'fixture-window-'));
  await bundleRenderer({ outdir: join(work, 'renderer') });
  await build({
    entryPoints: [join(here, 'preload.ts')],
    outfile: join(work, 'preload.cjs'),
    bundle: true,
    format: 'iife',
    target: 'chrome108',
    logLevel: 'warning',
  });
  const electron =
    process.env.ELECTRON_OVERRIDE_DIST_PATH ??
    execFileSync('python3', [join(here, '../electron-dist'), '--deps'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }).trim();
  const app = await _electron.launch({
    executablePath: join(electron, 'electron'),
    args: [
      join(here, 'main.cjs'),
      `--user-data-dir=${join(work, 'profile')}`,
      join(work, 'renderer'),
      join(work, 'preload.cjs'),
    ],
  });
  const page = await app.firstWindow();
  const shell = await app.browserWindow(page);
  /** Errors of the page's console: a breach of the page's own policy is one too. */
  const errors = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.stack ?? error.message));
  return {
    page,
    errors,
    async size({ width, height, zoom }) {
      await shell.evaluate(
        (window, to) => {
          window.setContentSize(to.width, to.height);
          window.webContents.setZoomFactor(to.zoom);
        },
        { width, height, zoom },
      );
      await page.waitForFunction(
        (wide) => Math.abs(globalThis.innerWidth - wide) <= 1 && document.readyState === 'complete',
        width / zoom,
      );
    },
    async show(scenario, query = {}) {
      const asked = new URLSearchParams({ scenario, ...query });
      await page.goto(`app://agent-runtime/index.html?${asked}`);
      await page.locator('.side').waitFor({ timeout: 5_000 });
      await page.evaluate(() => {
        if (globalThis.scenario.closed) {
          globalThis.fixture.close();
          void globalThis.agentRuntime.command('view.get', {}).catch(() => {});
          document
            .querySelector('.side-foot button')
            ?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
        }
        if (globalThis.scenario.then) globalThis.fixture.publish(globalThis.scenario.then);
      });
      await this.drawn();
    },
    drawn: () =>
      page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)))),
    /** The shell's own capture: a picture by the driver does not know about zoom and would be cut. */
    async picture() {
      const png = await shell.evaluate(async (window) =>
        (await window.webContents.capturePage()).toPNG().toString('base64'),
      );
      return Buffer.from(png, 'base64');
    },
    async brightness(at) {
      const bitmap = await shell.evaluate(
        async (window, { x, y }) => [
          ...(await window.webContents.capturePage({ x, y, width: 1, height: 1 })).toBitmap(),
        ],
        at,
      );
      return (bitmap[0] + bitmap[1] + bitmap[2]) / 3;
    },
    async close() {
      await app.close();
      rmSync(work, { recursive: true, force: true });
    },
  };
}
