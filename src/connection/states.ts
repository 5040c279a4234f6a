import { assertNever } from '../observe/errors.ts';
import type { Failure } from '../observe/failure.ts';

/**
 * The connection as one union and one pure table (runtime-behaviour 1.1). The driver (`link.ts`) does on entry what a
 * state names: bootstrap, dial, serve, settle, wait. Times are wall-clock milliseconds for display; the driver keeps
 * its own monotonic timers.
 */
export type ConnectionState =
  | { readonly state: 'stopped'; readonly since: number }
  | {
      readonly state: 'bootstrapping';
      readonly since: number;
      readonly attempt: number;
      readonly lostAt: number | null;
    }
  | {
      readonly state: 'dialing';
      readonly since: number;
      readonly attempt: number;
      readonly lostAt: number | null;
    }
  | { readonly state: 'serving'; readonly since: number; readonly proved: boolean; readonly attempt: number }
  | {
      /** The socket is closed; nothing dials until the router's shutdown succeeded. */
      readonly state: 'settling';
      readonly since: number;
      readonly attempt: number;
      readonly failure: Failure | null;
      readonly then: 'retry' | 'stop' | 'park';
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
  | {
      /** Parked by Core: the router is kept for the resume; attempts go on until the matching one comes. */
      readonly state: 'suspended';
      readonly since: number;
      readonly attempt: number;
      readonly phase: 'waiting' | 'dialing' | 'awaiting';
      readonly until: number | null;
    }
  | { readonly state: 'parked'; readonly since: number; readonly failure: Failure };

export type ConnectionEvent =
  | { readonly type: 'start' }
  | { readonly type: 'bootstrapped' }
  /** Bootstrap or dial failed. `delay` in ms for the next attempt. */
  | {
      readonly type: 'failed';
      readonly failure: Failure;
      readonly delay: number;
      readonly bootstrap: boolean;
    }
  | { readonly type: 'dialed' }
  | { readonly type: 'proved' }
  | { readonly type: 'lost'; readonly failure: Failure; readonly delay: number }
  | { readonly type: 'settled' }
  /** Core's quiesce was accepted and told; `delay` in ms until the first attempt to resume. */
  | { readonly type: 'suspended'; readonly delay: number }
  | { readonly type: 'resumed' }
  /** The first frame after a suspension was not the matching resume. */
  | { readonly type: 'resume_refused'; readonly failure: Failure }
  /** The wait is over, or a person or a wake-up cut it short. */
  | { readonly type: 'retry' }
  | { readonly type: 'stop' };

/** Returns the next state, or null when the event does not apply. */
export function advance(
  current: ConnectionState,
  event: ConnectionEvent,
  now: number,
): ConnectionState | null {
  switch (event.type) {
    case 'start':
      return current.state === 'stopped'
        ? { state: 'bootstrapping', since: now, attempt: 1, lostAt: null }
        : null;
    case 'bootstrapped':
      return current.state === 'bootstrapping'
        ? { state: 'dialing', since: now, attempt: current.attempt, lostAt: current.lostAt }
        : null;
    case 'suspended':
      return current.state === 'serving'
        ? { state: 'suspended', since: now, attempt: 1, phase: 'waiting', until: now + event.delay }
        : null;
    case 'resumed':
      return current.state === 'suspended' && current.phase === 'awaiting'
        ? { state: 'serving', since: now, proved: false, attempt: 0 }
        : null;
    case 'resume_refused':
      return current.state === 'suspended' ? settleThenPark(event.failure, now) : null;
    case 'failed':
      if (current.state === 'suspended') {
        if (event.failure.class === 'permanent') return settleThenPark(event.failure, now);
        return { ...current, phase: 'waiting', attempt: current.attempt + 1, until: now + event.delay };
      }
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
      if (current.state === 'suspended') {
        return current.phase === 'dialing' ? { ...current, phase: 'awaiting', until: null } : null;
      }
      return current.state === 'dialing'
        ? { state: 'serving', since: now, proved: false, attempt: current.attempt }
        : null;
    case 'proved':
      return current.state === 'serving' && !current.proved ? { ...current, proved: true, attempt: 0 } : null;
    case 'lost':
      if (current.state === 'suspended') {
        if (event.failure.class === 'permanent') return settleThenPark(event.failure, now);
        return { ...current, phase: 'waiting', attempt: current.attempt + 1, until: now + event.delay };
      }
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
      if (current.state === 'suspended') {
        return current.phase === 'waiting' ? { ...current, phase: 'dialing', until: null } : null;
      }
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
        case 'suspended':
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
        case 'parked':
          return { state: 'stopped', since: now };
        default:
          return assertNever(current);
      }
    default:
      return assertNever(event);
  }
}

/** What was kept for a resume is settled before anybody may start anew. */
const settleThenPark = (failure: Failure, now: number): ConnectionState => ({
  state: 'settling',
  since: now,
  attempt: 0,
  failure,
  then: 'park',
  delay: 0,
  lostAt: now,
});
