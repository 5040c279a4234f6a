import { closed, unconfirmed, type CloseResult } from '../../ownership/owned.ts';
import { stillRunning } from '../../ownership/process-ledger.ts';
import { within, type Clock } from '../../platform/clock.ts';
import type { ProcessTable } from '../../platform/process-table.ts';
import { endTree, untilGone, type EndLimits, type TreeRoot } from '../../platform/process-tree.ts';

export interface LadderLimits extends EndLimits {
  /** From the end of standard input to TERM, milliseconds. */
  readonly inputMs: number;
  /** From an empty tree to the end of its output pipes, milliseconds. */
  readonly pipesMs: number;
}

/** Short enough together for a close that has ten seconds. */
export const defaultLadderLimits: LadderLimits = {
  inputMs: 1_500,
  termMs: 3_000,
  killMs: 3_000,
  pipesMs: 1_000,
};

export interface LadderTarget {
  readonly root: TreeRoot;
  /** Ends standard input, which asks a well-behaved program to leave. Idempotent. */
  endInput(): void;
  /** Resolves when the first process has been reaped and its output pipes have ended. */
  readonly over: Promise<unknown>;
}

/**
 * Ends a native program and everything that came out of it: end of input, TERM, KILL, each with its grace, and then a
 * look at the process table. `closed` means nothing of the tree was found and the pipes have ended. Each call is a
 * whole new attempt. Never throws.
 */
export async function stopLadder(
  ports: { readonly clock: Clock; readonly table: ProcessTable },
  target: LadderTarget,
  limits: LadderLimits = defaultLadderLimits,
): Promise<CloseResult> {
  try {
    target.endInput();
    if (!(await untilGone(ports, target.root, limits.inputMs, () => undefined))) {
      const end = await endTree(ports, target.root, limits);
      if (end.kind === 'remaining') return unconfirmed(stillRunning(end.pids));
    }
  } catch {
    return unconfirmed('the processes of this machine could not be listed');
  }
  const over = await within(ports.clock, limits.pipesMs, target.over);
  return over.kind === 'value' ? closed : unconfirmed('something still holds its output open');
}
