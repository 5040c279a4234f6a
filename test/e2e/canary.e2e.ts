import { mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { encodings, leaksBelow, leaksIn, leaksOfProcesses, type Leak } from '../support/canary.ts';
import { DesktopSession } from '../support/desktop-session.ts';
import { EnrolCore, environmentId, sessionId } from '../support/enrol-bed.ts';
import { DesktopBed, until } from './app.ts';
import { running, stuck } from './stuck-command.ts';

/** Every message between the window and the shell from now on, kept in the shell's process. */
async function recordBridge(
  bed: DesktopBed,
): Promise<() => Promise<{ toPage: string; requests: [string, string][] }>> {
  await bed.app.evaluate(({ ipcMain, webContents }) => {
    const record = { toPage: [] as string[], requests: [] as [string, string][] };
    Object.assign(globalThis, { bridgeRecord: record });
    const handlers = (ipcMain as unknown as { _invokeHandlers: Map<string, (...args: unknown[]) => unknown> })
      ._invokeHandlers;
    for (const [channel, handler] of handlers) {
      handlers.set(channel, async (event, ...args) => {
        record.requests.push([String(args[0]), JSON.stringify(args)]);
        const answer = await handler(event, ...args);
        record.toPage.push(JSON.stringify(answer) ?? '');
        return answer;
      });
    }
    for (const contents of webContents.getAllWebContents()) {
      const send = contents.send.bind(contents);
      contents.send = (channel, ...args) => {
        record.toPage.push(JSON.stringify(args));
        send(channel, ...args);
      };
    }
  });
  return () =>
    bed.app.evaluate(() => {
      const { toPage, requests } = (
        globalThis as unknown as { bridgeRecord: { toPage: string[]; requests: [string, string][] } }
      ).bridgeRecord;
      return { toPage: toPage.join('\n'), requests };
    });
}

test('a credential is in no log, bundle, message to the page, command line, environment, crash file or state file', async () => {
  const desktop = await DesktopSession.start();
  const core = await EnrolCore.start();
  const bed = await DesktopBed.open({ claude: true, env: desktop.env });
  try {
    const { window } = bed;
    const recorded = await recordBridge(bed);
    const folder = join(await realpath(bed.home), 'site');
    await mkdir(folder);
    core.authority.offer({ environmentId, sessionId, workspaceDirectory: folder });

    // A grant becomes a credential, which is used, and replaced by another one.
    const grant = core.authority.grant(environmentId);
    await window.getByRole('link', { name: 'Enrol a binding' }).first().click();
    await window
      .getByLabel('Install command or link')
      .fill(`sh install.sh --endpoint ${core.endpoint} --grant ${grant}`);
    await window.getByRole('button', { name: 'Read it' }).click();
    await window.getByRole('button', { name: 'Bind this folder' }).click();
    await expect(window.getByText('Core sees it connected')).toBeVisible();
    await window.getByRole('button', { name: 'Done' }).click();
    const row = window.getByRole('listitem').filter({ hasText: 'site' });
    await row.getByRole('button', { name: 'Rotate credential' }).click();
    const file = core.issue(environmentId, true);
    await row.getByLabel('Text of the new credential file').fill(file);
    await row.getByRole('button', { name: 'Replace it' }).click();
    await expect(window.getByText('The credential of site was replaced.')).toBeVisible();
    const bearers = core.seen.flatMap(({ headers }) => headers.authorization?.replace('Bearer ', '') ?? []);
    const { executor_token: rotated } = JSON.parse(file) as { executor_token: string };
    const secrets = [...new Set([grant, rotated, ...bearers])];
    expect(secrets.length).toBeGreaterThanOrEqual(3);
    for (const secret of secrets) expect(secret.length).toBeGreaterThan(30);

    // Everything that could spill it: a Turn with a child of its own, findings, logs, a bundle, a page that crashes.
    bed.model?.setScenario(stuck);
    await bed.cli('turn', 'start', '--detach', 'Run something');
    const id = await until(async () => (await bed.view()).interactions[0]?.id ?? null, 'a prompt');
    await bed.cli('answer', id, '--allow');
    await until(async () => (running('sleep 1000') ? true : null), 'the command');
    core.gateway.connection(await bed.deviceOf(environmentId))?.drop();
    await window.getByRole('link', { name: /Doctor/ }).click();
    for (const tab of ['Log', 'Diagnostics', 'Findings']) {
      const there = window
        .getByRole('tab', { name: tab })
        .or(window.getByRole('button', { name: tab, exact: true }));
      await there
        .or(window.getByRole('link', { name: tab, exact: true }))
        .first()
        .click();
    }
    const bundle = join(bed.home, 'bundle.json');
    expect((await bed.cli('diagnostics', bundle)).code).toBe(0);
    const outputs = [];
    for (const command of [['view', '--json'], ['status'], ['logs'], ['doctor']])
      outputs.push(await bed.cli(...command));

    const leaks: Leak[] = await leaksOfProcesses(bed.process.pid ?? 0, secrets);
    const { toPage, requests } = await recorded();
    expect(toPage.length).toBeGreaterThan(10_000);
    leaks.push(...leaksIn('messages to the page', Buffer.from(toPage), secrets));
    leaks.push(...leaksIn('page', Buffer.from(await window.content()), secrets));
    leaks.push(...leaksIn('terminal', Buffer.from(JSON.stringify(outputs)), secrets));
    leaks.push(...leaksIn('frames', Buffer.from(JSON.stringify(core.frames)), secrets));
    // What the person pasted goes from the page to the shell, with the command that it is for and no other.
    const withSecret = requests.filter(([, text]) => leaksIn('', Buffer.from(text), secrets).length > 0);
    expect([...new Set(withSecret.map(([name]) => name))].sort()).toEqual(['binding.rotate', 'enrol.read']);

    await bed.app.evaluate(({ webContents }) =>
      webContents.getAllWebContents()[0]?.forcefullyCrashRenderer(),
    );
    await until(
      async () => ((await bed.cli('logs')).stdout.includes('window.gone') ? true : null),
      'the crash',
    );
    const gone = new Promise((done) => bed.process.once('exit', done));
    bed.process.kill('SIGTERM');
    await gone;
    leaks.push(...(await leaksBelow(bed.home, secrets)));
    expect(leaks).toEqual([]);

    // The search would have found it: planted in each form beside the log, and in none but these files.
    const planted = join(bed.stateDir, 'logs', 'planted');
    await mkdir(planted);
    const forms = [...encodings(rotated)];
    for (const [at, [, form]] of forms.entries()) await writeFile(join(planted, String(at)), form);
    const found = new Set((await leaksBelow(bed.home, secrets)).map(({ place }) => place));
    expect([...found].sort()).toEqual(forms.map((_, at) => join(planted, String(at))).sort());
    expect((await readFile(bundle, 'utf8')).length).toBeGreaterThan(500);
    await rm(planted, { recursive: true });
  } finally {
    await bed.close();
    await core.close();
    await desktop.close();
  }
});
