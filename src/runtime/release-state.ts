import { assertNever } from '../observe/errors.ts';

/**
 * The one release of a Run (runtime-behaviour 2.12). The first cause claims it; a natural release can become an
 * abort, never the reverse; a failed attempt keeps everything and a later abort tries the same target again.
 */
export type ReleaseMode = 'natural' | 'abort';
export type ReleaseCause =
  | 'done'
  | 'output_closed'
  | 'cancel'
  | 'send_failed'
  | 'violation'
  | 'start_failed'
  | 'device_shutdown'
  | 'shutdown';

export type ReleaseState =
  | { readonly state: 'open' }
  | {
      readonly state: 'settling';
      readonly mode: ReleaseMode;
      readonly cause: ReleaseCause;
      readonly attempt: number;
    }
  | {
      readonly state: 'failed';
      readonly mode: ReleaseMode;
      readonly cause: ReleaseCause;
      readonly attempt: number;
      readonly reason: string;
    }
  | { readonly state: 'settled'; readonly mode: ReleaseMode; readonly cause: ReleaseCause };

export type ReleaseEvent =
  | { readonly type: 'claim'; readonly mode: ReleaseMode; readonly cause: ReleaseCause }
  | { readonly type: 'attempt_failed'; readonly reason: string }
  | { readonly type: 'settled' };

export type ReleaseStep =
  /** `begin`: start an attempt. `abort`: the attempt under way must also cancel natively. */
  { readonly next: ReleaseState; readonly effect: 'begin' | 'abort' | 'none' };

/** Returns the step, or null when the event changes nothing. */
export function release(current: ReleaseState, event: ReleaseEvent): ReleaseStep | null {
  switch (event.type) {
    case 'claim':
      switch (current.state) {
        case 'open':
          return {
            next: { state: 'settling', mode: event.mode, cause: event.cause, attempt: 1 },
            effect: 'begin',
          };
        case 'settling':
          return current.mode === 'natural' && event.mode === 'abort'
            ? { next: { ...current, mode: 'abort' }, effect: 'abort' }
            : null;
        case 'failed':
          return event.mode === 'abort'
            ? {
                next: {
                  state: 'settling',
                  mode: 'abort',
                  cause: current.cause,
                  attempt: current.attempt + 1,
                },
                effect: 'begin',
              }
            : null;
        case 'settled':
          return null;
        default:
          return assertNever(current);
      }
    case 'attempt_failed':
      return current.state === 'settling'
        ? { next: { ...current, state: 'failed', reason: event.reason }, effect: 'none' }
        : null;
    case 'settled':
      return current.state === 'settling'
        ? { next: { state: 'settled', mode: current.mode, cause: current.cause }, effect: 'none' }
        : null;
    default:
      return assertNever(event);
  }
}
