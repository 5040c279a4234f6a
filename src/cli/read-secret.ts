import { readFile, stat } from 'node:fs/promises';
import { rejected } from '../observe/errors.ts';

/** Longer than any invitation or credential file. Bytes. */
const most = 64 * 1024;

/**
 * The text of a file, or of standard input for `-`. For secrets, which are never an argument.
 * @throws RuntimeError `usage` when it cannot be read.
 */
export async function readSecretText(file: string, what: string): Promise<string> {
  try {
    if (file === '-') return await readInput();
    if ((await stat(file)).size <= most) return await readFile(file, 'utf8');
  } catch (error) {
    throw rejected(
      'usage',
      `The ${what} could not be read. Check that it is a file and that you may read it.`,
      error,
    );
  }
  throw rejected('usage', `The ${what} is larger than it can be.`);
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size > most) break;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
