import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join, parse, resolve } from 'node:path';
import type { Environment } from '../platform/environment.ts';
import { rejected } from '../observe/errors.ts';

/**
 * Where everything of this app lies. One root for desktop and headless alike; nothing is ever written outside it but
 * the bound folder.
 */
export interface StatePaths {
  readonly root: string;
  readonly config: string;
  readonly settings: string;
  readonly rules: string;
  readonly lock: string;
  /** Unix socket, or the name of the pipe on Windows. */
  readonly control: string;
  readonly ledger: string;
  readonly audit: string;
  readonly logs: string;
  readonly core: string;
  readonly credentials: string;
  /** Native state of Harnesses, one folder a Session. */
  readonly sessions: string;
  /** Private state of bound Environments: transfers, what was installed. */
  readonly environments: string;
  /** Folder of the local Core's Turns where the person names none. */
  readonly workspace: string;
}

/** `--state-dir`, `AGENT_RUNTIME_HOME`, or the platform's usual place. An explicit one must be absolute. */
export function stateRoot(explicit: string | undefined, env: Environment): string {
  const named = explicit ?? env.get('AGENT_RUNTIME_HOME');
  if (named !== undefined && named !== '') {
    if (!isAbsolute(named)) throw rejected('usage', 'The state folder must be an absolute path.');
    if (parse(named).root === resolve(named))
      throw rejected('usage', 'The state folder cannot be the root of a disk. Name one of its own.');
    return named;
  }
  switch (env.platform) {
    case 'darwin':
      return join(homedir(), 'Library', 'Application Support', 'agent-runtime');
    case 'win32':
      return join(env.get('LOCALAPPDATA') ?? join(homedir(), 'AppData', 'Local'), 'agent-runtime');
    default:
      return join(env.get('XDG_DATA_HOME') || join(homedir(), '.local', 'share'), 'agent-runtime');
  }
}

export function statePaths(root: string, env: Environment): StatePaths {
  return {
    root,
    config: join(root, 'config.json'),
    settings: join(root, 'settings.json'),
    rules: join(root, 'rules.json'),
    lock: join(root, 'lock.json'),
    control: controlPath(root, env),
    ledger: join(root, 'ledger'),
    audit: join(root, 'history.jsonl'),
    logs: join(root, 'logs'),
    core: join(root, 'local-core.json'),
    credentials: join(root, 'credentials.json'),
    sessions: join(root, 'sessions'),
    environments: join(root, 'environments'),
    workspace: join(root, 'workspace'),
  };
}

/** The kernel's limit on the path of a Unix socket, less a margin. Bytes. */
const socketPathBytes = 100;

/**
 * In the state folder; for a folder whose path is too long for a socket, under a name of its own in the user's runtime
 * folder. Only its user can open either.
 */
function controlPath(root: string, env: Environment): string {
  if (env.platform === 'win32') return `\\\\.\\pipe\\agent-runtime-${shortName(root)}`;
  const inside = join(root, 'control.sock');
  if (Buffer.byteLength(inside) <= socketPathBytes) return inside;
  return join(env.get('XDG_RUNTIME_DIR') || tmpdir(), `agent-runtime-${shortName(root)}.sock`);
}

/** One name a state folder, without a path inside. */
function shortName(root: string): string {
  let hash = 2166136261;
  for (const char of root.toLowerCase()) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619) >>> 0;
  return hash.toString(16);
}
