import { createHash } from 'node:crypto';
import type { Name } from './names.ts';
import { withFolder, type Folder } from './safe-path.ts';
import { WorkspaceError } from './workspace-error.ts';

/** What is at a place now, compared with what should be there. */
export type Inspection = 'present' | 'absent' | 'other';

/**
 * Looks for evidence of a write whose outcome is unknown: `present` means exactly this content is there.
 * @throws WorkspaceError when it cannot be told.
 */
export async function inspectFile(
  root: Folder,
  folders: readonly Name[],
  target: Name,
  size: number,
  sha256: string,
): Promise<Inspection> {
  try {
    return await withFolder(root, folders, async (folder) => {
      const there = await folder.look(target);
      if (!there) return 'absent';
      if (!there.isFile() || there.size !== BigInt(size)) return 'other';
      const { handle } = await folder.openFile(target);
      try {
        const hash = createHash('sha256');
        const buffer = Buffer.allocUnsafe(256 * 1024);
        for (let at = 0; at < size;) {
          const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
          if (bytesRead === 0) return 'other';
          hash.update(buffer.subarray(0, bytesRead));
          at += bytesRead;
        }
        if (hash.digest('hex') !== sha256) return 'other';
        await handle.sync().catch(() => undefined);
      } finally {
        await handle.close();
      }
      await folder.sync();
      return 'present';
    });
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === 'not_found') return 'absent';
    throw error;
  }
}
