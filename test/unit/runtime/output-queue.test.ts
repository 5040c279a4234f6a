import { describe, expect, test } from 'vitest';
import { capacity } from '../../../src/runtime/limits.ts';
import { OutputQueue } from '../../../src/runtime/output-queue.ts';
import { settle } from '../../support/fake-clock.ts';

const delta = (text: string, item?: string) => ({
  type: 'delta' as const,
  payload: { delta: text, item_id: item },
});

describe('the output of a Turn', () => {
  test('holds the adapter back at 64 events and lets it go on when there is room', async () => {
    const queue = new OutputQueue();
    for (let n = 1; n < capacity.outputEvents; n++) await queue.emit(delta('a'));
    let free = false;
    const blocked = queue.emit(delta('a')).then(() => (free = true));
    await settle();
    expect(free).toBe(false);
    await queue.next();
    await blocked;
    expect(free).toBe(true);
  });

  test('merging takes only what continues the same message, and frees an adapter that waits for room', async () => {
    const queue = new OutputQueue();
    for (let n = 0; n < capacity.outputEvents - 2; n++) void queue.emit(delta('a', 'm1'));
    void queue.emit({ type: 'thinking', payload: { text: 't' } });
    const waiting = queue.emit(delta('b', 'm1'));
    expect(queue.takeDeltas('m1')).toBe('a'.repeat(capacity.outputEvents - 2));
    await waiting;
    expect(queue.takeDeltas('m1')).toBe('');
    expect((await queue.next())?.type).toBe('thinking');
    expect(queue.takeDeltas('m2')).toBe('');
    expect(queue.takeDeltas('m1')).toBe('b');
  });

  test('an end wakes everybody', async () => {
    const queue = new OutputQueue();
    const reader = queue.next();
    queue.close();
    expect(await reader).toBeNull();
    await queue.emit(delta('late'));
    expect(queue.late).toBe(1);
  });
});
