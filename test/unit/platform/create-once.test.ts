import type * as FileSystem from 'node:fs/promises';
import { mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createOnce } from '../../../src/platform/create-once.ts';

const refused = vi.hoisted(() => ({ link: null as string | null }));
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof FileSystem>();
  const link: typeof real.link = (from, to) =>
    refused.link === null
      ? real.link(from, to)
      : Promise.reject(Object.assign(new Error(refused.link), { code: refused.link }));
  return { ...real, link };
});

let folder: string;
let file: string;
beforeEach(async () => {
  refused.link = null;
  folder = await mkdtemp(join(tmpdir(), 'create-once-'));
  file = join(folder, 'receipt');
});

describe.each([null, 'EPERM', 'ENOTSUP', 'EMLINK'])('where hard links are refused with %s', (code) => {
  test('a file is made once, whole, and never replaced', async () => {
    refused.link = code;
    expect(await createOnce(file, 'first', 'a')).toBe('created');
    expect(await createOnce(file, 'second', 'b')).toBe('exists');
    expect(await readFile(file, 'utf8')).toBe('first');
    expect(await readdir(folder)).toEqual(['receipt']);
  });
});

test('another failure is told, and leaves nothing', async () => {
  refused.link = 'EIO';
  await expect(createOnce(file, 'x', 'a')).rejects.toMatchObject({ code: 'EIO' });
  expect(await readdir(folder)).toEqual([]);
});

test('a temporary file of somebody else is not taken over', async () => {
  await writeFile(`${file}.a.tmp`, 'theirs');
  await expect(createOnce(file, 'x', 'a')).rejects.toMatchObject({ code: 'EEXIST' });
  expect(await readFile(`${file}.a.tmp`, 'utf8')).toBe('theirs');
});
