import { structuredPatch } from 'diff';

/** Edits and time after which a line-by-line comparison is given up for a whole replacement. */
const EDIT_LIMIT = 4_000;
const TIME_LIMIT_MS = 200;

/** Unified diff hunks (three lines of context, no file headers) that turn `before` into `after`. Empty when equal. */
export function unifiedDiff(before: string, after: string): string {
  if (before === after) return '';
  const patch = structuredPatch('', '', before, after, undefined, undefined, {
    context: 3,
    maxEditLength: EDIT_LIMIT,
    timeout: TIME_LIMIT_MS,
  });
  const hunks = patch?.hunks ?? [replacement(before, after)];
  return hunks
    .map((hunk) => {
      const old = `-${hunk.oldLines === 0 ? hunk.oldStart - 1 : hunk.oldStart},${hunk.oldLines}`;
      const fresh = `+${hunk.newLines === 0 ? hunk.newStart - 1 : hunk.newStart},${hunk.newLines}`;
      return `@@ ${old} ${fresh} @@\n${hunk.lines.join('\n')}\n`;
    })
    .join('');
}

interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

/** Everything out, everything in: true, if not helpful. */
function replacement(before: string, after: string): Hunk {
  const old = linesOf(before);
  const fresh = linesOf(after);
  return {
    oldStart: 1,
    oldLines: old.length,
    newStart: 1,
    newLines: fresh.length,
    lines: [
      ...old.map((line) => `-${line}`),
      ...noNewline(before),
      ...fresh.map((line) => `+${line}`),
      ...noNewline(after),
    ],
  };
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
const noNewline = (text: string): readonly string[] =>
  text === '' || text.endsWith('\n') ? [] : ['\\ No newline at end of file'];
