import { expect, test } from 'vitest';
import { share } from '../../../renderer/select/share.ts';

test('an equal snapshot is the old one', () => {
  const old = { a: [{ b: 1 }, { c: [2] }], d: null };
  expect(share(old, { a: [{ b: 1 }, { c: [2] }], d: null })).toBe(old);
});

test('what did not change keeps its identity beside what did', () => {
  const old = {
    turns: [
      { id: 1, n: 1 },
      { id: 2, n: 1 },
    ],
    health: [],
  };
  const next = share(old, {
    turns: [
      { id: 1, n: 1 },
      { id: 2, n: 2 },
    ],
    health: [],
  });
  expect(next).toEqual({
    turns: [
      { id: 1, n: 1 },
      { id: 2, n: 2 },
    ],
    health: [],
  });
  expect(next.turns[0]).toBe(old.turns[0]);
  expect(next.turns[1]).not.toBe(old.turns[1]);
  expect(next.health).toBe(old.health);
});

test('a member that went away, or came, is a change', () => {
  const old: Record<string, number> = { a: 1, b: 2 };
  expect(share(old, { a: 1 })).toEqual({ a: 1 });
  expect(share<Record<string, number | undefined>>({ a: 1 }, { a: 1, b: undefined })).toEqual({
    a: 1,
    b: undefined,
  });
});
