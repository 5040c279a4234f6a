// Installs the real programs (see programs.mjs) and runs the tests against them. With CI set, a program that cannot be
// had is a failure; otherwise its tests are skipped and this says so.

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { claudeProgram, codexProgram, exampleAgentSource, openCodeProgram } from './programs.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const programs = {
  'Claude Code': claudeProgram,
  Codex: codexProgram,
  OpenCode: openCodeProgram,
  'The example agent': exampleAgentSource,
};
for (const [name, program] of Object.entries(programs)) {
  try {
    console.log(`${name}: ${await program()}`);
  } catch (error) {
    console.error(error.message);
    if (process.env.CI) process.exit(1);
    console.error(`The tests against ${name} will be skipped. With CI set this would be a failure.`);
  }
}
const require = createRequire(import.meta.url);
const vitest = path.join(path.dirname(require.resolve('vitest/package.json')), 'vitest.mjs');
const run = spawnSync(process.execPath, [vitest, 'run', '--project', 'harness', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
