import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { EnrolCore, environmentId, sessionId } from '../support/enrol-bed.ts';
import { SecretService } from '../support/secret-service.ts';
import { DesktopBed } from './app.ts';

let keyring: SecretService;
let core: EnrolCore;
let bed: DesktopBed;

test.beforeEach(async () => {
  keyring = await SecretService.start();
  core = await EnrolCore.start();
  bed = await DesktopBed.open({ env: keyring.env });
});
test.afterEach(async () => {
  await bed.close();
  await core.close();
  await keyring.close();
});

test('an install command, pasted: shown, confirmed, bound, connected, rotated, removed', async () => {
  const { window } = bed;
  const folder = join(await realpath(bed.home), 'handbook');
  core.authority.offer({ environmentId, sessionId, workspaceDirectory: folder });
  const grant = core.authority.grant(environmentId);
  await window.getByRole('link', { name: 'Enrol a binding' }).first().click();
  await window
    .getByLabel('Install command or link')
    .fill(`sh install.sh --endpoint ${core.endpoint} --grant ${grant}`);
  await bed.picture('enrol-1-read');
  await window.getByRole('button', { name: 'Read it' }).click();
  await expect(window.getByText('Invitation read')).toBeVisible();
  await expect(window.getByText(folder)).toBeVisible();
  await expect(window.getByText('Does not exist yet and will be made')).toBeVisible();
  expect(await window.content()).not.toContain(grant);
  expect(core.paths).toEqual(['installation']);
  await bed.picture('enrol-2-check');
  await window.getByLabel('Name here').fill('my-handbook');
  await window.getByRole('button', { name: 'Bind this folder' }).click();
  await expect(window.getByRole('heading', { name: 'Bound', exact: true })).toBeVisible();
  await expect(window.getByText('Core sees it connected')).toBeVisible();
  await bed.picture('enrol-3-bound');
  await window.getByRole('button', { name: 'Done' }).click();

  const row = window.getByRole('listitem').filter({ hasText: 'my-handbook' });
  await expect(row.getByText(/Connected since/)).toBeVisible();
  await expect(row.getByText(/credential in the system keychain/)).toBeVisible();
  const receipt = join(bed.stateDir, 'environments', environmentId, 'environment.json');
  const before = await readFile(receipt, 'utf8');
  await row.getByRole('button', { name: 'Rotate credential' }).click();
  const file = core.issue(environmentId, true);
  await row.getByLabel('Text of the new credential file').fill(file);
  await row.getByRole('button', { name: 'Replace it' }).click();
  await expect(window.getByText('The credential of my-handbook was replaced.')).toBeVisible();
  await expect(row.getByText(/Connected since/)).toBeVisible();
  expect(await readFile(receipt, 'utf8')).toBe(before);
  expect(await window.content()).not.toContain(
    (JSON.parse(file) as { executor_token: string }).executor_token,
  );

  await row.getByRole('button', { name: /^Remove .*…$/ }).click();
  await window.getByRole('button', { name: 'Remove the binding' }).click();
  await expect(window.getByRole('listitem').filter({ hasText: 'my-handbook' })).toHaveCount(0);
});

test('a refused folder cannot be bound, and the reason stands there', async () => {
  const { window } = bed;
  core.authority.offer({ environmentId, sessionId, workspaceDirectory: await realpath(bed.home) });
  await window.getByRole('link', { name: 'Enrol a binding' }).first().click();
  await window
    .getByLabel('Install command or link')
    .fill(`${core.endpoint} ${core.authority.grant(environmentId)}`);
  await window.getByRole('button', { name: 'Read it' }).click();
  await expect(window.getByText('Your home folder itself cannot be bound.').first()).toBeVisible();
  await window.getByRole('button', { name: 'Bind this folder' }).click({ force: true });
  expect(core.paths).toEqual(['installation']);
});

