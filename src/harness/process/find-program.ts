import { constants } from 'node:fs';
import { access, readdir, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

import type { Environment } from '../../platform/environment.ts';
import type { LoginPath } from './login-env.ts';

/** A program that could be run. Probe and start use the same `path`, so that they never speak of two programs. */
export interface FoundProgram {
  /** Absolute and without links, so that an upgrade that moves a link is noticed. */
  readonly path: string;
  /** As it was found, for display. */
  readonly found: string;
}

export interface ProgramSearch {
  /** Name of the program without an ending. */
  readonly name: string;
  /** What the configuration names: a path, or a name to look for instead. */
  readonly explicit: string | null;
  /** Folders below the home folder where its own installer puts it. */
  readonly ownFolders: readonly string[];
  readonly environment: Environment;
  readonly homeDir: string;
  readonly loginPath: LoginPath;
}

/**
 * Where the program may be, best first: the configured path alone, else PATH of this process, PATH of the login
 * shell, and the usual folders of installers and version managers. Each program once. The caller takes the first
 * that answers.
 */
export async function* findPrograms(search: ProgramSearch): AsyncGenerator<FoundProgram> {
  const { environment, explicit } = search;
  const windows = environment.platform === 'win32';
  if (explicit !== null && (isAbsolute(explicit) || explicit.includes('/') || explicit.includes('\\'))) {
    const program = await runnable(explicit);
    if (program) yield program;
    return;
  }
  const name = explicit ?? search.name;
  const file = windows && !name.toLowerCase().endsWith('.exe') ? `${name}.exe` : name;
  const seen = new Set<string>();
  const look = async function* (folders: readonly string[]): AsyncGenerator<FoundProgram> {
    for (const folder of folders) {
      if (!isAbsolute(folder)) continue;
      const program = await runnable(join(folder, file));
      if (!program || seen.has(program.path)) continue;
      seen.add(program.path);
      yield program;
    }
  };
  yield* look(split(environment.get('PATH') ?? environment.get('Path')));
  yield* look(split((await search.loginPath.get()) ?? undefined));
  yield* look(await usualFolders(search));
}

const split = (path: string | undefined): readonly string[] => (path ?? '').split(delimiter);

async function usualFolders({ environment, homeDir, ownFolders }: ProgramSearch): Promise<readonly string[]> {
  const home = (...parts: string[]): string => join(homeDir, ...parts);
  const own = ownFolders.map((folder) => home(folder));
  if (environment.platform === 'win32') {
    const appData = environment.get('APPDATA');
    const localAppData = environment.get('LOCALAPPDATA');
    return [
      ...own,
      ...(appData ? [join(appData, 'npm')] : []),
      ...(localAppData ? [join(localAppData, 'pnpm')] : []),
    ];
  }
  return [
    ...own,
    home('.local', 'bin'),
    ...['/opt/homebrew/bin', '/usr/local/bin', '/home/linuxbrew/.linuxbrew/bin', '/usr/bin'],
    home('.npm-global', 'bin'),
    home('.volta', 'bin'),
    home('.bun', 'bin'),
    home('.asdf', 'shims'),
    home('.local', 'share', 'mise', 'shims'),
    home('.local', 'share', 'pnpm'),
    home('Library', 'pnpm'),
    ...(await versions(home('.nvm', 'versions', 'node'), 'bin')),
    ...(await versions(home('.local', 'share', 'fnm', 'node-versions'), join('installation', 'bin'))),
  ];
}

/** `<folder>/<version>/<below>` for every version, newest first. */
async function versions(folder: string, below: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const collator = new Intl.Collator('en', { numeric: true });
  return names.sort((a, b) => collator.compare(b, a)).map((name) => join(folder, name, below));
}

/** The file behind `path`, if it is one that may be run. */
async function runnable(path: string): Promise<FoundProgram | null> {
  try {
    const real = await realpath(path);
    if (!(await stat(real)).isFile()) return null;
    await access(real, constants.X_OK);
    return { path: real, found: path };
  } catch {
    return null;
  }
}
