import { spawn } from 'node:child_process';

import { within, type Clock } from '../../platform/clock.ts';
import type { Environment } from '../../platform/environment.ts';
import { systemProcessTable } from '../../platform/process-table.ts';
import type { Random } from '../../platform/random.ts';

/** How long a login shell may take to say its PATH, milliseconds. */
export const LOGIN_SHELL_LIMIT_MS = 5_000;
/** More output than any PATH; a shell that prints more is not believed. */
const OUTPUT_LIMIT = 256 * 1024;

/**
 * PATH as the person's login shell has it. An application started from a dock or a desktop does not inherit it, so
 * programs of version managers would not be found. The shell is asked once and the answer kept; what its start-up
 * files print before is thrown away. Null when there is no shell, it takes too long, or on Windows.
 */
export class LoginPath {
  readonly #ports: { readonly clock: Clock; readonly random: Random; readonly environment: Environment };
  #answer: Promise<string | null> | null = null;

  constructor(ports: { readonly clock: Clock; readonly random: Random; readonly environment: Environment }) {
    this.#ports = ports;
  }

  get(): Promise<string | null> {
    // A shell that could not be started is asked again the next time.
    this.#answer ??= this.#ask().catch(() => {
      this.#answer = null;
      return null;
    });
    return this.#answer;
  }

  async #ask(): Promise<string | null> {
    const { clock, environment, random } = this.#ports;
    const shell = environment.get('SHELL');
    if (environment.platform === 'win32' || !shell?.startsWith('/')) return null;
    const marker = `path-${random.hex(8)}`;
    const child = spawn(shell, ['-ilc', `printf '%s%s%s' '${marker}' "$PATH" '${marker}'`], {
      env: { ...environment.all(), TERM: 'dumb' },
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const answer = new Promise<string>((resolve, reject) => {
      // First: with too many open files there is no pipe to listen to.
      child.once('error', reject);
      let text = '';
      child.stdout.setEncoding('utf8');
      child.stdout.on('data', (part: string) => {
        if (text.length < OUTPUT_LIMIT) text += part;
        if (between(text, marker) !== null) resolve(text);
      });
      child.stdout.once('error', reject);
      child.once('close', () => resolve(text));
    });
    const waited = await within(clock, LOGIN_SHELL_LIMIT_MS, answer);
    // Start-up files may have left something running in the shell's group; none of it is wanted any more.
    if (child.pid !== undefined) systemProcessTable.signalGroup(child.pid, 'SIGKILL');
    child.stdout.destroy();
    return waited.kind === 'value' ? between(waited.value, marker) : null;
  }
}

/** What stands between the last two markers, or null. */
export function between(text: string, marker: string): string | null {
  const end = text.lastIndexOf(marker);
  const start = end < 0 ? -1 : text.lastIndexOf(marker, end - 1);
  const path = start < 0 ? '' : text.slice(start + marker.length, end);
  return path === '' ? null : path;
}
