// How an installed program proves that it starts.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(new URL('.', import.meta.url).pathname, '../..');

/**
 * Starts a program on a display of its own, with a link on its command line and a home of its own in `bed`, and asks it,
 * as the terminal does, what it serves. `before` stands in front of it on the command line; `then` is given the home
 * while the program runs.
 */
export async function answers(program, { bed, env = {}, before = [], then = () => undefined }) {
  const home = mkdtempSync(join(bed, 'home-'));
  const state = join(home, 'state');
  const tmp = join(home, 'tmp');
  mkdirSync(tmp);
  const { DBUS_SESSION_BUS_ADDRESS, APPIMAGE, XDG_DATA_HOME, XDG_CONFIG_HOME, ...inherited } = process.env;
  void [DBUS_SESSION_BUS_ADDRESS, APPIMAGE, XDG_DATA_HOME, XDG_CONFIG_HOME];
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const [command, ...args] = [
    ...before,
    'xvfb-run',
    '-a',
    program,
    ...sandbox,
    `--state-dir=${state}`,
    'agent-runtime://enroll?endpoint=https%3A%2F%2Fcore.test%2Fapi%2Fv1',
  ];
  const child = spawn(command, args, {
    env: { ...inherited, HOME: home, TMPDIR: tmp, ...env },
    stdio: 'ignore',
    detached: true,
  });
  const ended = new Promise((done) => child.once('exit', done));
  try {
    const view = await viewOf(state);
    // The link on the command line filled the screen (what was waited for), and bound nothing.
    assert.deepEqual(
      view.bindings.filter((binding) => binding.enrolled !== null),
      [],
    );
    await then(home);
  } finally {
    process.kill(-child.pid, 'SIGTERM');
    await ended;
  }
}

async function viewOf(state) {
  const end = Date.now() + 30_000;
  for (;;) {
    const asked = spawnSync(
      process.execPath,
      [join(root, 'dist/cli.js'), 'view', '--json', '--state-dir', state],
      { encoding: 'utf8', timeout: 20_000 },
    );
    const view = asked.status === 0 ? JSON.parse(asked.stdout) : null;
    if (view?.runtime.state === 'running' && view.invited !== null) return view;
    assert.ok(Date.now() < end, `it does not serve with the link in hand: ${asked.stderr}`);
    await new Promise((done) => setTimeout(done, 300));
  }
}
