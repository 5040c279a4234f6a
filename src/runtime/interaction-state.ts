import { assertNever } from '../observe/errors.ts';

/**
 * Life of one permission or question (wire 9, runtime-behaviour 2.17). The first answer that is admitted while it is
 * `pending` owns it (`deciding`); it reaches the Harness once. Only a native call that failed reopens it.
 */
export type DecidedBy = 'person' | 'core' | 'rule' | 'policy' | 'harness';
export type InteractionEnd = 'allowed' | 'denied' | 'answered' | 'cancelled' | 'withdrawn' | 'expired';

export type InteractionState =
  | { readonly state: 'pending' }
  | { readonly state: 'deciding'; readonly by: DecidedBy; readonly towards: InteractionEnd }
  | { readonly state: 'ended'; readonly end: InteractionEnd; readonly by: DecidedBy | null };

export type InteractionEvent =
  | { readonly type: 'decide'; readonly by: DecidedBy; readonly towards: InteractionEnd }
  | { readonly type: 'applied' }
  /** The native call failed and the Harness still waits. */
  | { readonly type: 'reopened' }
  /** The Harness no longer knows the request: nothing was decided by this answer. */
  | { readonly type: 'vanished' }
  /** The Harness took it back, the Turn ended, or the connection was lost. */
  | { readonly type: 'withdraw' }
  | { readonly type: 'expire' };

export const pendingInteraction: InteractionState = { state: 'pending' };

/** Returns the next state, or null when the event does not apply. */
export function resolve(current: InteractionState, event: InteractionEvent): InteractionState | null {
  switch (event.type) {
    case 'decide':
      return current.state === 'pending' ? { state: 'deciding', by: event.by, towards: event.towards } : null;
    case 'applied':
      return current.state === 'deciding' ? { state: 'ended', end: current.towards, by: current.by } : null;
    case 'reopened':
      return current.state === 'deciding' ? pendingInteraction : null;
    case 'vanished':
    case 'withdraw':
      return current.state === 'ended' ? null : { state: 'ended', end: 'withdrawn', by: null };
    case 'expire':
      return current.state === 'pending' ? { state: 'deciding', by: 'harness', towards: 'expired' } : null;
    default:
      return assertNever(event);
  }
}
