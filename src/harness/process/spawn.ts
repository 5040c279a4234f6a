import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';

import { fault, rejected } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { CloseResult } from '../../ownership/owned.ts';
import type { ProcessLedger } from '../../ownership/process-ledger.ts';
import type { Clock } from '../../platform/clock.ts';
import { systemEnvironment } from '../../platform/environment.ts';
import { identifyProcess } from '../../platform/process-identity.ts';
import { systemProcessTable, type ProcessTable } from '../../platform/process-table.ts';
import { endTree, OWNER_VARIABLE, treeMembers, type TreeRoot } from '../../platform/process-tree.ts';
import type { Random } from '../../platform/random.ts';
import { LineWriter } from './jsonl.ts';
import { defaultLadderLimits, stopLadder, type LadderLimits } from './stop-ladder.ts';

export interface ProcessPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly ledger: ProcessLedger;
  readonly table?: ProcessTable;
  readonly limits?: LadderLimits;
  /** Aborted: the Runtime ends. Nothing is started any more, and what still runs is stopped. */
  readonly ending?: AbortSignal;
}

export interface StartRequest {
  /** Absolute path of the program. */
  readonly command: string;
  /** Never holds a secret: other users of the machine can read it. */
  readonly args: readonly string[];
  readonly cwd: string;
  /** Complete; the tracking variable is added. */
  readonly env: Readonly<Record<string, string>>;
  /** For the ledger and the log, for a person. */
  readonly purpose: string;
  readonly sessionId?: string;
}

/** How the first process ended. Its descendants may live on. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** How much of standard error is kept, bytes from the end. It is never logged. */
export const STDERR_LIMIT = 64 * 1024;

/**
 * A native program with its whole tree: own process group, tracked descendants, and a place in the ledger until its
 * end is proven. Whoever starts one owns it and calls `stop` until that says closed, also when the program ended by
 * itself, because its commands may still run.
 */
export class NativeProcess {
  readonly pid: number;
  readonly input: LineWriter;
  readonly output: Readable;
  /** The first process was reaped. Its output may still hold unread lines. */
  readonly exited: Promise<ProcessExit>;
  readonly #ports: ProcessPorts;
  readonly #root: TreeRoot;
  readonly #entryId: string;
  readonly #over: Promise<unknown>;
  readonly #stderr: Buffer[] = [];
  #stderrBytes = 0;
  #stopping: Promise<CloseResult> | null = null;