test('with a credential file: the folder from the system’s own dialogue, the key in its field', async () => {
  const { window, app } = bed;
  const folder = join(await realpath(bed.home), 'site');
  await mkdir(folder);
  core.authority.offer({ environmentId, sessionId, workspaceDirectory: folder });
  await app.evaluate(({ dialog }, path) => {
    dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [path] });
  }, folder);
  await window.getByRole('link', { name: 'Enrol a binding' }).first().click();
  await window.getByRole('button', { name: 'I have a credential file instead' }).click();
  await window.getByLabel('Address of Core').fill(core.gateway.socketUrl);
  await window.getByLabel('Environment').fill(environmentId);
  await window.getByLabel('Credential file').fill(core.issue(sessionId));
  await window.getByRole('button', { name: 'Read it' }).click();
  await window.getByRole('button', { name: 'Choose…' }).click();
  await expect(window.getByLabel('Name here')).toHaveValue('site');
  await bed.picture('enrol-credential');
  await window.getByRole('button', { name: 'Bind this folder' }).click();
  await expect(window.getByText('Core sees it connected')).toBeVisible();
});

test('a binding that was enrolled in the terminal is served at once and after a restart of the app', async () => {
  const folder = join(await realpath(bed.home), 'site');
  await mkdir(folder);
  core.authority.offer({ environmentId, sessionId, workspaceDirectory: folder });
  const key = join(bed.home, 'key.json');
  await writeFile(key, core.issue(environmentId), { mode: 0o600 });
  const args = ['--remote', core.gateway.socketUrl, '--environment-id', environmentId, '--workspace', folder];
  const { code, stdout } = await bed.cli('enroll', ...args, '--credential-file', await realpath(key));
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Bound as site. Core sees it connected.\n' });
  await expect(bed.window.getByRole('link', { name: /site/ })).toBeVisible();
  const gone = new Promise((done) => bed.process.once('exit', done));
  bed.process.kill('SIGTERM');
  await gone;
  await bed.reopen();
  await expect(bed.window.getByRole('link', { name: /site/ })).toBeVisible();
  await bed.window.getByRole('link', { name: 'Settings' }).click();
  const row = bed.window.getByRole('listitem').filter({ hasText: 'site' });
  await expect(row.getByText(/Connected since/)).toBeVisible();
});

test('a link in each way it arrives, with the first start and from the system, fills the screen, asks nobody and binds nothing', async () => {
  core.authority.offer({ environmentId, sessionId, workspaceDirectory: join(bed.home, 'handbook') });
  const grant = core.authority.grant(environmentId);
  const link = `agent-runtime://enroll?endpoint=${encodeURIComponent(core.endpoint)}&grant=${encodeURIComponent(grant)}`;
  const { host } = new URL(core.endpoint);
  const filled = async (): Promise<void> => {
    await expect(bed.window.getByText(`A link brought an invitation of ${host}`)).toBeVisible();
    const view = await bed.view();
    expect(view.invited).toEqual({ host });
    expect(view.bindings).toHaveLength(1);
    expect(core.paths).toEqual([]);
    expect(await bed.window.content()).not.toContain(grant);
  };

  // Nothing runs yet: the system starts the app with the link, as a desktop file and a registered scheme do.
  const gone = new Promise((done) => bed.process.once('exit', done));
  bed.process.kill('SIGTERM');
  await gone;
  await bed.reopen([link]);
  await filled();
  await bed.window.getByRole('button', { name: 'Ignore it' }).click();
  await expect.poll(async () => (await bed.view()).invited).toBeNull();

  // The app runs, its window is away: macOS hands the link over as an event.
  await bed.app.evaluate(({ app, BrowserWindow }, url) => {
    BrowserWindow.getAllWindows()[0]?.hide();
    app.emit('open-url', { preventDefault: () => undefined }, url);
  }, link);
  await filled();
  expect(await bed.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isVisible())).toBe(
    true,
  );

  // Only now, on a person's word, is Core asked; and binding is a step of its own after that.
  await bed.window.getByRole('button', { name: 'Read the invitation' }).click();
  await expect(bed.window.getByText('Invitation read')).toBeVisible();
  expect(core.paths).toEqual(['installation']);
  expect((await bed.view()).bindings).toHaveLength(1);
});
