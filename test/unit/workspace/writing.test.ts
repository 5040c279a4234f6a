import { createHash } from 'node:crypto';
import {
  chmod,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  symlink,
  writeFile as put,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inspectFile } from '../../../src/workspace/inspect-file.ts';
import { componentsOf } from '../../../src/workspace/names.ts';
import { Spool } from '../../../src/workspace/spool.ts';
import { writeFile, type WriteOutcome, type WriteRequest } from '../../../src/workspace/write-file.ts';
import { WriteJournal } from '../../../src/workspace/write-journal.ts';
import type { Mode } from '../../../src/workspace/safe-path.ts';
import { temporaryFolder, withRoot } from '../../support/workspace-bed.ts';

let outer: string;
let root: string;
let state: string;
let remove: () => Promise<void>;
let next = 0;

beforeEach(async () => {
  const folder = await temporaryFolder();
  outer = folder.path;
  remove = folder.remove;
  root = join(outer, 'root');
  state = join(outer, 'state');
  await mkdir(root);
});
afterEach(() => remove());

const modes: Mode[] = process.platform === 'linux' ? ['anchored', 'portable'] : ['portable'];
const done: WriteOutcome = { kind: 'written', leftover: false };
const rejected = (code: string) => ({ kind: 'rejected', code, leftover: false });

