import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import * as z from 'zod';

import { replaceFile } from '../../platform/durable-file.ts';
import type { Random } from '../../platform/random.ts';

/**
 * What is remembered of each conversation of a Session, in the Session's private folder, before its first input. The
 * program keeps functions with the conversation and takes no others when it is continued, so they must be the same;
 * and a conversation that Core lost sight of can be found again with certainty, because no other Session writes here.
 */
const record = z.object({ version: z.literal(1), functions: z.string() });

const fileOf = (stateDir: string, threadId: string): string => join(stateDir, 'codex', `${threadId}.json`);

/** Stands for a list of functions, in order. */
export const functionsMark = (functions: readonly unknown[]): string =>
  functions.length === 0 ? '' : createHash('sha256').update(JSON.stringify(functions)).digest('hex');

export async function remember(
  random: Random,
  stateDir: string,
  threadId: string,
  functions: string,
): Promise<void> {
  const content = JSON.stringify({ version: 1, functions } satisfies z.infer<typeof record>);
  await replaceFile(fileOf(stateDir, threadId), `${content}\n`, random.hex(8));
}

/** The mark of the conversation's functions; null when nothing is remembered of it. */
export async function recalled(stateDir: string, threadId: string): Promise<string | null> {
  try {
    const parsed = record.safeParse(JSON.parse(await readFile(fileOf(stateDir, threadId), 'utf8')));
    return parsed.success ? parsed.data.functions : null;
  } catch {
    return null;
  }
}

/** Every conversation of this Session that may have taken input. */
export async function conversationsOf(stateDir: string): Promise<readonly string[]> {
  const names = await readdir(join(stateDir, 'codex')).catch(() => []);
  return names.flatMap((name) =>
    isThreadId(name.slice(0, -5)) && name.endsWith('.json') ? [name.slice(0, -5)] : [],
  );
}

export const isThreadId = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
