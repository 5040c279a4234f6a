import { link, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a file that must not exist yet, whole and durably, mode 0600: `exists` when there is one. A kill at any
 * moment leaves either nothing under the name or the whole content. The folder has to be there.
 */
export async function createOnce(
  file: string,
  content: string,
  uniqueSuffix: string,
): Promise<'created' | 'exists'> {
  const temporary = `${file}.${uniqueSuffix}.tmp`;
  await writeDurably(temporary, content);
  try {
    await link(temporary, file);
  } catch (error) {
    if (isCode(error, 'EEXIST')) return 'exists';
    if (!noLinks.some((code) => isCode(error, code))) throw error;
    // A disk without hard links: exclusive all the same, whole only once it has been written.
    try {
      await writeDurably(file, content);
    } catch (second) {
      if (isCode(second, 'EEXIST')) return 'exists';
      throw second;
    }
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
  await syncFolder(dirname(file));
  return 'created';
}

const noLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];
const isCode = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code;

async function writeDurably(file: string, content: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(content, 'utf8');
    await handle.sync();
  } catch (error) {
    await unlink(file).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
}

/** Windows cannot open a folder and needs no such call. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
