// `npm run check`: types of every room against the types it may know, dependency arrows, lint, format.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(new URL('.', import.meta.url).pathname, '..');
const steps = [
  ...['pure', 'node', 'electron', 'renderer', 'test'].map((part) => [
    'types: ' + part,
    'tsc',
    ['-p', `build/tsconfig/${part}.json`],
  ]),
  ['arrows', 'depcruise', ['--config', '.dependency-cruiser.cjs', 'src', 'electron', 'renderer']],
  ['lint', 'eslint', ['--max-warnings', '0', 'src', 'electron', 'renderer', 'test']],
  ['format', 'prettier', ['--check', '--log-level', 'warn', '.']],
];

const failed = [];
const queue = [...steps];
// Two at a time: more only makes each of them slower.
await Promise.all([work(), work()]);
process.stdout.write(`${steps.length - failed.length} passed, ${failed.length} failed\n`);
process.exit(failed.length === 0 ? 0 : 1);

async function work() {
  for (let step = queue.shift(); step; step = queue.shift()) {
    const [name, command, args] = step;
    const { code, text } = await run(command, args);
    process.stdout.write(`${code === 0 ? 'ok' : 'FAILED'}  ${name}\n`);
    if (code !== 0) {
      failed.push(name);
      process.stdout.write(`${text}\n`);
    }
  }
}

function run(command, args) {
  return new Promise((done) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, PATH: `${root}/node_modules/.bin:${process.env.PATH}`, FORCE_COLOR: '0' },
    });
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stderr.on('data', (chunk) => (text += chunk));
    child.on('error', (error) => done({ code: 1, text: String(error) }));
    child.on('exit', (code) => done({ code: code ?? 1, text }));
  });
}
