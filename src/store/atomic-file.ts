import { mkdir, readFile, rename, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type * as z from 'zod';
import { asError, fault } from '../observe/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { replaceFile } from '../platform/durable-file.ts';
import type { Random } from '../platform/random.ts';

/**
 * Creates a folder, and what is missing above it, for its owner alone. Step by step: Node's own recursive form never
 * returns for a path below `/proc`.
 * @throws RuntimeError `storage` when it cannot be made.
 */
export async function privateFolder(path: string): Promise<string> {
  try {
    await makeFolders(path);
    return path;
  } catch (error) {
    throw fault(
      'storage',
      `The folder ${path} could not be made. Name another one, or make it writable for you.`,
      error,
    );
  }
}

async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path) throw error;
    await makeFolders(parent);
    await mkdir(path, { mode: 0o700 }).catch((again: unknown) => {
      // Another start made it meanwhile.
      if (codeOf(again) !== 'EEXIST') throw again;
    });
  }
}

/**
 * Replaces a file whole, mode 0600. Once this resolves every reader finds the new content; a folder that cannot be
 * flushed is no failure of that.
 * @throws RuntimeError `storage` with the cause; the old content is still there.
 */
export async function writeAtomic(path: string, text: string, random: Random): Promise<void> {
  try {
    await replaceFile(path, text, random.hex(6));
  } catch (error) {
    throw fault(
      'storage',
      `The file ${basename(path)} could not be written. Check that the disk has room.`,
      error,
    );
  }
}

export type ReadJson<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'absent' }
  /** It did not parse: kept under `setAside`, so that nothing is lost and nothing is silently reset. */
  | { readonly kind: 'broken'; readonly setAside: string };

/**
 * Reads a state file of ours. One that does not parse is renamed and reported; it is never replaced by defaults
 * without a word.
 * @throws RuntimeError `storage` when it exists and cannot be read.
 */
export async function readJson<S extends z.ZodType>(
  path: string,
  schema: S,
  clock: Clock,
): Promise<ReadJson<z.output<S>>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { kind: 'absent' };
    throw fault(
      'storage',
      `The file ${basename(path)} could not be read. Check that it is a file and that you may read it.`,
      error,
    );
  }
  try {
    return { kind: 'ok', value: schema.parse(JSON.parse(text)) };
  } catch {
    const setAside = `${path}.broken-${clock.now()}`;
    await rename(path, setAside);
    return { kind: 'broken', setAside };
  }
}

export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : asError(error).name;
}
