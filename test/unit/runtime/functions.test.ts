import { expect, test } from 'vitest';
import type { SubmitResult } from '../../../src/harness/adapter.ts';
import { Deferred } from '../../support/controlled-harness.ts';
import { settle } from '../../support/fake-clock.ts';
import { RouterBed } from '../../support/router-bed.ts';

const result = (bed: RouterBed, delivery: string, text = 'shipped') =>
  bed.core('function_result', 'run', {
    delivery_id: delivery,
    call_id: 'call',
    success: true,
    content: [{ type: 'input_text', text }],
  });

const receipt = (delivery: string, code: string | null) => ({
  type: 'interaction_decision_ack',
  id: 'run',
  payload: { delivery_id: delivery, applied: code === null, ...(code === null ? {} : { error_code: code }) },
});

test('a result that comes again while it is submitted reaches the Harness once and has two receipts', async () => {
  const bed = new RouterBed();
  await bed.startRun();
  bed.take();
  const submitted = new Deferred<SubmitResult>();
  bed.harness.last.onSubmit = () => submitted.promise;
  await result(bed, 'first');
  await result(bed, 'second');
  await result(bed, 'other', 'lost');
  expect(bed.harness.last.functions).toEqual(['call']);
  expect(bed.take()).toEqual([receipt('other', 'decision_conflict')]);
  submitted.resolve('applied');
  await settle();
  expect(bed.take()).toEqual([receipt('first', null), receipt('second', null)]);
});

test('a result whose native call failed may come again', async () => {
  const bed = new RouterBed();
  await bed.startRun();
  bed.take();
  bed.harness.last.onSubmit = () => Promise.resolve('failed');
  await result(bed, 'first');
  bed.harness.last.onSubmit = () => Promise.resolve('applied');
  await result(bed, 'second');
  await result(bed, 'third');
  expect(bed.harness.last.functions).toEqual(['call', 'call']);
  expect(bed.take()).toEqual([
    receipt('first', 'runtime_error'),
    receipt('second', null),
    receipt('third', null),
  ]);
});
