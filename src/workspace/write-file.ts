import type { Name } from './names.ts';
import { sameIdentity, Walk, type Folder, type Identity } from './safe-path.ts';
import { copyTo, type ByteSource } from './spool.ts';
import {
  asWorkspaceError,
  systemCodeOf,
  WorkspaceError,
  type WorkspaceErrorCode,
} from './workspace-error.ts';
import { clear, type WriteIntent, type WriteJournal } from './write-journal.ts';

export type WriteOutcome =
  /** `leftover`: the file is in its place and a temporary name could not be removed; the next start does it. */
  | { readonly kind: 'written'; readonly leftover: boolean }
  /** The target was not touched. */
  | { readonly kind: 'rejected'; readonly code: WorkspaceErrorCode; readonly leftover: boolean }
  | { readonly kind: 'unknown'; readonly why: string };

export interface WriteRequest {
  /** For the journal and the temporary name: unique, a plain file name. */
  readonly id: string;
  readonly folders: readonly Name[];
  readonly target: Name;
  readonly body: ByteSource;
  /** `create` never replaces anything; `replace` replaces a regular file. */
  readonly how: 'create' | 'replace';
  /** False: as on a file system without hard links. */
  readonly hardLinks?: boolean;
}

/**
 * Puts a whole file in its place (runtime-behaviour 4.6, 4.9): a temporary name beside the target is written and
 * flushed, and then gets the target's name in one step that fails when anything is there. What the write made on the
 * way is removed again when it fails. Never throws.
 */
export async function writeFile(
  root: Folder,
  journal: WriteJournal,
  request: WriteRequest,
): Promise<WriteOutcome> {
  const temporary = Buffer.from(`.agent-runtime-${request.id}.tmp`);
  const { folders, target } = request;
  let intent: WriteIntent = { folders, existing: folders.length, temporary, target, claim: null };
  const walk = new Walk(root);
  let placed: Identity | null = null;
  let outcome: WriteOutcome;
  try {
    intent = { ...intent, existing: await existingFolders(walk, folders) };
    if (intent.existing === folders.length) await refuseTaken(walk.last, target, request.how);
    await journal.record(request.id, intent);
    await createFolders(walk, folders.slice(intent.existing));
    const folder = walk.last;
    placed = await writeTemporary(folder, temporary, request.body);
    const put =
      request.how === 'replace'
        ? await replace(folder, temporary, target, placed)
        : await place(folder, journal, request, intent, placed);
    intent = put.intent ?? intent;
    outcome = put.outcome;
    if (outcome.kind === 'written') outcome = await settle(walk, temporary, target, placed);
  } catch (error) {
    const { code } = asWorkspaceError(error, 'a file could not be written', 'uncertain');
    outcome = { kind: 'rejected', code: code === 'uncertain' ? 'invalid' : code, leftover: false };
  }
  // By its folder and not by its path: a folder that was moved away takes nothing of ours along.
  if (placed && outcome.kind === 'rejected')
    await walk.last.unlinkUnverified(temporary).catch(() => undefined);
  await walk.close().catch(() => undefined);
  if (outcome.kind === 'unknown') return outcome;
  if (outcome.kind === 'written') {
    if (!outcome.leftover) await journal.forget(request.id);
    return outcome;
  }
  const cleared = await clear(root, intent);
  if (cleared) await journal.forget(request.id);
  return { ...outcome, leftover: !cleared };
}

/** How many of the folders are there. Stops at the first that is missing. */
async function existingFolders(walk: Walk, folders: readonly Name[]): Promise<number> {
  for (const [depth, name] of folders.entries()) {
    try {
      await walk.step(name);
    } catch (error) {
      if (error instanceof WorkspaceError && error.code === 'not_found') return depth;
      throw error;
    }
  }
  return folders.length;
}

async function createFolders(walk: Walk, names: readonly Name[]): Promise<void> {
  for (const name of names) {
    const parent = walk.last;
    await parent.createFolder(name).catch((error: unknown) => {
      if (!(error instanceof WorkspaceError) || error.code !== 'exists') throw error;
    });
    await parent.sync();
    await walk.step(name);
  }
}

async function refuseTaken(folder: Folder, target: Name, how: WriteRequest['how']): Promise<void> {
  const there = await folder.look(target);
  if (!there) return;
  if (there.isDirectory()) throw new WorkspaceError('is_directory', 'a folder is in the place of the file');
  if (how === 'create' || !there.isFile()) throw new WorkspaceError('exists', 'something is in its place');
}

async function writeTemporary(folder: Folder, name: Name, body: ByteSource): Promise<Identity> {
  const handle = await folder.createFile(name);
  try {
    await copyTo(body, handle);
    await handle.sync();
    const { dev, ino } = await handle.stat({ bigint: true });
    return { dev, ino };
  } catch (error) {
    throw asWorkspaceError(error, 'a file could not be written', 'uncertain');
  } finally {
    await handle.close();
  }
}

