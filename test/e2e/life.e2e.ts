import { execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { DesktopSession } from '../support/desktop-session.ts';
import { SilentAgent } from '../support/silent-agent.ts';
import { DesktopBed, packaged, stubbornSleep, until } from './app.ts';
import { running, stuck } from './stuck-command.ts';

/** No code of any Core. */
const grant = 'no-grant-0123456789abcdef.signature';

async function waitForPrompt(bed: DesktopBed): Promise<string> {
  return until(async () => (await bed.view()).interactions[0]?.id ?? null, 'a prompt');
}

test('closing the window keeps the Runtime, and a second start brings it back', async () => {
  const desktop = await DesktopSession.start();
  const bed = await DesktopBed.open({ env: desktop.env });
  try {
    await desktop.panel.item();
    await bed.closeWindow();
    expect((await bed.view()).runtime.state).toBe('running');
    const opened = bed.app.waitForEvent('window');
    const second = bed.process.spawnfile;
    execFileSync(second, ['--no-sandbox', `--state-dir=${bed.stateDir}`], { stdio: 'ignore' });
    bed.window = await opened;
    await expect(bed.window.getByRole('navigation', { name: 'Main' })).toBeVisible();
  } finally {
    await bed.close();
    await desktop.close();
  }
});

test('a second start hands its link to the first, brings its window back and ends with 0; a window off every display comes back', async () => {
  const bed = await DesktopBed.open();
  try {
    const shown = (): Promise<boolean> =>
      bed.app.evaluate(({ BrowserWindow }) => {
        const [window, ...more] = BrowserWindow.getAllWindows();
        return more.length === 0 && window?.isVisible() === true && !window.isMinimized();
      });
    await bed.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.hide());
    await expect.poll(shown).toBe(false);
    const link = `agent-runtime://enroll?endpoint=${encodeURIComponent('https://core.example.com/api/v1/agent-daemon/installation')}&grant=${grant}`;
    // Any other end than 0 throws.
    execFileSync(bed.process.spawnfile, ['--no-sandbox', `--state-dir=${bed.stateDir}`, link], {
      stdio: 'ignore',
    });
    await expect.poll(shown).toBe(true);
    await expect(bed.window.getByRole('button', { name: 'Read the invitation' })).toBeVisible();
    const view = await bed.view();
    expect(view.invited).toEqual({ host: 'core.example.com' });
    expect(view.bindings).toHaveLength(1);
    expect(bed.process.exitCode).toBeNull();

    // The display it lay on is gone.
    const onDisplay = (): Promise<boolean> =>
      bed.app.evaluate(({ BrowserWindow, screen }) => {
        const bounds = BrowserWindow.getAllWindows()[0]?.getBounds();
        const area = screen.getPrimaryDisplay().workArea;
        return bounds !== undefined && bounds.x < area.width - 100 && bounds.y < area.height - 100;
      });
    await bed.app.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows()[0]?.setPosition(5_000, 4_000),
    );
    await expect.poll(onDisplay).toBe(false);
    await bed.app.evaluate(({ screen }) => void screen.emit('display-removed', {}, {}));
    await expect.poll(onDisplay).toBe(true);
  } finally {
    await bed.close();
  }
});

test('killed page, GPU and network processes lose nothing and decide nothing; the window comes back', async () => {
  const desktop = await DesktopSession.start();
  const bed = await DesktopBed.open({ claude: true, env: desktop.env });
  try {
    bed.model?.setScenario(stuck);
    await bed.startTurn('Run something');
    const id = await waitForPrompt(bed);
    const kill = (type: string): Promise<boolean> =>
      bed.app.evaluate(({ app }, wanted) => {
        const found = app.getAppMetrics().find((metric) => metric.type === wanted);
        if (found) process.kill(found.pid, 'SIGKILL');
        return found !== undefined;
      }, type);
    const shows = (): Promise<boolean> =>
      bed.app.evaluate(async ({ webContents }) => {
        const [contents] = webContents.getAllWebContents();
        if (!contents || contents.isCrashed() || contents.isLoading()) return false;
        // A page that dies while it is asked never answers.
        const text: unknown = await Promise.race([
          contents.executeJavaScript('document.body.innerText'),
          new Promise((done) => setTimeout(done, 500)),
        ]);
        return String(text).includes('1 prompt needs you');
      });
    expect(await kill('GPU')).toBe(true);
    expect(await kill('Utility')).toBe(true);
    await expect.poll(shows).toBe(true);
    expect(await kill('Tab')).toBe(true);
    await expect.poll(shows).toBe(true);
    expect((await bed.view()).interactions.map((prompt) => prompt.id)).toEqual([id]);

    // A page that dies again and again is given up; the way back is the tray.
    const windows = (): Promise<number> =>
      bed.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length);
    for (let crash = 0; crash < 3; crash += 1) {
      await kill('Tab');
      if (crash < 2) await expect.poll(shows).toBe(true);
    }
    await expect.poll(windows).toBe(0);
    await desktop.panel.click();
    await expect.poll(shows).toBe(true);
    expect((await bed.view()).interactions.map((prompt) => prompt.id)).toEqual([id]);
    expect((await bed.view()).history).toEqual([]);
    expect((await bed.cli('answer', id, '--deny')).code).toBe(0);
    await expect
      .poll(async () => (await bed.view()).history.some((entry) => entry.outcome === 'denied'))
      .toBe(true);
  } finally {
    await bed.close();
    await desktop.close();
  }
});

