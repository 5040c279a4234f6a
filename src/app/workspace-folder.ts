import { access, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { parse } from 'node:path';
import { fault, rejected } from '../observe/errors.ts';
import type { StatePaths } from '../store/paths.ts';

export type FolderState = 'usable' | 'read_only' | 'unusable';

/** Whether agents can work there. A folder that can only be read is told, not refused. */
export async function folderState(path: string): Promise<FolderState> {
  try {
    if (!(await stat(await realpath(path))).isDirectory()) return 'unusable';
    await access(path, constants.R_OK | constants.X_OK);
  } catch {
    return 'unusable';
  }
  return access(path, constants.W_OK).then(
    () => 'usable' as const,
    () => 'read_only' as const,
  );
}

/**
 * The real path of an existing folder.
 * @throws RuntimeError `workspace_unusable` for what is missing, no folder, or the root of a disk.
 */
export async function existingFolder(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory() && real !== parse(real).root) return real;
  } catch {
    // Said below, in the same words as for a file.
  }
  throw rejected(
    'workspace_unusable',
    `The workspace must be an existing folder, and not the root of the disk. Name another one than ${path}.`,
  );
}

/** The folder of the local Core: the one named, or one of its own in the state folder. */
export async function localWorkspace(named: string | null, paths: StatePaths): Promise<string> {
  if (named !== null) return existingFolder(named);
  try {
    await mkdir(paths.workspace, { recursive: true, mode: 0o700 });
    return await realpath(paths.workspace);
  } catch (error) {
    throw fault(
      'workspace_unusable',
      `The folder ${paths.workspace} could not be made. Make its parent writable for you, or name another with --workspace.`,
      error,
    );
  }
}
