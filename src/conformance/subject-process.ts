import { spawn, type ChildProcess } from 'node:child_process';

import { within, type Clock } from '../platform/clock.ts';

export interface CommandOptions {
  readonly clock: Clock;
  readonly command: readonly string[];
  /** Fills in `{name}` in every argument. */
  readonly values: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Show what it writes on our standard error. */
  readonly verbose: boolean;
}

const termMs = 5_000;

/** A program under test in its own process group, ended with everything that stayed in it. */
export class SubjectProcess {
  readonly #clock: Clock;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #how: string | null = null;

  constructor(options: CommandOptions) {
    this.#clock = options.clock;
    const [program = '', ...args] = options.command.map((part) => fillIn(part, options.values));
    this.#child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...options.env },
      detached: process.platform !== 'win32',
      stdio: ['ignore', options.verbose ? 'inherit' : 'ignore', options.verbose ? 'inherit' : 'ignore'],
    });
    this.#ended = new Promise((resolve) => {
      this.#child.on('error', (error) => {
        this.#how ??= `it could not be started (${error.message.split(' ').pop() ?? 'unknown'})`;
        resolve();
      });
      this.#child.on('exit', (code, signal) => {
        this.#how ??= signal ? `it was ended by ${signal}` : `it ended with the exit code ${String(code)}`;
        resolve();
      });
    });
  }

  /** How it ended, or null while it runs. */
  get ended(): string | null {
    return this.#how;
  }

  /** Resolves with how it ended, or null after `ms`. */
  async exited(ms: number): Promise<string | null> {
    await within(this.#clock, ms, this.#ended);
    return this.#how;
  }

  /** Asks it to end and, after five seconds, ends it. */
  async stop(): Promise<void> {
    this.#signal('SIGTERM');
    if ((await within(this.#clock, termMs, this.#ended)).kind === 'timeout') this.#signal('SIGKILL');
    await within(this.#clock, termMs, this.#ended);
    // What it started and left behind in its group.
    this.#signal('SIGKILL');
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      if (process.platform === 'win32') this.#child.kill(signal);
      else process.kill(-pid, signal);
    } catch {
      // Nothing of the group is left.
    }
  }
}

const fillIn = (part: string, values: Readonly<Record<string, string>>): string =>
  part.replace(/\{([a-z_]+)\}/g, (whole, name: string) => values[name] ?? whole);
