import { describe, expect, test } from 'vitest';
import { timeline } from '../../../renderer/select/timeline.ts';
import {
  endedStrip,
  endedTurnLine,
  evidenceStrip,
  stripWords,
  turnLine,
} from '../../../renderer/select/turn-line.ts';
import type { TurnView } from '../../../src/contract/view.ts';
import { ago, evidence, now, turn } from '../../support/renderer-fixture/samples.ts';

const open = (over: Partial<TurnView> = {}): TurnView => turn({ run_id: 'r', title: 'T', ...over });
const started = [evidence('prepared', 10), evidence('started', 9, 'harness')];
const line = (over: Partial<TurnView>, prompts = 0) => turnLine(open(over), { now, prompts });
const strip = (over: Partial<TurnView>, prompts = 0) => evidenceStrip(open(over), { now, prompts });

describe('the line of an open Turn', () => {
  test('before it started it says how far it is', () => {
    expect(line({ state: 'starting', evidence: [] }).text).toBe('Preparing: session and folder are checked');
    expect(line({ state: 'starting', evidence: [evidence('prepared', 1)] }).text).toBe(
      'Starting, not yet confirmed by the agent',
    );
  });

  test('working says when it last printed, quiet that it has not', () => {
    expect(line({ last_output_at: ago(2) })).toMatchObject({
      text: 'Working: last output 2 s ago',
      mark: { shape: 'half', tone: 'run' },
    });
    expect(line({ last_output_at: ago(360) })).toMatchObject({
      text: 'No output for 6 min. The process is alive.',
      mark: { shape: 'half', tone: 'none' },
    });
    expect(line({ last_output_at: null, started_at: ago(3) }).text).toBe('Working: no output yet');
  });

  test('waiting is said only where the Turn itself waits', () => {
    expect(line({ phase: 'waiting_for_answer' }, 1)).toMatchObject({
      text: 'Waiting for your answer',
      mark: { tone: 'warn' },
    });
    expect(line({ phase: 'waiting_for_answer' }, 2).text).toBe('Waiting for 2 answers');
    expect(line({ phase: 'output' }, 1).text).toBe('Working: last output 2 s ago, 1 prompt open');
  });

  test('stopping is not stopped, and an unproven stop says so', () => {
    expect(line({ state: 'cancelling', evidence: [...started, evidence('cancel_requested', 8)] }).text).toBe(
      'Stopping for 8 s, end not observed',
    );
    expect(line({ state: 'cancelling', evidence: [...started, evidence('cancel_requested', 15)] }).text).toBe(
      'Stop not confirmed after 15 s. The Turn keeps its place. Try again.',
    );
  });
});

describe('the line of an ended Turn', () => {
  const ended = (
    outcome: 'completed' | 'failed' | 'cancelled' | 'unknown',
    over: { decided_by?: 'person' | 'core'; detail?: string } = {},
    left = 0,
  ) => endedTurnLine({ outcome, decided_by: over.decided_by ?? null, detail: over.detail ?? null }, left);

  test('each outcome in words', () => {
    expect(ended('completed').text).toBe('Completed and settled');
    expect(ended('cancelled', { decided_by: 'person' }).text).toBe('Stopped by you and settled');
    expect(ended('cancelled', { decided_by: 'core' }).text).toBe('Stopped by Core and settled');
    expect(ended('failed', { detail: 'usage limit reached at the agent’s provider.' }).text).toBe(
      'Failed: usage limit reached at the agent’s provider. Settled.',
    );
  });

  test('unknown is neither done nor failed, and does not run again', () => {
    expect(ended('unknown')).toMatchObject({ mark: { shape: 'dash', tone: 'none' } });
    expect(ended('unknown').text).toContain('It will not run again by itself.');
  });

  test('settled is not said while something of it is still there', () => {
    expect(ended('completed', {}, 1).text).toBe('Completed, not settled: 1 process is still there');
  });
});

describe('the strip', () => {
  test('solid, now, waiting, maybe and not yet', () => {
    expect(strip({ state: 'starting', evidence: [] })).toEqual([
      'now',
      'not_yet',
      'not_yet',
      'not_yet',
      'not_yet',
    ]);
    expect(strip({ state: 'starting', evidence: [evidence('prepared', 1)] })).toEqual([
      'observed',
      'now',
      'not_yet',
      'not_yet',
      'not_yet',
    ]);
    expect(strip({ evidence: started })).toEqual(['observed', 'observed', 'now', 'not_yet', 'not_yet']);
    expect(strip({ evidence: started, phase: 'waiting_for_answer' }, 1)).toEqual([
      'observed',
      'observed',
      'waiting',
      'not_yet',
      'not_yet',
    ]);
    expect(strip({ evidence: started, last_output_at: ago(500) })).toEqual([
      'observed',
      'observed',
      'observed',
      'not_yet',
      'not_yet',
    ]);
    expect(strip({ state: 'settling', evidence: started })).toEqual([
      'observed',
      'observed',
      'observed',
      'observed',
      'now',
    ]);
    expect(strip({ state: 'settling', evidence: [...started, evidence('unobserved', 1)] })).toEqual([
      'observed',
      'observed',
      'observed',
      'maybe',
      'not_yet',
    ]);
    expect(endedStrip('unknown')[3]).toBe('maybe');
    expect(endedStrip('completed', 1)[4]).toBe('maybe');
  });

  test('its label says the same in words', () => {
    expect(stripWords(['observed', 'observed', 'waiting', 'not_yet', 'not_yet'])).toBe(
      'observed: prepared, started; waiting for you: output; not yet: end, settlement',
    );
  });
});

describe('the evidence timeline', () => {
  test('observed facts are solid up to what goes on, the rest is dashed', () => {
    const rows = timeline({ evidence: started, open: open({}), outcome: null, prompts: 0, now });
    expect(rows.map((row) => [row.title, row.mark.shape, row.solid])).toEqual([
      ['Prepared', 'on', true],
      ['Started', 'on', true],
      ['Output arriving', 'half', false],
      ['Ended', 'ring', false],
      ['Settled', 'ring', false],
    ]);
    expect(rows[1]?.small).toBe('The agent confirmed the Turn');
  });

  test('facts stand in the order of their times', () => {
    const rows = timeline({
      evidence: [evidence('settled', 1), evidence('done_sent', 2), ...started],
      open: null,
      outcome: 'completed',
      prompts: 0,
      now,
    });
    expect(rows.map((row) => row.title)).toEqual(['Prepared', 'Started', 'End told to Core', 'Settled']);
  });

  test('an end that was not observed is dashed and not made up', () => {
    const rows = timeline({ evidence: started, open: null, outcome: 'unknown', prompts: 0, now });
    expect(rows.at(-1)).toMatchObject({
      title: 'Ended',
      mark: { shape: 'dash' },
      seen: 'May have happened',
      small: 'The end was not observed',
    });
  });

  test('before it started nothing is claimed', () => {
    const rows = timeline({
      evidence: [],
      open: open({ state: 'starting', last_output_at: null }),
      outcome: null,
      prompts: 0,
      now,
    });
    expect(rows.map((row) => [row.title, row.seen])).toEqual([
      ['Prepared', 'Going on'],
      ['Started', 'Not yet'],
      ['Ended', 'Not yet'],
      ['Settled', 'Not yet'],
    ]);
  });
});
