import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/observe/logger.ts';
import { LocalWorkspace } from '../../src/workspace/local-workspace.ts';
import { sha256 } from '../support/folder-bed.ts';
import { codeOf, temporaryFolder } from '../support/workspace-bed.ts';

/** A small disk, where this user may mount one. In continuous integration it must be possible. */
function mount(path: string, options: string): string | null {
  const result = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path]);
  return result.status === 0 ? null : `no small disk could be mounted: ${result.stderr.toString().trim()}`;
}
const inCi = spawnSync('sh', ['-c', 'test -n "$CI"']).status === 0;

let base: string;
let root: string;
let state: string;
let remove: () => Promise<void>;
let mounted: string[] = [];
beforeEach(async () => {
  ({ path: base, remove } = await temporaryFolder());
  root = join(base, 'root');
  state = join(base, 'state');
  await mkdir(root);
  await mkdir(state);
});
afterEach(async () => {
  for (const path of mounted.splice(0)) spawnSync('umount', [path]);
  await remove();
});

const open = (): LocalWorkspace =>
  new LocalWorkspace({ root, stateDir: state, logger: silentLogger, createSteps: null });
async function write(workspace: LocalWorkspace, path: string, data: Buffer, id = 'w1') {
  const body = await workspace.spool(id);
  try {
    await body.append(data);
    return await workspace.create({ id, path, size: data.length, sha256: sha256(data) }, body);
  } finally {
    await body.discard();
  }
}
async function all(path: string): Promise<string[]> {
  return (await readdir(path, { recursive: true })).map(String).sort();
}

describe('a small disk', () => {
  const withDisk = (name: string, options: string, run: (why: () => void) => Promise<void>): void => {
    test(name, async (context) => {
      const path = name.includes('state') ? state : root;
      const why = mount(path, options);
      if (why !== null) {
        if (inCi) throw new Error(why);
        return context.skip(why);
      }
      mounted.push(path);
      await run(() => undefined);
    });
  };

  withDisk('that is full refuses a write and shows nothing of it', 'size=1m', async () => {
    const outcome = await write(open(), 'a/b/big', Buffer.alloc(4_000_000, 1));
    expect(outcome).toEqual({ kind: 'rejected', code: 'no_space', leftover: false });
    expect(await all(root)).toEqual([]);
    expect(await all(state)).toEqual(['transfers']);
    expect(await write(open(), 'small', Buffer.from('x'), 'w2')).toMatchObject({ kind: 'written' });
  });

  withDisk('without inodes refuses a write and shows nothing of it', 'size=1m,nr_inodes=3', async () => {
    await writeFile(join(root, 'only'), '');
    const outcome = await write(open(), 'a/b/c/d', Buffer.from('x'));
    expect(outcome).toEqual({ kind: 'rejected', code: 'no_space', leftover: false });
    expect(await all(root)).toEqual(['only']);
  });

  withDisk('under the state folder refuses a body before anything is written', 'size=1m', async () => {
    const workspace = open();
    const body = await workspace.spool('w');
    expect(await codeOf(body.append(Buffer.alloc(4_000_000)))).toBe('no_space');
    await body.discard();
    expect(await all(state)).toEqual(['transfers']);
  });

  withDisk('that can only be read refuses a write', 'size=1m', async () => {
    await writeFile(join(root, 'f'), 'x');
    execFileSync('mount', ['-o', 'remount,ro', root]);
    const workspace = open();
    expect(await write(workspace, 'new', Buffer.from('x'))).toMatchObject({
      kind: 'rejected',
      code: 'read_only',
    });
    expect(await write(workspace, 'a/new', Buffer.from('x'))).toMatchObject({ kind: 'rejected' });
    expect(await all(root)).toEqual(['f']);
    const opened = await workspace.open();
    const signal = new AbortController().signal;
    expect((await opened.read('f', 10, signal)).data.toString()).toBe('x');
    await opened.close();
  });
});

test('another user gets permission denied, and nothing is left', async (context) => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return context.skip('needs root on Linux to become somebody else');
  }
  await mkdir(join(root, 'locked'), { mode: 0o700 });
  await writeFile(join(root, 'locked', 'f'), 'x');
  await writeFile(join(root, 'secret'), 'x', { mode: 0o600 });
  for (const path of [base, root]) execFileSync('chmod', ['755', path]);
  execFileSync('chown', ['-R', '65534:65534', state]);
  const script = resolve('test/support/other-user.ts');
  const { status, stdout, stderr } = spawnSync(
    'setpriv',
    [
      '--reuid=65534',
      '--regid=65534',
      '--clear-groups',
      process.execPath,
      await bundled(script),
      root,
      state,
    ],
    { cwd: base, env: { PATH: '/usr/bin:/bin', HOME: base } },
  );
  expect([status, stderr.toString()]).toEqual([0, '']);
  expect(JSON.parse(stdout.toString())).toEqual({
    ...{ read: 'permission_denied', below: 'permission_denied', list: 'permission_denied' },
    ...{ write: 'permission_denied', writeBelow: 'permission_denied', root: 'done' },
  });
  expect(await all(root)).toEqual(['locked', 'locked/f', 'secret']);
});

test('a root that vanishes is told, and nothing is made in its place', async () => {
  const workspace = open();
  const body = await workspace.spool('w');
  await body.append(Buffer.from('x'));
  await rename(root, join(base, 'moved'));
  expect(await workspace.create({ id: 'w', path: 'a/f', size: 1, sha256: sha256('x') }, body)).toEqual({
    ...{ kind: 'rejected', code: 'root_unavailable', leftover: false },
  });
  await body.discard();
  expect(await codeOf(workspace.open())).toBe('root_unavailable');
  await mkdir(root);
  expect(await all(root)).toEqual([]);
  expect(await all(join(base, 'moved'))).toEqual([]);
});

test('a process that is killed in the middle of a write leaves nothing after the next start', async () => {
  const script = await bundled(resolve('test/support/killed-writer.ts'));
  let killedInside = 0;
  for (const point of ['temporary', 'before-link']) {
    const { signal } = spawnSync(process.execPath, [script, root, state, point]);
    expect(signal).toBe('SIGKILL');
    if ((await all(root)).length > 0) killedInside++;
    expect((await all(root)).filter((name) => name.endsWith('target'))).toEqual([]);
    await open().sweep();
    expect(await all(root)).toEqual([]);
    expect(await all(state)).toEqual(['transfers']);
  }
  expect(killedInside).toBe(2);
});

/** Node runs no TypeScript here: the script is made into one file first. */
async function bundled(script: string): Promise<string> {
  const { build } = await import('esbuild');
  const outfile = join(base, `${script.split('/').pop() ?? 'script'}.mjs`);
  await build({
    entryPoints: [script],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
  execFileSync('chmod', ['644', outfile]);
  return outfile;
}
