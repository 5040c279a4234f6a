import { isActive, type ExecutorState } from './executor-state.ts';
import { capacity } from './limits.ts';

/** Counts over every owned Executor (runtime-behaviour 2.8). An invalid one is active, never idle. */
export interface Usage {
  readonly active: number;
  readonly idle: number;
  readonly total: number;
}

export function usage(states: Iterable<ExecutorState>): Usage {
  let active = 0;
  let idle = 0;
  for (const state of states) {
    if (state.state === 'gone') continue;
    if (isActive(state)) active++;
    else idle++;
  }
  return { active, idle, total: active + idle };
}

export const canActivate = (now: Usage): boolean => now.active < capacity.activeExecutors;
export const canCreate = (now: Usage): boolean => now.total < capacity.executors;
export const mustEvict = (now: Usage): boolean => now.idle > capacity.idleExecutors;
