import { describe, expect, test } from 'vitest';
import { checkHistory } from '../../../src/conformance/history-checker.ts';
import type { HistoryEvent } from '../../../src/conformance/history.ts';

type Payload = Readonly<Record<string, unknown>>;
const says = (type: string, id: string, payload: Payload = {}): HistoryEvent => ({
  ...{ by: 'core', does: 'says', on: 1 },
  frame: { type, id, payload },
});
const hears = (type: string, id: string, payload: Payload = {}): HistoryEvent => ({
  ...{ by: 'core', does: 'hears', on: 1 },
  frame: { type, id, payload },
});
const opens = (on: number): HistoryEvent => ({ by: 'link', does: 'opens', on });
const asksFor = (run: string, handle = 'h'): HistoryEvent =>
  says('execution_start', 'p', { run_id: run, handle });
const starts = (run: string, executor = 1): HistoryEvent => ({
  by: 'harness',
  does: 'starts',
  executor,
  run,
});
const settles = (run: string, reusable = true): HistoryEvent => ({
  ...{ by: 'harness', does: 'settles', run },
  settled: true,
  reusable,
});
const prepares: readonly HistoryEvent[] = [
  { by: 'harness', does: 'prepares', executor: 1, session: 's' },
  { by: 'harness', does: 'has prepared', executor: 1, result: 'ready' },
];
const turn: readonly HistoryEvent[] = [opens(1), ...prepares, asksFor('r'), starts('r')];
const closes: readonly HistoryEvent[] = [
  { by: 'harness', does: 'closes', executor: 1 },
  { by: 'harness', does: 'has closed', executor: 1, confirmed: true },
];
const cancels = says('prompt_cancel', 'r', { delivery_id: 'c' });
const applied = hears('interaction_decision_ack', 'r', { delivery_id: 'c', applied: true, outcome: {} });
const result = (does: 'takes result' | 'answers result'): HistoryEvent =>
  does === 'takes result'
    ? { by: 'harness', does, run: 'r', call: 'c' }
    : { by: 'harness', does, run: 'r', call: 'c', result: 'applied' };

const broken = (events: readonly HistoryEvent[]): string[] => [
  ...new Set(checkHistory(events).map(({ rule }) => rule)),
];

describe('the history checker', () => {
  test('finds nothing in a Turn that is cancelled and settles', () => {
    expect(broken([...turn, cancels, settles('r'), hears('done', 'r'), applied])).toEqual([]);
  });

  test.each<[string, readonly HistoryEvent[]]>([
    ['one submission', [...turn, settles('r'), starts('r')]],
    ['an Executor at rest', [...turn, asksFor('other'), starts('other')]],
    ['an Executor at rest', [...turn, settles('r', false), asksFor('other'), starts('other')]],
    ['done is last', [...turn, settles('r'), hears('done', 'r'), hears('error', 'r', { error: 'x' })]],
    ['no invented end', [...turn, hears('done', 'somebody')]],
    ['silence after a loss', [...turn, { by: 'link', does: 'loses', on: 1 }, hears('usage', 'r')]],
    ['applied means settled', [...turn, cancels, applied]],
    ['applied means settled', [...turn, hears('done', 'r')]],
    ['receipts are asked for', [...turn, hears('interaction_decision_ack', 'r', { delivery_id: 'c' })]],
    ['one result', [...turn, result('takes result'), result('takes result')]],
    ['one result', [...turn, result('takes result'), result('answers result'), result('takes result')]],
    ['revisions', [says('execution_prepare', 'p'), hears('preparation_status', 'p', { handle: 'h' })]],
    ['answers have questions', [hears('workspace_read_result', 'nobody')]],
    ['withdrawals', [hears('permission_cancel', 'nobody')]],
    ['text in order', [...turn, hears('delta', 'r', { delta: 'never said', sequence: 1 })]],
    ['settled means gone', [...turn, settles('r'), { by: 'link', does: 'settles', on: 1 }]],
    ['settled means gone', [...turn, settles('r'), opens(2)]],
  ])('breaks "%s" (%#)', (rule, events) => {
    expect(broken(events)).toContain(rule);
  });

  test('one delivery id that Core uses for two answers is judged by the one that was applied', () => {
    const asked: readonly HistoryEvent[] = [
      ...turn,
      { by: 'person', does: 'sees', interaction: 'perm', run: 'r', key: 'k' },
      hears('permission_request', 'r', { request_id: 'perm', tool: 'Bash', title: 'x' }),
    ];
    const decides = (answer: string): readonly HistoryEvent[] => [
      { by: 'harness', does: 'takes decision', run: 'r', key: 'k', answer },
      { by: 'harness', does: 'answers decision', run: 'r', key: 'k', answer, result: 'applied' },
    ];
    const allowed = says('permission_decision', 'perm', { delivery_id: 'd', approved: true });
    const denied = says('permission_decision', 'perm', { delivery_id: 'd', APPROVED: 'x' });
    const told = hears('interaction_decision_ack', 'perm', { delivery_id: 'd', applied: true });
    expect(broken([...asked, allowed, denied, ...decides('allow'), told])).toEqual([]);
    expect(broken([...asked, allowed, ...decides('deny'), told])).toEqual(['one decision']);
  });

  test('the next connection is in order once everything was closed', () => {
    expect(broken([...turn, settles('r'), ...closes, opens(2)])).toEqual([]);
  });

  test('of an app from outside it compares nothing with what the Harness saw', () => {
    const outside = [opens(1), asksFor('r'), hears('delta', 'r', { delta: 'said', sequence: 1 })];
    expect(broken(outside)).toEqual([]);
    expect(broken([...outside, hears('done', 'r'), hears('usage', 'r')])).toEqual(['done is last']);
  });
});
