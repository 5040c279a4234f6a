// Builds what people install on Linux, installs each as far as that is possible without touching this system, starts it
// on a display and asks it for its view. deb and tar.gz; an AppImage needs tools of electron-builder's own download.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(new URL('.', import.meta.url).pathname, '../..');
const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

const wanted = {
  '7za': 'p7zip-full',
  'desktop-file-validate': 'desktop-file-utils',
  'dpkg-deb': 'dpkg',
  'xvfb-run': 'xvfb',
};
const missing = Object.entries(wanted).filter(([program]) => !has(program));
if (missing.length > 0) {
  const packages = missing.map(([, name]) => name);
  if (process.getuid?.() !== 0 || !has('apt-get')) {
    process.stderr.write(`The packages cannot be tested without: ${packages.join(', ')}.\n`);
    process.exit(1);
  }
  execFileSync('apt-get', ['-q', 'update'], { stdio: 'ignore' });
  execFileSync('apt-get', ['-q', 'install', '-y', '--no-install-recommends', ...packages], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

const named = process.env.TEST_ELECTRON;
const electron =
  named ??
  execFileSync(
    'python3',
    [join(root, 'test/support/electron-dist'), ...(process.getuid?.() === 0 ? ['--deps'] : [])],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  ).trim();

const bed = mkdtempSync(join(tmpdir(), 'agent-runtime-packages-'));
try {
  const output = join(bed, 'release');
  step('build deb and tar.gz');
  execFileSync(
    process.execPath,
    [
      join(root, 'build/package.mjs'),
      '--installers',
      ...['deb', 'tar.gz'],
      ...['-c.compression=store', '-c.deb.compression=gz', `-c.directories.output=${output}`],
    ],
    {
      cwd: root,
      env: { ...process.env, ELECTRON_OVERRIDE_DIST_PATH: electron },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const made = (ending) => {
    const name = readdirSync(output).find((file) => file.endsWith(ending));
    assert.ok(name, `no ${ending} was made`);
    return join(output, name);
  };

  step('deb: what it says and holds');
  const deb = join(bed, 'deb');
  const control = execFileSync('dpkg-deb', ['-f', made('.deb')], { encoding: 'utf8' });
  assert.match(control, /^Package: agent-runtime-desktop$/m);
  assert.match(control, /^Depends: .*libsecret-1-0/m);
  const listing = execFileSync('dpkg-deb', ['-c', made('.deb')], { encoding: 'utf8' });
  assert.ok(
    listing
      .split('\n')
      .filter(Boolean)
      .every((line) => / root\/root /.test(line)),
    'every file belongs to root',
  );
  execFileSync('dpkg-deb', ['-x', made('.deb'), deb]);
  const desktopFile = join(deb, 'usr/share/applications/agent-runtime-desktop.desktop');
  execFileSync('desktop-file-validate', [desktopFile], { stdio: 'inherit' });
  const entry = readFileSync(desktopFile, 'utf8');
  assert.match(entry, /^MimeType=x-scheme-handler\/agent-runtime;$/m);
  assert.match(entry, /^Exec=("[^"]+"|[^ "]+) %U$/m);
  assert.match(entry, /^StartupWMClass=agent-runtime-desktop$/m);
  const icon = /^Icon=(.+)$/m.exec(entry)?.[1];
  const icons = execFileSync('find', [join(deb, 'usr/share/icons'), '-name', `${icon}.png`], {
    encoding: 'utf8',
  });
  assert.notEqual(icons.trim(), '', 'its icon is there');
  await answers(join(deb, 'opt/Agent Runtime/agent-runtime-desktop'), 'deb');

  step('tar.gz');
  const tar = join(bed, 'tar');
  mkdirSync(tar);
  execFileSync('tar', ['-xzf', made('.tar.gz'), '-C', tar]);
  const [folder] = readdirSync(tar);
  assert.ok(folder);
  await answers(join(tar, folder, 'agent-runtime-desktop'), 'tar.gz');
  process.stdout.write('packages: deb and tar.gz were built, unpacked and started\n');
} finally {
  rmSync(bed, { recursive: true, force: true });
}

/** Starts an installed program and asks it, as the terminal does, what it serves. */
async function answers(program, name) {
  step(`${name}: fuses and code`);
  assert.ok(existsSync(join(program, '../resources/app.asar')));
  assert.ok(!existsSync(join(program, '../resources/app')), 'no code beside the archive');
  const fuses = execFileSync('npx', ['--no-install', 'electron-fuses', 'read', '--app', program], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const line of [
    'RunAsNode is Disabled',
    'EnableNodeOptionsEnvironmentVariable is Disabled',
    'OnlyLoadAppFromAsar is Enabled',
  ])
    assert.ok(fuses.includes(line), `${line}: ${fuses}`);

  step(`${name}: start`);
  const home = mkdtempSync(join(bed, 'home-'));
  const state = join(home, 'state');
  const { DBUS_SESSION_BUS_ADDRESS, ...env } = process.env;
  void DBUS_SESSION_BUS_ADDRESS;
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const child = spawn(
    'xvfb-run',
    [
      '-a',
      program,
      ...sandbox,
      `--state-dir=${state}`,
      'agent-runtime://enroll?endpoint=https%3A%2F%2Fcore.test%2Fapi%2Fv1',
    ],
    { env: { ...env, HOME: home }, stdio: 'ignore', detached: true },
  );
  const ended = new Promise((done) => child.once('exit', done));
  try {
    const view = await view_(state);
    // The link on the command line filled the screen (what was waited for), and bound nothing.
    assert.deepEqual(
      view.bindings.filter((binding) => binding.enrolled !== null),
      [],
    );
  } finally {
    process.kill(-child.pid, 'SIGTERM');
    await ended;
  }
}

async function view_(state) {
  const end = Date.now() + 30_000;
  for (;;) {
    const asked = spawnSync(
      process.execPath,
      [join(root, 'dist/cli.js'), 'view', '--json', '--state-dir', state],
      {
        encoding: 'utf8',
      },
    );
    const view = asked.status === 0 ? JSON.parse(asked.stdout) : null;
    if (view?.runtime.state === 'running' && view.invited !== null) return view;
    assert.ok(Date.now() < end, `it does not serve with the link in hand: ${asked.stderr}`);
    await new Promise((done) => setTimeout(done, 300));
  }
}

function step(name) {
  process.stdout.write(`packages: ${name}\n`);
}
