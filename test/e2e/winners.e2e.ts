import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { _electron, expect, test, type Page } from '@playwright/test';
import { DesktopSession } from '../support/desktop-session.ts';
import { DesktopBed, until } from './app.ts';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const browser = fileURLToPath(new URL('./browser.cjs', import.meta.url));
const rounds = 7;

/** The console of the running app in a browser of its own. */
async function openConsole(bed: DesktopBed): Promise<{ page: Page; close(): Promise<void> }> {
  const child = spawn(process.execPath, [cli, 'console', '--json', '--state-dir', bed.stateDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += String(chunk);
      const found = /"console": "([^"]+)"/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const folder = await mkdtemp(join(tmpdir(), 'agent-runtime-browser-'));
  const app = await _electron.launch({
    executablePath: join(process.env['TEST_ELECTRON'] ?? '', 'electron'),
    args: [browser, `--user-data-dir=${folder}`, url],
  });
  return {
    page: await app.firstWindow(),
    close: async () => {
      await app.close();
      const gone = new Promise((done) => child.once('exit', done));
      child.kill('SIGTERM');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Brings the prompt to the front of a page and waits until its buttons act. */
async function ready(page: Page, command: string): Promise<void> {
  await page.keyboard.press('F6');
  await expect(page.getByText(command).first()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Allow once' })).not.toHaveAttribute('aria-disabled', 'true');
}

test('answered from window, notification, browser and terminal at once: one answer reaches the agent, all others hear so, every card leaves', async () => {
  const desktop = await DesktopSession.start();
  const bed = await DesktopBed.open({ env: desktop.env, claude: true });
  const console_ = await openConsole(bed);
  try {
    const command = (round: number): string => `touch round-${round}.txt`;
    bed.model?.setScenario([
      ...Array.from({ length: rounds }, (_, round) => ({
        steps: [
          { tool: 'Bash', id: `toolu_${round}`, input: { command: command(round), description: 'round' } },
        ],
      })),
      { steps: [{ text: 'All done.' }] },
    ]);
    // Nobody looks at the window: the desktop tells as well.
    await bed.app.evaluate(({ BrowserWindow }) => {
      for (const window of BrowserWindow.getAllWindows()) window.isFocused = () => false;
    });
    await bed.cli('turn', 'start', '--detach', 'Many commands');
    const winners: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const id = await until(async () => {
        const [prompt, ...others] = (await bed.view()).interactions;
        return prompt && others.length === 0 ? prompt.id : null;
      }, `round ${round}`);
      const [note] = await desktop.notifications.when((open) =>
        open.some(({ actions }) => actions.includes('deny')),
      );
      await Promise.all([ready(bed.window, command(round)), ready(console_.page, command(round))]);
      await bed.window.waitForTimeout(600); // nothing acts in the first half second
      if (round === 0) {
        await bed.picture('winners-window');
      }
      const before = (await bed.view()).history.length;
      const press = (page: Page): Promise<void> =>
        page.evaluate(() => {
          const buttons = [...document.querySelectorAll('button')];
          buttons.find((button) => button.textContent?.startsWith('Allow once'))?.click();
        });
      let terminal: { code: number; stdout: string } | null = null;
      const answers: (() => Promise<void> | void)[] = [
        async () => {
          terminal = await bed.cli('answer', id, round % 2 === 0 ? '--deny' : '--allow', '--json');
        },
        () => press(bed.window),
        () => desktop.notifications.act(note?.id ?? 0, 'deny'),
        () => press(console_.page),
      ];
      // Some rounds all at once; in the others each place in turn gets its answer out before the rest begins.
      const first = round % (answers.length + 1);
      const ahead = answers[first - 1];
      const rest = answers.filter((answer) => answer !== ahead);
      const begun = ahead?.();
      // A terminal has a whole program to start; where it goes first nobody waits for its end.
      if (first !== 1) await begun;
      await Promise.all([begun, ...rest.map((answer) => answer())]);

      // Exactly one decision is kept, and it is the only one that the agent heard.
      await expect
        .poll(
          async () =>
            (await bed.view()).history.slice(before).filter(({ kind }) => kind === 'permission').length,
        )
        .toBe(1);
      const decided = (await bed.view()).history.slice(before).filter(({ kind }) => kind === 'permission');
      expect(decided.map(({ decided_by }) => decided_by)).toEqual(['person']);
      const outcome = decided[0]?.outcome ?? '';
      winners.push(outcome);
      const heard = await until(async () => {
        const bodies = bed.model?.calls.map(({ body }) => JSON.stringify(body)) ?? [];
        const told = bodies.filter((body) => body.includes(`"tool_use_id":"toolu_${round}"`)).at(-1);
        return told ?? null;
      }, 'the answer at the model');
      expect(heard.split(`"tool_use_id":"toolu_${round}"`)).toHaveLength(2);
      expect(existsSync(join(bed.workspace, `round-${round}.txt`))).toBe(outcome === 'allowed');
      // The terminal is told the truth: it decided, or it hears that another did.
      const { code, stdout } = terminal ?? { code: -1, stdout: '' };
      if (code === 0) expect(JSON.parse(stdout)).toMatchObject({ outcome });
      else
        expect([code, JSON.parse(stdout)]).toEqual([
          1,
          expect.objectContaining({ error: expect.objectContaining({ code: 'already_decided' }) }),
        ]);
      // Every card leaves, also those whose button was locked by a click that lost.
      for (const page of [bed.window, console_.page]) {
        const card = page.locator('article').filter({ hasText: command(round) });
        await expect(card.getByRole('button', { name: 'Allow once' })).toHaveCount(0);
        const said = outcome === 'allowed' ? /Allowed once\.|Already answered in/ : /Already answered in/;
        await expect(page.getByText(said).first()).toBeVisible();
      }
      await desktop.notifications.when((open) => open.every(({ id: shown }) => shown !== note?.id));
    }
    await expect
      .poll(async () =>
        (await bed.view()).history.filter(({ kind }) => kind === 'turn').map(({ outcome }) => outcome),
      )
      .toEqual(['completed']);
    // The places that went first got through: neither answer won every time.
    expect(new Set(winners)).toEqual(new Set(['allowed', 'denied']));
    process.stdout.write(`    ${winners.join(', ')}\n`);
    for (const page of [bed.window, console_.page])
      await expect(page.getByRole('button', { name: 'Allow once' })).toHaveCount(0);
    expect(desktop.notifications.open).toEqual([]);
    expect((await desktop.panel.icon()).tooltip).toBe('Agent Runtime: connected');
  } finally {
    await console_.close();
    await bed.close();
    await desktop.close();
  }
});