  /** Use `startProcess`. */
  constructor(
    ports: ProcessPorts,
    child: ChildProcessWithoutNullStreams,
    ends: ChildEnds,
    root: TreeRoot,
    entryId: string,
  ) {
    this.#ports = ports;
    this.#root = root;
    this.#entryId = entryId;
    this.pid = root.pid ?? 0;
    this.#over = ends.closed;
    this.input = new LineWriter(child.stdin);
    this.output = child.stdout;
    child.stderr.on('data', (chunk: Buffer) => this.#keepError(chunk));
    this.exited = ends.exited.then((exit) => {
      ports.logger.info('harness.process_ended', { pid: this.pid, ...exit, stderr: this.#stderrBytes });
      return exit;
    });
  }

  /** The end of what the program wrote to standard error. Foreign text that may hold anything. */
  get stderrTail(): string {
    return Buffer.concat(this.#stderr).subarray(-STDERR_LIMIT).toString('utf8');
  }

  /** Value of the tracking variable, for children that are started with an environment of their own. */
  get owner(): string {
    return this.#root.owner;
  }

  /** Pids of everything that came out of this start and runs now. */
  async members(): Promise<readonly number[]> {
    const members = await treeMembers(this.#ports.table ?? systemProcessTable, this.#root);
    return members.map(({ pid }) => pid);
  }

  /**
   * Ends the program and everything that came out of it (`stopLadder`). `closed` means verified gone, and the ledger
   * forgot it. Callers at the same time share one attempt; after `unconfirmed` the next call tries again.
   */
  stop(): Promise<CloseResult> {
    this.#stopping ??= this.#stop().finally(() => (this.#stopping = null));
    return this.#stopping;
  }

  async #stop(): Promise<CloseResult> {
    // Unread output would keep the pipe open and a program that waits for it alive. A reader that is still there
    // goes on reading.
    if (!this.output.readableFlowing && this.output.listenerCount('readable') === 0) this.output.resume();
    const { clock, ledger, logger, table = systemProcessTable, limits = defaultLadderLimits } = this.#ports;
    const target = { root: this.#root, endInput: () => this.input.end(), over: this.#over };
    const result = await stopLadder({ clock, table }, target, limits);
    if (result.state === 'closed') await ledger.remove(this.#entryId).catch(() => undefined);
    else logger.warn('harness.process_unconfirmed', { pid: this.pid });
    return result;
  }

  #keepError(chunk: Buffer): void {
    this.#stderrBytes += chunk.length;
    this.#stderr.push(chunk.length > STDERR_LIMIT ? chunk.subarray(-STDERR_LIMIT) : chunk);
    let kept = this.#stderr.reduce((sum, part) => sum + part.length, 0);
    while (this.#stderr.length > 1 && kept - (this.#stderr[0]?.length ?? 0) >= STDERR_LIMIT) {
      kept -= this.#stderr.shift()?.length ?? 0;
    }
  }
}

/**
 * Starts a program in its own process group. The ledger knows of it before it exists and knows who it is before
 * this resolves. Rejects with `harness_unavailable` (nothing was started) or `harness_failed`/`storage` (what was
 * started has been ended again, or stays in the ledger).
 */
export async function startProcess(ports: ProcessPorts, request: StartRequest): Promise<NativeProcess> {
  const { ledger, logger, random, ending } = ports;
  if (ending?.aborted) {
    throw rejected('harness_unavailable', 'The Runtime ends and starts nothing any more.');
  }
  const folder = await stat(request.cwd).catch(() => null);
  if (!folder?.isDirectory()) {
    throw rejected(
      'workspace_unusable',
      'The folder this should work in is not there. Check it and try again.',
    );
  }
  const owner = random.hex(16);
  const entry = await ledger
    .record({ owner, purpose: request.purpose, sessionId: request.sessionId ?? null })
    .catch((error: unknown) => {
      throw fault(
        'storage',
        'The list of started programs could not be written. Check the disk and try again.',
        error,
      );
    });
  const child = startChild(request, owner);
  const ends = child && watchEnds(child);
  const pid = child && (await spawned(child));
  if (!child || !ends || pid === null) {
    await ledger.remove(entry.id).catch(() => undefined);
    throw rejected(
      'harness_unavailable',
      `${request.purpose} could not be started. Check that its program is installed.`,
    );
  }
  const identity = await identifyProcess(pid).catch(() => null);
  const root: TreeRoot = { pid, startTime: identity?.startTime ?? null, owner, ownGroup: true };
  const native = new NativeProcess(ports, child, ends, root, entry.id);
  if (identity) {
    await ledger.started(entry.id, identity).catch(async (error: unknown) => {
      const { clock, table = systemProcessTable, limits = defaultLadderLimits } = ports;
      // Should that fail too, the entry on disk leads the next start to it.
      await endTree({ clock, table }, root, limits).catch(() => undefined);
      throw fault(
        'storage',
        'The list of started programs could not be written. Check the disk and try again.',
        error,
      );
    });
  }
  logger.info('harness.process_started', { pid, purpose: request.purpose });
  const end = (): void => void native.stop();
  ending?.addEventListener('abort', end, { once: true });
  void ends.closed.then(() => ending?.removeEventListener('abort', end));
  if (ending?.aborted) end();
  return native;
}

/** Null when the system refuses outright, which is thrown rather than emitted. */
function startChild(request: StartRequest, owner: string): ChildProcessWithoutNullStreams | null {
  try {
    const child = spawn(request.command, [...request.args], {
      cwd: request.cwd,
      env: { ...request.env, [OWNER_VARIABLE]: owner },
      // A new session and group on POSIX. On Windows it would open a console window; trees go by parentage there.
      detached: systemEnvironment.platform !== 'win32',
      windowsHide: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // What breaks is noticed where it is used; before that it must not end this process.
    child.on('error', () => undefined);
    // With too many open files there are none.
    for (const pipe of child.stdio) pipe?.on('error', () => undefined);
    return child;
  } catch {
    return null;
  }
}

interface ChildEnds {
  readonly exited: Promise<ProcessExit>;
  /** Exited, and every output pipe has ended. */
  readonly closed: Promise<unknown>;
}

/** Listens from the first moment: a program can be gone before its start has been recorded. */
function watchEnds(child: ChildProcessWithoutNullStreams): ChildEnds {
  return {
    exited: new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal }))),
    closed: new Promise((resolve) => child.once('close', resolve)),
  };
}

/** The pid once the system has made the process, or null when it could not. */
function spawned(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('spawn', () => resolve(child.pid ?? null));
    child.once('error', () => resolve(null));
  });
}
