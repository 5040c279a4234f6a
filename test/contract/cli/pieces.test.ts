import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** What a piece and its compiled code look like to V8: true where it would not take the code. */
const rejected = `
const { readFileSync, readdirSync } = require('node:fs');
const { Script } = require('node:vm');
const names = readdirSync('.').filter((name) => name.endsWith('.js'));
console.log(JSON.stringify(names.filter((name) =>
  new Script(readFileSync(name, 'utf8'), { cachedData: readFileSync(name + '.cache') }).cachedDataRejected)));`;

let dist: string;
const pieces = (): string => join(dist, 'cli');
const names = async (): Promise<string[]> =>
  (await readdir(pieces())).filter((name) => name.endsWith('.js')).sort();
const caches = async (): Promise<string[]> =>
  (await readdir(pieces())).filter((name) => name.endsWith('.cache')).sort();
const says = (...args: string[]): string =>
  execFileSync(process.execPath, [join(dist, 'cli.js'), ...args], { encoding: 'utf8', timeout: 20_000 });

beforeEach(async () => {
  dist = await mkdtemp(join(tmpdir(), 'agent-runtime-pieces-'));
  for (const name of ['cli', 'cli.js', 'package.json'])
    await cp(join(root, 'dist', name), join(dist, name), { recursive: true });
});
afterEach(() => rm(dist, { recursive: true, force: true }));

test('a start compiles nothing: every piece has compiled code that this Node takes, also from another folder', async () => {
  expect((await names()).length).toBeGreaterThan(20);
  expect(await caches()).toEqual((await names()).map((name) => `${name}.cache`));
  expect(
    JSON.parse(execFileSync(process.execPath, ['-e', rejected], { cwd: pieces(), encoding: 'utf8' })),
  ).toEqual([]);
  expect(says('--help')).toContain('serve in the foreground until interrupted');
});

test.each(['absent', 'empty', 'torn', 'of another piece'])(
  'compiled code that is %s is no obstacle: the piece itself is compiled',
  async (what) => {
    const whole = says('--help');
    for (const name of await caches()) {
      const path = join(pieces(), name);
      if (what === 'absent') await rm(path);
      else if (what === 'empty') await writeFile(path, '');
      else if (what === 'torn') await writeFile(path, Buffer.alloc(1_000, 7));
      else if (name !== 'entry.js.cache') await cp(join(pieces(), 'entry.js.cache'), path);
    }
    expect(says('--help')).toBe(whole);
  },
);

test('a piece that throws says where, by the name of its file', async () => {
  await writeFile(
    join(pieces(), 'entry.js'),
    '(function(module,exports,require){\nthrow new Error("no way")})',
  );
  await rm(join(pieces(), 'entry.js.cache'));
  expect(() => says('--help')).toThrow(/no way[\s\S]*entry\.js:2/);
});

test('a new build leaves the pieces of the one before to whoever runs it, for 30 days', async () => {
  const day = 24 * 60 * 60 * 1000;
  const before = await names();
  for (const [name, days] of [
    ['chunk-YOUNG.js', 29],
    ['chunk-OLD.js', 31],
    ['chunk-OLD.js.cache', 31],
  ] as const) {
    await writeFile(join(pieces(), name), '');
    const at = new Date(Date.now() - days * day);
    await utimes(join(pieces(), name), at, at);
  }
  const build = `
    import { bundleCli, nodeBuild } from ${JSON.stringify(join(root, 'build/bundle-cli.mjs'))};
    await bundleCli({ common: await nodeBuild(), out: ${JSON.stringify(dist)} });`;
  execFileSync(process.execPath, ['--input-type=module', '-e', build], { cwd: root });
  expect(await names()).toEqual([...before, 'chunk-YOUNG.js'].sort());
  expect(says('--version')).toMatch(/^\d+\.\d+\.\d+/);
});
