import { execFile } from 'node:child_process';
import { access, constants, readdir, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';

import { within, type Clock } from '../../platform/clock.ts';
import type { Environment } from '../../platform/environment.ts';
import { buildEnvironment, joinSearchPaths, type Variables } from '../process/environment.ts';
import { findPrograms } from '../process/find-program.ts';
import type { LoginPath } from '../process/login-env.ts';

/** How long `--version` may take, milliseconds. */
const VERSION_LIMIT_MS = 15_000;

/** The oldest version that names our messages when it has read them (`clientId`), which receipts need. */
export const OLDEST = [0, 153] as const;

/** A Codex that said which version it is. */
export interface CodexProgram {
  /** The native program, never the launcher in front of it. */
  readonly path: string;
  readonly version: string;
  /** Changes when another program lies under the same path. */
  readonly identity: string;
}

/** What programs have shown of themselves, so that nothing is asked twice. May be shared by adapters. */
export class ProgramMemory {
  readonly versions = new Map<string, string>();
  readonly judged = new Map<string, 'usable' | 'too_old'>();
  /** Names of variables that the person's Codex configuration refers to, by program and configuration folder. */
  readonly referred = new Map<string, readonly string[]>();
}

export type LocatedProgram =
  | { readonly kind: 'found'; readonly program: CodexProgram }
  | { readonly kind: 'missing' }
  /** Something is there but does not answer. */
  | { readonly kind: 'silent'; readonly path: string };

export interface ProgramPorts {
  readonly clock: Clock;
  readonly environment: Environment;
  readonly homeDir: string;
  readonly loginPath: LoginPath;
}

/**
 * The first Codex that answers `--version` in time, in the order of `findPrograms`. A program whose version is in
 * `known` (by identity) is not asked again; new answers are added.
 */
export async function locateCodex(
  ports: ProgramPorts,
  explicit: string | null,
  env: Readonly<Record<string, string>>,
  known: Map<string, string>,
): Promise<LocatedProgram> {
  const { environment, homeDir, loginPath } = ports;
  let silent: string | null = null;
  const search = { name: 'codex', explicit, ownFolders: ['.local/bin'], environment, homeDir, loginPath };
  for await (const found of candidates(ports, findPrograms(search), explicit)) {
    const path = await nativeProgram(found, environment.platform);
    const facts = await stat(path).catch(() => null);
    const identity = `${path} ${facts?.ino} ${facts?.mtimeMs} ${facts?.size}`;
    const version = known.get(identity) ?? (await versionOf(ports.clock, path, env));
    if (version !== null && facts) {
      known.set(identity, version);
      return { kind: 'found', program: { path, version, identity } };
    }
    silent ??= path;
  }
  return silent === null ? { kind: 'missing' } : { kind: 'silent', path: silent };
}

async function* candidates(
  { environment }: ProgramPorts,
  found: AsyncIterable<{ readonly path: string }>,
  explicit: string | null,
): AsyncGenerator<string> {
  for await (const { path } of found) yield path;
  // On Windows the launcher of npm is a command script, which is not a program that can be started safely.
  const appData =
    environment.platform === 'win32' && explicit === null ? environment.get('APPDATA') : undefined;
  if (appData) yield join(appData, 'npm', 'node_modules', '@openai', 'codex', 'bin', 'codex.js');
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

/** `codex-cli 0.171.0`, or null for anything else. */
async function versionOf(
  clock: Clock,
  path: string,
  env: Readonly<Record<string, string>>,
): Promise<string | null> {
  const abort = new AbortController();
  const text = new Promise<string>((resolve) => {
    const child = execFile(
      path,
      ['--version'],
      { env, signal: abort.signal, windowsHide: true },
      (error, stdout) => resolve(error ? '' : stdout),
    );
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.on('error', () => resolve(''));
  });
  const waited = await within(clock, VERSION_LIMIT_MS, text);
  if (waited.kind === 'timeout') abort.abort();
  const match = waited.kind === 'value' ? /^codex-cli (\d+\.\d+\.\d+\S*)/.exec(waited.value.trim()) : null;
  return match?.[1] ?? null;
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
