import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { turnStep, type TurnEffect, type TurnEvent, type TurnState } from '../../../src/core/turn-state.ts';
import { preparationStates } from '../../../src/protocol/preparation.ts';

const run = 'run';
const events: fc.Arbitrary<TurnEvent> = fc.oneof(
  fc.constantFrom<TurnEvent>(
    { type: 'claim' },
    { type: 'preparation_over' },
    { type: 'claim_saved' },
    { type: 'claim_lost' },
    { type: 'output' },
    { type: 'error', failure: { text: 'e', code: undefined, httpStatus: undefined } },
    { type: 'undeclared_call' },
    { type: 'done', done: { content: '' } },
    { type: 'run_over' },
    { type: 'cancel' },
    { type: 'receipt_missing' },
    { type: 'not_sent', frame: 'execution_prepare' },
    { type: 'not_sent', frame: 'execution_start' },
    { type: 'not_sent', frame: 'prompt_cancel' },
  ),
  fc.record({
    type: fc.constant('status' as const),
    status: fc.record({
      state: fc.constantFrom(...preparationStates),
      executor_id: fc.constantFrom('e', 'e', 'other', undefined),
      handle: fc.constantFrom('h', undefined),
      revision: fc.nat(9),
      run_id: fc.constantFrom(undefined, run, 'other'),
      error_code: fc.constantFrom(undefined, 'preparation_capacity', 'executor_unavailable', 'run_conflict'),
      operation: fc.constantFrom(undefined, 'execution_prepare', 'execution_start'),
    }),
  }),
  fc.record({
    type: fc.constant('receipt' as const),
    receipt: fc.record({
      delivery_id: fc.constant('cancel:run'),
      applied: fc.boolean(),
      error_code: fc.constantFrom(undefined, 'run_inactive', 'cancel_failed'),
      outcome: fc.constantFrom(undefined, { content: 'p' }),
    }),
  }),
);

interface Walk {
  readonly states: readonly TurnState[];
  readonly effects: readonly {
    readonly effect: TurnEffect;
    readonly from: TurnState;
    readonly event: TurnEvent;
  }[];
}

/** The event with which the Turn gets on from where it is. Without these a walk would hardly ever start a Run. */
function onward(state: TurnState): TurnEvent {
  const status = { handle: 'h', executor_id: 'e', revision: 1 };
  switch (state.kind) {
    case 'queued':
      return { type: 'claim' };
    case 'preparing':
      return { type: 'status', status: { ...status, state: 'ready' } };
    case 'claiming':
      return { type: 'claim_saved' };
    case 'starting':
      return { type: 'status', status: { ...status, state: 'started', run_id: run } };
    case 'running':
      return { type: 'cancel' };
    case 'cancelling':
    case 'ended':
      return {
        type: 'receipt',
        receipt: { delivery_id: 'cancel:run', applied: true, outcome: { content: 'p' } },
      };
  }
}

function walk(sequence: readonly (TurnEvent | 'onward')[]): Walk {
  const states: TurnState[] = [{ kind: 'queued', attempt: 1 }];
  const effects: Walk['effects'][number][] = [];
  for (const next of sequence) {
    const from = states.at(-1) ?? { kind: 'queued', attempt: 1 };
    const event = next === 'onward' ? onward(from) : next;
    const step = turnStep(from, event, run);
    effects.push(...step.effects.map((effect) => ({ effect, from, event })));
    states.push(step.state);
  }
  return { states, effects };
}

const refusedStart: TurnEvent = {
  type: 'status',
  status: {
    state: 'rejected',
    revision: 0,
    executor_id: 'e',
    handle: 'h',
    error_code: 'executor_unavailable',
    operation: 'execution_start',
  },
};
const cases = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant('onward' as const) },
    { weight: 1, arbitrary: fc.constant(refusedStart) },
    { weight: 2, arbitrary: events },
  ),
  { maxLength: 30 },
);
const check = (property: (walked: Walk) => void): void =>
  fc.assert(
    fc.property(cases, (sequence) => property(walk(sequence))),
    { numRuns: 3_000 },
  );
const count = (walked: Walk, effect: TurnEffect): number =>
  walked.effects.filter((entry) => entry.effect === effect).length;

test('the walks reach every state and every outcome', () => {
  const seen = new Set<string>();
  check(({ states }) => {
    for (const state of states) seen.add(state.kind === 'ended' ? `ended ${state.outcome}` : state.kind);
    if (states.some((state) => state.kind === 'preparing' && state.attempt === 2))
      seen.add('second preparation');
  });
  expect([...seen].sort()).toEqual([
    'cancelling',
    'claiming',
    'ended cancelled',
    'ended completed',
    'ended failed',
    'ended unknown',
    'preparing',
    'queued',
    'running',
    'second preparation',
    'starting',
  ]);
});

describe('whatever happens', () => {
  test('an ended Turn never changes and does nothing any more', () =>
    check(({ states, effects }) => {
      const end = states.findIndex((state) => state.kind === 'ended');
      if (end >= 0) expect(states.slice(end).every((state) => state === states[end])).toBe(true);
      expect(effects.some(({ from }) => from.kind === 'ended')).toBe(false);
    }));

  test('at most two starts are sent, and the second only after a start that took nothing', () =>
    check((walked) => {
      expect(count(walked, 'start')).toBeLessThanOrEqual(2);
      const again = walked.effects.filter(
        ({ effect, from }) => effect === 'prepare' && from.kind !== 'queued',
      );
      expect(again.length).toBeLessThanOrEqual(1);
      for (const { event } of again)
        expect(event).toMatchObject({ type: 'status', status: { error_code: 'executor_unavailable' } });
    }));

  test('a start is sent only after its claim was stored', () =>
    check(({ effects }) => {
      for (const { effect, event } of effects) if (effect === 'start') expect(event.type).toBe('claim_saved');
    }));

  test('one cancellation is sent, and after it only a receipt or its absence ends the Turn', () =>
    check((walked) => {
      expect(count(walked, 'cancel')).toBeLessThanOrEqual(1);
      walked.states.forEach((state, index) => {
        const before = walked.states[index - 1];
        if (state.kind === 'ended' && before?.kind === 'cancelling')
          expect(['cancelled', 'completed', 'failed', 'unknown']).toContain(state.outcome);
        if (before?.kind === 'cancelling') expect(['cancelling', 'ended']).toContain(state.kind);
      });
    }));

  test('a Turn is queued again only for lack of room', () =>
    check(({ states, effects }) => {
      states.forEach((state, index) => {
        if (state.kind !== 'queued' || index === 0 || states[index - 1]?.kind === 'queued') return;
        expect(effects.some(({ effect }) => effect === 'retry_later')).toBe(true);
      });
    }));

  test('completed and cancelled are proven: by a done, by a receipt with a snapshot, or by never having started', () =>
    check(({ states }) => {
      const end = states.at(-1);
      if (end?.kind !== 'ended') return;
      if (end.outcome === 'completed') expect(end.snapshot).toBeDefined();
      if (end.outcome === 'cancelled')
        expect(end.snapshot !== undefined || end.code === 'cancelled_before_start').toBe(true);
      const started = states.some((state) => state.kind === 'starting' || state.kind === 'running');
      if (
        end.code === 'cancelled_before_start' &&
        !states.some((state) => state.kind === 'preparing' && state.attempt === 2) &&
        !states.some((state) => state.kind === 'queued' && state.attempt === 2)
      )
        expect(started).toBe(false);
    }));
});
