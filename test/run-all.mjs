// `npm test`: every part in order, its output as it comes, and one plain line for the whole run at the end. A part that
// fails does not stop the others: one run shows everything that is wrong.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const parts = [
  'check',
  'test:unit',
  'test:contract',
  'test:faults',
  'test:harness',
  'test:e2e',
  'test:packages',
];
const npm = process.env.npm_execpath;
const total = { passed: 0, failed: 0, skipped: 0 };
const rows = [];

for (const part of parts) {
  process.stdout.write(`\n${part}\n`);
  const begun = performance.now();
  const { code, text } = await run(part);
  const counts = countsIn(text);
  // A part that ended badly without a failed test failed as a whole.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  for (const key of Object.keys(total)) total[key] += counts[key];
  rows.push([part, counts, Math.round((performance.now() - begun) / 1000)]);
}

process.stdout.write('\n');
for (const [part, { passed, failed, skipped }, seconds] of rows) {
  process.stdout.write(
    `${part.padEnd(14)} ${passed} passed  ${failed} failed  ${skipped} skipped  ${seconds} s\n`,
  );
}
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
process.exit(total.failed === 0 ? 0 : 1);

function run(part) {
  const [command, before] = npm ? [process.execPath, [npm]] : ['npm', []];
  return new Promise((done) => {
    const child = spawn(command, [...before, 'run', '--silent', part], {
      cwd: root,
      env: { ...process.env, FORCE_COLOR: '0', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
      shell: !npm && process.platform === 'win32',
    });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      process.stdout.write(chunk);
    });
    child.on('exit', (code) => done({ code: code ?? 1, text }));
    child.on('error', (error) => done({ code: 1, text: String(error) }));
  });
}

/** The closing lines of vitest (`Tests  1 failed | 2 passed (3)`), Playwright (`2 passed (5s)`) and of our own check. */
function countsIn(text) {
  const number = (pattern, where) => Number(pattern.exec(where)?.[1] ?? 0);
  const vitest = /^\s*Tests\s+(.*)$/m.exec(text)?.[1];
  const where = vitest ?? text.split('\n').slice(-40).join('\n');
  return {
    passed: number(/(\d+) passed/, where),
    failed: number(/(\d+) failed/, where),
    skipped: number(/(\d+) skipped/, where),
  };
}
