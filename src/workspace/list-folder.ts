import { isEntryName, type DirectoryEntry, type DirectoryListing } from '../protocol/workspace-read.ts';
import { componentsOf, textOf, type Name } from './names.ts';
import { withFolder, type Folder } from './safe-path.ts';
import { asWorkspaceError, WorkspaceError } from './workspace-error.ts';

/**
 * The first `limit` entries of a folder in byte order (wire 12.2, runtime-behaviour 4.4). All names are seen and only
 * the smallest are kept, so that a folder of any size costs the same memory. What a receiver could not read as a name
 * is left out and shows as `truncated`; what vanishes meanwhile is left out.
 * @throws WorkspaceError `not_directory`, `permission_denied`, `unsafe`, `cancelled`, `uncertain`.
 */
export async function listFolder(
  root: Folder,
  path: string,
  limit: number,
  signal: AbortSignal,
  platform: NodeJS.Platform = process.platform,
): Promise<DirectoryListing> {
  const names = componentsOf(path, platform);
  try {
    return await withFolder(root, names, async (folder) => {
      const kept = new Smallest(limit);
      let leftOut = false;
      for await (const name of folder.names()) {
        if (signal.aborted) throw new WorkspaceError('cancelled', 'the listing was given up');
        const text = textOf(name);
        if (text === null || !isEntryName(text)) leftOut = true;
        else kept.add(name);
      }
      const entries: DirectoryEntry[] = [];
      for (const name of kept.sorted()) {
        if (signal.aborted) throw new WorkspaceError('cancelled', 'the listing was given up');
        const entry = await entryOf(folder, name);
        if (entry) entries.push(entry);
      }
      await folder.verify();
      return { entries, truncated: kept.cut || leftOut };
    });
  } catch (error) {
    const known = asWorkspaceError(error, 'a folder could not be listed');
    if (known.code === 'not_found')
      throw new WorkspaceError('not_directory', 'there is no such folder', error);
    throw known;
  }
}

async function entryOf(folder: Folder, name: Name): Promise<DirectoryEntry | null> {
  const stats = await folder.look(name);
  const text = textOf(name);
  if (!stats || text === null) return null;
  const kind = stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'directory'
      : stats.isSymbolicLink()
        ? 'symlink'
        : 'other';
  return { name: text, kind, size_bytes: kind === 'file' ? Number(stats.size) : null };
}

/** The smallest names of any number of them, in bounded memory. */
export class Smallest {
  readonly #limit: number;
  #names: Name[] = [];
  #worst: Name | null = null;
  cut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }
  add(name: Name): void {
    if (this.#worst && Buffer.compare(name, this.#worst) > 0) {
      this.cut = true;
      return;
    }
    // A copy: names come out of larger buffers of the listing.
    this.#names.push(Buffer.from(name));
    if (this.#names.length >= 2 * this.#limit + 64) this.#shrink();
  }
  sorted(): readonly Name[] {
    this.#shrink();
    return this.#names;
  }
  #shrink(): void {
    this.#names.sort(Buffer.compare);
    if (this.#names.length <= this.#limit) return;
    this.cut = true;
    this.#names.length = this.#limit;
    this.#worst = this.#names[this.#limit - 1] ?? null;
  }
}
