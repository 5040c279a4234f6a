import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { DesktopBed, until } from './app.ts';
import { running, stuck } from './stuck-command.ts';

test('General: what is chosen holds at once, a proxy that cannot be one is told, and quitting does what was chosen', async () => {
  const bed = await DesktopBed.open({ claude: true });
  try {
    bed.model?.setScenario(stuck);
    await bed.startTurn('Run something');
    const id = await until(async () => (await bed.view()).interactions[0]?.id ?? null, 'a prompt');
    await bed.cli('answer', id, '--allow');
    await until(async () => (running('sleep 1000') ? true : null), 'the command');

    // While a Turn runs the machine is kept awake; with the switch off it is not.
    const { window } = bed;
    const blocked = (): Promise<boolean> =>
      bed.app.evaluate(({ powerSaveBlocker }) => [0, 1, 2].some((one) => powerSaveBlocker.isStarted(one)));
    expect(await blocked()).toBe(true);
    await window.getByRole('link', { name: 'Settings' }).click();
    await window
      .getByRole('tab', { name: 'General' })
      .or(window.getByRole('link', { name: 'General' }))
      .click();
    await window.getByRole('switch', { name: /^Keep the machine awake/ }).click();
    await expect.poll(blocked).toBe(false);

    await window.getByRole('combobox', { name: 'Proxy' }).selectOption('manual');
    await window.getByRole('textbox', { name: 'Address' }).fill('nowhere/at all');
    await window.getByRole('button', { name: 'Use this proxy' }).click();
    await expect(window.getByText(/The address of the proxy must look like/)).toBeVisible();
    await window.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9');
    await window.getByRole('button', { name: 'Use this proxy' }).click();
    await bed.picture('settings-proxy');
    const kept = async (): Promise<string> =>
      readFile(join(bed.stateDir, 'settings.json'), 'utf8').catch(() => '');
    await expect.poll(kept).toContain('"proxy": "manual"');

    await window.getByRole('combobox', { name: 'Quitting while Turns are open' }).selectOption('now');
    await expect.poll(kept).toContain('"on_quit": "now"');
    const { process: app } = bed;
    const gone = new Promise((done) => app.once('exit', done));
    await bed.app.evaluate(({ app: electron }) => void setImmediate(() => electron.quit()));
    await gone;
    expect(running('sleep 1000')).toBe(false);
  } finally {
    await bed.close();
  }
});

test('a machine that wakes asks its connections at once, and one that goes down settles a Turn without a question', async () => {
  const bed = await DesktopBed.open({ claude: true });
  try {
    const asked = await bed.answerDialogs('Go back');
    // What was heard last moves only when the other side is asked anew.
    const heard = async (): Promise<string | null> =>
      (
        JSON.parse((await bed.cli('view', '--json')).stdout) as {
          bindings: { connection: { last_received_at: string | null } }[];
        }
      ).bindings[0]?.connection.last_received_at ?? null;
    await expect.poll(heard).not.toBeNull();
    bed.model?.setScenario(stuck);
    await bed.startTurn('Run something');
    const id = await until(async () => (await bed.view()).interactions[0]?.id ?? null, 'a prompt');
    await bed.cli('answer', id, '--allow');
    await until(async () => (running('sleep 1000') ? true : null), 'the command');
    const before = await heard();
    await bed.app.evaluate(({ powerMonitor }) => void powerMonitor.emit('resume'));
    await expect.poll(heard, { timeout: 4_000 }).not.toBe(before);
    expect(await asked()).toEqual([]);
    // And work is taken again: a new Turn comes to its question, beside the one that slept and still runs.
    const begun = await bed.cli('turn', 'start', '--detach', '--harness', 'demo', 'Show me', '--json');
    expect(begun.code).toBe(0);
    const { run_id: fresh } = JSON.parse(begun.stdout) as { run_id: string };
    const question = await until(
      async () => (await bed.view()).interactions.find((open) => open.run_id === fresh)?.id ?? null,
      'the question of a Turn that began after the sleep',
    );
    expect((await bed.cli('answer', question, '--cancel')).code).toBe(0);
    expect(running('sleep 1000')).toBe(true);

    const { process: app } = bed;
    const gone = new Promise<number | null>((done) => app.once('exit', (code) => done(code)));
    await bed.app.evaluate(
      ({ powerMonitor }) =>
        void setImmediate(() => powerMonitor.emit('shutdown', { preventDefault: () => undefined })),
    );
    expect(await gone).toBe(0);
    expect(running('sleep 1000')).toBe(false);
  } finally {
    await bed.close();
  }
});
