import { delimiter } from 'node:path';

import { buildEnvironment, joinSearchPaths, type Variables } from '../process/environment.ts';
import { locateProgram, type ProgramPorts, type ProgramSearchResult } from '../process/locate-program.ts';

/** What programs have shown of themselves, by identity, so that nothing is asked twice. May be shared by adapters. */
export class ProgramMemory {
  readonly versions = new Map<string, string>();
  readonly judged = new Map<string, 'usable' | 'too_old'>();
}

/** The first Claude Code of this machine that answers; what `memory` knows is not asked again. */
export function locateClaude(
  ports: ProgramPorts,
  explicit: string | null,
  env: Readonly<Record<string, string>>,
  memory: ProgramMemory,
): Promise<ProgramSearchResult> {
  const wanted = {
    name: 'claude',
    explicit,
    ownFolders: ['.local/bin', '.claude/local', '.claude/bin'],
    version: (said: string) => /^(\d+\.\d+\.\d+\S*) \(Claude Code\)/.exec(said)?.[1] ?? null,
  };
  return locateProgram(ports, wanted, env, memory.versions);
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
