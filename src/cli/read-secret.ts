import { readFile, stat } from 'node:fs/promises';
import { rejected } from '../observe/errors.ts';

/** Longer than any invitation or credential file. Bytes. */
const most = 64 * 1024;

/**
 * The text of a file, or of standard input for `-`. For secrets, which are never an argument.
 * @throws RuntimeError `usage` when it cannot be read.
 */
export async function readSecretText(file: string, what: string): Promise<string> {
  let text: string | null = null;
  try {
    if (file === '-') text = await readInput();
    else if ((await stat(file)).size <= most) text = await readFile(file, 'utf8');
  } catch (error) {
    throw rejected(
      'usage',
      `The ${what} could not be read. Check that it is a file and that you may read it.`,
      error,
    );
  }
  if (text === null) throw rejected('usage', `The ${what} is larger than it can be.`);
  if (text.trim() === '') throw rejected('usage', `The ${what} is empty. Give it as it was issued.`);
  return text;
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
