import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Machine, viewWhere } from '../../support/runtime-process.ts';

const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
/** Somebody else on this machine, without rights: an id that belongs to nobody. */
const other = { uid: 64_321, gid: 64_321 };
const isRoot = process.getuid?.() === 0;

let machine: Machine;
beforeEach(async () => {
  machine = await Machine.make();
});
afterEach(() => machine.close());

/** Everything below a folder, with its kind and mode. */
async function modesBelow(folder: string): Promise<ReadonlyMap<string, number>> {
  const names = (await readdir(folder, { recursive: true })).map(String);
  const modes = new Map<string, number>([['.', (await stat(folder)).mode & 0o777]]);
  for (const name of names) modes.set(name, (await stat(join(folder, name))).mode & 0o777);
  return modes;
}

test('everything a Runtime keeps is for its user alone: folders 700, files and endpoint 600', async () => {
  const { child, ended } = machine.spawn('run', '--local', '--workspace', machine.workspace);
  const client = await machine.client();
  await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');
  // A secret on disk, by the person's word.
  await client.call('credentials.choose', { choice: 'file' });
  await client.call('proxy.password', { password: 'canary-password' });
  await client.call('settings.set', { theme: 'dark' });
  await client.call('turn.start', { prompt: 'Show me', harness: 'demo' });
  const asked = await viewWhere(client, ({ interactions }) => interactions.length > 0);
  await client.call('interaction.answer', {
    id: asked.interactions[0]?.id ?? '',
    answer: { kind: 'cancel' },
  });
  // The answer is heard before it is on disk.
  await expect.poll(async () => [...(await modesBelow(machine.stateDir)).keys()]).toContain('history.jsonl');
  const modes = await modesBelow(machine.stateDir);
  const secrets = [...modes.keys()].filter((name) => name.endsWith('.secrets.json'));
  expect(secrets).toHaveLength(1);
  expect(await readFile(join(machine.stateDir, secrets[0] ?? ''), 'utf8')).toContain('canary-password');
  for (const wanted of ['control.sock', 'history.jsonl', 'settings.json', join('logs', 'runtime.log')])
    expect([...modes.keys()]).toContain(wanted);
  // The configuration was put there by hand, as any editor would.
  const open = [...modes].filter(([name, mode]) => name !== 'config.json' && (mode & 0o077) !== 0);
  expect(open).toEqual([]);
  client.close();
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
});

describe('two users on one machine', () => {
  let home: string;
  let running: ChildProcess | null = null;
  beforeEach(async (context) => {
    home = await mkdtemp(join(tmpdir(), 'other-user-'));
    if (!isRoot) {
      const why = 'only root may start a process of another user';
      if (process.env['CI']) throw new Error(why);
      return context.skip(why);
    }
    for (const name of ['state', 'project']) await mkdir(join(home, name), { mode: 0o700 });
    await writeFile(
      join(home, 'state', 'config.json'),
      JSON.stringify({ harnesses: [{ kind: 'demo', adapter: 'demo' }] }),
    );
    for (const name of ['', 'state', 'project', 'state/config.json'])
      await chown(join(home, name), other.uid, other.gid);
  });
  afterEach(async () => {
    running?.kill('SIGKILL');
    running = null;
    await rm(home, { recursive: true, force: true });
  });

  /** As the other user. */
  const asOther = (...args: readonly string[]): Promise<{ code: number; text: string }> =>
    new Promise((done) => {
      execFile(
        process.execPath,
        args,
        { ...other, cwd: home, env: { PATH: process.env['PATH'] ?? '', HOME: home } },
        (error, stdout, stderr) =>
          done({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, text: stdout + stderr }),
      );
    });
  const script = (source: string): Promise<{ code: number; text: string }> =>
    asOther('--input-type=module', '-e', source);

  test('each has a Runtime of its own; neither reaches the other’s files, endpoint or secrets', async () => {
    const mine = machine.spawn('run', '--local', '--workspace', machine.workspace);
    const client = await machine.client();
    await client.call('credentials.choose', { choice: 'file' });
    await client.call('proxy.password', { password: 'canary-password' });

    const theirState = join(home, 'state');
    const theirs = spawn(
      process.execPath,
      [cli, 'run', '--local', '--workspace', join(home, 'project'), '--state-dir', theirState],
      {
        ...other,
        cwd: home,
        stdio: 'ignore',
        env: { PATH: process.env['PATH'] ?? '', HOME: home, DBUS_SESSION_BUS_ADDRESS: 'disabled:' },
      },
    );
    running = theirs;
    const serves = async (): Promise<boolean> => {
      const { code, text } = await asOther(cli, 'view', '--json', '--state-dir', theirState);
      return code === 0 && text.includes('"state": "serving"');
    };
    await expect.poll(serves, { timeout: 20_000, interval: 200 }).toBe(true);
    // Both local Cores are there at once, each on a port of its own.
    await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');

    const names = [
      'control.sock',
      'history.jsonl',
      'credentials.secrets.json',
      'config.json',
      'local-core.json',
    ];
    const tries = await script(
      `import { readFileSync, readdirSync } from 'node:fs';
       import { createConnection } from 'node:net';
       const root = ${JSON.stringify(machine.stateDir)};
       const of = (work) => { try { work(); return 'done'; } catch (error) { return error.code; } };
       const said = [of(() => readdirSync(root)), ...${JSON.stringify(names)}.map((name) => of(() => readFileSync(root + '/' + name)))];
       createConnection(root + '/control.sock').on('connect', () => end('connected')).on('error', (error) => end(error.code));
       const end = (last) => { process.stdout.write(JSON.stringify([...said, last])); process.exit(0); };`,
    );
    expect(new Set(JSON.parse(tries.text) as string[])).toEqual(new Set(['EACCES']));
    const view = await asOther(cli, 'view', '--json', '--state-dir', machine.stateDir);
    expect(view.code).not.toBe(0);
    expect(view.text).not.toContain('canary-password');
    // Nor do they see what ours was started with.
    const pid = String(mine.child.pid);
    expect(
      (await script(`import { readFileSync } from 'node:fs'; readFileSync('/proc/${pid}/environ')`)).text,
    ).toContain('EACCES');

    // One ends, the other goes on.
    theirs.kill('SIGINT');
    await new Promise((done) => theirs.once('exit', done));
    running = null;
    expect((await client.call('view.get', {})).bindings[0]?.connection.state).toBe('serving');
    client.close();
    mine.child.kill('SIGINT');
    expect((await mine.ended).code).toBe(0);
  });

  test('a state folder of another user is refused in words, and nothing in it changes', async () => {
    const before = await modesBelow(machine.stateDir);
    const started = await asOther(
      cli,
      ...['run', '--local', '--workspace', join(home, 'project'), '--state-dir', machine.stateDir],
    );
    expect(started.code).not.toBe(0);
    expect(started.text).toMatch(/could not be read|is not usable|could not be made/);
    expect(await modesBelow(machine.stateDir)).toEqual(before);
    expect(() => createConnection(join(machine.stateDir, 'control.sock')).destroy()).not.toThrow();
  });
});
