import { expect, test } from 'vitest';

import { unifiedDiff } from '../../../src/harness/unified-diff.ts';

test.each([
  ['nothing to something', '', 'a\nb\n', '@@ -0,0 +1,2 @@\n+a\n+b\n'],
  ['something to nothing', 'a\n', '', '@@ -1,1 +0,0 @@\n-a\n'],
  ['a line in the middle', 'a\nb\nc\n', 'a\nB\nc\n', '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n'],
  ['an end without a line break', 'a', 'a\n', '@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n'],
  ['the same', 'a\n', 'a\n', ''],
])('%s', (_, before, after, diff) => {
  expect(unifiedDiff(before, after)).toBe(diff);
});

test('changes far apart are hunks of their own with three lines around them', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
  const changed = lines.map((line, index) => (index === 4 || index === 24 ? `${line}!` : line));
  const diff = unifiedDiff(`${lines.join('\n')}\n`, `${changed.join('\n')}\n`);
  expect(diff.match(/^@@.*@@$/gm)).toEqual(['@@ -2,7 +2,7 @@', '@@ -22,7 +22,7 @@']);
});

test('texts that are too different for a comparison are replaced as a whole, in bounded time', () => {
  const text = (name: string): string =>
    Array.from({ length: 20_000 }, (_, index) => `${name} ${index * 7919}`).join('\n');
  const started = performance.now();
  const diff = unifiedDiff(text('old'), text('new'));
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(diff.startsWith('@@ -1,20000 +1,20000 @@\n-old 0\n')).toBe(true);
  expect(diff.endsWith('\\ No newline at end of file\n')).toBe(true);
});
