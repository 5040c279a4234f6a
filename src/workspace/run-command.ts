import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { ProcessLedger } from '../ownership/process-ledger.ts';
import { stillRunning } from '../ownership/process-ledger.ts';
import { closed, unconfirmed, type CloseResult } from '../ownership/owned.ts';
import { within, type Clock } from '../platform/clock.ts';
import { identifyProcess } from '../platform/process-identity.ts';
import { systemProcessTable, type ProcessTable } from '../platform/process-table.ts';
import { endTree, OWNER_VARIABLE, type TreeRoot } from '../platform/process-tree.ts';
import type { Random } from '../platform/random.ts';

export interface CommandPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly ledger: ProcessLedger;
  readonly table?: ProcessTable;
}

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Complete; the tracking variable is added. */
  readonly env: Readonly<Record<string, string>>;
  /** For the ledger, for a person. */
  readonly purpose: string;
  readonly sessionId: string;
}

export type CommandEnd =
  | { readonly kind: 'exited'; readonly code: number }
  /** There is no such program; nothing was started. */
  | { readonly kind: 'missing' }
  /** `left` is what may still run. */
  | { readonly kind: 'unknown'; readonly why: string; readonly left: RunningTree | null };

/** A started program and everything that came out of it. */
export class RunningTree {
  readonly #ports: CommandPorts;
  readonly #root: TreeRoot;
  readonly #entryId: string;
  constructor(ports: CommandPorts, root: TreeRoot, entryId: string) {
    this.#ports = ports;
    this.#root = root;
    this.#entryId = entryId;
  }

  /** TERM, 250 ms of grace, KILL, and a look that finds nothing. Can be called again. */
  async end(): Promise<CloseResult> {
    const { clock, ledger, table = systemProcessTable } = this.#ports;
    try {
      const end = await endTree({ clock, table }, this.#root, { termMs: 250, killMs: 3_000 });
      if (end.kind === 'remaining') return unconfirmed(stillRunning(end.pids));
    } catch {
      return unconfirmed('the processes of this machine could not be listed');
    }
    await ledger.remove(this.#entryId).catch(() => undefined);
    return closed;
  }
}

/**
 * Runs a program to its end: exited, its pipes closed, and nothing of its tree left. What it writes is thrown away as
 * it comes. `signal` ends the whole tree. Never rejects.
 */
export async function runCommand(
  ports: CommandPorts,
  command: Command,
  signal: AbortSignal,
): Promise<CommandEnd> {
  const { ledger, random, clock } = ports;
  if (signal.aborted) return { kind: 'unknown', why: 'it was given up before it started', left: null };
  const owner = random.hex(16);
  const { purpose, sessionId } = command;
  const entry = await ledger.record({ owner, purpose, sessionId }).catch(() => null);
  if (!entry)
    return { kind: 'unknown', why: 'the list of started programs could not be written', left: null };
  const child = start(command, owner);
  if (!child) {
    await ledger.remove(entry.id).catch(() => undefined);
    return { kind: 'missing' };
  }
  const over = new Promise<{ code: number | null }>((resolve) =>
    child.once('close', (code) => resolve({ code })),
  );
  child.on('error', () => undefined);
  // With too many open files there are no pipes.
  for (const pipe of [child.stdout, child.stderr] as const) pipe?.on('error', () => undefined).resume();
  const pid = await new Promise<number | null>((resolve) => {
    child.once('spawn', () => resolve(child.pid ?? null));
    child.once('error', () => resolve(null));
  });
  if (pid === null) {
    await ledger.remove(entry.id).catch(() => undefined);
    return { kind: 'missing' };
  }
  const identity = await identifyProcess(pid).catch(() => null);
  const tree = new RunningTree(
    ports,
    { pid, startTime: identity?.startTime ?? null, owner, ownGroup: true },
    entry.id,
  );
  if (identity) await ledger.started(entry.id, identity).catch(() => undefined);

  const aborted = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  const end = await Promise.race([over, aborted]);
  const gone = await tree.end();
  if (gone.state !== 'closed') return { kind: 'unknown', why: gone.reason, left: tree };
  if (end === null) {
    const pipes = await within(clock, 1_000, over);
    const left = pipes.kind === 'value' ? null : tree;
    return { kind: 'unknown', why: 'it was given up while it ran', left };
  }
  if (end.code === null) return { kind: 'unknown', why: 'it was ended by a signal', left: null };
  return { kind: 'exited', code: end.code };
}

/** Null when the system takes no such start at all. */
function start(command: Command, owner: string): ChildProcessByStdio<null, Readable, Readable> | null {
  try {
    return spawn(command.program, [...command.args], {
      cwd: command.cwd,
      env: { ...command.env, [OWNER_VARIABLE]: owner },
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch {
    return null;
  }
}
