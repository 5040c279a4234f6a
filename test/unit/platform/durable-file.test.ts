import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type * as Files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { replaceFile } from '../../../src/platform/durable-file.ts';

/** What fails next, by the call of the system. */
const failing = vi.hoisted(() => new Set<'open folder' | 'rename' | 'write' | 'close'>());

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof Files>();
  const refuse = (): never => {
    throw Object.assign(new Error('EIO'), { code: 'EIO' });
  };
  return {
    ...real,
    open: async (path: string, flags: string, mode?: number) => {
      if (flags === 'r' && failing.has('open folder')) refuse();
      const handle = await real.open(path, flags, mode);
      if (flags !== 'wx') return handle;
      const close = handle.close.bind(handle);
      if (failing.has('write')) handle.writeFile = () => Promise.reject(new Error('ENOSPC'));
      if (failing.has('close')) handle.close = () => close().then(refuse);
      return handle;
    },
    rename: (from: string, to: string) => (failing.has('rename') ? refuse() : real.rename(from, to)),
  };
});

let file: string;
beforeEach(async () => {
  failing.clear();
  file = join(mkdtempSync(join(tmpdir(), 'durable-')), 'state.json');
  expect(await replaceFile(file, 'old', 'a')).toBe('durable');
});
afterEach(() => rmSync(dirname(file), { recursive: true }));

test('a folder that cannot be flushed is told, and the new content is there', async () => {
  failing.add('open folder');
  expect(await replaceFile(file, 'new', 'b')).toBe('in_place');
  expect(readFileSync(file, 'utf8')).toBe('new');
});

test.each(['write', 'close', 'rename'] as const)(
  'when %s fails the old content is there and nothing else',
  async (call) => {
    failing.add(call);
    await expect(replaceFile(file, 'new', 'b')).rejects.toThrow();
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(readdirSync(dirname(file))).toEqual(['state.json']);
  },
);
