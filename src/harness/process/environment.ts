/**
 * The environment of a native program: names on this list, what the adapter adds to the list, and what the
 * configuration sets. Everything else of the daemon's environment stays out, because whatever is in there is seen
 * by every command the agent runs.
 */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Names that programs need to work as they do in a terminal. A trailing `*` stands for any ending. */
export const commonVariables: readonly string[] = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'COLORTERM', 'TZ', 'LANG', 'LANGUAGE', 'LC_*'],
  ...['TMPDIR', 'TEMP', 'TMP', 'XDG_*', 'EDITOR', 'VISUAL', 'PAGER'],
  ...[
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'ALL_PROXY',
    'NO_PROXY',
    'http_proxy',
    'https_proxy',
    'all_proxy',
    'no_proxy',
  ],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE'],
  ...['SSH_AUTH_SOCK', 'GPG_TTY', 'GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_EXEC_PATH'],
  ...['DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS'],
  ...[
    'NVM_DIR',
    'FNM_DIR',
    'VOLTA_HOME',
    'ASDF_DIR',
    'ASDF_DATA_DIR',
    'MISE_DATA_DIR',
    'PYENV_ROOT',
    'RBENV_ROOT',
  ],
  ...[
    'CARGO_HOME',
    'RUSTUP_HOME',
    'GOPATH',
    'GOROOT',
    'JAVA_HOME',
    'ANDROID_HOME',
    'DOTNET_ROOT',
    'BUN_INSTALL',
  ],
  ...['PNPM_HOME', 'DENO_DIR', 'HOMEBREW_PREFIX', 'NIX_PROFILES', 'NIX_SSL_CERT_FILE', 'LD_LIBRARY_PATH'],
  ...[
    'SystemRoot',
    'SYSTEMROOT',
    'windir',
    'ComSpec',
    'COMSPEC',
    'PATHEXT',
    'APPDATA',
    'LOCALAPPDATA',
    'ProgramData',
  ],
  ...[
    'ProgramFiles',
    'ProgramFiles(x86)',
    'USERPROFILE',
    'USERNAME',
    'HOMEDRIVE',
    'HOMEPATH',
    'NUMBER_OF_PROCESSORS',
  ],
];

export interface EnvironmentPlan {
  /** The daemon's own environment. */
  readonly from: Variables;
  /** More names for the list. */
  readonly inherit?: readonly string[];
  /** Set on top, an undefined value removes. Later ones win. */
  readonly set?: readonly Variables[];
}

export function buildEnvironment(plan: EnvironmentPlan): Record<string, string> {
  const allowed = [...commonVariables, ...(plan.inherit ?? [])];
  const exact = new Set(allowed.filter((name) => !name.endsWith('*')));
  const prefixes = allowed.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(plan.from)) {
    if (value === undefined) continue;
    if (exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) environment[name] = value;
  }
  for (const additions of plan.set ?? []) {
    for (const [name, value] of Object.entries(additions)) {
      if (value === undefined) delete environment[name];
      else environment[name] = value;
    }
  }
  return environment;
}

/** Joins search paths, first wins, each folder once. */
export function joinSearchPaths(delimiter: string, ...paths: readonly (string | undefined)[]): string {
  const folders = paths.flatMap((path) => (path ?? '').split(delimiter)).filter((folder) => folder !== '');
  return [...new Set(folders)].join(delimiter);
}

/** Variables that change what any program loads, whom it trusts or whose it is. */
const STEERING =
  /^(NODE_OPTIONS|NODE_EXTRA_CA_CERTS|NODE_TLS_.*|BUN_.*|LD_.*|DYLD_.*|HOME|USERPROFILE|SHELL|XDG_.*|AGENT_RUNTIME_.*|.*_PROXY)$/i;

/**
 * The first prepared variable that would steer the agent itself (its sign-in, its code, whom it asks) instead of being
 * there for its tools; null when there is none. `own`: names that mean something to this agent, `*` for any ending.
 */
export function steeringVariable(variables: Variables, own: readonly string[]): string | null {
  const matches = (name: string, pattern: string): boolean =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  const steers = (name: string): boolean =>
    STEERING.test(name) || own.some((pattern) => matches(name.toUpperCase(), pattern));
  return Object.keys(variables).find(steers) ?? null;
}
