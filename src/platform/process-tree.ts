import { delay, type Clock } from './clock.ts';
import type { ProcessEntry } from './process-identity.ts';
import { ownPid, type EndSignal, type ProcessTable } from './process-table.ts';

/**
 * Everything that came out of one start of ours. A descendant may leave the group, start a session of its own or
 * lose its parent; it is still found by the group and session of the first process, by parentage, and by the
 * variable that was put into the environment of the start.
 */
export interface TreeRoot {
  /** The first process, leader of its own group. Null when it is not known whether it ever ran. */
  readonly pid: number | null;
  /** Start time of that process; a different one under the same pid is a stranger, and so is its group. */
  readonly startTime: string | null;
  /** Value of the tracking variable. */
  readonly owner: string;
  /**
   * Whether the number of a group whose first process is gone still means our group. True for the daemon that started
   * it; false for a later daemon, which cannot know whether the number was given out again: it then trusts the first
   * process (while it runs) and the tracking variable alone.
   */
  readonly ownGroup: boolean;
}

/** Name of the tracking variable. Its value is random for each start and is no secret. */
export const OWNER_VARIABLE = 'AGENT_RUNTIME_OWNER';

/** The members of the tree that run now. */
export async function treeMembers(table: ProcessTable, root: TreeRoot): Promise<readonly ProcessEntry[]> {
  const all = (await table.list()).filter((entry) => entry.pid !== ownPid);
  const leader = root.pid === null ? undefined : all.find((entry) => entry.pid === root.pid);
  const known = leader ? root.startTime === null || leader.startTime === root.startTime : root.ownGroup;
  const tracked = await table.withVariable(all, OWNER_VARIABLE, root.owner);
  const members = new Set<number>();
  for (const entry of all) {
    const ofLeader =
      root.pid !== null &&
      known &&
      (entry.pid === root.pid || entry.group === root.pid || entry.session === root.pid);
    if (ofLeader || tracked.has(entry.pid)) members.add(entry.pid);
  }
  for (let grew = true; grew;) {
    grew = false;
    for (const entry of all) {
      if (members.has(entry.pid) || !members.has(entry.parent)) continue;
      members.add(entry.pid);
      grew = true;
    }
  }
  return all.filter((entry) => members.has(entry.pid));
}

export interface EndLimits {
  /** From TERM to KILL, milliseconds. */
  readonly termMs: number;
  /** From KILL to giving up, milliseconds. */
  readonly killMs: number;
}

/** What a person knows as polite, then firm: three seconds each way (runtime-behaviour 3.7). */
export const defaultEndLimits: EndLimits = { termMs: 3_000, killMs: 3_000 };

export type TreeEnd =
  { readonly kind: 'gone' } | { readonly kind: 'remaining'; readonly pids: readonly number[] };

/**
 * Ends the tree: TERM, a grace, KILL, and then looks until nothing is left. `gone` means that a look at the process
 * table found no member; a signal sent or a parent that exited proves nothing.
 */
export async function endTree(
  ports: { readonly table: ProcessTable; readonly clock: Clock },
  root: TreeRoot,
  limits: EndLimits = defaultEndLimits,
): Promise<TreeEnd> {
  const { table } = ports;
  const members = await treeMembers(table, root);
  if (members.length === 0) return { kind: 'gone' };
  sendToAll(table, root, members, 'SIGTERM');
  if (await untilGone(ports, root, limits.termMs, () => undefined)) return { kind: 'gone' };
  const kill = (left: readonly ProcessEntry[]): void => sendToAll(table, root, left, 'SIGKILL');
  kill(await treeMembers(table, root));
  if (await untilGone(ports, root, limits.killMs, kill)) return { kind: 'gone' };
  const left = await treeMembers(table, root);
  return left.length === 0 ? { kind: 'gone' } : { kind: 'remaining', pids: left.map((entry) => entry.pid) };
}

/** Looks until nothing is left or `ms` passed; `still` sees what is left each time, so that new forks get it too. */
export async function untilGone(
  ports: { readonly table: ProcessTable; readonly clock: Clock },
  root: TreeRoot,
  ms: number,
  still: (left: readonly ProcessEntry[]) => void,
): Promise<boolean> {
  const { clock, table } = ports;
  const end = clock.monotonic() + ms;
  for (let pause = 10; ; pause = Math.min(pause * 2, 100)) {
    const left = await treeMembers(table, root);
    if (left.length === 0) return true;
    still(left);
    const rest = end - clock.monotonic();
    if (rest <= 0) return false;
    await delay(clock, Math.min(pause, rest));
  }
}

function sendToAll(
  table: ProcessTable,
  root: TreeRoot,
  members: readonly ProcessEntry[],
  signal: EndSignal,
): void {
  const inGroup = (entry: ProcessEntry): boolean => root.pid !== null && entry.group === root.pid;
  const grouped =
    root.pid !== null && members.some((entry) => inGroup(entry)) && table.signalGroup(root.pid, signal);
  for (const entry of members) if (!grouped || !inGroup(entry)) table.signal(entry.pid, signal);
}
