import { describe, expect, test } from 'vitest';
import { parseDiff, type DiffRow } from '../../../renderer/select/diff-rows.ts';

const kinds = (rows: readonly DiffRow[]): string[] => rows.map((row) => row.kind);
const text = (row: DiffRow | undefined): string =>
  row?.kind === 'same'
    ? row.text
    : row?.kind === 'added' || row?.kind === 'removed'
      ? row.pieces.map((piece) => piece.text).join('')
      : '';

describe('unified hunks', () => {
  test('lines carry the numbers of their own side', () => {
    const { rows, added, removed } = parseDiff('@@ -13,3 +13,3 @@\n a\n-b\n+c\n d\n');
    expect(rows).toEqual([
      { kind: 'gap', count: 12 },
      { kind: 'same', old: 13, new: 13, text: 'a' },
      { kind: 'removed', old: 14, pieces: [{ text: 'b', marked: false }] },
      { kind: 'added', new: 14, pieces: [{ text: 'c', marked: false }] },
      { kind: 'same', old: 15, new: 15, text: 'd' },
    ]);
    expect([added, removed]).toEqual([1, 1]);
  });

  test('between hunks the number of unchanged lines is told', () => {
    const { rows } = parseDiff('@@ -1,1 +1,1 @@\n-a\n+b\n@@ -40,1 +40,1 @@\n-c\n+d\n');
    expect(rows[2]).toEqual({ kind: 'gap', count: 38 });
  });

  test('a new file starts at line 1', () => {
    const { rows } = parseDiff('@@ -0,0 +1,2 @@\n+a\n+b\n');
    expect(rows.map((row) => (row.kind === 'added' ? row.new : row.kind))).toEqual([1, 2]);
  });

  test('text without a hunk head is shown all the same', () => {
    expect(parseDiff('+one\n+two').added).toBe(2);
  });

  test('a hunk head that cannot be read is a gap of unknown size', () => {
    expect(parseDiff('@@\n-a\n+b').rows[0]).toEqual({ kind: 'gap', count: null });
  });

  test('the note about a missing last line feed is kept', () => {
    expect(kinds(parseDiff('-a\n\\ No newline at end of file\n+b').rows)).toEqual([
      'removed',
      'note',
      'added',
    ]);
  });
});

describe('word marks', () => {
  test('only what differs is marked, on both sides', () => {
    const { rows } = parseDiff('-  return rows.map(toCells);\n+  return rows.map((row) => toCells(row));');
    expect(
      rows.map((row) =>
        row.kind === 'removed' || row.kind === 'added' ? row.pieces.filter((piece) => piece.marked) : [],
      ),
    ).toEqual([[{ text: 'toCells', marked: true }], [{ text: '(row) => toCells(row)', marked: true }]]);
  });

  test('lines that have little in common get no marks', () => {
    const { rows } = parseDiff('-alpha beta\n+something else entirely');
    expect(
      rows.every(
        (row) =>
          (row.kind === 'removed' || row.kind === 'added') &&
          row.pieces.length === 1 &&
          row.pieces[0]?.marked === false,
      ),
    ).toBe(true);
  });

  test('the pieces of a line put together are the line', () => {
    const { rows } = parseDiff('-const a = 1;\n+const a = 22;');
    expect(rows.map(text)).toEqual(['const a = 1;', 'const a = 22;']);
  });
});

describe('folding', () => {
  const context = (count: number): string => Array.from({ length: count }, (_, i) => ` line ${i}`).join('\n');

  test('a long run of unchanged lines folds but for three beside each change', () => {
    const { rows } = parseDiff(`-a\n${context(20)}\n+b`);
    expect(kinds(rows)).toEqual(['removed', 'same', 'same', 'same', 'fold', 'same', 'same', 'same', 'added']);
    const fold = rows.find((row) => row.kind === 'fold');
    expect(fold?.kind === 'fold' ? fold.rows.length : 0).toBe(14);
  });

  test('a short run is left as it is', () => {
    expect(kinds(parseDiff(`-a\n${context(8)}\n+b`).rows)).not.toContain('fold');
  });

  test('one unchanged line at the edge of a hunk is shown, once', () => {
    const { rows } = parseDiff('@@ -12,2 +12,2 @@\n head\n-a\n+b\n');
    expect(kinds(rows)).toEqual(['gap', 'same', 'removed', 'added']);
  });

  test('a change is never folded away', () => {
    const changed = Array.from({ length: 60 }, (_, i) => `+line ${i}`).join('\n');
    expect(kinds(parseDiff(changed).rows)).not.toContain('fold');
  });
});
