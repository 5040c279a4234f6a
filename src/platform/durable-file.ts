import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * The new content is there for every later reader. `durable`: it also survives a crash of the machine; `in_place`: its
 * folder could not be flushed, so such a crash may bring the old content back.
 */
export type Replaced = 'durable' | 'in_place';

/**
 * Replaces `file` as a whole: a temporary file beside it is opened exclusively (mode 0600), written, flushed, renamed
 * over it, and the folder is flushed. When this rejects the old content is still there, and nothing is left beside it.
 * Callers write one at a time to one name.
 */
export async function replaceFile(file: string, content: string, uniqueSuffix: string): Promise<Replaced> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${uniqueSuffix}.tmp`;
  const handle = await open(temporary, 'wx', 0o600);
  try {
    try {
      await handle.writeFile(content, 'utf8');
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  return syncFolder(folder).then(
    () => 'durable',
    () => 'in_place',
  );
}

/** Makes the entries of a folder durable. Windows cannot open a folder and needs no such call. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
