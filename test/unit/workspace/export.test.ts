import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  ExportError,
  exportLimits,
  exportOutputs,
  ExportStream,
} from '../../../src/workspace/export-outputs.ts';
import { tarHeaders } from '../../../src/workspace/tar-headers.ts';
import { Folder } from '../../../src/workspace/safe-path.ts';
import { temporaryFolder } from '../../support/workspace-bed.ts';

let outer: string;
let root: string;
let remove: () => Promise<void>;
let folder: Folder;

beforeEach(async () => {
  const made = await temporaryFolder();
  outer = made.path;
  remove = made.remove;
  root = join(outer, 'root');
  await mkdir(root);
  folder = await Folder.openRoot(root);
});
afterEach(async () => {
  await folder.close();
  await remove();
});

async function archive(
  limits = exportLimits,
  onChunk: (n: number) => Promise<void> = () => Promise.resolve(),
) {
  const stream = new ExportStream((signal) => exportOutputs(folder, signal, limits));
  const chunks: Buffer[] = [];
  try {
    for (let chunk = await stream.next(); chunk; chunk = await stream.next()) {
      expect(chunk.length).toBeLessThanOrEqual(65_536);
      chunks.push(Buffer.from(chunk));
      await onChunk(chunks.length);
    }
  } finally {
    await stream.close();
  }
  return Buffer.concat(chunks);
}
const failure = async (work: Promise<unknown>): Promise<[string, string]> => {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ExportError) return [error.code, error.path];
  throw new Error('it did not fail as an export');
};

test('without the folder the archive is an empty one', async () => {
  expect(await archive()).toEqual(Buffer.alloc(1_024));
});

test('another tar reads it back: names, order, content; links are left out', async () => {
  const long = `${'d'.repeat(120)}/${'é'.repeat(100)}`;
  await mkdir(join(root, 'outputs', 'b', 'c'), { recursive: true });
  await mkdir(join(root, 'outputs', 'd'.repeat(120)));
  await writeFile(join(root, 'outputs', 'b', 'c', 'x'), 'deep');
  await writeFile(join(root, 'outputs', 'a.txt'), 'a'.repeat(700));
  await writeFile(join(root, 'outputs', long), Buffer.alloc(200_000, 7));
  await writeFile(join(root, 'outputs', 'empty'), '');
  await symlink('/etc/passwd', join(root, 'outputs', 'b', 'link'));
  const bytes = await archive();
  expect(bytes.length % 512).toBe(0);
  await writeFile(join(outer, 'x.tar'), bytes);
  const listed = execFileSync('tar', ['--quoting-style=literal', '-tf', join(outer, 'x.tar')], {
    env: { LC_ALL: 'C.UTF-8', PATH: '/usr/bin:/bin' },
  });
  expect(listed.toString().trim().split('\n')).toEqual([
    'outputs/a.txt',
    'outputs/b/c/x',
    `outputs/${long}`,
    'outputs/empty',
  ]);
  await mkdir(join(outer, 'out'));
  execFileSync('tar', ['-xf', join(outer, 'x.tar'), '-C', join(outer, 'out')]);
  const sha = (data: Buffer) => createHash('sha256').update(data).digest('hex');
  for (const name of ['a.txt', 'b/c/x', long, 'empty']) {
    expect(sha(await readFile(join(outer, 'out/outputs', name)))).toBe(
      sha(await readFile(join(root, 'outputs', name))),
    );
  }
  expect(await readdir(join(outer, 'out/outputs/b'))).toEqual(['c']);
});

test('a special file, a changed file and a bound fail it, and the path is known here', async () => {
  await mkdir(join(root, 'outputs'));
  await writeFile(join(root, 'outputs', 'big'), Buffer.alloc(400_000));
  expect(await failure(archive(exportLimits, () => appendFile(join(root, 'outputs', 'big'), 'x')))).toEqual([
    'changed',
    'outputs/big',
  ]);
  expect(await failure(archive({ ...exportLimits, fileBytes: 400_000 }))).toEqual(['limit', 'outputs/big']);
  await truncate(join(root, 'outputs', 'big'), 400_000);
  await writeFile(join(root, 'outputs', 'more'), Buffer.alloc(10));
  expect(await failure(archive({ ...exportLimits, sumBytes: 400_009 }))).toEqual(['limit', 'outputs/more']);
  expect(await failure(archive({ ...exportLimits, entries: 1 }))).toEqual(['limit', 'outputs']);
  expect((await archive({ ...exportLimits, sumBytes: 400_010, entries: 2 })).length).toBeGreaterThan(400_000);
  await mkdir(join(root, 'outputs', 'sub'));
  expect(await failure(archive({ ...exportLimits, depth: 1 }))).toEqual(['limit', 'outputs/sub']);
  execFileSync('mkfifo', [join(root, 'outputs', 'pipe')]);
  expect(await failure(archive())).toEqual(['invalid', 'outputs/pipe']);
});

test('a file in the place of the folder, and a link, fail it', async () => {
  await writeFile(join(root, 'outputs'), '');
  expect(await failure(archive())).toEqual(['not_directory', 'outputs']);
});

test('an export that is given up closes what it opened', async () => {
  await mkdir(join(root, 'outputs'));
  await writeFile(join(root, 'outputs', 'f'), Buffer.alloc(1_000_000));
  const stream = new ExportStream((signal) => exportOutputs(folder, signal));
  await stream.next();
  const before = process.platform === 'linux' ? (await readdir('/proc/self/fd')).length : 0;
  await stream.close();
  const after = process.platform === 'linux' ? (await readdir('/proc/self/fd')).length : -2;
  expect(before - after).toBe(2);
});

test('a header has the checksum that its bytes give', () => {
  const header = tarHeaders('outputs/a', 5, 1_700_000_000);
  const stored = Number.parseInt(header.subarray(148, 154).toString(), 8);
  header.fill(' ', 148, 156);
  expect(header.reduce((sum, byte) => sum + byte, 0)).toBe(stored);
});