describe.each(modes)('writing a file, %s', (mode) => {
  const write = async (
    path: string,
    text: string,
    extra: Partial<WriteRequest> = {},
  ): Promise<WriteOutcome> => {
    const id = `w${++next}`;
    const body = await Spool.create(state, id);
    await body.append(Buffer.from(text));
    const folders = componentsOf(path, 'linux');
    const target = folders.pop() ?? Buffer.alloc(0);
    try {
      return await withRoot(root, mode, (folder) =>
        writeFile(folder, new WriteJournal(state), { id, folders, target, body, how: 'create', ...extra }),
      );
    } finally {
      await body.discard();
    }
  };

  test('creates the file and its parents, private, with nothing else left', async () => {
    expect(await write('a/b/c.txt', 'hello')).toEqual(done);
    expect(await readFile(join(root, 'a/b/c.txt'), 'utf8')).toBe('hello');
    expect((await lstat(join(root, 'a/b/c.txt'))).mode & 0o777).toBe(0o600);
    expect((await lstat(join(root, 'a'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(root, 'a/b'))).toEqual(['c.txt']);
    expect(await readdir(state)).toEqual([]);
  });

  test('an empty file is a file', async () => {
    expect(await write('empty', '')).toEqual(done);
    expect(await readFile(join(root, 'empty'), 'utf8')).toBe('');
  });

  test.each([true, false])('never replaces anything (hard links: %s)', async (hardLinks) => {
    await put(join(root, 'file'), 'old');
    await mkdir(join(root, 'folder'));
    await symlink('nowhere', join(root, 'dangling'));
    expect(await write('file', 'new', { hardLinks })).toEqual(rejected('exists'));
    expect(await write('folder', 'new', { hardLinks })).toEqual(rejected('is_directory'));
    expect(await write('dangling', 'new', { hardLinks })).toEqual(rejected('exists'));
    expect(await write('fresh', 'new', { hardLinks })).toEqual(done);
    expect(await readFile(join(root, 'file'), 'utf8')).toBe('old');
    expect((await readdir(root)).sort()).toEqual(['dangling', 'file', 'folder', 'fresh']);
    expect(await readdir(state)).toEqual([]);
  });

  test('a file that appears while the body is written is not replaced', async () => {
    for (const hardLinks of [true, false]) {
      const id = `r${++next}`;
      const body = await Spool.create(state, id);
      await body.append(Buffer.from('new'));
      const racing = {
        size: body.size,
        read: async (buffer: Buffer, at: number) => {
          await put(join(root, 'raced'), 'theirs');
          return body.read(buffer, at);
        },
      };
      const outcome = await withRoot(root, mode, (folder) =>
        writeFile(folder, new WriteJournal(state), {
          ...{ id, folders: [], target: Buffer.from('raced'), body: racing, how: 'create', hardLinks },
        }),
      );
      await body.discard();
      expect(outcome).toEqual(rejected('exists'));
      expect(await readFile(join(root, 'raced'), 'utf8')).toBe('theirs');
      expect(await readdir(root)).toEqual(['raced']);
    }
  });

  test('parents that a failed write made are gone again, and those of others stay', async () => {
    await mkdir(join(root, 'theirs'));
    await put(join(root, 'theirs/blocks'), '');
    expect(await write('theirs/new/blocks/x', 'x', { body: broken })).toMatchObject({ kind: 'rejected' });
    expect(await readdir(join(root, 'theirs'))).toEqual(['blocks']);
    expect(await write('theirs/blocks/x', 'x')).toEqual(rejected('not_directory'));
    expect(await readdir(state)).toEqual([]);
  });

  test('a link in the way is refused and nothing appears behind it', async () => {
    await mkdir(join(outer, 'elsewhere'));
    await symlink(join(outer, 'elsewhere'), join(root, 'link'));
    expect(await write('link/x', 'x')).toEqual(rejected('not_directory'));
    expect(await readdir(join(outer, 'elsewhere'))).toEqual([]);
  });

  test('replacing keeps other names of the old file', async () => {
    await put(join(root, 'file'), 'old');
    await link(join(root, 'file'), join(root, 'other-name'));
    expect(await write('file', 'new', { how: 'replace' })).toEqual(done);
    expect(await readFile(join(root, 'file'), 'utf8')).toBe('new');
    expect(await readFile(join(root, 'other-name'), 'utf8')).toBe('old');
    await symlink('file', join(root, 'link'));
    expect(await write('link', 'x', { how: 'replace' })).toEqual(rejected('exists'));
  });

  test('a folder moved out of the root while the file is put there gets nothing', async () => {
    await mkdir(join(root, 'sub'));
    const id = `m${++next}`;
    const body = await Spool.create(state, id);
    await body.append(Buffer.from('new'));
    const moving = {
      size: body.size,
      read: async (buffer: Buffer, at: number) => {
        await rename(join(root, 'sub'), join(outer, 'moved'));
        await mkdir(join(root, 'sub'));
        return body.read(buffer, at);
      },
    };
    const outcome = await withRoot(root, mode, (folder) =>
      writeFile(folder, new WriteJournal(state), {
        ...{ id, folders: [Buffer.from('sub')], target: Buffer.from('f'), body: moving, how: 'create' },
      }),
    );
    await body.discard();
    expect(outcome).toMatchObject({ kind: 'rejected', code: 'unsafe' });
    expect(await readdir(join(root, 'sub'))).toEqual([]);
    const moved = await readdir(join(outer, 'moved'));
    expect(moved).not.toContain('f');
    if (mode === 'anchored') expect(moved).toEqual([]);
  });

  test('evidence tells present, absent and something else apart', async () => {
    const sha = createHash('sha256').update('hello').digest('hex');
    await write('a/f', 'hello');
    const inspect = (path: string, size = 5) =>
      withRoot(root, mode, (folder) => {
        const folders = componentsOf(path, 'linux');
        const target = folders.pop() ?? Buffer.alloc(0);
        return inspectFile(folder, folders, target, size, sha);
      });
    expect(await inspect('a/f')).toBe('present');
    expect(await inspect('a/none')).toBe('absent');
    expect(await inspect('none/f')).toBe('absent');
    expect(await inspect('a')).toBe('other');
    await put(join(root, 'a/f'), 'jello');
    expect(await inspect('a/f')).toBe('other');
  });
});

const broken = {
  size: 10,
  read: (): Promise<number> => Promise.reject(Object.assign(new Error('no'), { code: 'EIO' })),
};

test('a start after a crash removes temporaries, parents and empty claims of ours, and nothing else', async () => {
  const journal = new WriteJournal(state);
  await mkdir(join(root, 'kept/made'), { recursive: true });
  await put(join(root, 'kept/made/.agent-runtime-x.tmp'), 'half');
  await journal.record('x', {
    folders: [Buffer.from('kept'), Buffer.from('made')],
    existing: 1,
    temporary: Buffer.from('.agent-runtime-x.tmp'),
    target: Buffer.from('target'),
    claim: null,
  });
  await put(join(root, 'claimed'), '');
  await put(join(root, 'theirs'), '');
  const claim = await lstat(join(root, 'claimed'), { bigint: true });
  const intent = { folders: [], existing: 0, temporary: Buffer.from('.agent-runtime-y.tmp') };
  await journal.record('y', { ...intent, target: Buffer.from('claimed'), claim });
  await journal.record('z', { ...intent, target: Buffer.from('theirs'), claim });
  await (await Spool.create(state, 'left')).append(Buffer.from('x'));
  expect(await Spool.sweep(state)).toBe(1);
  expect(await withRoot(root, modes[0] ?? 'portable', (folder) => journal.sweep(folder))).toBe(0);
  expect((await readdir(root)).sort()).toEqual(['kept', 'theirs']);
  expect(await readdir(join(root, 'kept'))).toEqual([]);
  expect(await readdir(state)).toEqual([]);
});

test('a body is private, grows with what arrives and disappears', async () => {
  const body = await Spool.create(state, 'b');
  await Promise.all([body.append(Buffer.from('he')), body.append(Buffer.from('llo'))]);
  expect((await lstat(join(state, 'b.part'))).mode & 0o777).toBe(0o600);
  expect(body.size).toBe(5);
  expect(body.digest()).toBe(createHash('sha256').update('hello').digest('hex'));
  await body.discard();
  expect(await readdir(state)).toEqual([]);
  await chmod(state, 0o700);
});
