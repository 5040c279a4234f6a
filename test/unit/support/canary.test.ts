import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { encodings, leaksBelow, leaksIn, leaksOfProcesses } from '../../support/canary.ts';

const canary = 'Canary-9b1f_60d4c7c54e2a8b3fd1206e97aa53';
const decoy = 'Canary-9b1f_60d4c7c54e2a8b4fd1206e97aa53';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-runtime-canary-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The secret as a program would have written it, between other things. */
const planted: readonly (readonly [string, Buffer])[] = [
  ['utf8', Buffer.from(`a log line with ${canary} in it`)],
  ['utf16le', Buffer.from(`x${canary}y`, 'utf16le')],
  ['utf16be', Buffer.from(`x${canary}y`, 'utf16le').swap16()],
  ['base64, 0 before', Buffer.from(Buffer.from(`${canary} and more`).toString('base64'))],
  ['base64, 1 before', Buffer.from(Buffer.from(`x${canary} and more`).toString('base64'))],
  ['base64, 2 before', Buffer.from(Buffer.from(`{"${canary}"}`).toString('base64'))],
  ['base64url, 0 before', Buffer.from(Buffer.from(`Key${canary}?>`).toString('base64url'))],
  ['hex', Buffer.from(Buffer.from(`..${canary}..`).toString('hex'))],
  ['HEX', Buffer.from(Buffer.from(`..${canary}..`).toString('hex').toUpperCase())],
  [
    'percent',
    Buffer.from([...canary].map((letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`).join('')),
  ],
  [
    'JSON escapes',
    Buffer.from([...canary].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('')),
  ],
  ['reversed', Buffer.from([...`<${canary}>`].reverse().join(''))],
  ['gzip, utf8', Buffer.concat([Buffer.from('head'), gzipSync(Buffer.from(`packed ${canary}`))])],
];

describe('the search for a canary', () => {
  test.each(planted)('finds it as %s', (encoding, bytes) => {
    expect(leaksIn('here', bytes, [canary])).toContainEqual({ place: 'here', encoding });
    expect(leaksIn('here', bytes, [decoy])).toEqual([]);
  });

  test('knows twelve forms and more', () => {
    expect(encodings(canary).size).toBeGreaterThanOrEqual(12);
  });

  test('finds it in a file, in a name, and says nothing of a clean folder', async () => {
    await writeFile(join(folder, 'clean.log'), decoy);
    expect(await leaksBelow(folder, [canary])).toEqual([]);
    await writeFile(join(folder, 'state.json'), JSON.stringify({ secret: canary }));
    await writeFile(join(folder, `${canary}.txt`), '');
    const places = (await leaksBelow(folder, [canary])).map(({ place }) => place.replace(folder, ''));
    expect(places.sort()).toEqual(['/state.json', `name /${canary}.txt`].sort());
  });

  test('finds it in the command line and the environment of a child', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume(); console.log(1)', canary], {
      env: { ...process.env, HIDDEN: Buffer.from(canary).toString('base64') },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    try {
      expect(await leaksOfProcesses(process.pid, [canary])).toEqual(
        expect.arrayContaining([
          { place: 'cmdline of a descendant', encoding: 'utf8' },
          { place: 'environ of a descendant', encoding: 'base64, 0 before' },
        ]),
      );
      expect(await leaksOfProcesses(process.pid, [decoy])).toEqual([]);
    } finally {
      child.stdin.end();
      await new Promise((resolve) => child.once('exit', resolve));
    }
  });
});
