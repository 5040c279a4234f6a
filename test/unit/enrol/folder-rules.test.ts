import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { bundledScript } from '../../support/bundled-script.ts';
import { judgeFolder, provideFolder, type FolderRules } from '../../../src/enrol/folder-rules.ts';

let top: string;
let rules: FolderRules;

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), 'folder-rules-')));
  for (const path of ['users/me/projects/site/docs', 'users/me/.state/deep', 'users/other', 'srv']) {
    await mkdir(join(top, path), { recursive: true });
  }
  await symlink(join(top, 'users/me'), join(top, 'link-home'));
  await symlink(join(top, 'users/me/projects'), join(top, 'link-projects'));
  await symlink(join(top, 'gone'), join(top, 'link-nowhere'));
  await symlink('/', join(top, 'link-root'));
  await writeFile(join(top, 'a-file'), '');
  rules = {
    home: join(top, 'users/me'),
    state: join(top, 'users/me/.state'),
    others: [{ binding: 'site', folder: join(top, 'users/me/projects/site') }],
    mayCreate: true,
  };
});

describe('a folder is refused', () => {
  test.each([
    ['the root of the disk', '/', 'root'],
    ['a link to the root', 'link-root', 'root'],
    ['the home folder itself', 'users/me', 'home'],
    ['a link to the home folder', 'link-home', 'home'],
    ['what contains the home folder', 'users', 'holds_home'],
    ['our own state', 'users/me/.state', 'own_state'],
    ['a folder in our own state', 'users/me/.state/deep', 'own_state'],
    ['our own state through a link', 'link-home/.state', 'own_state'],
    ['a file', 'a-file', 'not_a_folder'],
    ['something below a file', 'a-file/below', 'not_a_folder'],
    ['a link that leads nowhere', 'link-nowhere', 'unreachable'],
    ['something below such a link', 'link-nowhere/below', 'unreachable'],
  ])('%s', async (_name, path, refusal) => {
    const asked = path.startsWith('/') ? path : join(top, path);
    expect(await judgeFolder(asked, rules)).toMatchObject({ refusal });
  });

  test.each([
    ['a relative one', 'projects'],
    ['one with a step up', '/tmp/../etc'],
    ['one with a slash at the end', '/tmp/x/'],
    ['one with a doubled slash', '/tmp//x'],
    ['an empty one', ''],
    ['one with a NUL', '/tmp/\0'],
    ['one of Windows, here', 'C:\\Users\\me\\site'],
    ['one longer than a path', `/${'a'.repeat(5_000)}`],
  ])('%s, because it is not a plain whole path', async (_name, path) => {
    expect(await judgeFolder(path, rules)).toMatchObject({ refusal: 'not_absolute', exists: false });
  });

  test('what contains our own state, wherever that is', async () => {
    const elsewhere = { ...rules, state: join(top, 'srv/state') };
    expect(await judgeFolder(join(top, 'srv'), elsewhere)).toMatchObject({ refusal: 'holds_own_state' });
  });

  test('a missing one, unless the way of the enrolment makes it', async () => {
    const path = join(top, 'users/me/projects/new/deep');
    expect(await judgeFolder(path, { ...rules, mayCreate: false })).toMatchObject({ refusal: 'missing' });
    expect(await judgeFolder(path, rules)).toMatchObject({ refusal: null, exists: false, canonical: path });
  });
});

describe('a folder that can be bound', () => {
  test('is shown with its links resolved', async () => {
    const found = await judgeFolder(join(top, 'link-projects/new'), rules);
    expect(found).toMatchObject({
      refusal: null,
      exists: false,
      writable: true,
      canonical: join(top, 'users/me/projects/new'),
    });
    expect(found.freeBytes).toBeGreaterThan(0);
  });

  test.each([
    ['users/me/projects/site', 'same'],
    ['link-projects/site', 'same'],
    ['users/me/projects/site/docs', 'inside'],
    ['users/me/projects', 'contains'],
  ])('%s warns of the binding whose files it shares (%s)', async (path, how) => {
    expect(await judgeFolder(join(top, path), rules)).toMatchObject({
      refusal: null,
      overlaps: [{ binding: 'site', how }],
    });
  });

  test('with a name that only begins alike shares nothing', async () => {
    expect((await judgeFolder(join(top, 'users/me/projects/site-two'), rules)).overlaps).toEqual([]);
  });

  test('is made with the person’s own permissions, and only if it is still what was confirmed', async () => {
    const path = join(top, 'users/me/projects/new/deep');
    const found = await judgeFolder(path, rules);
    expect(await provideFolder(found)).toBe(path);
    expect((await stat(path)).mode & 0o777).toBe(0o777 & ~process.umask());
    // Swapped for a link after it was confirmed.
    await rename(join(top, 'users/me/projects/new'), join(top, 'users/me/projects/old'));
    await symlink(join(top, 'users/other'), join(top, 'users/me/projects/new'));
    await expect(provideFolder({ ...found, exists: false })).rejects.toMatchObject({
      code: 'workspace_unusable',
    });
  });

  test('and cannot be written is told', async () => {
    await chmod(join(top, 'srv'), 0o555);
    for (const path of [top, join(top, 'users'), join(top, 'users/me')]) await chmod(path, 0o755);
    const script = await bundledScript(
      fileURLToPath(new URL('../../support/judge-folder.ts', import.meta.url)),
    );
    await chmod(dirname(script.file), 0o755);
    // Root may write everywhere: then somebody else looks.
    const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const look = async (folder: string): Promise<unknown> => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [script.file, folder, rules.home, rules.state],
        { ...other, cwd: top },
      );
      return JSON.parse(stdout) as unknown;
    };
    expect(await look(join(top, 'srv'))).toMatchObject({ refusal: null, exists: true, writable: false });
    expect(await look(join(top, 'srv/new'))).toMatchObject({ refusal: null, exists: false, writable: false });
    await script.remove();
  });
});
