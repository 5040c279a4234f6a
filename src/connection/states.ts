import { assertNever } from '../observe/errors.ts';
import type { Failure } from '../observe/failure.ts';

/**
 * The connection as one union and one pure table (runtime-behaviour 1.1). The driver (`link.ts`) does on entry what a
 * state names: bootstrap, dial, serve, settle, wait. Times are wall-clock milliseconds for display; the driver keeps
 * its own monotonic timers.
 */
export type ConnectionState =
  | { readonly state: 'stopped'; readonly since: number }
  | { readonly state: 'bootstrapping'; readonly since: number; readonly attempt: number; readonly lostAt: number | null }
  | { readonly state: 'dialing'; readonly since: number; readonly attempt: number; readonly lostAt: number | null }
  | { readonly state: 'serving'; readonly since: number; readonly proved: boolean; readonly attempt: number }
  | {
      /** The socket is closed; nothing dials until the router's shutdown succeeded. */
      readonly state: 'settling';
      readonly since: number;
      readonly attempt: number;
      readonly failure: Failure | null;
      readonly then: 'retry' | 'stop' | 'park' | 'suspend';
      readonly delay: number;
      readonly lostAt: number;
    }
  | {
      readonly state: 'waiting';
      readonly since: number;
      readonly attempt: number;
      readonly until: number;
      readonly failure: Failure;
      readonly bootstrap: boolean;
      readonly lostAt: number | null;
    }
  | { readonly state: 'suspended'; readonly since: number; readonly attempt: number; readonly until: number | null }
  | { readonly state: 'parked'; readonly since: number; readonly failure: Failure };

export type ConnectionEvent =
  | { readonly type: 'start' }
  | { readonly type: 'bootstrapped' }
  /** Bootstrap or dial failed. `delay` in ms for the next attempt. */
  | { readonly type: 'failed'; readonly failure: Failure; readonly delay: number; readonly bootstrap: boolean }
  | { readonly type: 'dialed' }
  | { readonly type: 'proved' }
  | { readonly type: 'lost'; readonly failure: Failure; readonly delay: number }
  | { readonly type: 'settled' }
  /** The wait is over, or a person or a wake-up cut it short. */
  | { readonly type: 'retry' }
  | { readonly type: 'stop' };

/** Returns the next state, or null when the event does not apply. */
export function advance(current: ConnectionState, event: ConnectionEvent, now: number): ConnectionState | null {
  switch (event.type) {
    case 'start':
      return current.state === 'stopped' ? { state: 'bootstrapping', since: now, attempt: 1, lostAt: null } : null;
    case 'bootstrapped':
      return current.state === 'bootstrapping'
        ? { state: 'dialing', since: now, attempt: current.attempt, lostAt: current.lostAt }
        : null;
    case 'failed':
      if (current.state !== 'bootstrapping' && current.state !== 'dialing') return null;
      if (event.failure.class === 'permanent') return { state: 'parked', since: now, failure: event.failure };
      return {
        state: 'waiting',
        since: now,
        attempt: current.attempt + 1,
        until: now + event.delay,
        failure: event.failure,
        bootstrap: event.bootstrap || current.state === 'bootstrapping',
        lostAt: current.lostAt,
      };
    case 'dialed':
      return current.state === 'dialing'
        ? { state: 'serving', since: now, proved: false, attempt: current.attempt }
        : null;
    case 'proved':
      return current.state === 'serving' && !current.proved ? { ...current, proved: true, attempt: 0 } : null;
    case 'lost':
      return current.state === 'serving'
        ? {
            state: 'settling',
            since: now,
            attempt: current.attempt,
            failure: event.failure,
            then: event.failure.class === 'permanent' ? 'park' : 'retry',
            delay: event.delay,
            lostAt: now,
          }
        : null;
    case 'settled':
      if (current.state !== 'settling') return null;
      if (current.then === 'stop' || current.failure === null) return { state: 'stopped', since: now };
      if (current.then === 'park') return { state: 'parked', since: now, failure: current.failure };
      return {
        state: 'waiting',
        since: now,
        attempt: current.attempt + 1,
        until: now + current.delay,
        failure: current.failure,
        bootstrap: false,
        lostAt: current.lostAt,
      };
    case 'retry':
      if (current.state === 'parked') return { state: 'bootstrapping', since: now, attempt: 1, lostAt: null };
      if (current.state !== 'waiting') return null;
      return {
        state: current.bootstrap ? 'bootstrapping' : 'dialing',
        since: now,
        attempt: current.attempt,
        lostAt: current.lostAt,
      };
    case 'stop':
      switch (current.state) {
        case 'stopped':
          return null;
        case 'serving':
          return {
            state: 'settling',
            since: now,
            attempt: 0,
            failure: null,
            then: 'stop',
            delay: 0,
            lostAt: now,
          };
        case 'settling':
          return current.then === 'stop' ? null : { ...current, then: 'stop' };
        case 'bootstrapping':
        case 'dialing':
        case 'waiting':
        case 'suspended':
        case 'parked':
          return { state: 'stopped', since: now };
        default:
          return assertNever(current);
      }
    default:
      return assertNever(event);
  }
}
