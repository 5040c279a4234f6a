import type { BigIntStats, Dir } from 'node:fs';
import { constants } from 'node:fs';
import {
  link,
  lstat,
  mkdir,
  open,
  opendir,
  realpath,
  rename,
  rmdir,
  unlink,
  type FileHandle,
} from 'node:fs/promises';
import { sep } from 'node:path';
import type { Name } from './names.ts';
import { asWorkspaceError, systemCodeOf, WorkspaceError } from './workspace-error.ts';

/**
 * The one way into the bound folder (runtime-behaviour 4.3, environment-workspace F3): component by component, never
 * through a link, and what was opened is compared with what was checked. On Linux every step is anchored at an opened
 * folder (`/proc/self/fd/<n>/<name>`), so that a component that is swapped meanwhile is simply not ours; elsewhere
 * the path is walked, and the chain of its folders is compared again after each use.
 */

/** What a thing on disk is, whatever its name. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}
export const sameIdentity = (a: Identity, b: Identity): boolean => a.dev === b.dev && a.ino === b.ino;
const identityOf = ({ dev, ino }: BigIntStats): Identity => ({ dev, ino });

export type Mode = 'anchored' | 'portable';

const flag = (value: number | undefined): number => value ?? 0;
const NOFOLLOW = flag(constants.O_NOFOLLOW);
const NONBLOCK = flag(constants.O_NONBLOCK);
const DIRECTORY = flag(constants.O_DIRECTORY);
/**
 * A walked path cannot be held, only looked at again: somebody who swaps a folder in the very moment of each look, and
 * back before the next, is not seen. Each round halves that chance at least.
 */
const WALK_ROUNDS = 8;
/** Linux: a descriptor that only names a folder, which also works where it may not be listed. */
const O_PATH = 0o10000000;

let probed: Promise<Mode> | null = null;
/** Anchored where `/proc` gives true steps from an opened folder. */
export function systemMode(): Promise<Mode> {
  probed ??= probe();
  return probed;
}
async function probe(): Promise<Mode> {
  if (process.platform !== 'linux') return 'portable';
  try {
    const handle = await open('/', O_PATH | DIRECTORY | NOFOLLOW);
    try {
      await lstat(`/proc/self/fd/${handle.fd}/.`);
      return 'anchored';
    } finally {
      await handle.close();
    }
  } catch {
    return 'portable';
  }
}

/** An opened folder of the workspace. Whoever got it closes it; the folders it came through stay open with it. */
export class Folder {
  readonly identity: Identity;
  readonly #base: Buffer;
  readonly #handle: FileHandle | null;
  readonly #parent: { readonly folder: Folder; readonly name: Name } | null;
  readonly #rootPath: string;
  #closing: Promise<void> | null = null;

  private constructor(init: {
    identity: Identity;
    base: Buffer;
    handle: FileHandle | null;
    parent: { folder: Folder; name: Name } | null;
    rootPath: string;
  }) {
    this.identity = init.identity;
    this.#base = init.base;
    this.#handle = init.handle;
    this.#parent = init.parent;
    this.#rootPath = init.rootPath;
  }

  /**
   * Opens the bound folder. `path` is its real path; another folder under that name, or a link in it, is refused.
   * @throws WorkspaceError `root_unavailable`, `permission_denied`.
   */
  static async openRoot(path: string, mode?: Mode): Promise<Folder> {
    const how = mode ?? (await systemMode());
    let handle: FileHandle | null = null;
    try {
      if (how === 'anchored') handle = await open(path, O_PATH | DIRECTORY | NOFOLLOW);
      const stats = handle ? await handle.stat({ bigint: true }) : await lstat(path, { bigint: true });
      if (!stats.isDirectory() || (await realpath(path)) !== path) throw rootGone();
      return new Folder({
        identity: identityOf(stats),
        base: handle ? anchor(handle) : Buffer.from(path.endsWith(sep) ? path : `${path}${sep}`),
        handle,
        parent: null,
        rootPath: path,
      });
    } catch (error) {
      await handle?.close().catch(() => undefined);
      const known = asWorkspaceError(error, 'the bound folder could not be opened', 'root_unavailable');
      if (known.code === 'not_found' || known.code === 'not_directory') throw rootGone(error);
      throw known;
    }
  }

