import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { WorkspaceError } from './workspace-error.ts';
import { archiveLimits, type ArchiveFile } from './zip-archive.ts';

/** How far below a chosen directory a Skill is looked for. */
const DEPTH = 4;

/** What a capability directory holds: one Plugin, or the Skills below it, each with its own files. */
export type DirectoryContent =
  | { readonly kind: 'plugin'; readonly files: readonly ArchiveFile[] }
  | {
      readonly kind: 'skills';
      /** `path`: of the Skill's folder below the directory, slash-separated; empty for the directory itself. */
      readonly skills: readonly { readonly path: string; readonly files: readonly ArchiveFile[] }[];
    };

/**
 * Reads a directory of this machine as it is now (environment-workspace 6). A Plugin's root activates the Plugin; any
 * other directory only gives the Skills in it. `forbidden` is our own snapshot, which no selection may refer to.
 * @throws WorkspaceError `not_found`, `invalid`, `limit`, `permission_denied`; nothing was changed.
 */
export async function readCapabilityDirectory(path: string, forbidden: string): Promise<DirectoryContent> {
  const root = await realpath(path).catch(() => {
    throw new WorkspaceError('not_found', 'a capability directory is missing');
  });
  const facts = await stat(root).catch(() => null);
  if (!facts?.isDirectory()) throw wrong('a capability directory is no directory');
  const own = await realpath(forbidden).catch(() => forbidden);
  if (isInside(root, own) || isInside(own, root))
    throw wrong('a capability directory holds the snapshot itself');
  const budget = { bytes: archiveLimits.expandedBytes, entries: archiveLimits.entries };
  const read = (folder: string): Promise<ArchiveFile[]> => readTree(folder, root, budget);
  if (await isFile(join(root, '.codex-plugin', 'plugin.json'))) {
    return { kind: 'plugin', files: await read(root) };
  }
  const skills = [];
  for (const folder of await skillFolders(root, DEPTH)) {
    const place = relative(root, folder).split(sep).join('/');
    skills.push({ path: place, files: await read(folder) });
  }
  return { kind: 'skills', skills };
}

/** Folders with a `SKILL.md`, in the order of their names; nothing below one of them, nothing hidden, no link. */
async function skillFolders(folder: string, depth: number): Promise<string[]> {
  if (await isFile(join(folder, 'SKILL.md'))) return [folder];
  if (depth === 0) return [];
  const names = (await entriesOf(folder))
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .map((entry) => entry.name)
    .sort();
  const found: string[] = [];
  for (const name of names) found.push(...(await skillFolders(join(folder, name), depth - 1)));
  return found;
}

/**
 * All files below a folder, sorted by their paths. `budget` counts down.
 * @throws WorkspaceError as `readCapabilityDirectory`.
 */
export async function readTree(
  folder: string,
  root: string,
  budget: { bytes: number; entries: number },
): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = [];
  const walk = async (at: string, prefix: string): Promise<void> => {
    const entries = (await entriesOf(at)).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (entry.name === '.git') continue;
      if (--budget.entries < 0)
        throw new WorkspaceError('limit', 'a capability directory has too many entries');
      const path = join(at, entry.name);
      const named = `${prefix}${entry.name}`;
      if (entry.isDirectory()) await walk(path, `${named}/`);
      else files.push({ path: named, data: await readMember(path, root, entry.isSymbolicLink(), budget) });
    }
  };
  await walk(folder, '');
  return files;
}

/** A link counts as the regular file of the same tree that it leads to. */
async function readMember(
  path: string,
  root: string,
  link: boolean,
  budget: { bytes: number },
): Promise<Buffer> {
  const real = link ? await realpath(path).catch(() => '') : path;
  if (!isInside(real, root)) throw wrong('a link leads out of a capability directory');
  // Without blocking: what was listed as a file may be a pipe by now.
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => {
      throw wrong('a file of a capability directory cannot be read');
    },
  );
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw wrong('a capability directory holds something else than files');
    budget.bytes -= facts.size;
    if (budget.bytes < 0) throw new WorkspaceError('limit', 'a capability directory is too large');
    const data = Buffer.alloc(facts.size);
    let at = 0;
    while (at < data.length) {
      const { bytesRead } = await handle.read(data, at, data.length - at, at);
      if (bytesRead === 0) throw new WorkspaceError('changed', 'a file changed while it was read');
      at += bytesRead;
    }
    return data;
  } finally {
    await handle.close();
  }
}

const entriesOf = (folder: string) =>
  readdir(folder, { withFileTypes: true }).catch(() => {
    throw new WorkspaceError('permission_denied', 'a capability directory cannot be listed');
  });

const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isFile() === true;

const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

const wrong = (what: string): WorkspaceError => new WorkspaceError('invalid', what);
