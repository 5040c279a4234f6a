import { describe, expect, test } from 'vitest';
import { Journal, journalLimits } from '../../../src/app/journal.ts';
import { FakeClock } from '../../support/fake-clock.ts';

describe('a journal', () => {
  test('many short entries fill it as a few long ones do, and it says that it is full', () => {
    const journal = new Journal(new FakeClock());
    const most = Math.ceil(journalLimits.weight / journalLimits.entryCost);
    for (let n = 0; n < most + 1_000; n++) journal.add({ kind: 'notice', text: '' });
    expect(journal.total).toBeLessThanOrEqual(most + 1);
    expect(journal.weight).toBe(journalLimits.weight);
    const [last] = journal.read(journal.total - 2, 1);
    expect(last).toMatchObject({ kind: 'notice', text: expect.stringContaining('not shown') });
    journal.add({ kind: 'end', outcome: 'completed', text: '' });
    expect(journal.read(journal.total - 2, 1)).toMatchObject([{ kind: 'end' }]);
  });
});
