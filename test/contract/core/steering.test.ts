import { afterEach, describe, expect, test } from 'vitest';

import { CoreBed } from '../../support/core-bed.ts';

let bed: CoreBed;
afterEach(() => bed.close());

const inputs = (runId: string) =>
  bed.turn(runId).inputs.map(({ inputId, state, code }) => [inputId, state, code]);
const ack = (runId: string, input_id: string, members: Record<string, unknown>) =>
  bed.say(runId, 'prompt_steer_ack', { input_id, accepted: false, ...members });

async function running(): Promise<string> {
  bed = await CoreBed.open();
  return bed.running();
}

test('inputs are delivered one at a time, in order, and each receipt proves its own fact', async () => {
  const runId = await running();
  expect(bed.core.steer(runId, 'Also check the tests.')).toBe(true);
  expect(bed.core.steer(runId, 'And the docs.')).toBe(true);
  expect(await bed.runtime.next()).toEqual({
    type: 'prompt_steer',
    id: runId,
    payload: {
      input_id: '1',
      input: [{ content: [{ type: 'input_text', text: 'Also check the tests.' }] }],
      durable_receipt: true,
    },
  });
  await ack(runId, '1', { written: true });
  expect(inputs(runId)).toEqual([
    ['1', 'written', null],
    ['2', 'waiting', null],
  ]);
  await bed.clock.advance(50_000);
  expect(await bed.runtime.drain()).toEqual([]);
  await ack(runId, '1', { accepted: true });
  expect((await bed.expect('prompt_steer')).payload?.['input_id']).toBe('2');
  await ack(runId, '2', { error_code: 'rejected' });
  expect(inputs(runId)).toEqual([
    ['1', 'accepted', null],
    ['2', 'rejected', 'rejected'],
  ]);
  expect(bed.turn(runId).state).toBe('running');
});

test.each(['busy', 'not_ready'])(
  '%s is tried again every 250 ms with the same id and body',
  async (error_code) => {
    const runId = await running();
    bed.core.steer(runId, 'more');
    const first = await bed.expect('prompt_steer');
    await ack(runId, '1', { error_code });
    expect(inputs(runId)).toEqual([['1', 'waiting', null]]);
    await bed.clock.advance(249);
    expect(await bed.runtime.drain()).toEqual([]);
    await bed.clock.advance(1);
    expect(await bed.runtime.next()).toEqual(first);
    await ack(runId, '1', { error_code: 'in_flight' });
    expect(inputs(runId)).toEqual([['1', 'sent', null]]);
  },
);

test('no written within 30 s is unknown, and nothing is sent behind it', async () => {
  const runId = await running();
  bed.core.steer(runId, 'one');
  bed.core.steer(runId, 'two');
  await bed.expect('prompt_steer');
  await bed.clock.advance(30_000);
  expect(inputs(runId)).toEqual([
    ['1', 'unknown', 'input_outcome_unknown'],
    ['2', 'waiting', null],
  ]);
  await ack(runId, '1', { accepted: true });
  expect(inputs(runId)[0]).toEqual(['1', 'unknown', 'input_outcome_unknown']);
  expect(await bed.runtime.drain()).toEqual([]);
  await bed.say(runId, 'done', { content: '' });
  expect(inputs(runId)[1]).toEqual(['2', 'not_sent', 'run_inactive']);
});

test('an outcome that the Runtime does not know stays unknown and is never sent again', async () => {
  const runId = await running();
  bed.core.steer(runId, 'one');
  await bed.expect('prompt_steer');
  await ack(runId, '1', { written: true });
  await ack(runId, '1', { error_code: 'outcome_unknown' });
  expect(inputs(runId)).toEqual([['1', 'unknown', 'outcome_unknown']]);
  await bed.clock.advance(50_000);
  expect((await bed.runtime.drain()).filter((frame) => frame.type === 'prompt_steer')).toEqual([]);
});

test('the end of the Run says of a written input that nobody knows', async () => {
  const runId = await running();
  bed.core.steer(runId, 'one');
  await bed.expect('prompt_steer');
  await ack(runId, '1', { written: true });
  await bed.say(runId, 'done', { content: '' });
  expect(inputs(runId)).toEqual([['1', 'unknown', 'run_inactive']]);
  expect(bed.turn(runId).outcome).toBe('completed');
});

describe('input is not taken', () => {
  test('where it is not declared', async () => {
    bed = await CoreBed.open({ without: ['durable_input_receipts'] });
    const runId = await bed.running();
    expect(bed.core.steer(runId, 'one')).toBe(false);
    expect(await bed.runtime.drain()).toEqual([]);
  });
  test('while cancelling, after the end, when empty, or for an unknown Run', async () => {
    const runId = await running();
    expect(bed.core.steer(runId, '')).toBe(false);
    expect(bed.core.steer('other', 'x')).toBe(false);
    bed.core.cancel(runId);
    expect(bed.core.steer(runId, 'x')).toBe(false);
  });
});

test('input that is given before the Run has started waits for it', async () => {
  bed = await CoreBed.open();
  const runId = await bed.submit();
  const prepare = await bed.prepared();
  expect(bed.core.steer(runId, 'early')).toBe(true);
  await bed.expect('execution_start');
  expect(await bed.runtime.drain()).toEqual([]);
  await bed.status(prepare.id, {
    executor_id: 'executor',
    handle: 'handle',
    run_id: runId,
    revision: 3,
    state: 'started',
  });
  expect((await bed.expect('prompt_steer')).payload?.['input_id']).toBe('1');
});
