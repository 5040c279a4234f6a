import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
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
  /** Folder of the local Core's Turns where the person names none. */
  readonly workspace: string;
}

/** `--state-dir`, `AGENT_RUNTIME_HOME`, or the platform's usual place. An explicit one must be absolute. */
export function stateRoot(explicit: string | undefined, env: Environment): string {
  const named = explicit ?? env.get('AGENT_RUNTIME_HOME');
  if (named !== undefined && named !== '') {
    if (!isAbsolute(named)) throw rejected('usage', 'The state folder must be an absolute path.');
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
    lock: join(root, 'lock.json'),
    control:
      env.platform === 'win32' ? `\\\\.\\pipe\\agent-runtime-${pipeName(root)}` : join(root, 'control.sock'),
    ledger: join(root, 'ledger'),
    audit: join(root, 'history.jsonl'),
    logs: join(root, 'logs'),
    core: join(root, 'local-core.json'),
    credentials: join(root, 'credentials.json'),
    sessions: join(root, 'sessions'),
    workspace: join(root, 'workspace'),
  };
}

/** Pipe names are global to the machine: one a state folder, and no path inside. */
function pipeName(root: string): string {
  let hash = 2166136261;
  for (const char of root.toLowerCase()) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619) >>> 0;
  return hash.toString(16);
}
