import { describe, expect, test } from 'vitest';
import {
  advanceEnrolment,
  stepsOf,
  type EnrolEvent,
  type EnrolState,
  type EnrolWay,
} from '../../../src/enrol/enrolment-state.ts';

const run = (way: EnrolWay, events: readonly EnrolEvent[]): EnrolState =>
  events.reduce<EnrolState>((state, event) => advanceEnrolment(state, event, way) ?? state, {
    state: 'review',
  });
const done = (serving = false): EnrolEvent => ({ type: 'step_done', serving });
const problem = { of: 'grant', code: 'invitation_invalid' } as const;

test('a secret that is made here is stored before Core hears of it', () => {
  const { grant, credential } = stepsOf;
  expect(grant.indexOf('store')).toBeLessThan(grant.indexOf('claim'));
  expect(credential.indexOf('enroll')).toBeLessThan(credential.indexOf('store'));
  for (const steps of [grant, credential]) expect(steps[steps.length - 1]).toBe('receipt');
});

describe.each(['grant', 'credential'] as const)('%s', (way) => {
  const all = stepsOf[way].map(() => done(true));

  test('goes through its steps in order, then asks, then is bound', () => {
    const seen: string[] = [];
    let state: EnrolState = { state: 'review' };
    for (const event of [{ type: 'confirm' } as const, ...all]) {
      state = advanceEnrolment(state, event, way) ?? state;
      seen.push(state.state === 'working' ? state.step : state.state);
    }
    expect(seen).toEqual([...stepsOf[way], 'connecting']);
    expect(advanceEnrolment(state, { type: 'answered', connected: false }, way)).toEqual({
      state: 'bound',
      connected: false,
    });
  });

  test('is bound without asking where nothing serves it', () => {
    const events: EnrolEvent[] = [{ type: 'confirm' }, ...stepsOf[way].map(() => done(false))];
    expect(run(way, events)).toEqual({ state: 'bound', connected: null });
  });

  test('begins with the first step again after a failure, whichever step it was', () => {
    for (let steps = 0; steps < stepsOf[way].length; steps++) {
      const events: EnrolEvent[] = [
        { type: 'confirm' },
        ...all.slice(0, steps),
        { type: 'step_failed', problem },
      ];
      const failed = run(way, events);
      expect(failed).toEqual({ state: 'failed', step: stepsOf[way][steps], problem });
      expect(run(way, [...events, { type: 'confirm' }])).toEqual({ state: 'working', step: 'folder' });
    }
  });

  test('takes no event that does not belong to its state', () => {
    const review: EnrolState = { state: 'review' };
    const working: EnrolState = { state: 'working', step: 'folder' };
    const bound: EnrolState = { state: 'bound', connected: true };
    for (const event of [
      done(),
      { type: 'step_failed', problem },
      { type: 'answered', connected: true },
    ] as const) {
      expect(advanceEnrolment(review, event, way)).toBeNull();
      expect(advanceEnrolment(bound, event, way)).toBeNull();
    }
    expect(advanceEnrolment(working, { type: 'confirm' }, way)).toBeNull();
    expect(advanceEnrolment(bound, { type: 'confirm' }, way)).toBeNull();
  });
});
