import { componentsOf } from './names.ts';
import { withFolder, type Folder } from './safe-path.ts';
import { asWorkspaceError, WorkspaceError } from './workspace-error.ts';

export interface FileBytes {
  readonly data: Buffer;
  /** There was more than `limit`. */
  readonly truncated: boolean;
}

const STEP = 256 * 1024;

/**
 * The first `limit` bytes of a regular file (runtime-behaviour 4.5). Resolves after its handle is closed.
 * @throws WorkspaceError `not_found`, `permission_denied`, `invalid`, `unsafe`, or `uncertain` for anything after the
 * file was opened.
 */
export async function readFileBytes(
  root: Folder,
  path: string,
  limit: number,
  signal: AbortSignal,
  platform: NodeJS.Platform = process.platform,
): Promise<FileBytes> {
  const names = componentsOf(path, platform);
  const name = names.pop();
  if (!name) throw new WorkspaceError('invalid', 'the root is no file');
  return withFolder(root, names, async (folder) => {
    const { handle, stats } = await folder.openFile(name);
    let result: FileBytes;
    try {
      result = await readAtMost(handle, Number(stats.size), limit, signal);
    } catch (error) {
      await closeAfterRead(handle);
      throw asWorkspaceError(error, 'a file could not be read', 'uncertain');
    }
    await closeAfterRead(handle);
    return result;
  });
}

interface Readable {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

async function readAtMost(
  handle: Readable,
  size: number,
  limit: number,
  signal: AbortSignal,
): Promise<FileBytes> {
  // What the file says it holds, and one byte to see whether there is more; it may grow while it is read.
  let buffer = Buffer.allocUnsafe(Math.min(limit, size) + 1);
  let filled = 0;
  while (filled <= limit) {
    if (signal.aborted) throw new WorkspaceError('cancelled', 'the read was given up');
    if (filled === buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(limit + 1, buffer.length + STEP));
      buffer.copy(larger);
      buffer = larger;
    }
    const { bytesRead } = await handle.read(buffer, filled, Math.min(STEP, buffer.length - filled), filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  const truncated = filled > limit;
  return { data: buffer.subarray(0, truncated ? limit : filled), truncated };
}

async function closeAfterRead(handle: { close(): Promise<void> }): Promise<void> {
  try {
    await handle.close();
  } catch (error) {
    throw new WorkspaceError('unclosed', 'a file could not be closed', error);
  }
}
