#!/usr/bin/env node
// Takes the place of fpm where it cannot be fetched: electron-builder calls it for its deb target, dpkg-deb does the
// work. It understands what electron-builder says for a deb and refuses the rest.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const repeated = new Map([
  ['-d', 'Depends'],
  ['--deb-recommends', 'Recommends'],
  ['--deb-suggests', 'Suggests'],
  ['--conflicts', 'Conflicts'],
  ['--replaces', 'Replaces'],
  ['--provides', 'Provides'],
]);
const single = new Map();
const lists = new Map();
const mapped = [];
const given = process.argv.slice(2);
while (given.length > 0) {
  const word = given.shift();
  if (word === '--force') continue;
  const field = repeated.get(word);
  if (field) lists.set(field, [...(lists.get(field) ?? []), given.shift()]);
  else if (word.startsWith('-')) single.set(word, given.shift());
  else mapped.push(word);
}
if (single.get('-t') !== 'deb') {
  process.stderr.write('Only deb packages are made without fpm.\n');
  process.exit(1);
}

const tree = mkdtempSync(join(tmpdir(), 'deb-'));
try {
  for (const pair of mapped) {
    const at = pair.indexOf('=');
    const target = join(tree, pair.slice(at + 1));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(pair.slice(0, at), target, { recursive: true, verbatimSymlinks: true });
  }
  const kib = Math.ceil(tidy(tree) / 1024);
  const control = join(tree, 'DEBIAN');
  mkdirSync(control, { mode: 0o755 });
  const [summary, ...more] = (single.get('--description') ?? '').trim().split('\n');
  const fields = [
    ['Package', single.get('--name')],
    // What comes before a release sorts before it.
    ['Version', single.get('--version').replace('-', '~')],
    ['Architecture', single.get('--architecture')],
    ['Maintainer', single.get('--maintainer')],
    ['Installed-Size', String(kib)],
    ...[...lists].map(([name, values]) => [name, values.join(', ')]),
    ['Section', single.get('--category')],
    ['Priority', single.get('--deb-priority')],
    ['Homepage', single.get('--url')],
    ['Description', [summary, ...more.map((line) => ` ${line.trim() || '.'}`)].join('\n')],
  ].filter(([, value]) => value);
  writeFileSync(join(control, 'control'), fields.map(([name, value]) => `${name}: ${value}\n`).join(''));
  for (const [option, name] of [
    ['--after-install', 'postinst'],
    ['--after-remove', 'postrm'],
  ]) {
    if (!single.has(option)) continue;
    writeFileSync(join(control, name), readFileSync(single.get(option)));
    chmodSync(join(control, name), 0o755);
  }
  const compression = { gz: 'gzip', xz: 'xz', none: 'none' }[single.get('--deb-compression') ?? 'xz'] ?? 'xz';
  execFileSync(
    'dpkg-deb',
    [
      `-Z${compression}`,
      ...(compression === 'gzip' ? ['-z1'] : []),
      '--root-owner-group',
      '-b',
      tree,
      single.get('--package'),
    ],
    { stdio: 'inherit' },
  );
} finally {
  rmSync(tree, { recursive: true, force: true });
}

/** Modes as a package has them, whoever built it. Returns the size of all files in bytes. */
function tidy(folder) {
  chmodSync(folder, 0o755);
  let size = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) size += tidy(path);
    else {
      const { mode, size: bytes } = lstatSync(path);
      size += bytes;
      if (!entry.isSymbolicLink()) chmodSync(path, mode & 0o100 ? 0o755 : 0o644);
    }
  }
  return size;
}
