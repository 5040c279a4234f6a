import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const tailBytes = 1024 * 1024;

/** The last `lines` of the log, from at most 1 MiB, across a rotation. */
export async function tailLog(folder: string, lines: number): Promise<string[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('runtime.log'));
  const ordered = names.sort((a, b) => a.length - b.length || a.localeCompare(b));
  const out: string[] = [];
  for (const name of ordered) {
    if (out.length >= lines) break;
    const path = join(folder, name);
    const { size } = await stat(path);
    const from = Math.max(0, size - tailBytes);
    const handle = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
      const text = buffer.subarray(0, bytesRead).toString('utf8');
      const found = text.split('\n').filter((line) => line !== '');
      if (from > 0) found.shift();
      out.unshift(...found);
    } finally {
      await handle.close();
    }
  }
  return out.slice(-lines);
}
