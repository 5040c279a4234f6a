import { expect, test } from 'vitest';
import { Projection } from '../../../src/app/projection.ts';
import { cleanupViewSchema, transferViewSchema } from '../../../src/contract/view.ts';
import type { HistoryEntry } from '../../../src/contract/history.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const binding = { name: 'work', local: false };

test('a transfer is in the view while it moves, and as cleanup while its outcome is unknown', () => {
  const history: HistoryEntry[] = [];
  const clock = new FakeClock();
  const since = new Date(clock.now()).toISOString();
  const projection = new Projection({
    clock,
    onChange: () => undefined,
    onHistory: (entry) => history.push(entry),
  });
  const moving = { type: 'transfer', kind: 'write', id: 'w', total: 10 } as const;
  projection.observe(binding, { ...moving, state: 'receiving', bytes: 4 });
  projection.observe(binding, {
    type: 'transfer',
    kind: 'read',
    id: 'w',
    state: 'sending',
    bytes: 0,
    total: null,
  });
  expect(projection.transfers.map((transfer) => transferViewSchema.parse(transfer))).toEqual([
    { id: 'w', binding: 'work', kind: 'write', step: null, since, state: 'receiving', bytes: 4, total: 10 },
    { id: 'w', binding: 'work', kind: 'read', step: null, since, state: 'sending', bytes: 0, total: null },
  ]);
  projection.observe(binding, { type: 'transfer_ended', kind: 'read', id: 'w' });
  projection.observe(binding, { ...moving, state: 'unknown', bytes: 10 });
  projection.observe(binding, {
    ...{ type: 'cleanup', id: 'transfer:w', kind: 'transfer', sessionId: 's', runId: null },
    ...{ state: 'unconfirmed', attempts: 1, reason: 'It cannot be told whether the file is there.' },
  });
  expect(projection.transfers).toMatchObject([{ id: 'w', state: 'unknown' }]);
  expect(projection.cleanup.map((item) => cleanupViewSchema.parse(item))).toMatchObject([
    { id: 'transfer:w', kind: 'transfer', owner: 'work', state: 'unconfirmed' },
  ]);
  projection.observe(binding, { type: 'transfer_ended', kind: 'write', id: 'w' });
  projection.observe(binding, { type: 'cleanup_ended', id: 'transfer:w', how: 'forced' });
  expect([projection.transfers, projection.cleanup]).toEqual([[], []]);
  expect(history).toMatchObject([
    { kind: 'cleanup', id: 'transfer:w', outcome: 'forced', decided_by: 'person' },
  ]);
});
