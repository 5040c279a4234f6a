import type { Router } from '../../../src/runtime/router.ts';
import { limits } from './model-state.ts';
import type { ReferenceModel } from './reference-model.ts';

/**
 * What must hold whatever the order of events is. Those that a recorded history shows are the rules of
 * `src/conformance/history-checker.ts`:
 *
 *   one submission, an Executor at rest, done is last, no invented end, silence after a loss, nothing after a gap, applied means settled,
 *   receipts are asked for, one decision, one result, input receipts, revisions, answers have questions, withdrawals,
 *   interaction ids, text in order, settled means gone.
 *
 * Those that need the Runtime itself are here and are looked at after every step. Three more are looked at by the bed:
 * each frame of Core is answered at once as the reference model says, the shutdown settles when native work cooperates,
 * and then no promise and no timer is left.
 */
export interface Moment {
  readonly router: Router;
  readonly model: ReferenceModel;
  /** The connection has settled. */
  readonly over: boolean;
  /** Runs whose native Turn goes on and was not told to end. */
  readonly undisturbed: readonly string[];
}

export interface LiveInvariant {
  readonly name: string;
  /** Null when it holds. */
  judge(moment: Moment): string | null;
}

const same = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);

export const liveInvariants: readonly LiveInvariant[] = [
  {
    name: 'capacity equals what is owned',
    judge: ({ router, model, over }) => {
      const { active, idle, total } = router.usage;
      const owned = over ? { active: 0, idle: 0, total: 0 } : model.usage;
      if (over || !model.closed)
        return same({ active, idle, total }, owned)
          ? null
          : `the Runtime counts ${JSON.stringify(router.usage)}, owned are ${JSON.stringify(owned)}`;
      // While it shuts down, only the sum is comparable: everything counts as being closed.
      return total === owned.total ? null : `the Runtime counts ${total}, owned are ${owned.total}`;
    },
  },
  {
    name: 'Runs are counted',
    judge: ({ router, model, over }) => {
      const expected = over ? 0 : model.runs.size;
      return router.activeRuns === expected ? null : `${router.activeRuns} Runs, expected ${expected}`;
    },
  },
  {
    name: 'capacity is bounded',
    judge: ({ router, model }) => {
      const { idle, total } = router.usage;
      // What is being closed counts as active too and may push the sum over four, but is never added by Core.
      if (model.working > limits.active) return `${model.working} Executors at work`;
      if (idle > limits.idle) return `${idle} idle Executors`;
      return total > limits.total ? `${total} Executors` : null;
    },
  },
  {
    name: 'a cancellation reaches the agent',
    judge: ({ model, undisturbed }) => {
      for (const id of undisturbed) {
        const run = model.runs.get(id);
        // Before it has a Turn, and once something went wrong, the end of its Executor is what stops it.
        if (run?.cancelled === true && run.hasTurn && !run.executor.invalid) return `not that of Run ${id}`;
      }
      return null;
    },
  },
];
