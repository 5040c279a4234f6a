/** What can be present on one connection (runtime-behaviour 2.21, "Mutual exclusion"). */
export const activities = [
  'run',
  'idle_executor',
  /** Preparing, admitted, running, closing or not proven closed. */
  'busy_executor',
  /** A reservation that owns something: of an Executor, or read-only. */
  'admission',
  'read',
  'write',
  'export',
  'runtime_prepare',
] as const;
export type Activity = (typeof activities)[number];

export const operations = [
  'prepare',
  'prepare_read_only',
  'start',
  'read',
  'write',
  'export',
  'runtime_prepare',
  'quiesce',
] as const;
export type Operation = (typeof operations)[number];

/**
 * An operation may not begin while one of its activities is present; one that was left uncertain is present until it
 * is settled. What depends on more than presence (the same Session, a target, a count) is decided where it is known.
 */
export const excludedBy: Readonly<Record<Operation, readonly Activity[]>> = {
  prepare: ['write', 'export', 'runtime_prepare'],
  prepare_read_only: ['runtime_prepare'],
  start: ['write', 'export', 'runtime_prepare'],
  read: [],
  write: ['run', 'busy_executor', 'admission', 'read', 'write', 'export', 'runtime_prepare'],
  export: ['write', 'export'],
  runtime_prepare: activities,
  quiesce: ['run', 'busy_executor', 'admission', 'read', 'write', 'export', 'runtime_prepare'],
};

/** The first activity that forbids the operation, or null. */
export function blockedBy(operation: Operation, isPresent: (activity: Activity) => boolean): Activity | null {
  return excludedBy[operation].find(isPresent) ?? null;
}
