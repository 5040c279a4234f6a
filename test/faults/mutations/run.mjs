// `npm run mutations [-- word ...]`: makes each deliberate break of `mutations.mjs` in a copy of what is committed, runs the
// tests that have to notice, and prints a table. Exits 1 when a break went unnoticed, cannot be made any more, or the
// tests fail without any. Words choose breaks by their family, file or description.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutations } from './mutations.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Enough to meet what is rare, and no more. */
const sizes = { SCHEDULES: '6000', CHAOS_RUNS: '6' };
const words = process.argv.slice(2);
const chosen = mutations.filter(
  ({ family, file, says }) =>
    words.length === 0 || words.some((word) => `${family} ${file} ${says}`.includes(word)),
);

const copy = await mkdtemp(join(tmpdir(), 'mutations-'));
process.once('SIGINT', () => void rm(copy, { recursive: true, force: true }).then(() => process.exit(130)));
let wrong = 0;
try {
  await fill();
  const sane = await run([...new Set(chosen.flatMap(({ tests }) => tests))]);
  if (sane.failed.length > 0) {
    process.stdout.write(`The tests fail without a break:\n  ${sane.failed.join('\n  ')}\n`);
    wrong++;
  } else {
    process.stdout.write(`without a break all hold (${sane.seconds} s)\n\n`);
    for (const mutation of chosen) await judge(mutation);
    process.stdout.write(`\n${chosen.length - wrong} caught, ${wrong} not\n`);
  }
} finally {
  await rm(copy, { recursive: true, force: true });
}
process.exit(wrong === 0 ? 0 : 1);

async function judge({ family, says, file, find, replace, tests }) {
  const path = join(copy, file);
  const before = await readFile(path, 'utf8');
  const places = before.split(find).length - 1;
  if (places !== 1) {
    wrong++;
    process.stdout.write(`STALE   ${family}: ${says}\n        ${file} has its text ${places} times\n`);
    return;
  }
  await writeFile(
    path,
    before.replace(find, () => replace),
  );
  const { failed, seconds } = await run(tests);
  await writeFile(path, before);
  if (failed.length === 0) wrong++;
  process.stdout.write(`${failed.length === 0 ? 'MISSED' : 'caught'}  ${family}: ${says} (${seconds} s)\n`);
  for (const name of failed.slice(0, 4)) process.stdout.write(`        ${name}\n`);
  if (failed.length > 4) process.stdout.write(`        and ${failed.length - 4} more\n`);
}

/** What is committed: nobody's half-made change takes part. */
async function fill() {
  const archive = spawn('git', ['archive', 'HEAD'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const unpack = spawn('tar', ['-x'], { cwd: copy, stdio: [archive.stdout, 'ignore', 'inherit'] });
  const code = await new Promise((done) => unpack.once('exit', done));
  if (code !== 0) throw new Error(`the copy could not be made (${code})`);
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir');
  // One project, and no built programs: what is broken here are the sources.
  await writeFile(
    join(copy, 'vitest.config.ts'),
    `export default { test: { include: ['test/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 30_000 } };\n`,
  );
}

/** The names of the failed tests of these files, each as `file: test`. */
async function run(tests) {
  const begun = performance.now();
  const report = join(copy, 'report.json');
  await rm(report, { force: true });
  const files = tests.map((test) => `test/${test}`);
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=json',
    `--outputFile=${report}`,
    ...files,
  ];
  const child = spawn(process.execPath, args, {
    cwd: copy,
    env: { ...process.env, ...sizes },
    stdio: 'ignore',
  });
  const code = await new Promise((done) => child.once('exit', done));
  const seconds = Math.round((performance.now() - begun) / 1000);
  const text = await readFile(report, 'utf8').catch(() => null);
  if (text === null) return { failed: [`the test run ended with ${code}`], seconds };
  const { testResults, numTotalTests } = JSON.parse(text);
  if (numTotalTests === 0) throw new Error(`no tests in ${tests.join(', ')}`);
  const failed = testResults.flatMap(({ name, status, assertionResults }) => {
    const file = name.slice(name.indexOf('/test/') + '/test/'.length);
    const names = assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => `${file}: ${test.title}`);
    return names.length > 0 || status !== 'failed' ? names : [`${file}: could not be run`];
  });
  // An error that no test saw fails the run all the same.
  return {
    failed: failed.length > 0 || code === 0 ? failed : [`an error outside of the tests (${code})`],
    seconds,
  };
}