  /**
   * The folder one step below.
   * @throws WorkspaceError `not_directory` for a file or a link, `not_found`, `permission_denied`, `unsafe`.
   */
  async child(name: Name): Promise<Folder> {
    const path = this.#at(name);
    let handle: FileHandle | null = null;
    try {
      if (this.#handle) handle = await open(path, O_PATH | DIRECTORY | NOFOLLOW);
      const stats = handle ? await handle.stat({ bigint: true }) : await lstat(path, { bigint: true });
      if (!stats.isDirectory()) throw new WorkspaceError('not_directory', 'a component is no folder');
      const folder = new Folder({
        identity: identityOf(stats),
        base: handle ? anchor(handle) : Buffer.concat([path, Buffer.from(sep)]),
        handle,
        parent: { folder: this, name },
        rootPath: this.#rootPath,
      });
      if (!handle) await this.verify();
      return folder;
    } catch (error) {
      await handle?.close().catch(() => undefined);
      throw asWorkspaceError(error, 'a folder could not be opened', 'uncertain');
    }
  }

  /** What is under a name, links not followed; null when there is nothing. */
  async look(name: Name): Promise<BigIntStats | null> {
    let seen: BigIntStats | null = null;
    for (let round = 0; round < (this.#handle ? 1 : WALK_ROUNDS); round++) {
      const stats = await this.#lookOnce(name);
      if (!this.#handle) await this.verify();
      const same = seen === null ? stats === null : stats !== null && sameIdentity(seen, stats);
      if (round > 0 && !same) throw new WorkspaceError('unsafe', 'a name changes while it is looked at');
      seen = stats;
    }
    return seen;
  }

  async #lookOnce(name: Name): Promise<BigIntStats | null> {
    try {
      return await lstat(this.#at(name), { bigint: true });
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return null;
      throw asWorkspaceError(error, 'a name could not be looked at');
    }
  }

  /**
   * Opens a regular file for reading. Never waits for a FIFO and never follows a link.
   * @throws WorkspaceError `not_found`, `permission_denied`, `invalid` (no regular file), `unsafe`.
   */
  async openFile(name: Name): Promise<{ handle: FileHandle; stats: BigIntStats }> {
    const before = await this.look(name);
    if (!before) throw new WorkspaceError('not_found', 'there is no such file');
    if (!before.isFile()) throw new WorkspaceError('invalid', 'it is no regular file');
    let handle: FileHandle;
    try {
      handle = await open(this.#at(name), constants.O_RDONLY | NOFOLLOW | NONBLOCK);
    } catch (error) {
      const known = asWorkspaceError(error, 'a file could not be opened');
      // It was a regular file a moment ago: a link or a socket now means that somebody swaps it.
      if (known.code === 'not_directory' || known.code === 'invalid') {
        throw new WorkspaceError('unsafe', 'a file was replaced while it was opened', error);
      }
      throw known;
    }
    try {
      const stats = await handle.stat({ bigint: true });
      if (!stats.isFile() || !sameIdentity(identityOf(stats), identityOf(before))) {
        throw new WorkspaceError('unsafe', 'a file was replaced while it was opened');
      }
      if (!this.#handle) await this.#confirm(name, identityOf(stats));
      await this.verify();
      return { handle, stats };
    } catch (error) {
      await handle.close();
      throw asWorkspaceError(error, 'a file could not be checked');
    }
  }

  /** Creates a file that must not exist, mode 0600, for writing. */
  async createFile(name: Name): Promise<FileHandle> {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | NOFOLLOW;
    return this.#change('a file could not be created', () => open(this.#at(name), flags, 0o600));
  }
  async createFolder(name: Name): Promise<void> {
    await this.#change('a folder could not be created', () => mkdir(this.#at(name), 0o700));
  }
  /** A second name in the same folder; fails when anything is there. */
  async link(from: Name, to: Name): Promise<void> {
    await this.#change('a name could not be added', () => link(this.#at(from), this.#at(to)));
  }
  /** Replaces what is at `to`. */
  async rename(from: Name, to: Name): Promise<void> {
    await this.#change('a name could not be changed', () => rename(this.#at(from), this.#at(to)));
  }
  async unlink(name: Name): Promise<void> {
    await this.#change('a name could not be removed', () => unlink(this.#at(name)));
  }
  /**
   * Takes back a name of ours in a folder that was moved away. Anchored, it is the same folder wherever it lies; on a
   * walked path it may be another one, so nothing is removed there.
   */
  async unlinkUnverified(name: Name): Promise<void> {
    if (!this.#handle) throw new WorkspaceError('unsafe', 'a folder was replaced while it was used');
    await unlink(this.#at(name)).catch((error: unknown) => {
      throw asWorkspaceError(error, 'a name could not be removed');
    });
  }
  /** Removes an empty folder. */
  async removeFolder(name: Name): Promise<void> {
    await this.#change('a folder could not be removed', () => rmdir(this.#at(name)));
  }

  /** The raw names, in the order of the disk, a few at a time. The caller iterates to the end or breaks. */
  async *names(): AsyncGenerator<Name, void> {
    let dir: Dir;
    try {
      // With this encoding names are bytes, whatever the type says.
      dir = await opendir(this.#self(), { encoding: 'buffer' as BufferEncoding, bufferSize: 512 });
    } catch (error) {
      throw asWorkspaceError(error, 'a folder could not be listed');
    }
    try {
      for (;;) {
        const entry = await dir.read();
        if (!entry) return;
        const name: unknown = entry.name;
        yield Buffer.isBuffer(name) ? name : Buffer.from(String(name), 'utf8');
      }
    } finally {
      await dir.close();
    }
  }

  /** Makes its entries durable. Windows cannot open a folder and needs no such call. */
  async sync(): Promise<void> {
    if (process.platform === 'win32') return;
    const handle = await open(this.#self(), constants.O_RDONLY | DIRECTORY).catch((error: unknown) => {
      throw asWorkspaceError(error, 'a folder could not be opened');
    });
    try {
      await handle.sync();
    } catch (error) {
      throw asWorkspaceError(error, 'a folder could not be made durable');
    } finally {
      await handle.close();
    }
  }

  /**
   * Whether this folder is still where it was found, from the root down.
   * @throws WorkspaceError `unsafe`.
   */
  async verify(): Promise<void> {
    const parent = this.#parent;
    const path = parent ? parent.folder.#at(parent.name) : Buffer.from(this.#rootPath);
    const now = await lstat(path, { bigint: true }).catch(() => null);
    if (!now?.isDirectory() || !sameIdentity(identityOf(now), this.identity)) {
      throw new WorkspaceError('unsafe', 'a folder was replaced while it was used');
    }
    await parent?.folder.verify();
  }

  /** A path a child process can use as its working folder; only while this stays open. */
  get workingPath(): string {
    return this.#self().toString('utf8');
  }

  /** Closes this folder alone. @throws WorkspaceError `unclosed`. */
  close(): Promise<void> {
    this.#closing ??= (this.#handle?.close() ?? Promise.resolve()).catch((error: unknown) => {
      throw new WorkspaceError('unclosed', 'a folder could not be closed', error);
    });
    return this.#closing;
  }

  /** A walked path led to exactly this thing, before and after it was opened. */
  async #confirm(name: Name, identity: Identity): Promise<void> {
    const now = await this.look(name);
    if (!now || !sameIdentity(identityOf(now), identity)) {
      throw new WorkspaceError('unsafe', 'a file was replaced while it was opened');
    }
  }

  async #change<T>(doing: string, act: () => Promise<T>): Promise<T> {
    await this.verify();
    try {
      return await act();
    } catch (error) {
      throw asWorkspaceError(error, doing);
    }
  }

  #at(name: Name): Buffer {
    return Buffer.concat([this.#base, name]);
  }
  #self(): Buffer {
    return this.#handle ? Buffer.concat([this.#base, Buffer.from('.')]) : this.#base;
  }
}

const anchor = (handle: FileHandle): Buffer => Buffer.from(`/proc/self/fd/${handle.fd}/`);
const rootGone = (cause?: unknown): WorkspaceError =>
  new WorkspaceError('root_unavailable', 'the bound folder is missing or is another one', cause);

/** Folders opened on the way to one; closed together, deepest first. */
export class Walk {
  readonly #opened: Folder[] = [];
  readonly root: Folder;

  /** `root` stays its owner's. */
  constructor(root: Folder) {
    this.root = root;
  }
  get last(): Folder {
    return this.#opened[this.#opened.length - 1] ?? this.root;
  }
  async step(name: Name): Promise<Folder> {
    const next = await this.last.child(name);
    this.#opened.push(next);
    return next;
  }
  async to(names: readonly Name[]): Promise<Folder> {
    for (const name of names) await this.step(name);
    return this.last;
  }
  /** @throws WorkspaceError `unclosed` when one could not be closed. */
  async close(): Promise<void> {
    const results = await Promise.allSettled(this.#opened.reverse().map((folder) => folder.close()));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw new WorkspaceError('unclosed', 'a folder could not be closed', failed.reason);
  }
}

/** Opens the root, walks to a folder, uses it and closes everything, whatever happens. */
export async function withFolder<T>(
  root: Folder,
  names: readonly Name[],
  use: (folder: Folder, walk: Walk) => Promise<T>,
): Promise<T> {
  const walk = new Walk(root);
  let result: T;
  try {
    result = await use(await walk.to(names), walk);
  } catch (error) {
    await walk.close();
    throw error;
  }
  await walk.close();
  return result;
}
