import type { RuntimeError } from '../observe/errors.ts';
import type { EnrolFailure } from './machine-calls.ts';

/** With an installation grant, or with a credential file of an operator (machine-connection 5.1, 5.2). */
export type EnrolWay = 'grant' | 'credential';

export const enrolSteps = ['folder', 'store', 'claim', 'enroll', 'receipt'] as const;
export type EnrolStep = (typeof enrolSteps)[number];

/**
 * What is done after the person confirmed, in this order. A grant's secret is made here and must be stored before Core
 * is told of it (M2); an operator's is proven to be the right one before it takes a place in the store.
 */
export const stepsOf: Readonly<Record<EnrolWay, readonly EnrolStep[]>> = {
  grant: ['folder', 'store', 'claim', 'enroll', 'receipt'],
  credential: ['folder', 'enroll', 'store', 'receipt'],
};

export type EnrolProblem = EnrolFailure | { readonly of: 'here'; readonly error: RuntimeError };

/**
 * An enrolment from the moment it is known what would be bound. Up to `working` nothing is stored here and nothing has
 * changed at Core. Each step may be repeated: a failure leads back to the first one.
 */
export type EnrolState =
  | { readonly state: 'review' }
  | { readonly state: 'working'; readonly step: EnrolStep }
  /** Bound and served; Core is asked whether it sees this key. */
  | { readonly state: 'connecting' }
  /** `connected` is null where nothing serves the binding now and so nobody asked. */
  | { readonly state: 'bound'; readonly connected: boolean | null }
  | { readonly state: 'failed'; readonly step: EnrolStep; readonly problem: EnrolProblem };

export type EnrolEvent =
  | { readonly type: 'confirm' }
  | { readonly type: 'step_done'; readonly serving: boolean }
  | { readonly type: 'step_failed'; readonly problem: EnrolProblem }
  | { readonly type: 'answered'; readonly connected: boolean };

/** Returns the next state, or null when the event does not apply. */
export function advanceEnrolment(current: EnrolState, event: EnrolEvent, way: EnrolWay): EnrolState | null {
  const steps = stepsOf[way];
  switch (event.type) {
    case 'confirm':
      return current.state === 'review' || current.state === 'failed'
        ? { state: 'working', step: steps[0] ?? 'folder' }
        : null;
    case 'step_done': {
      if (current.state !== 'working') return null;
      const next = steps[steps.indexOf(current.step) + 1];
      if (next !== undefined) return { state: 'working', step: next };
      return event.serving ? { state: 'connecting' } : { state: 'bound', connected: null };
    }
    case 'step_failed':
      return current.state === 'working'
        ? { state: 'failed', step: current.step, problem: event.problem }
        : null;
    case 'answered':
      return current.state === 'connecting' ? { state: 'bound', connected: event.connected } : null;
  }
}
