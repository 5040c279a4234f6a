import { assertNever } from '../observe/errors.ts';

/**
 * Life of one admission (wire 5.2, runtime-behaviour 2.7). `revision` rises by one with every transition and orders
 * the statuses a peer sees; a refused event changes nothing. A rejected control answer is not an event of this machine.
 */
export type AdmissionPhase =
  | { readonly state: 'preparing' }
  | { readonly state: 'ready' }
  | { readonly state: 'starting'; readonly runId: string }
  | { readonly state: 'started'; readonly runId: string }
  | { readonly state: 'released' }
  | { readonly state: 'expired' }
  | { readonly state: 'failed'; readonly code: FailureCode };

export type FailureCode =
  | 'preparation_failed'
  | 'executor_cleanup_unconfirmed'
  | 'cleanup_unconfirmed'
  | 'start_cancelled'
  | 'status_delivery_failed'
  | 'connection_closed';

export type AdmissionEvent =
  | { readonly type: 'prepared' }
  | { readonly type: 'preparation_failed' }
  /** The failed preparation's native resource could not be closed either. */
  | { readonly type: 'cleanup_unconfirmed' }
  | { readonly type: 'start'; readonly runId: string }
  | { readonly type: 'transferred' }
  /** Native start produced no Turn; the wire shows a rejection, the handle is used up. */
  | { readonly type: 'start_failed' }
  | { readonly type: 'release' }
  | { readonly type: 'deadline' }
  | { readonly type: 'undeliverable' }
  | { readonly type: 'connection_closed' };

export interface AdmissionState {
  readonly phase: AdmissionPhase;
  readonly revision: number;
}

export const freshAdmission: AdmissionState = { phase: { state: 'preparing' }, revision: 1 };
export const reusedAdmission: AdmissionState = { phase: { state: 'ready' }, revision: 1 };

/** Returns the next state, or null when the event does not apply in this phase. */
export function admit(current: AdmissionState, event: AdmissionEvent): AdmissionState | null {
  const { phase } = current;
  const to = (next: AdmissionPhase): AdmissionState => ({ phase: next, revision: current.revision + 1 });
  const beforeStart = phase.state === 'preparing' || phase.state === 'ready';
  switch (event.type) {
    case 'prepared':
      return phase.state === 'preparing' ? to({ state: 'ready' }) : null;
    case 'preparation_failed':
      return phase.state === 'preparing' ? to({ state: 'failed', code: 'preparation_failed' }) : null;
    case 'cleanup_unconfirmed':
      return phase.state === 'failed' && phase.code === 'preparation_failed'
        ? to({ state: 'failed', code: 'executor_cleanup_unconfirmed' })
        : null;
    case 'start':
      return phase.state === 'ready' ? to({ state: 'starting', runId: event.runId }) : null;
    case 'transferred':
      return phase.state === 'starting' ? to({ state: 'started', runId: phase.runId }) : null;
    case 'start_failed':
      return phase.state === 'starting' ? to({ state: 'failed', code: 'start_cancelled' }) : null;
    case 'release':
      return beforeStart ? to({ state: 'released' }) : null;
    case 'deadline':
      return beforeStart ? to({ state: 'expired' }) : null;
    case 'undeliverable':
      return beforeStart ? to({ state: 'failed', code: 'status_delivery_failed' }) : null;
    case 'connection_closed':
      return beforeStart || phase.state === 'starting'
        ? to({ state: 'failed', code: 'connection_closed' })
        : null;
    default:
      return assertNever(event);
  }
}

/** An admission that still waits for its start; it holds its Executor. */
export const isOpen = (state: AdmissionState): boolean =>
  state.phase.state === 'preparing' || state.phase.state === 'ready';
