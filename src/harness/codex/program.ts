import { access, constants, readdir, realpath } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';

import { buildEnvironment, joinSearchPaths, type Variables } from '../process/environment.ts';
import { locateProgram, type ProgramPorts, type ProgramSearchResult } from '../process/locate-program.ts';

/** The oldest version that names our messages when it has read them (`clientId`), which receipts need. */
export const OLDEST = [0, 153] as const;

/** What programs have shown of themselves, so that nothing is asked twice. May be shared by adapters. */
export class ProgramMemory {
  readonly versions = new Map<string, string>();
  readonly judged = new Map<string, 'usable' | 'too_old'>();
  /** Names of variables that the person's Codex configuration refers to, by program and configuration folder. */
  readonly referred = new Map<string, readonly string[]>();
}

/**
 * The first Codex of this machine that answers; what `memory` knows is not asked again. Its `path` is the native
 * program, never the launcher in front of it.
 */
export function locateCodex(
  ports: ProgramPorts,
  explicit: string | null,
  env: Readonly<Record<string, string>>,
  memory: ProgramMemory,
): Promise<ProgramSearchResult> {
  const { environment } = ports;
  // On Windows the launcher of npm is a command script, which is not a program that can be started safely.
  const appData =
    environment.platform === 'win32' && explicit === null ? environment.get('APPDATA') : undefined;
  const wanted = {
    name: 'codex',
    explicit,
    ownFolders: ['.local/bin'],
    version: (said: string) => /^codex-cli (\d+\.\d+\.\d+\S*)/.exec(said)?.[1] ?? null,
    behind: (path: string) => nativeProgram(path, environment.platform),
    also: appData ? [join(appData, 'npm', 'node_modules', '@openai', 'codex', 'bin', 'codex.js')] : [],
  };
  return locateProgram(ports, wanted, env, memory.versions);
}

/**
 * The program behind npm's launcher. The launcher is a Node script: it needs Node on the search path and, where it
 * stays as the parent, its end by force leaves the real program behind. Anything else is the program itself.
 */
export async function nativeProgram(path: string, platform: NodeJS.Platform): Promise<string> {
  const real = await realpath(path).catch(() => path);
  const inPackage = basename(dirname(dirname(dirname(real)))) === '@openai' && basename(real) === 'codex.js';
  if (!inPackage) return path;
  const own = dirname(dirname(real));
  const name = `codex-${platform}-${process.arch}`;
  const file = platform === 'win32' ? 'codex.exe' : 'codex';
  for (const folder of [join(own, 'node_modules', '@openai', name), join(dirname(own), name), own]) {
    const vendor = join(folder, 'vendor');
    for (const target of await readdir(vendor).catch(() => [])) {
      for (const place of ['bin', 'codex']) {
        const program = join(vendor, target, place, file);
        const runnable = await access(program, constants.X_OK).then(
          () => true,
          () => false,
        );
        if (runnable) return program;
      }
    }
  }
  return path;
}

/** Whether a version has what this adapter depends on. A newer one is judged by what it answers, not by its number. */
export function isOldEnoughToRefuse(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

/** Names of the daemon's environment that Codex needs for its sign-in, its providers and its settings. */
const inherited: readonly string[] = ['CODEX_HOME', 'CODEX_SQLITE_HOME', 'CODEX_CA_CERTIFICATE', 'AWS_*'];

/**
 * What every start of the program gets. `referred` are the names the person's own configuration of Codex takes keys
 * from. The configured variables win.
 */
export async function codexEnvironment(
  ports: Pick<ProgramPorts, 'environment' | 'loginPath'>,
  configured: Variables,
  referred: readonly string[] = [],
): Promise<Record<string, string>> {
  const { environment, loginPath } = ports;
  const path = joinSearchPaths(delimiter, environment.get('PATH'), (await loginPath.get()) ?? undefined);
  return buildEnvironment({
    from: environment.all(),
    inherit: [...inherited, ...referred],
    set: [{ PATH: path }, configured],
  });
}
