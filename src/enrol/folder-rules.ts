import { access, constants, lstat, mkdir, realpath, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join, parse, relative, sep, isAbsolute } from 'node:path';
import { RuntimeError, rejected } from '../observe/errors.ts';
import { isAbsoluteLocalPath } from '../protocol/ids.ts';
import { codeOf } from '../store/atomic-file.ts';

/**
 * Which folder may be bound (environment-workspace 3). The refusals for the home folder and for our own state go beyond
 * what the contract asks: they keep a binding from handing over everything there is.
 */
export type FolderRefusal =
  | 'not_absolute'
  | 'root'
  | 'home'
  | 'holds_home'
  | 'own_state'
  | 'holds_own_state'
  | 'not_a_folder'
  | 'missing'
  | 'unreachable';

export interface FolderOverlap {
  readonly binding: string;
  /** `same` folder, `inside` that binding's folder, or it `contains` that one. */
  readonly how: 'same' | 'inside' | 'contains';
}

export interface FolderFinding {
  /** As it was named. */
  readonly asked: string;
  /** With every link resolved; what does not exist yet keeps its name. */
  readonly canonical: string;
  readonly exists: boolean;
  readonly writable: boolean;
  /** Free bytes on its disk, where the system tells. */
  readonly freeBytes: number | null;
  readonly refusal: FolderRefusal | null;
  readonly overlaps: readonly FolderOverlap[];
}

export interface FolderRules {
  readonly home: string;
  /** Our own state folder. */
  readonly state: string;
  readonly others: readonly { readonly binding: string; readonly folder: string }[];
  /** The grant path makes a missing folder; a credential file asks for one that exists. */
  readonly mayCreate: boolean;
}

/** Looks at a folder and changes nothing. */
export async function judgeFolder(asked: string, rules: FolderRules): Promise<FolderFinding> {
  const finding = (change: Partial<FolderFinding>): FolderFinding => ({
    asked,
    canonical: asked,
    exists: false,
    writable: false,
    freeBytes: null,
    refusal: null,
    overlaps: [],
    ...change,
  });
  if (!isAbsoluteLocalPath(asked) || !isAbsolute(asked)) return finding({ refusal: 'not_absolute' });
  let canonical: string;
  let exists: boolean;
  try {
    ({ path: canonical, exists } = await resolveFolder(asked));
    if (exists && !(await stat(canonical)).isDirectory())
      return finding({ canonical, exists, refusal: 'not_a_folder' });
  } catch (error) {
    return finding({ refusal: codeOf(error) === 'ENOTDIR' ? 'not_a_folder' : 'unreachable' });
  }
  const home = await resolved(rules.home);
  const state = await resolved(rules.state);
  const others = await Promise.all(
    rules.others.map(async ({ binding, folder }) => ({ binding, folder: await resolved(folder) })),
  );
  const refusal = refusalOf(canonical, { home, state }) ?? (exists || rules.mayCreate ? null : 'missing');
  const nearest = exists ? canonical : await nearestFolder(canonical);
  return finding({
    canonical,
    exists,
    writable: await access(nearest, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    ),
    freeBytes: await freeBytes(nearest),
    refusal,
    overlaps: others.flatMap(({ binding, folder }) => {
      const how = overlapOf(canonical, folder);
      return how === null ? [] : [{ binding, how }];
    }),
  });
}

/**
 * Makes sure that the folder is there, with the person's own permissions, and returns its real path.
 * @throws RuntimeError `workspace_unusable` where it cannot be made or is not what was confirmed.
 */
export async function provideFolder(finding: FolderFinding): Promise<string> {
  try {
    if (!finding.exists) await mkdir(finding.canonical, { recursive: true });
    const real = await realpath(finding.canonical);
    if (real === finding.canonical && (await stat(real)).isDirectory()) return real;
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
    throw rejected(
      'workspace_unusable',
      `The folder ${finding.canonical} could not be made. Make its parent writable for you.`,
      error,
    );
  }
  throw rejected(
    'workspace_unusable',
    'The folder is not the one any more that was confirmed. Look at it again.',
  );
}

function refusalOf(path: string, own: { home: string; state: string }): FolderRefusal | null {
  if (path === parse(path).root) return 'root';
  if (path === own.home) return 'home';
  if (path === own.state || isInside(path, own.state)) return 'own_state';
  if (isInside(own.home, path)) return 'holds_home';
  return isInside(own.state, path) ? 'holds_own_state' : null;
}

function overlapOf(path: string, other: string): FolderOverlap['how'] | null {
  if (path === other) return 'same';
  if (isInside(path, other)) return 'inside';
  return isInside(other, path) ? 'contains' : null;
}

/** Strictly below, by whole names. */
function isInside(path: string, above: string): boolean {
  const way = relative(above, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The real path; of what does not exist, the real path of what does, and the rest as named. */
async function resolveFolder(path: string): Promise<{ path: string; exists: boolean }> {
  try {
    return { path: await realpath(path), exists: true };
  } catch (error) {
    const above = dirname(path);
    if (codeOf(error) !== 'ENOENT' || above === path) throw error;
    // A link that leads nowhere is there, and nothing can be made through it.
    if (await lstat(path).catch(() => null)) throw error;
    return { path: join((await resolveFolder(above)).path, basename(path)), exists: false };
  }
}

const resolved = (path: string): Promise<string> =>
  resolveFolder(path).then(
    (found) => found.path,
    () => path,
  );

async function nearestFolder(path: string): Promise<string> {
  const above = dirname(path);
  return stat(above).then(
    () => above,
    () => (above === path ? path : nearestFolder(above)),
  );
}

async function freeBytes(path: string): Promise<number | null> {
  if (typeof statfs !== 'function') return null;
  return statfs(path).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => null,
  );
}
