// Installs a deb for real, starts it from where it was installed, installs it once more, removes it, and looks at what
// is left. It runs in a mount namespace of its own (`unshare`), on an overlay of this system: this system keeps nothing,
// and all that the package ever wrote is in the overlay's upper folder.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { answers } from './answers.mjs';

const [deb, bed] = process.argv.slice(2);
const name = 'agent-runtime-desktop';
const scheme = 'x-scheme-handler/agent-runtime';
const program = '/opt/Agent Runtime/agent-runtime-desktop';

const here = join(bed, 'overlay');
mkdirSync(here);
mount('-t', 'tmpfs', 'tmpfs', here);
const [upper, work, system] = ['upper', 'work', 'system'].map((folder) => join(here, folder));
for (const folder of [upper, work, system]) mkdirSync(folder);
mount('-t', 'overlay', 'overlay', '-o', `lowerdir=/,upperdir=${upper},workdir=${work}`, system);
for (const folder of ['/proc', '/dev', '/sys']) mount('--rbind', folder, join(system, folder));
// What the test and the display write is no trace of the package.
for (const folder of new Set(['/tmp', bed])) {
  mkdirSync(join(system, folder), { recursive: true });
  mount('--bind', folder, join(system, folder));
}

assert.notEqual(
  dpkg('-s', name).status,
  0,
  `${name} is installed on this system: the test needs one without it`,
);
assert.equal(handler(), '', 'nobody handles the scheme before');
const before = new Set(ours());

step('install');
succeeds(dpkg('-i', deb));
assert.match(succeeds(dpkg('-s', name)), /^Status: install ok installed$/m);
assert.ok(existsSync(join(system, program)));
linked();
assert.equal(handler(), `${name}.desktop`, 'the desktop hands links of the scheme to it');

step('start from where it is installed');
await answers(`/usr/bin/${name}`, { bed, before: ['chroot', system] });

step('install over itself');
succeeds(dpkg('-i', deb));
linked();
assert.equal(handler(), `${name}.desktop`);

step('remove');
succeeds(dpkg('-r', name));
assert.equal(handler(), '', 'nobody handles the scheme any more');
succeeds(dpkg('-P', name));
assert.notEqual(dpkg('-s', name).status, 0);
assert.deepEqual(
  ours().filter((path) => !before.has(path)),
  [],
  'nothing of it is left',
);
assert.ok(!readFileSync(join(system, 'var/lib/dpkg/status'), 'utf8').includes(name), 'dpkg forgot it');

function mount(...args) {
  execFileSync('mount', args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 10_000 });
}

/** Runs something inside of the copy of this system. */
function inside(command, args, env = {}) {
  return spawnSync('chroot', [system, command, ...args], {
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', ...env },
  });
}

function dpkg(...args) {
  return inside('dpkg', args);
}

function succeeds({ status, stdout, stderr, error }) {
  assert.equal(status, 0, `${stdout}${stderr}${error ?? ''}`);
  return stdout;
}

/** Which desktop file the desktop names for the scheme, for a person with an empty home. */
function handler() {
  const home = mkdtempSync(join(bed, 'nobody-'));
  return succeeds(
    inside('xdg-mime', ['query', 'default', scheme], {
      HOME: home,
      XDG_CURRENT_DESKTOP: '',
      XDG_DATA_HOME: join(home, 'data'),
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_DATA_DIRS: '/usr/local/share:/usr/share',
    }),
  ).trim();
}

function linked() {
  assert.equal(succeeds(inside('readlink', ['-f', `/usr/bin/${name}`])).trim(), program);
}

/** All that is there and has our name, but the words of logs. */
function ours() {
  return readdirSync(upper, { recursive: true })
    .filter((path) => /agent[ -]runtime/i.test(path))
    .filter((path) => !`/${path}`.startsWith(bed) && !path.startsWith('var/log/'))
    .filter((path) => lstatSync(join(system, path), { throwIfNoEntry: false }));
}

function step(what) {
  process.stdout.write(`packages: deb: ${what}\n`);
}
