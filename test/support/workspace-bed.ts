import { execFileSync } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Folder, type Mode } from '../../src/workspace/safe-path.ts';
import { WorkspaceError } from '../../src/workspace/workspace-error.ts';

/** A folder of its own for one test, with its real path. */
export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'agent-runtime-test-')));
  return {
    path,
    // A path that is longer than the system takes in one piece is removed by the tool that steps.
    remove: async () =>
      process.platform === 'win32'
        ? rm(path, { recursive: true, force: true })
        : void execFileSync('rm', ['-rf', path]),
  };
}

export async function withRoot<T>(path: string, mode: Mode, use: (root: Folder) => Promise<T>): Promise<T> {
  const root = await Folder.openRoot(path, mode);
  try {
    return await use(root);
  } finally {
    await root.close();
  }
}

/** The code an operation was refused with, or `done`. */
export async function codeOf(operation: Promise<unknown>): Promise<string> {
  try {
    await operation;
    return 'done';
  } catch (error) {
    if (error instanceof WorkspaceError) return error.code;
    throw error;
  }
}

/** Waits for real file work while clocks stand still. */
export async function until(condition: () => boolean, what = 'the condition'): Promise<void> {
  const end = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`${what} did not become true`);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
