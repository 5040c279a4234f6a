import { assertNever } from '../observe/errors.ts';

/**
 * Life of one Executor record (runtime-behaviour 2.9). Whatever is not `gone` is owned and counted. `closing` and
 * `unconfirmed` are the invalid ones: they never serve again and count as active until their end is proven.
 */
export type ExecutorState =
  | { readonly state: 'preparing'; readonly by: string }
  | { readonly state: 'admitted'; readonly handle: string }
  | { readonly state: 'running'; readonly runId: string }
  /** `lease` numbers the idle period, so that a timer of an earlier one does nothing. */
  | { readonly state: 'idle'; readonly lease: number; readonly since: number }
  | { readonly state: 'closing'; readonly reason: CloseReason; readonly attempt: number }
  | {
      readonly state: 'unconfirmed';
      readonly reason: CloseReason;
      readonly attempt: number;
      readonly why: string;
    }
  | { readonly state: 'gone'; readonly forced: boolean };

export type CloseReason =
  | 'preparation_failed'
  | 'idle_capacity'
  | 'idle_expired'
  | 'invalidated'
  | 'completed'
  | 'shutdown'
  | 'suspend';

export type ExecutorEvent =
  | { readonly type: 'admit'; readonly handle: string }
  | { readonly type: 'run'; readonly runId: string }
  | { readonly type: 'rest'; readonly lease: number; readonly at: number }
  | { readonly type: 'close'; readonly reason: CloseReason }
  | { readonly type: 'closed' }
  | { readonly type: 'close_unconfirmed'; readonly why: string }
  /** A person recorded it as gone without proof. */
  | { readonly type: 'force' };

/** Returns the next state, or null when the event does not apply. */
export function step(current: ExecutorState, event: ExecutorEvent): ExecutorState | null {
  switch (event.type) {
    case 'admit':
      return current.state === 'preparing' || current.state === 'idle'
        ? { state: 'admitted', handle: event.handle }
        : null;
    case 'run':
      return current.state === 'admitted' || current.state === 'idle' || current.state === 'preparing'
        ? { state: 'running', runId: event.runId }
        : null;
    case 'rest':
      return current.state === 'admitted' || current.state === 'running'
        ? { state: 'idle', lease: event.lease, since: event.at }
        : null;
    case 'close':
      if (current.state === 'gone' || current.state === 'closing') return null;
      return {
        state: 'closing',
        reason: current.state === 'unconfirmed' ? current.reason : event.reason,
        attempt: current.state === 'unconfirmed' ? current.attempt + 1 : 1,
      };
    case 'closed':
      return current.state === 'closing' ? { state: 'gone', forced: false } : null;
    case 'close_unconfirmed':
      return current.state === 'closing' ? { ...current, state: 'unconfirmed', why: event.why } : null;
    case 'force':
      return current.state === 'unconfirmed' || current.state === 'closing'
        ? { state: 'gone', forced: true }
        : null;
    default:
      return assertNever(event);
  }
}

export const isInvalid = (state: ExecutorState): boolean =>
  state.state === 'closing' || state.state === 'unconfirmed' || state.state === 'gone';

/** Counted against the four active places: at work, promised, or not yet proven gone. */
export const isActive = (state: ExecutorState): boolean => state.state !== 'idle' && state.state !== 'gone';
