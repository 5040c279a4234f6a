// Builds what people install on Linux (AppImage, deb, tar.gz), installs each without touching this system, starts it on a
// display and asks it for its view.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { answers } from './answers.mjs';

const root = resolve(new URL('.', import.meta.url).pathname, '../..');
const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

if (process.platform !== 'linux') {
  process.stdout.write('The packages of Linux are tested on Linux alone: 0 passed, 0 failed, 1 skipped\n');
  process.exit(0);
}

const wanted = {
  '7za': 'p7zip-full',
  'desktop-file-validate': 'desktop-file-utils',
  'dpkg-deb': 'dpkg',
  mksquashfs: 'squashfs-tools',
  unshare: 'util-linux',
  'xdg-mime': 'xdg-utils',
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

const fetched = (...args) =>
  execFileSync('python3', [join(root, 'test/support/electron-dist'), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
const electron = process.env.TEST_ELECTRON ?? fetched(...(process.getuid?.() === 0 ? ['--deps'] : []));
const appImageTools = process.env.APPIMAGE_TOOLS_PATH ?? fetched('--appimage-tools');

/** What an unprivileged user has to ask for as well. */
const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user'];
let passed = 0;
let begun = false;
let skipped = 0;

const bed = mkdtempSync(join(tmpdir(), 'agent-runtime-packages-'));
try {
  const output = join(bed, 'release');
  step('build AppImage, deb and tar.gz');
  execFileSync(
    process.execPath,
    [
      join(root, 'build/package.mjs'),
      '--installers',
      ...['AppImage', 'deb', 'tar.gz'],
      ...['-c.compression=store', '-c.deb.compression=gz', `-c.directories.output=${output}`],
    ],
    {
      cwd: root,
      env: {
        ...process.env,
        ELECTRON_OVERRIDE_DIST_PATH: electron,
        APPIMAGE_TOOLS_PATH: appImageTools,
      },
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
  hardened(join(deb, 'opt/Agent Runtime/agent-runtime-desktop'));
  if (mayMount()) {
    execFileSync(
      'unshare',
      [
        ...asRoot,
        '--mount',
        process.execPath,
        join(root, 'test/packages/install-deb.mjs'),
        made('.deb'),
        bed,
      ],
      { stdio: ['ignore', 'inherit', 'inherit'], timeout: 240_000 },
    );
    passed += 1;
  } else {
    process.stdout.write(
      'packages: deb: not installed, since this system lets nobody mount; started as it is\n',
    );
    skipped += 1;
    await answers(join(deb, 'opt/Agent Runtime/agent-runtime-desktop'), { bed });
  }

  step('tar.gz');
  const tar = join(bed, 'tar');
  mkdirSync(tar);
  execFileSync('tar', ['-xzf', made('.tar.gz'), '-C', tar]);
  const [folder] = readdirSync(tar);
  assert.ok(folder);
  hardened(join(tar, folder, 'agent-runtime-desktop'));
  const unpacked = join(tar, folder, 'agent-runtime-desktop');
  await answers(unpacked, { bed, then: (home) => takesLinks(home, unpacked) });

  step('AppImage: what it holds');
  const image = made('.AppImage');
  const opened = join(bed, 'image');
  mkdirSync(opened);
  execFileSync(image, ['--appimage-extract'], { cwd: opened, stdio: ['ignore', 'ignore', 'inherit'] });
  const held = join(opened, 'squashfs-root');
  // The builder adds the last one for the deb.
  const packed = new Map(
    [...files(join(output, 'linux-unpacked'))].filter(([path]) => path !== 'resources/apparmor-profile'),
  );
  const found = files(held);
  for (const [path, sum] of packed)
    assert.equal(found.get(path), sum, `${path} is in the AppImage as it was built`);
  assert.deepEqual(
    [...found.keys()].filter((path) => !packed.has(path) && !path.startsWith('usr/share/icons/')).sort(),
    ['.DirIcon', 'AppRun', 'agent-runtime-desktop.desktop', 'agent-runtime-desktop.png'],
  );
  const imageEntry = join(held, 'agent-runtime-desktop.desktop');
  execFileSync('desktop-file-validate', [imageEntry], { stdio: 'inherit' });
  assert.match(readFileSync(imageEntry, 'utf8'), /^MimeType=x-scheme-handler\/agent-runtime;$/m);
  hardened(join(held, 'agent-runtime-desktop'));
  step('AppImage: start');
  await answers(image, {
    bed,
    env: { APPIMAGE_EXTRACT_AND_RUN: '1' },
    then: (home) => takesLinks(home, image),
  });
  passed += 1;
  process.stdout.write(`packages: ${passed} passed, 0 failed, ${skipped} skipped\n`);
} finally {
  rmSync(bed, { recursive: true, force: true });
}

/** What is packed is what the fuses let run, and nothing lies beside it. */
function hardened(program) {
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
}

/** No package tells the desktop who takes links: the program itself does, for the person who started it. */
async function takesLinks(home, program) {
  const query = () =>
    spawnSync('xdg-mime', ['query', 'default', 'x-scheme-handler/agent-runtime'], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: home },
    }).stdout.trim();
  const end = Date.now() + 20_000;
  while (query() !== 'agent-runtime-links.desktop') {
    assert.ok(Date.now() < end, `links of the scheme go to ${query() || 'nobody'}`);
    await new Promise((done) => setTimeout(done, 300));
  }
  const entry = join(home, '.local/share/applications/agent-runtime-links.desktop');
  execFileSync('desktop-file-validate', [entry], { stdio: 'inherit' });
  assert.ok(readFileSync(entry, 'utf8').includes(`\nExec="${program}" %u\n`));
}

/** Every file below a folder, with the hash of what it holds; of a link, where it points. */
function files(folder) {
  const all = new Map();
  for (const path of readdirSync(folder, { recursive: true })) {
    const full = join(folder, path);
    const kind = lstatSync(full);
    if (kind.isDirectory()) continue;
    all.set(
      path,
      kind.isSymbolicLink()
        ? `to ${readlinkSync(full)}`
        : createHash('sha256').update(readFileSync(full)).digest('hex'),
    );
  }
  return all;
}

/** Whether this system lets us mount in a namespace of our own. */
function mayMount() {
  return spawnSync('unshare', [...asRoot, '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', bed]).status === 0;
}

/** A step that begins is one that the steps before it let begin. */
function step(name) {
  if (begun) passed += 1;
  begun = true;
  process.stdout.write(`packages: ${name}\n`);
}
