import { execFileSync } from 'node:child_process';
import { expect, test } from '@playwright/test';
import { DesktopSession } from '../support/desktop-session.ts';
import { DesktopBed, until } from './app.ts';
import { running, stuck } from './stuck-command.ts';

async function waitForPrompt(bed: DesktopBed): Promise<string> {
  return until(async () => (await bed.view()).interactions[0]?.id ?? null, 'a prompt');
}

test('closing the window keeps the Runtime, and a second start brings it back', async () => {
  const desktop = await DesktopSession.start();
  const bed = await DesktopBed.open({ env: desktop.env });
  try {
    await desktop.panel.item();
    await bed.window.close();
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

test('a killed renderer loses nothing: the prompt is still there', async () => {
  const bed = await DesktopBed.open({ claude: true });
  try {
    bed.model?.setScenario(stuck);
    await bed.startTurn('Run something');
    const id = await waitForPrompt(bed);
    await bed.app.evaluate(({ webContents }) =>
      webContents.getAllWebContents()[0]?.forcefullyCrashRenderer(),
    );
    await expect.poll(async () => bed.app.windows().length).toBeGreaterThan(0);
    expect((await bed.view()).interactions[0]?.id).toBe(id);
    expect((await bed.cli('answer', id, '--deny')).code).toBe(0);
    await expect
      .poll(async () => (await bed.view()).history.some((entry) => entry.outcome === 'denied'))
      .toBe(true);
  } finally {
    await bed.close();
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
