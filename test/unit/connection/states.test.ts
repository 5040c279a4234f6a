import { describe, expect, test } from 'vitest';
import { backoffDelay } from '../../../src/connection/backoff.ts';
import { FlapGuard } from '../../../src/connection/flap-guard.ts';
import { advance, type ConnectionEvent, type ConnectionState } from '../../../src/connection/states.ts';
import { permanent, transient } from '../../../src/observe/failure.ts';

const go = (from: ConnectionState, ...events: ConnectionEvent[]): ConnectionState => {
  let state = from;
  for (const event of events) {
    const next = advance(state, event, 1_000);
    if (!next) throw new Error(`${event.type} does not apply in ${state.state}`);
    state = next;
  }
  return state;
};
const stopped: ConnectionState = { state: 'stopped', since: 0 };
const serving = go(stopped, { type: 'start' }, { type: 'bootstrapped' }, { type: 'dialed' });

describe('the connection', () => {
  test('a permanent failure parks and only a person leaves it, through a new bootstrap', () => {
    const parked = go(
      stopped,
      { type: 'start' },
      { type: 'failed', failure: permanent('credential_rejected'), delay: 0, bootstrap: true },
    );
    expect(parked.state).toBe('parked');
    expect(advance(parked, { type: 'bootstrapped' }, 0)).toBeNull();
    expect(go(parked, { type: 'retry' }).state).toBe('bootstrapping');
  });

  test('a failed bootstrap is tried again as a bootstrap, a failed dial as a dial', () => {
    const failed = { type: 'failed', failure: transient('refused'), delay: 5, bootstrap: false } as const;
    expect(go(stopped, { type: 'start' }, failed, { type: 'retry' }).state).toBe('bootstrapping');
    expect(go(stopped, { type: 'start' }, { type: 'bootstrapped' }, failed, { type: 'retry' }).state).toBe(
      'dialing',
    );
  });

  test('nothing dials before everything has settled', () => {
    const settling = go(serving, { type: 'lost', failure: transient('closed_by_core'), delay: 1_000 });
    expect(settling.state).toBe('settling');
    expect(advance(settling, { type: 'retry' }, 0)).toBeNull();
    expect(go(settling, { type: 'settled' })).toMatchObject({ state: 'waiting', until: 2_000 });
  });

  test('the attempt counter goes on until a connection has proved itself', () => {
    const lost = { type: 'lost', failure: transient('closed_by_core'), delay: 1_000 } as const;
    const again = go(serving, lost, { type: 'settled' }, { type: 'retry' }, { type: 'dialed' });
    expect(go(again, lost, { type: 'settled' })).toMatchObject({ attempt: 3 });
    expect(go(again, { type: 'proved' }, lost, { type: 'settled' })).toMatchObject({ attempt: 1 });
  });

  test('4001 settles first and then parks', () => {
    const retired = go(serving, { type: 'lost', failure: permanent('binding_retired'), delay: 0 });
    expect(retired.state).toBe('settling');
    expect(go(retired, { type: 'settled' }).state).toBe('parked');
  });

  test('a stop while settling still waits for the settlement', () => {
    const settling = go(serving, { type: 'lost', failure: transient('network'), delay: 0 });
    const stopping = go(settling, { type: 'stop' });
    expect(stopping.state).toBe('settling');
    expect(go(stopping, { type: 'settled' }).state).toBe('stopped');
  });
});

describe('the schedule', () => {
  test('doubles from one second to thirty, within a fifth either way', () => {
    for (const [n, base] of [
      [1, 1_000],
      [2, 2_000],
      [5, 16_000],
      [6, 30_000],
      [50, 30_000],
    ] as const) {
      expect(backoffDelay(n, 0)).toBe(Math.round(base * 0.8));
      expect(backoffDelay(n, 0.5)).toBe(base);
      expect(backoffDelay(n, 0.999999)).toBeLessThanOrEqual(30_000);
    }
  });

  test('four short connections within a minute slow it down, and a long one forgets them', () => {
    const guard = new FlapGuard();
    expect([0, 2_000, 4_000].map((at) => guard.lost(at, at - 500))).toEqual([0, 0, 0]);
    expect(guard.lost(6_000, 5_500)).toBe(60_000);
    expect(guard.lost(70_000, 69_000)).toBe(120_000);
    expect(guard.lost(400_000, 200_000)).toBe(0);
    expect(guard.lost(401_000, 400_900)).toBe(0);
  });
});
