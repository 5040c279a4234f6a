import { createHash } from 'node:crypto';
import { mkdir, open, readdir, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { asWorkspaceError, WorkspaceError } from './workspace-error.ts';

/** Bytes that can be read again from any position. */
export interface ByteSource {
  readonly size: number;
  /** Fills `buffer` from `position`; fewer bytes only at the end. */
  read(buffer: Buffer, position: number): Promise<number>;
}

const SUFFIX = '.part';

/**
 * The body of one transfer on its way in: a private file of the state folder that grows with what arrives, so that a
 * transfer costs disk and no memory, and the bound folder sees nothing before the whole body is here and checked.
 */
export class Spool implements ByteSource {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash('sha256');
  #size = 0;
  #tail: Promise<void> = Promise.resolve();
  #discarded: Promise<void> | null = null;

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  /** @throws WorkspaceError when the state folder cannot hold it. */
  static async create(folder: string, name: string): Promise<Spool> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, `${name}${SUFFIX}`);
      return new Spool(path, await open(path, 'wx+', 0o600));
    } catch (error) {
      throw asWorkspaceError(error, 'a body could not be stored', 'no_space');
    }
  }

  /** Bodies an earlier run left; nothing of them was ever used. */
  static async sweep(folder: string): Promise<number> {
    const names = await readdir(folder).catch(() => []);
    const left = names.filter((name) => name.endsWith(SUFFIX));
    const removed = await Promise.allSettled(left.map((name) => unlink(join(folder, name))));
    return removed.filter((result) => result.status === 'fulfilled').length;
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#size;
  }

  /** Appends; calls are done one after the other. @throws WorkspaceError `no_space` and others. */
  append(bytes: Buffer): Promise<void> {
    const done = this.#tail.then(async () => {
      try {
        for (let at = 0; at < bytes.length;) {
          const { bytesWritten } = await this.#handle.write(bytes, at, bytes.length - at, this.#size + at);
          at += bytesWritten;
        }
      } catch (error) {
        throw asWorkspaceError(error, 'a body could not be stored', 'no_space');
      }
      this.#hash.update(bytes);
      this.#size += bytes.length;
    });
    this.#tail = done.catch(() => undefined);
    return done;
  }

  /** SHA-256 of everything appended, lower-case hex. The body is complete then. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  async read(buffer: Buffer, position: number): Promise<number> {
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, position);
    return bytesRead;
  }

  /** Removes it. Never throws: what cannot be removed is swept at the next start. */
  discard(): Promise<void> {
    this.#discarded ??= this.#tail
      .then(() => this.#handle.close())
      .catch(() => undefined)
      .then(() => unlink(this.#path))
      .catch(() => undefined);
    return this.#discarded;
  }
}

const STEP = 256 * 1024;

/** Copies a whole source. @throws what writing throws, and WorkspaceError `changed` for a source that is cut short. */
export async function copyTo(source: ByteSource, target: FileHandle): Promise<void> {
  const buffer = Buffer.allocUnsafe(STEP);
  for (let at = 0; at < source.size;) {
    const got = await source.read(buffer.subarray(0, Math.min(STEP, source.size - at)), at);
    if (got === 0) throw new WorkspaceError('changed', 'a stored body is shorter than it was');
    for (let put = 0; put < got;) put += (await target.write(buffer, put, got - put, at + put)).bytesWritten;
    at += got;
  }
}