test('quit with an agent that refuses to end: it says what it ends, ends also what escaped, and the next start finds nothing', async () => {
  const desktop = await DesktopSession.start();
  const bed = await DesktopBed.open({ claude: true, stubborn: true, env: desktop.env });
  const left = (): boolean => Object.values(stubbornSleep).some((seconds) => running(`sleep ${seconds}`));
  try {
    bed.model?.setScenario(stuck);
    await bed.startTurn('Run something');
    await bed.cli('answer', await waitForPrompt(bed), '--allow');
    await until(async () => (running('sleep 1000') ? true : null), 'the command');
    expect(left()).toBe(true);

    const asked = await bed.answerDialogs('Go back');
    await desktop.panel.choose('Quit');
    await expect.poll(asked).toHaveLength(1);
    expect((await asked())[0]).toMatch(/^End 1 Turn now\?\nClaude Code in local\n/);
    expect((await bed.view()).turns).toHaveLength(1);

    await bed.answerDialogs('End 1 Turn and quit');
    const gone = new Promise<string>((done) =>
      bed.process.once('exit', (code, signal) => done(signal ?? String(code))),
    );
    const from = performance.now();
    await desktop.panel.choose('Quit');
    // While a keychain call hangs a good end is one by TERM.
    expect(['0', 'SIGTERM']).toContain(await gone);
    process.stdout.write(`    gone after ${Math.round((performance.now() - from) / 100) / 10} s\n`);
    expect(left()).toBe(false);
    expect(running('sleep 1000')).toBe(false);

    await bed.reopen();
    const view = await bed.view();
    expect(view.cleanup).toEqual([]);
    expect(view.history.map(({ kind, outcome }) => [kind, outcome])).toEqual([
      ['permission', 'allowed'],
      ['turn', 'unknown'],
    ]);
  } finally {
    await bed.close();
    await desktop.close();
  }
});

test('kill -9 with a Harness at work: the next start ends what was left, and shows it', async () => {
  const bed = await DesktopBed.open({ claude: true });
  try {
    bed.model?.setScenario(stuck);
    await bed.startTurn('Run something');
    await bed.cli('answer', await waitForPrompt(bed), '--allow');
    await until(async () => (running('sleep 1000') ? true : null), 'the command');
    const process_ = bed.process;
    const gone = new Promise((done) => process_.once('exit', done));
    process_.kill('SIGKILL');
    await gone;
    expect(running('claude')).toBe(true);
    await bed.reopen();
    await expect
      .poll(async () =>
        (await bed.view()).history.filter((entry) => entry.kind === 'cleanup').map((entry) => entry.outcome),
      )
      .toContain('confirmed');
    expect((await bed.view()).health.map((item) => item.code)).toContain('orphans_ended');
    expect(running('sleep 1000')).toBe(false);
    const turns = JSON.parse((await bed.cli('turn', 'list', '--json')).stdout) as { outcome: string }[];
    expect(turns.map((turn) => turn.outcome)).toEqual(['unknown']);
    await bed.picture('after-crash');
  } finally {
    await bed.close();
  }
});

test('SIGTERM with a Turn at work ends it, leaves no process and exits', async () => {
  const bed = await DesktopBed.open({ claude: true });
  try {
    bed.model?.setScenario(stuck);
    await bed.startTurn('Run something');
    await bed.cli('answer', await waitForPrompt(bed), '--allow');
    await until(async () => (running('sleep 1000') ? true : null), 'the command');
    const process_ = bed.process;
    const gone = new Promise<number | null>((done) => process_.once('exit', (code) => done(code)));
    process_.kill('SIGTERM');
    expect(await gone).toBe(0);
    expect(running('sleep 1000')).toBe(false);
  } finally {
    await bed.close();
  }
});

test('a signal while it starts ends it with 0 and with everything that it had begun to look at', async () => {
  const home = await mkdtemp(join(tmpdir(), 'agent-runtime-e2e-'));
  const state = join(home, 'state');
  await mkdir(state, { mode: 0o700 });
  const agent = await SilentAgent.make(home, false);
  await writeFile(join(state, 'config.json'), JSON.stringify({ harnesses: [agent.settings] }));
  const app = spawn(packaged, ['--no-sandbox', `--state-dir=${state}`], {
    env: { ...process.env, HOME: home, DBUS_SESSION_BUS_ADDRESS: 'disabled:' },
    stdio: 'ignore',
  });
  const ended = new Promise<number | null>((done) => app.once('exit', done));
  try {
    await expect.poll(() => agent.started()).toBe(true);
    expect(app.kill('SIGTERM')).toBe(true);
    expect(await ended).toBe(0);
    expect(await agent.running()).toBe(false);
  } finally {
    app.kill('SIGKILL');
    await rm(home, { recursive: true });
  }
});
