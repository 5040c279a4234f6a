import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ControlClient } from '../../src/cli/client.ts';
import type { View } from '../../src/contract/view.ts';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A machine in miniature for the built command line: home, state folder, workspace, configuration. */
export class Machine {
  readonly home: string;
  readonly stateDir: string;
  readonly workspace: string;
  /** Beside our own. No session bus by default: nobody's keychain is touched. */
  env: Readonly<Record<string, string>> = { DBUS_SESSION_BUS_ADDRESS: 'disabled:' };
  readonly #running = new Set<ChildProcess>();

  private constructor(home: string) {
    this.home = home;
    this.stateDir = join(home, 'state');
    this.workspace = join(home, 'project');
  }

  static async make(harnesses: unknown = [{ kind: 'demo', adapter: 'demo' }]): Promise<Machine> {
    const machine = new Machine(await mkdtemp(join(tmpdir(), 'agent-runtime-cli-')));
    await mkdir(machine.stateDir, { mode: 0o700 });
    await mkdir(machine.workspace);
    await writeFile(join(machine.stateDir, 'config.json'), JSON.stringify({ harnesses }));
    return machine;
  }

  /** Starts a command and leaves it running. */
  spawn(...args: readonly string[]): { child: ChildProcess; ended: Promise<Ended> } {
    const child = spawn(process.execPath, [cli, ...args, '--state-dir', this.stateDir], {
      cwd: this.home,
      env: { ...process.env, HOME: this.home, ...this.env },
    });
    this.#running.add(child);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => (stdout += String(chunk)));
    child.stderr.on('data', (chunk) => (stderr += String(chunk)));
    const ended = new Promise<Ended>((resolve) =>
      child.on('close', (code) => {
        this.#running.delete(child);
        resolve({ code, stdout, stderr });
      }),
    );
    return { child, ended };
  }

  /** Runs a command to its end. */
  async run(...args: readonly string[]): Promise<Ended> {
    const { child, ended } = this.spawn(...args);
    child.stdin?.end();
    return ended;
  }

  async runWithInput(input: string, ...args: readonly string[]): Promise<Ended> {
    const { child, ended } = this.spawn(...args);
    child.stdin?.end(input);
    return ended;
  }

  /** Answers each question as it appears on the screen, in order. */
  async runInteractively(
    answers: readonly (readonly [RegExp, string])[],
    ...args: readonly string[]
  ): Promise<Ended> {
    const { child, ended } = this.spawn(...args);
    const left = [...answers];
    let screen = '';
    child.stderr?.on('data', (chunk) => {
      screen += String(chunk);
      const next = left[0];
      if (!next || !next[0].test(screen)) return;
      left.shift();
      screen = '';
      child.stdin?.write(`${next[1]}\n`);
    });
    return ended;
  }

  /** The control endpoint, as soon as it answers. */
  async client(): Promise<ControlClient> {
    for (;;) {
      try {
        return await ControlClient.connect(join(this.stateDir, 'control.sock'));
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  async close(): Promise<void> {
    for (const child of this.#running) child.kill('SIGKILL');
    await rm(this.home, { recursive: true, force: true });
  }
}

/** Resolves with the first view that satisfies `wanted`. */
export function viewWhere(client: ControlClient, wanted: (view: View) => boolean): Promise<View> {
  return new Promise((resolve) => {
    const stop = client.onView((view) => {
      if (!wanted(view)) return;
      queueMicrotask(() => stop());
      resolve(view);
    });
  });
}
