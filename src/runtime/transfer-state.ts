import { assertNever } from '../observe/errors.ts';

/**
 * Life of a transfer with a body (wire 12.3 and 13): bytes are accepted in order, the body is closed once, and what
 * was applied is told by its outcome alone. A refused event changes nothing.
 */
export type TransferState =
  /** `accepted`: bytes decided to belong to the body; `pending`: chunks not yet on disk. */
  | { readonly state: 'receiving'; readonly accepted: number; readonly pending: number }
  /** No more frames are taken: it is checked, applied and told. */
  | { readonly state: 'applying' }
  /** Applied with an unknown effect; it keeps its place until it is settled. */
  | { readonly state: 'unknown' }
  | { readonly state: 'ended' };

export type TransferEvent =
  | { readonly type: 'chunk'; readonly offset: number; readonly bytes: number; readonly size: number }
  | { readonly type: 'stored' }
  | { readonly type: 'commit'; readonly size: number }
  | { readonly type: 'unknown' }
  | { readonly type: 'end' };

export const freshTransfer: TransferState = { state: 'receiving', accepted: 0, pending: 0 };

/** A sender waits for each receipt; one that does not is stopped before its body costs memory. */
const PENDING_CHUNKS = 4;

/** The next state, null where the event does not apply, `invalid` where it breaks the rules of the body. */
export function transfer(current: TransferState, event: TransferEvent): TransferState | 'invalid' | null {
  switch (event.type) {
    case 'chunk': {
      if (current.state !== 'receiving') return null;
      const fits = event.offset === current.accepted && event.offset + event.bytes <= event.size;
      if (!fits || current.pending >= PENDING_CHUNKS) return 'invalid';
      return { ...current, accepted: current.accepted + event.bytes, pending: current.pending + 1 };
    }
    case 'stored':
      return current.state === 'receiving' ? { ...current, pending: current.pending - 1 } : null;
    case 'commit':
      if (current.state !== 'receiving') return null;
      return current.accepted === event.size ? { state: 'applying' } : 'invalid';
    case 'unknown':
      return current.state === 'applying' ? { state: 'unknown' } : null;
    case 'end':
      return current.state === 'ended' ? null : { state: 'ended' };
    default:
      return assertNever(event);
  }
}
