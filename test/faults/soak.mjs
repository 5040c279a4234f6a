// `npm run soak -- [--minutes N] [--seed N]`: rounds of generated schedules, network storms and mutated frames, each
// with new seeds, until the time is over; without a time until a million schedules and 200 storms were played. It ends
// at the first round that fails and prints what plays that round again.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const round = { SCHEDULES: 50_000, CHAOS_RUNS: 10, FUZZ_FRAMES: 100_000 };
const goal = { schedules: 1_000_000, storms: 200 };
const root = fileURLToPath(new URL('../..', import.meta.url));

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const minutes = values.minutes === undefined ? null : wholeNumber('minutes', values.minutes);
const first = values.seed === undefined ? Date.now() % 1_000_000_000 : wholeNumber('seed', values.seed);
const begun = performance.now();
process.stdout.write(`seed ${first}\n`);

let rounds = 0;
while (!enough()) {
  const seeds = {
    SCHEDULE_SEED: first + rounds,
    // Storms count their seeds up from the first.
    CHAOS_SEED: first + rounds * round.CHAOS_RUNS,
    FUZZ_SEED: first + rounds,
  };
  const { code, text } = await play(seeds);
  if (code !== 0) {
    const environment = Object.entries({ ...round, ...seeds }).map(([name, value]) => `${name}=${value}`);
    process.stdout.write(
      `${text}\nTo play this round again:\n${environment.join(' ')} npx vitest run --project faults test/faults/{schedules,chaos,fuzz}.test.ts\n`,
    );
    process.exit(1);
  }
  rounds++;
  process.stdout.write(`${sum()}\n`);
}
process.stdout.write(`held: ${sum()}\n`);

function enough() {
  if (minutes !== null) return performance.now() - begun >= minutes * 60_000;
  return rounds * round.SCHEDULES >= goal.schedules && rounds * round.CHAOS_RUNS >= goal.storms;
}

function sum() {
  const count = (each) => (rounds * each).toLocaleString('en-US');
  return `${count(round.SCHEDULES)} schedules, ${count(round.CHAOS_RUNS)} storms, ${count(round.FUZZ_FRAMES)} frames in ${Math.round((performance.now() - begun) / 1000)} s, seed ${first}`;
}

function play(seeds) {
  const files = ['schedules', 'chaos', 'fuzz'].map((name) => `test/faults/${name}.test.ts`);
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--project', 'faults', ...files],
    {
      cwd: root,
      env: { ...process.env, ...strings({ ...round, ...seeds }), FORCE_COLOR: '0', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  return new Promise((done) => {
    child.on('exit', (code) => done({ code: code ?? 1, text }));
    child.on('error', (error) => done({ code: 1, text: String(error) }));
  });
}

function strings(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

function wholeNumber(name, text) {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  process.stderr.write(`--${name} takes a whole number.\n`);
  process.exit(2);
}
