// End-to-end tests: the packaged app on a real X server. Fetches an old Electron for tests where the real one cannot
// be had, packages the app with it, and runs Playwright under Xvfb.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(new URL('.', import.meta.url).pathname, '../..');
const args = process.argv.slice(2);

if (process.platform !== 'linux') {
  process.stderr.write('The end-to-end tests drive an X server and run on Linux alone.\n');
  process.exit(process.env.CI ? 1 : 0);
}

const electron = testElectron();
const env = { ...process.env, ELECTRON_OVERRIDE_DIST_PATH: electron, TEST_ELECTRON: electron };

const packaged = spawnSync(process.execPath, [join(root, 'build', 'package.mjs')], {
  cwd: root,
  env,
  encoding: 'utf8',
});
if (packaged.status !== 0) {
  process.stderr.write(`${packaged.stdout}\n${packaged.stderr}\nThe app could not be packaged.\n`);
  process.exit(1);
}

ensureDesktop();

const playwright = [
  'npx',
  '--no-install',
  'playwright',
  'test',
  '--config',
  'test/e2e/playwright.config.ts',
  ...args,
];
const run = process.env.DISPLAY
  ? playwright
  : ['xvfb-run', '-a', '-s', '-screen 0 1400x1000x24', ...playwright];
const result = spawnSync(run[0], run.slice(1), { cwd: root, env, stdio: 'inherit' });
process.exit(result.status ?? 1);

/** The folder of an Electron for tests; system libraries are installed where this is root or CI. */
function testElectron() {
  const named = process.env.TEST_ELECTRON ?? process.env.ELECTRON_OVERRIDE_DIST_PATH;
  if (named && existsSync(join(named, 'electron'))) return named;
  const may = process.getuid?.() === 0 || Boolean(process.env.CI);
  const script = join(root, 'test', 'support', 'electron-dist');
  try {
    return execFileSync('python3', [script, ...(may ? ['--deps'] : [])], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }).trim();
  } catch {
    process.stderr.write(
      'No Electron for the tests could be had. They need python3, pip, Xvfb, GTK and NSS.\n',
    );
    process.exit(1);
  }
}

/** What a desktop has: a Secret Service, a window manager, a tray, a notification daemon, and a hand to click with. */
function ensureDesktop() {
  const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  const programs = [
    ...['gnome-keyring-daemon', 'dbus-run-session', 'gdbus'],
    ...['openbox', 'trayer', 'dunst', 'xdotool', 'import'],
  ];
  if (programs.every(has)) return;
  const packages = [
    ...['gnome-keyring', 'libsecret-1-0', 'dbus', 'libglib2.0-bin'],
    ...['openbox', 'trayer', 'dunst', 'xdotool', 'imagemagick'],
  ];
  const may = process.getuid?.() === 0 && has('apt-get');
  const install = [
    '-q',
    '-o',
    'DPkg::Lock::Timeout=300',
    'install',
    '-y',
    '--no-install-recommends',
    ...packages,
  ];
  if (may) {
    spawnSync('apt-get', ['-q', 'update'], { stdio: ['ignore', 'ignore', 'inherit'] });
    const aptEnv = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    if (spawnSync('apt-get', install, { env: aptEnv, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0)
      return;
  }
  process.stderr.write(`The tests need a keyring and a desktop: install ${packages.join(', ')}.\n`);
  process.exit(1);
}
