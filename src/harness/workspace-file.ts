import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** A text file that is shown whole in a prompt is at most this large, bytes. */
export const SHOWN_FILE_LIMIT = 1024 * 1024;

/** Where a path of a native request leads. */
export interface FilePlace {
  /** Relative to the workspace when inside it, else where it really leads. For display. */
  readonly shown: string;
  /** Absolute, with the links of its folder followed; the last part is not followed. */
  readonly path: string;
  readonly inside: boolean;
}

/** Finds out whether a path (absolute, or relative to the workspace) lies in the workspace once links are followed. */
export async function placeOf(workspace: string | null, path: string): Promise<FilePlace> {
  const absolute = isAbsolute(path) ? resolve(path) : resolve(workspace ?? '/', path);
  const real = join(await realFolder(dirname(absolute)), basename(absolute));
  const root = workspace === null ? null : await realpath(workspace).catch(() => null);
  const inside = root !== null && real.startsWith(root.endsWith(sep) ? root : root + sep);
  return { shown: inside && root !== null ? relative(root, real) : real, path: real, inside };
}

/** The real path of the nearest part that exists, with the rest appended. */
async function realFolder(folder: string): Promise<string> {
  const parts: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => null);
    if (real !== null) return join(real, ...parts);
    if (dirname(at) === at) return folder;
    parts.unshift(basename(at));
  }
}

/**
 * Text of a regular file, without following a link at its end. `missing`: there is none. `unreadable`: a link, not a
 * file, too large, not text, or not allowed.
 */
export async function readShownFile(
  path: string,
): Promise<{ readonly kind: 'text'; readonly text: string } | { readonly kind: 'missing' | 'unreadable' }> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => (hasCode(error, 'ENOENT') ? ('missing' as const) : ('unreadable' as const)),
  );
  if (typeof handle === 'string') return { kind: handle };
  try {
    const facts = await handle.stat();
    if (!facts.isFile() || facts.size > SHOWN_FILE_LIMIT) return { kind: 'unreadable' };
    const bytes = await handle.readFile();
    const text = bytes.toString('utf8');
    return text.includes('\0') || text.includes('\uFFFD') ? { kind: 'unreadable' } : { kind: 'text', text };
  } catch {
    return { kind: 'unreadable' };
  } finally {
    await handle.close().catch(() => undefined);
  }
}

export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
