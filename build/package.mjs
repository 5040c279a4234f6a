// `npm run package`: the app for this platform, unpacked, into release/. `-- --installers` makes what the platform's
// users install as well (`-- --installers deb` one of it); those targets fetch tools of their own. Where that is not
// possible, dpkg-deb and 7za of the system do for deb and archives; AppImage needs APPIMAGE_TOOLS_PATH.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureBuilt } from './bundle.mjs';
import { notarisation } from './notarisation.mjs';

const root = resolve(new URL('.', import.meta.url).pathname, '..');
const args = process.argv.slice(2);
const platform = { linux: '--linux', darwin: '--mac', win32: '--win' }[process.platform] ?? '--linux';
const targets = args.includes('--installers') ? args.filter((arg) => !arg.startsWith('-')) : ['dir'];
const rest = args.filter((arg) => arg !== '--installers' && arg.startsWith('-'));

// Before any work: a set of credentials that is not complete is told at once.
const mac = process.platform === 'darwin' ? [`-c.mac.notarize=${wantsNotary()}`] : [];

await ensureBuilt();

// Where Electron's own download is not reachable, the distribution that this variable names goes into the package.
// That serves tests; a release takes the version that package.json names.
const override = process.env.ELECTRON_OVERRIDE_DIST_PATH;
const dist = override
  ? [
      `-c.electronDist=${override}`,
      `-c.electronVersion=${readFileSync(join(override, 'version'), 'utf8').trim().replace(/^v/, '')}`,
      // The driver of the tests attaches to the main process.
      '-c.electronFuses.enableNodeCliInspectArguments=true',
    ]
  : [];

// Tools of the system in place of downloads; whoever named others means those.
const tools = {};
if (override && process.platform === 'linux') {
  const seven = spawnSync('sh', ['-c', 'command -v 7za'], { encoding: 'utf8' }).stdout.trim();
  if (seven) tools.ELECTRON_BUILDER_7ZIP_PATH = seven;
  tools.CUSTOM_FPM_PATH = join(root, 'build', 'deb-by-dpkg.mjs');
}

const builder = join(root, 'node_modules', '.bin', 'electron-builder');
const result = spawnSync(
  builder,
  [
    platform,
    ...targets,
    '--publish',
    'never',
    '--config',
    'build/electron-builder.yml',
    ...mac,
    ...dist,
    ...rest,
  ],
  { cwd: root, env: { ...tools, ...process.env }, stdio: 'inherit', shell: process.platform === 'win32' },
);
process.exit(result.status ?? 1);

function wantsNotary() {
  try {
    return notarisation(process.env);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
