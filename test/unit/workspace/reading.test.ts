import { execFileSync } from 'node:child_process';
import { mkdir, rename, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listFolder, Smallest } from '../../../src/workspace/list-folder.ts';
import { componentsOf, isWindowsName } from '../../../src/workspace/names.ts';
import { readFileBytes } from '../../../src/workspace/read-file.ts';
import { Folder, type Mode } from '../../../src/workspace/safe-path.ts';
import { codeOf, temporaryFolder, withRoot } from '../../support/workspace-bed.ts';

let outer: string;
let root: string;
let remove: () => Promise<void>;
const never = new AbortController().signal;

beforeEach(async () => {
  const folder = await temporaryFolder();
  outer = folder.path;
  remove = folder.remove;
  root = join(outer, 'root');
  await mkdir(root);
});
afterEach(() => remove());

const modes: Mode[] = process.platform === 'linux' ? ['anchored', 'portable'] : ['portable'];

describe.each(modes)('the path authority, %s', (mode) => {
  const read = (path: string, limit = 100) =>
    withRoot(root, mode, (folder) => readFileBytes(folder, path, limit, never));
  const list = (path: string, limit = 100) =>
    withRoot(root, mode, (folder) => listFolder(folder, path, limit, never));

  test('reads a file whole, and its first bytes with the cut marked', async () => {
    await mkdir(join(root, 'a/b'), { recursive: true });
    await writeFile(join(root, 'a/b/c'), 'hello');
    expect((await read('a/b/c')).data.toString()).toBe('hello');
    expect(await read('a/b/c', 5)).toMatchObject({ truncated: false });
    const cut = await read('a/b/c', 4);
    expect([cut.data.toString(), cut.truncated]).toEqual(['hell', true]);
  });

  test('never follows a link, wherever it stands', async () => {
    await writeFile(join(outer, 'secret'), 'secret');
    await symlink(outer, join(root, 'out'));
    await symlink(join(outer, 'secret'), join(root, 'link'));
    expect(await codeOf(read('out/secret'))).toBe('not_directory');
    expect(await codeOf(read('link'))).toBe('invalid');
    expect(await codeOf(list('out'))).toBe('not_directory');
    expect(await codeOf(list('out/root'))).toBe('not_directory');
  });

  test('a FIFO, a socket and a folder are no files, and nothing waits for them', async () => {
    execFileSync('mkfifo', [join(root, 'fifo')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, 'socket'), resolve));
    expect(await codeOf(read('fifo'))).toBe('invalid');
    expect(await codeOf(read('socket'))).toBe('invalid');
    expect(await codeOf(read('nothing'))).toBe('not_found');
    const { entries } = await list('');
    expect(entries.map(({ name, kind, size_bytes }) => [name, kind, size_bytes])).toEqual([
      ['fifo', 'other', null],
      ['socket', 'other', null],
    ]);
    server.close();
  });

  test('lists in byte order, sorts before it cuts, and marks the cut', async () => {
    for (const name of ['b', 'a', 'é', 'Z', 'z']) await writeFile(join(root, name), name);
    await symlink('a', join(root, 'l'));
    await mkdir(join(root, 'd'));
    expect((await list('')).entries.map((entry) => entry.name)).toEqual(['Z', 'a', 'b', 'd', 'l', 'z', 'é']);
    const cut = await list('', 2);
    expect([cut.entries.map((entry) => entry.name), cut.truncated]).toEqual([['Z', 'a'], true]);
    expect((await list('', 7)).truncated).toBe(false);
  });

  test('leaves out a name that cannot stand on the wire and says that something is missing', async () => {
    await writeFile(join(root, 'good'), '');
    await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff])]), '');
    await writeFile(join(root, 'back\\slash'), '');
    await writeFile(join(root, 'line\nbreak'), '');
    const listing = await list('');
    expect(listing).toEqual({ entries: [{ name: 'good', kind: 'file', size_bytes: 0 }], truncated: true });
  });

  test('a name of 255 bytes and a path of 4096 bytes are read', async () => {
    const long = 'n'.repeat(255);
    await writeFile(join(root, long), 'x');
    expect((await read(long)).data.toString()).toBe('x');
    expect((await list('')).entries[0]?.name).toBe(long);
    let path = '';
    let at: Folder = await Folder.openRoot(root, 'anchored');
    const opened = [at];
    if (mode === 'anchored') {
      // The system itself takes no such path in one piece.
      for (let left = 4096 - 2; left > 0;) {
        const part = 'p'.repeat(Math.min(255, left));
        await at.createFolder(Buffer.from(part));
        at = await at.child(Buffer.from(part));
        opened.push(at);
        path += `${part}/`;
        left -= part.length + 1;
      }
      const file = await at.createFile(Buffer.from('f'));
      await file.writeFile('deep');
      await file.close();
      path += 'f';
      expect(Buffer.byteLength(path)).toBeGreaterThan(4_090);
      expect((await read(path)).data.toString()).toBe('deep');
    }
    for (const folder of opened.reverse()) await folder.close();
  });

  test('tells a missing component, a file in the way and a missing root apart', async () => {
    await writeFile(join(root, 'file'), '');
    expect(await codeOf(list('none'))).toBe('not_directory');
    expect(await codeOf(list('file'))).toBe('not_directory');
    expect(await codeOf(list('file/below'))).toBe('not_directory');
    await rename(root, join(outer, 'moved'));
    expect(await codeOf(list(''))).toBe('root_unavailable');
    await symlink(join(outer, 'moved'), root);
    expect(await codeOf(list(''))).toBe('root_unavailable');
  });

  test('a folder that is swapped after it was opened is noticed', async () => {
    await mkdir(join(root, 'a'));
    await mkdir(join(root, 'other'));
    await withRoot(root, mode, async (folder) => {
      const a = await folder.child(Buffer.from('a'));
      await rename(join(root, 'a'), join(root, 'gone'));
      await rename(join(root, 'other'), join(root, 'a'));
      expect(await codeOf(a.verify())).toBe('unsafe');
      expect(await codeOf(a.createFile(Buffer.from('f')))).toBe('unsafe');
      await a.close();
    });
  });

  test('a file larger than its limit costs only the limit', async () => {
    await writeFile(join(root, 'sparse'), '');
    await truncate(join(root, 'sparse'), 1024 ** 4);
    expect(await read('sparse', 1_048_576)).toMatchObject({ truncated: true });
  });

  test('a read that is given up says so', async () => {
    await writeFile(join(root, 'f'), 'x');
    const aborted = AbortSignal.abort();
    expect(await codeOf(withRoot(root, mode, (folder) => readFileBytes(folder, 'f', 1, aborted)))).toBe(
      'cancelled',
    );
    expect(await codeOf(withRoot(root, mode, (folder) => listFolder(folder, '', 1, aborted)))).toBe(
      'cancelled',
    );
  });
});

test('the smallest of a million names are kept in the memory of a few', () => {
  const smallest = new Smallest(10);
  for (let i = 1_000_000; i > 0; i--) smallest.add(Buffer.from(String(i).padStart(7, '0')));
  expect(smallest.sorted().map(String)).toEqual(
    Array.from({ length: 10 }, (_, i) => String(i + 1).padStart(7, '0')),
  );
  expect(smallest.cut).toBe(true);
});

test('Windows device names, streams and stripped endings are no names', () => {
  for (const name of [
    'con',
    'NUL.txt',
    'com1',
    'LPT9.log',
    'a:b',
    'a.',
    'a ',
    'a?b',
    'COM¹',
    'CONIN$',
    'x\u0001',
  ])
    expect([name, isWindowsName(name)]).toEqual([name, false]);
  for (const name of ['console', 'com', 'com10', '.gitignore', 'a b', 'é'])
    expect([name, isWindowsName(name)]).toEqual([name, true]);
  expect(() => componentsOf('a/nul/b', 'win32')).toThrow();
  expect(componentsOf('a/nul/b', 'linux')).toHaveLength(3);
});
