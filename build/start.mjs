// `npm start`: the desktop app; where there is no display or no Electron, the headless Runtime with the window as a
// web page on loopback.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureBuilt } from './bundle.mjs';

const root = resolve(new URL('.', import.meta.url).pathname, '..');
const args = process.argv.slice(2);

if (await ensureBuilt()) process.stderr.write('Built.\n');

const electron = findElectron();
const why =
  electron === null ? 'There is no Electron here' : hasDisplay() ? null : 'There is no display here';

if (why === null) {
  const sandbox = process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  run(electron, [...sandbox, root, ...args]);
} else {
  process.stderr.write(
    `${why}: the Runtime runs headless, and its window is a page for a browser on this machine.\n`,
  );
  run(process.execPath, [join(root, 'dist', 'cli.js'), 'run', '--local', '--console', ...headless(args)]);
}

function run(command, rest) {
  const child = spawn(command, rest, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`It could not be started: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
}

/** The path of Electron's program, fetched on first use by its own package; null where that is not possible. */
function findElectron() {
  const override = process.env.ELECTRON_OVERRIDE_DIST_PATH;
  if (override) {
    const program = join(override, process.platform === 'win32' ? 'electron.exe' : 'electron');
    if (existsSync(program)) return program;
  }
  // In a process of its own: what its download prints is no news for a person, only whether there is one.
  const asked = spawnSync(process.execPath, ['-p', "require('electron')"], { cwd: root, encoding: 'utf8' });
  const path = asked.status === 0 ? asked.stdout.trim().split('\n').pop() : '';
  return path && existsSync(path) ? path : null;
}

function hasDisplay() {
  if (process.platform !== 'linux') return true;
  return Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
}

/** Options of the desktop app that the headless Runtime takes as well. */
function headless(all) {
  return all.filter((arg) => arg !== '--hidden');
}
