import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { delimiter } from 'node:path';

import { within, type Clock } from '../../platform/clock.ts';
import type { Environment } from '../../platform/environment.ts';
import { buildEnvironment, joinSearchPaths, type Variables } from '../process/environment.ts';
import { findPrograms } from '../process/find-program.ts';
import type { LoginPath } from '../process/login-env.ts';

/** How long `--version` may take, milliseconds. */
const VERSION_LIMIT_MS = 15_000;

/** A Claude Code that said which version it is. */
export interface ClaudeProgram {
  readonly path: string;
  readonly version: string;
  /** Changes when another program lies under the same path. */
  readonly identity: string;
}

/** What programs have shown of themselves, by identity, so that nothing is asked twice. May be shared by adapters. */
export class ProgramMemory {
  readonly versions = new Map<string, string>();
  readonly judged = new Map<string, 'usable' | 'too_old'>();
}

export type LocatedProgram =
  | { readonly kind: 'found'; readonly program: ClaudeProgram }
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
 * The first Claude Code that answers `--version` in time, in the order of `findPrograms`. A program whose version is
 * in `known` (by identity) is not asked again; new answers are added.
 */
export async function locateClaude(
  ports: ProgramPorts,
  explicit: string | null,
  env: Readonly<Record<string, string>>,
  known: Map<string, string>,
): Promise<LocatedProgram> {
  const { environment, homeDir, loginPath } = ports;
  let silent: string | null = null;
  const search = {
    name: 'claude',
    explicit,
    ownFolders: ['.local/bin', '.claude/local', '.claude/bin'],
    environment,
    homeDir,
    loginPath,
  };
  for await (const { path } of findPrograms(search)) {
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

/** `2.1.332 (Claude Code)`, or null for anything else. */
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
  const match =
    waited.kind === 'value' ? /^(\d+\.\d+\.\d+\S*) \(Claude Code\)/.exec(waited.value.trim()) : null;
  return match?.[1] ?? null;
}

/** Names of the daemon's environment that Claude Code needs for its sign-in, its providers and its settings. */
const inherited: readonly string[] = [
  ...[
    'ANTHROPIC_*',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_*',
    'CLAUDE_CODE_SKIP_*',
  ],
  ...[
    'CLAUDE_CODE_MAX_*',
    'CLAUDE_CODE_DISABLE_*',
    'CLAUDE_CODE_API_KEY_HELPER_TTL_MS',
    'CLAUDE_CODE_CLIENT_*',
  ],
  ...[
    'CLAUDE_CODE_SUBAGENT_MODEL',
    'CLAUDE_CODE_SUBPROCESS_ENV_SCRUB',
    'CLAUDE_CODE_SHELL',
    'CLAUDE_CODE_TMPDIR',
  ],
  ...['CLAUDE_ENV_FILE', 'DISABLE_*', 'BASH_DEFAULT_TIMEOUT_MS', 'BASH_MAX_TIMEOUT_MS'],
  ...['MCP_TIMEOUT', 'MCP_TOOL_TIMEOUT', 'MAX_MCP_OUTPUT_TOKENS', 'MAX_THINKING_TOKENS', 'API_TIMEOUT_MS'],
  ...[
    'AWS_*',
    'GOOGLE_*',
    'CLOUDSDK_*',
    'CLOUD_ML_REGION',
    'VERTEX_*',
    'GCLOUD_PROJECT',
    'AZURE_*',
    'IS_SANDBOX',
  ],
];

/** What every start of the program gets. The configured variables win over everything but our own switches. */
export async function claudeEnvironment(
  ports: Pick<ProgramPorts, 'environment' | 'loginPath'>,
  configured: Variables,
  /** Of the Environment, for the agent's tools; its search path comes first. */
  prepared: Variables = {},
): Promise<Record<string, string>> {
  const { environment, loginPath } = ports;
  const { PATH: first, ...variables } = prepared;
  const login = (await loginPath.get()) ?? undefined;
  const path = joinSearchPaths(delimiter, first, environment.get('PATH'), login);
  return buildEnvironment({
    from: environment.all(),
    inherit: inherited,
    set: [
      variables,
      { PATH: path },
      // A program that replaces itself in the middle of a Session would not be the one that was probed.
      { DISABLE_AUTOUPDATER: '1' },
      configured,
      // A finished background command would start a native turn that nobody asked for.
      { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' },
    ],
  });
}

/**
 * Arguments of every start, before those of the execution and those of the configuration (later ones win). Only the
 * person's own settings count: with `--print` the program does not ask whether a folder is trusted, so the folder's
 * settings could allow commands or run hooks that nobody was asked about.
 */
export const baseArguments: readonly string[] = [
  ...['--print', '--verbose', '--input-format', 'stream-json', '--output-format', 'stream-json'],
  ...['--include-partial-messages', '--replay-user-messages', '--permission-prompt-tool', 'stdio'],
  ...['--setting-sources', 'user'],
];