interface Placed {
  readonly outcome: WriteOutcome;
  readonly intent?: WriteIntent;
}
const written: WriteOutcome = { kind: 'written', leftover: false };
const refused = (code: WorkspaceErrorCode): Placed => ({
  outcome: { kind: 'rejected', code, leftover: false },
});

/** The folder was found to be another one before the change was made. */
const foundMoved = (error: unknown): boolean => error instanceof WorkspaceError && error.code === 'unsafe';

/** Codes of systems that have no hard links there. */
const noLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES', 'EXDEV']);

async function place(
  folder: Folder,
  journal: WriteJournal,
  request: WriteRequest,
  intent: WriteIntent,
  mine: Identity,
): Promise<Placed> {
  const { temporary, target } = intent;
  if (request.hardLinks !== false) {
    try {
      await folder.link(temporary, target);
      return { outcome: written };
    } catch (error) {
      if (foundMoved(error)) return refused('unsafe');
      const there = await look(folder, target);
      if (there === 'unknown') return unknown('whether the file has its name could not be looked at');
      // The evidence decides, not the error.
      if (there && sameIdentity(there, mine)) return { outcome: written };
      if (there) return refused(there.isDirectory() ? 'is_directory' : 'exists');
      const known = asWorkspaceError(error, 'a file could not get its name');
      if (!noLinks.has(systemCodeOf(known.cause))) return refused(known.code);
    }
  }
  return placeByClaim(folder, journal, request.id, intent, mine);
}

/** Without hard links: an empty file of ours holds the place, and is replaced while it is still ours. */
async function placeByClaim(
  folder: Folder,
  journal: WriteJournal,
  id: string,
  intent: WriteIntent,
  mine: Identity,
): Promise<Placed> {
  const { temporary, target } = intent;
  const handle = await folder.createFile(target).catch((error: unknown) => error);
  if (!isHandle(handle)) {
    const there = await look(folder, target);
    if (there === 'unknown') return unknown('whether something is in its place could not be looked at');
    if (there) return refused(there.isDirectory() ? 'is_directory' : 'exists');
    return refused(asWorkspaceError(handle, 'a place could not be held').code);
  }
  const { dev, ino } = await handle.stat({ bigint: true });
  await handle.close();
  const claimed = { ...intent, claim: { dev, ino } };
  await journal.record(id, claimed);
  const there = await look(folder, target);
  if (there === 'unknown' || !there || !sameIdentity(there, { dev, ino })) {
    return { ...refused('unsafe'), intent: claimed };
  }
  const put = await replace(folder, temporary, target, mine);
  return { outcome: put.outcome, intent: claimed };
}

async function replace(folder: Folder, temporary: Name, target: Name, mine: Identity): Promise<Placed> {
  try {
    await folder.rename(temporary, target);
    return { outcome: written };
  } catch (error) {
    if (foundMoved(error)) return refused('unsafe');
    const there = await look(folder, target);
    if (there === 'unknown') return unknown('whether the file has its name could not be looked at');
    if (there && sameIdentity(there, mine)) return { outcome: written };
    return refused(asWorkspaceError(error, 'a file could not get its name').code);
  }
}

/** The file has its name. Makes that durable, and takes it back where the folder turns out to be another one. */
async function settle(walk: Walk, temporary: Name, target: Name, mine: Identity): Promise<WriteOutcome> {
  const folder = walk.last;
  try {
    await folder.verify();
  } catch {
    const there = await look(folder, target);
    if (there !== 'unknown' && there && sameIdentity(there, mine)) {
      try {
        await takeBack(folder, target, temporary);
        return { kind: 'rejected', code: 'unsafe', leftover: false };
      } catch {
        // Said below.
      }
    }
    return { kind: 'unknown', why: 'the folder was replaced while the file was put there' };
  }
  let leftover = false;
  try {
    const name = await folder.look(temporary);
    if (name && sameIdentity(name, mine)) await folder.unlink(temporary);
  } catch {
    leftover = true;
  }
  try {
    await folder.sync();
  } catch {
    return { kind: 'unknown', why: 'the folder could not be made durable' };
  }
  return { kind: 'written', leftover };
}

/** The folder is not where it was, so the check before each change would refuse: the names are still ours to remove. */
async function takeBack(folder: Folder, target: Name, temporary: Name): Promise<void> {
  await folder.unlinkUnverified(target);
  await folder.unlinkUnverified(temporary).catch(() => undefined);
}

async function look(folder: Folder, name: Name): Promise<Awaited<ReturnType<Folder['look']>> | 'unknown'> {
  try {
    return await folder.look(name);
  } catch {
    return 'unknown';
  }
}

const unknown = (why: string): Placed => ({ outcome: { kind: 'unknown', why } });
const isHandle = (value: unknown): value is Awaited<ReturnType<Folder['createFile']>> =>
  typeof value === 'object' && value !== null && 'fd' in value;
