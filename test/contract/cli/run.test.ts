import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Gateway } from '../../../src/core/gateway.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { WIRE_VERSION } from '../../../src/protocol/version.ts';
import { Machine, viewWhere } from '../../support/runtime-process.ts';

let machine: Machine;
let gateway: Gateway;
const credential = 'canary-credential-0123456789';

beforeEach(async () => {
  machine = await Machine.make();
  gateway = new Gateway({ clock: systemClock, heartbeatSeconds: 1 });
  await gateway.listen();
  gateway.registerDevice('device', credential);
});
afterEach(async () => {
  await gateway.close();
  await machine.close();
});

async function bootstrapFile(change: Record<string, unknown> = {}): Promise<string> {
  const path = join(machine.home, 'bootstrap.json');
  await writeFile(
    path,
    JSON.stringify({
      version: WIRE_VERSION,
      core_url: gateway.coreUrl,
      device_id: 'device',
      credential,
      ...change,
    }),
  );
  return path;
}

describe('run with a bootstrap file', () => {
  test('serves until interrupted, exits 0, and the credential is in no file, argument or environment', async () => {
    const { child, ended } = machine.spawn(
      'run',
      '--bootstrap-file',
      await bootstrapFile(),
      '--log-level',
      'debug',
    );
    const client = await machine.client();
    const view = await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');
    expect(view.runtime.state).toBe('running');
    expect(JSON.stringify(view)).not.toContain(credential);
    const ps = await Promise.all(
      ['cmdline', 'environ'].map((name) => readFile(`/proc/${String(child.pid)}/${name}`, 'utf8')),
    );
    expect(ps.join('')).not.toContain(credential);
    client.close();
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(credential);
    expect(await readFile(join(machine.stateDir, 'logs', 'runtime.log'), 'utf8')).not.toContain(credential);
  });

  test('a rejected credential is permanent: one attempt, the remedy in words, exit 3', async () => {
    const { code, stderr } = await machine.run(
      'run',
      '--bootstrap-file',
      await bootstrapFile({ credential: 'wrong-credential' }),
    );
    expect(code).toBe(3);
    expect(stderr).toContain('Core rejected the credential');
    expect(stderr).not.toContain('wrong-credential');
  });

  test('a device retired while connected parks and exits 3', async () => {
    const { ended } = machine.spawn('run', '--bootstrap-file', await bootstrapFile());
    const client = await machine.client();
    await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');
    gateway.retireDevice('device');
    const { code, stderr } = await ended;
    client.close();
    expect(code).toBe(3);
    expect(stderr).toContain('Core retired this binding');
  });

  test.each([
    ['another wire version', { version: '0.9.0' }, 3],
    ['an unknown member', { more: 1 }, 2],
    ['plain http to another machine', { core_url: 'http://core.example.test/api/v1' }, 2],
    ['an address with a query', { core_url: 'https://core.example.test/api/v1?x=1' }, 2],
    ['a missing credential', { credential: undefined }, 2],
  ])('%s is refused before anything is sent', async (_name, change, expected) => {
    const { code, stderr } = await machine.run('run', '--bootstrap-file', await bootstrapFile(change));
    expect(code).toBe(expected);
    expect(stderr).not.toContain(credential);
  });

  test('a version that Core refuses at the upgrade is permanent', async () => {
    await gateway.close();
    gateway = new Gateway({
      clock: systemClock,
      refuse: () => ({ status: 426, error: 'incompatible_version', detail: 'x' }),
    });
    await gateway.listen();
    gateway.registerDevice('device', credential);
    const { code, stderr } = await machine.run('run', '--bootstrap-file', await bootstrapFile());
    expect(code).toBe(3);
    expect(stderr).toContain('another version');
  });

  test('Core gone and back: it waits with a reason and a time, then serves again', async () => {
    const { child, ended } = machine.spawn('run', '--bootstrap-file', await bootstrapFile());
    const client = await machine.client();
    await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');
    const port = Number(new URL(gateway.coreUrl).port);
    await gateway.close();
    const lost = await viewWhere(client, ({ bindings }) => bindings[0]?.connection.reason_code === 'refused');
    expect(lost.bindings[0]?.connection.next_attempt_at).not.toBeNull();
    expect(lost.bindings[0]?.connection.lost_at).not.toBeNull();
    gateway = new Gateway({ clock: systemClock });
    await gateway.listen(port);
    gateway.registerDevice('device', credential);
    await client.call('connection.retry', { binding: 'device' });
    await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');
    client.close();
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });

  test('a second start on the same state says so and changes nothing', async () => {
    const { child, ended } = machine.spawn('run', '--bootstrap-file', await bootstrapFile());
    const client = await machine.client();
    const second = await machine.run('run', '--bootstrap-file', await bootstrapFile());
    expect(second.code).toBe(1);
    expect(second.stderr).toContain('already running');
    expect((await client.call('view.get', {})).runtime.state).toBe('running');
    client.close();
    child.kill('SIGINT');
    await ended;
  });

  test('after kill -9 the next start takes the lock over', async () => {
    const first = machine.spawn('run', '--bootstrap-file', await bootstrapFile());
    (await machine.client()).close();
    first.child.kill('SIGKILL');
    await first.ended;
    const { child, ended } = machine.spawn('run', '--bootstrap-file', await bootstrapFile());
    const client = await machine.client();
    await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');
    client.close();
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  test('the control endpoint is for its user alone', async () => {
    const { child, ended } = machine.spawn('run', '--bootstrap-file', await bootstrapFile());
    (await machine.client()).close();
    expect((await stat(join(machine.stateDir, 'control.sock'))).mode & 0o777).toBe(0o600);
    child.kill('SIGINT');
    await ended;
  });
});

describe('bad configuration', () => {
  test.each([
    ['not JSON', '{', 'is not JSON'],
    ['an unknown member', '{"harness":[]}', 'unknown member (harness)'],
    ['a wrong type', '{"limits":{"executor_idle_seconds":"x"}}', 'limits.executor_idle_seconds'],
    ['a kind twice', '{"harnesses":[{"kind":"a","adapter":"demo"},{"kind":"a","adapter":"demo"}]}', 'twice'],
  ])('%s names the place and exits 2', async (_name, text, says) => {
    const path = join(machine.home, 'c.json');
    await writeFile(path, text);
    const { code, stderr } = await machine.run('run', '--local', '--config', path);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  });

  test('a workspace that is no folder, and half a binding, are wrong usage', async () => {
    const file = await bootstrapFile();
    const ids = ['--environment-id', '58e2e6ff-46cf-477f-8705-f19c41923382'];
    expect((await machine.run('run', '--bootstrap-file', file, ...ids)).code).toBe(2);
    const session = ['--session-id', '92ea7b07-1c1f-4eb1-b222-b335f2123ed8'];
    const missing = await machine.run(
      'run',
      '--bootstrap-file',
      file,
      ...ids,
      ...session,
      '--workspace',
      '/nowhere',
    );
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('existing folder');
  });

  test('a state folder that cannot be written says what to do', async () => {
    if (process.getuid?.() === 0) return;
    await chmod(machine.stateDir, 0o500);
    const { code, stderr } = await machine.run('run', '--local');
    expect(code).toBe(1);
    expect(stderr).not.toBe('');
  });
});
