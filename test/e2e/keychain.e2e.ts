import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { EnrolCore, environmentId, sessionId } from '../support/enrol-bed.ts';
import { Machine, viewWhere } from '../support/runtime-process.ts';
import { SecretService } from '../support/secret-service.ts';
import { DesktopBed } from './app.ts';

let keyring: SecretService;
let machine: Machine;
let core: EnrolCore;

test.beforeEach(async () => {
  keyring = await SecretService.start();
  machine = await Machine.make();
  machine.env = keyring.env;
  core = await EnrolCore.start();
  core.authority.offer({ environmentId, sessionId, workspaceDirectory: machine.workspace });
});
test.afterEach(async () => {
  await machine.close();
  await core.close();
  await keyring.close();
});

const enroll = () =>
  machine.runWithInput(
    core.authority.grant(environmentId),
    'enroll',
    '--endpoint',
    core.endpoint,
    '--grant-file',
    '-',
  );

/** Everything in the state folder as one text. */
async function stateText(): Promise<string> {
  const texts: string[] = [];
  for (const entry of await readdir(machine.stateDir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) texts.push(await readFile(join(entry.parentPath, entry.name), 'utf8'));
  }
  return texts.join('\n');
}

test('the secret lies in a real keychain and in no file; run reads it there', async () => {
  const bound = await enroll();
  expect(bound.stderr + bound.stdout).toContain('Bound as project');
  const sent = core.seen.find(({ path }) => path === 'enroll')?.headers.authorization ?? '';
  const token = sent.replace('Bearer ', '');
  expect(token).toHaveLength(43);
  expect(await stateText()).not.toContain(token);
  const { child, ended } = machine.spawn('run');
  const client = await machine.client();
  const view = await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');
  expect(view.bindings[0]?.enrolled?.credential_store).toBe('keychain');
  expect((await machine.run('unenroll', 'project')).code).toBe(0);
  client.close();
  child.kill('SIGINT');
  await ended;
  // Gone from the keychain too: a new key has to be made, and Core does not take one.
  expect((await enroll()).code).toBe(3);
});

test('a locked keychain is told from an empty one: it waits, changes nothing, and no file takes its place', async () => {
  expect((await enroll()).code).toBe(0);
  await keyring.lock();
  const { child, ended } = machine.spawn('run');
  const client = await machine.client();
  const view = await viewWhere(
    client,
    ({ bindings }) => bindings[0]?.connection.reason_code === 'credential_store_unavailable',
  );
  expect(view.bindings[0]?.connection.state).toBe('waiting');
  client.close();
  child.kill('SIGINT');
  // With a display the keychain asks a person, its call hangs, and the process ends by a signal all the same.
  expect([0, null]).toContain((await ended).code);
  const again = await enroll();
  expect([1, null]).toContain(again.code);
  expect(again.stderr).toContain('The credential store did not answer');
  expect(await readdir(machine.stateDir)).not.toContain('credentials.secrets.json');
});

test('the app starts and quits although the keychain asks somebody who does not answer', async () => {
  await keyring.lock();
  const bed = await DesktopBed.open({ env: keyring.env });
  await expect
    .poll(async () => (await bed.view()).health.map(({ code }) => code))
    .toContain('credential_store_unavailable');
  await bed.close();
  expect(bed.process.exitCode !== null || bed.process.signalCode !== null).toBe(true);
});
