import { mkdir, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../platform/durable-file.ts';
import { type Name } from './names.ts';
import { type Folder, Walk } from './safe-path.ts';
import { WorkspaceError } from './workspace-error.ts';

/** What a write is about to leave in the bound folder, so that a start after a crash finds and removes it. */
export interface WriteIntent {
  /** Folders from the root down to the target's. */
  readonly folders: readonly Name[];
  /** How many of them were there before; the rest is ours. */
  readonly existing: number;
  readonly temporary: Name;
  readonly target: Name;
  /** Identity of an empty file that holds the place of the target. */
  readonly claim: { readonly dev: bigint; readonly ino: bigint } | null;
}

const bytes = z.string().transform((text) => Buffer.from(text, 'base64'));
const schema = z.object({
  version: z.literal(1),
  folders: z.array(bytes),
  existing: z.number().int().min(0),
  temporary: bytes,
  target: bytes,
  claim: z.object({ dev: z.string(), ino: z.string() }).nullable(),
});

const PREFIX = 'write-';

/** One file an open write in a private folder; holds names and no content. */
export class WriteJournal {
  readonly #folder: string;
  constructor(folder: string) {
    this.#folder = folder;
  }

  async record(id: string, intent: WriteIntent): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const text = JSON.stringify({
      version: 1,
      folders: intent.folders.map((name) => name.toString('base64')),
      existing: intent.existing,
      temporary: intent.temporary.toString('base64'),
      target: intent.target.toString('base64'),
      claim: intent.claim && { dev: String(intent.claim.dev), ino: String(intent.claim.ino) },
    });
    await replaceFile(this.#path(id), text, 'new');
  }
  async forget(id: string): Promise<void> {
    await unlink(this.#path(id)).catch(() => undefined);
  }

  /**
   * Removes what writes of an earlier run left in the folder. Returns how many could not be cleared; they stay
   * recorded.
   */
  async sweep(root: Folder): Promise<number> {
    const names = (await readdir(this.#folder).catch(() => [])).filter((name) => name.startsWith(PREFIX));
    let left = 0;
    for (const name of names) {
      const path = join(this.#folder, name);
      if (name.endsWith('.tmp')) await unlink(path).catch(() => undefined);
      else if (!(await this.#clearOne(root, path))) left++;
    }
    return left;
  }

  /** The same for one write that was settled. */
  async sweepOne(root: Folder, id: string): Promise<void> {
    await this.#clearOne(root, this.#path(id));
  }

  async #clearOne(root: Folder, path: string): Promise<boolean> {
    const text = await readFile(path, 'utf8').catch(() => null);
    if (text === null) return true;
    const intent = parse(text);
    if (!intent || !(await clear(root, intent))) return false;
    await unlink(path).catch(() => undefined);
    return true;
  }

  #path(id: string): string {
    return join(this.#folder, `${PREFIX}${id}.json`);
  }
}

function parse(text: string): WriteIntent | null {
  try {
    const value = schema.parse(JSON.parse(text));
    const { claim } = value;
    return { ...value, claim: claim && { dev: BigInt(claim.dev), ino: BigInt(claim.ino) } };
  } catch {
    return null;
  }
}

/** True when nothing of the intent is left. */
export async function clear(root: Folder, intent: WriteIntent): Promise<boolean> {
  const walk = new Walk(root);
  try {
    const parents: Folder[] = [root];
    try {
      for (const name of intent.folders) parents.push(await walk.step(name));
    } catch (error) {
      // What is no folder of ours any more holds nothing of ours.
      if (!(error instanceof WorkspaceError) || !['not_found', 'not_directory'].includes(error.code))
        throw error;
    }
    const folder = parents[intent.folders.length];
    if (folder) {
      if ((await folder.look(intent.temporary))?.isFile()) await folder.unlink(intent.temporary);
      const target = intent.claim && (await folder.look(intent.target));
      const ours =
        target && intent.claim && target.dev === intent.claim.dev && target.ino === intent.claim.ino;
      if (ours && target.size === 0n) await folder.unlink(intent.target);
      await folder.sync();
    }
    for (let depth = intent.folders.length; depth > intent.existing; depth--) {
      const parent = parents[depth - 1];
      const name = intent.folders[depth - 1];
      if (!parent || !name || !parents[depth]) continue;
      // Not empty: somebody uses it, and it stays.
      await parent.removeFolder(name).catch((error: unknown) => {
        if (!(error instanceof WorkspaceError) || error.code !== 'exists') throw error;
      });
      await parent.sync();
    }
    return true;
  } catch {
    return false;
  } finally {
    await walk.close().catch(() => undefined);
  }
}
