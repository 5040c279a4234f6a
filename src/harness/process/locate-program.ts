import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';

import { within, type Clock } from '../../platform/clock.ts';
import type { Environment } from '../../platform/environment.ts';
import { findPrograms } from './find-program.ts';
import type { LoginPath } from './login-env.ts';

/** How long `--version` may take, milliseconds. */
const VERSION_LIMIT_MS = 15_000;

/** A program that said which version it is. */
export interface LocatedProgram {
  readonly path: string;
  readonly version: string;
  /** Changes when another program lies under the same path. */
  readonly identity: string;
}

export type ProgramSearchResult =
  | { readonly kind: 'found'; readonly program: LocatedProgram }
  | { readonly kind: 'missing' }
  /** Something is there but does not answer. */
  | { readonly kind: 'silent'; readonly path: string };

export interface ProgramPorts {
  readonly clock: Clock;
  readonly environment: Environment;
  readonly homeDir: string;
  readonly loginPath: LoginPath;
  /** Aborted: no program is asked any more. */
  readonly ending?: AbortSignal;
}

export interface ProgramWanted {
  readonly name: string;
  /** What the configuration names: a path, or a name to look for instead. */
  readonly explicit: string | null;
  /** Folders below the home folder where its own installer puts it. */
  readonly ownFolders: readonly string[];
  /** Of what it says to `--version`, without white space around; null: another program. */
  version(said: string): string | null;
  /** The program behind what was found (a launcher), or that itself. */
  behind?(path: string): Promise<string>;
  /** Looked at after everything that was found. */
  readonly also?: readonly string[];
}

/** Changes when another file lies under the path; of one that is not there it holds no number. */
export async function fileIdentity(path: string): Promise<string> {
  const facts = await stat(path).catch(() => null);
  return `${path} ${facts?.ino} ${facts?.mtimeMs} ${facts?.size}`;
}

/**
 * The first program that answers `--version` in time, in the order of `findPrograms`. One whose version is in `known`
 * (by identity) is not asked again; new answers are added.
 */
export async function locateProgram(
  ports: ProgramPorts,
  wanted: ProgramWanted,
  env: Readonly<Record<string, string>>,
  known: Map<string, string>,
): Promise<ProgramSearchResult> {
  let silent: string | null = null;
  for await (const found of candidates(ports, wanted)) {
    const path = (await wanted.behind?.(found)) ?? found;
    const identity = await fileIdentity(path);
    const version = known.get(identity) ?? wanted.version(await askVersion(ports, path, env));
    if (version !== null) {
      known.set(identity, version);
      return { kind: 'found', program: { path, version, identity } };
    }
    silent ??= path;
  }
  return silent === null ? { kind: 'missing' } : { kind: 'silent', path: silent };
}

async function* candidates(ports: ProgramPorts, wanted: ProgramWanted): AsyncGenerator<string> {
  for await (const { path } of findPrograms({ ...ports, ...wanted })) yield path;
  yield* wanted.also ?? [];
}

/** What a program says to `--version`; empty when it says nothing in time or fails. */
async function askVersion(
  { clock, ending }: ProgramPorts,
  path: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  if (ending?.aborted) return '';
  const abort = new AbortController();
  const end = (): void => abort.abort();
  ending?.addEventListener('abort', end, { once: true });
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
  ending?.removeEventListener('abort', end);
  if (waited.kind === 'timeout') end();
  return waited.kind === 'value' ? waited.value.trim() : '';
}
