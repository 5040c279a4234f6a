/** A unified diff as rows for the eye: numbers on both sides, word marks, unchanged lines folded. */
export type DiffRow =
  | { readonly kind: 'same'; readonly old: number; readonly new: number; readonly text: string }
  | { readonly kind: 'removed'; readonly old: number; readonly pieces: readonly DiffPiece[] }
  | { readonly kind: 'added'; readonly new: number; readonly pieces: readonly DiffPiece[] }
  /** Unchanged lines inside a hunk that can be unfolded. */
  | { readonly kind: 'fold'; readonly rows: readonly DiffRow[] }
  /** Unchanged lines between hunks, which the diff does not hold. `count` null: not known. */
  | { readonly kind: 'gap'; readonly count: number | null }
  | { readonly kind: 'note'; readonly text: string };
export interface DiffPiece {
  readonly text: string;
  readonly marked: boolean;
}
export interface ParsedDiff {
  readonly rows: readonly DiffRow[];
  readonly added: number;
  readonly removed: number;
}

/** Unchanged lines that stay visible beside a change. */
const context = 3;
/** Fewer folded lines than this are not worth a fold. */
const leastFold = 4;
/** Longer lines get no word marks: the comparison costs more than it shows. */
const longestMarked = 2_000;

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

type Line = { readonly kind: 'same' | 'removed' | 'added' | 'note'; readonly text: string };

export function parseDiff(diff: string): ParsedDiff {
  const rows: DiffRow[] = [];
  let added = 0;
  let removed = 0;
  let oldAt = 1;
  let newAt = 1;
  let hunk: Line[] = [];
  const flush = (): void => {
    const drawn = drawHunk(hunk, oldAt, newAt);
    rows.push(...drawn.rows);
    oldAt = drawn.old;
    newAt = drawn.new;
    hunk = [];
  };
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    const head = hunkHead.exec(line);
    if (head) {
      flush();
      const from = Number(head[1]);
      const to = Number(head[3]);
      const skipped = Number(head[2] ?? 1) === 0 ? from + 1 - oldAt : from - oldAt;
      if (skipped > 0) rows.push({ kind: 'gap', count: skipped });
      oldAt = Number(head[2] ?? 1) === 0 ? from + 1 : from;
      newAt = Number(head[4] ?? 1) === 0 ? to + 1 : to;
      continue;
    }
    if (line.startsWith('@@')) {
      flush();
      rows.push({ kind: 'gap', count: null });
    } else if (line.startsWith('+')) {
      added += 1;
      hunk.push({ kind: 'added', text: line.slice(1) });
    } else if (line.startsWith('-')) {
      removed += 1;
      hunk.push({ kind: 'removed', text: line.slice(1) });
    } else if (line.startsWith('\\')) hunk.push({ kind: 'note', text: line.slice(1).trim() });
    else hunk.push({ kind: 'same', text: line.startsWith(' ') ? line.slice(1) : line });
  }
  flush();
  return { rows: foldSame(rows), added, removed };
}

function drawHunk(
  lines: readonly Line[],
  oldStart: number,
  newStart: number,
): { rows: DiffRow[]; old: number; new: number } {
  const rows: DiffRow[] = [];
  let old = oldStart;
  let fresh = newStart;
  for (let i = 0; i < lines.length;) {
    const line = lines[i];
    if (line === undefined) break;
    if (line.kind === 'note') {
      rows.push({ kind: 'note', text: line.text });
      i += 1;
    } else if (line.kind === 'same') {
      rows.push({ kind: 'same', old: old++, new: fresh++, text: line.text });
      i += 1;
    } else {
      const run: Line[] = [];
      for (let next = lines[i]; next !== undefined && next.kind !== 'same'; next = lines[++i]) run.push(next);
      const gone = run.filter((l) => l.kind === 'removed');
      const come = run.filter((l) => l.kind === 'added');
      const marks = gone.map((l, index) => markWords(l.text, come[index]?.text));
      let removedAt = 0;
      let addedAt = 0;
      for (const item of run) {
        if (item.kind === 'note') rows.push({ kind: 'note', text: item.text });
        else if (item.kind === 'removed') {
          rows.push({ kind: 'removed', old: old++, pieces: marks[removedAt]?.[0] ?? whole(item.text) });
          removedAt += 1;
        } else {
          rows.push({ kind: 'added', new: fresh++, pieces: marks[addedAt]?.[1] ?? whole(item.text) });
          addedAt += 1;
        }
      }
    }
  }
  return { rows, old, new: fresh };
}

const whole = (text: string): readonly DiffPiece[] => [{ text, marked: false }];

/** Marks what differs between two lines by their common words at both ends; unlike lines get no marks. */
function markWords(
  before: string,
  after: string | undefined,
): readonly [readonly DiffPiece[], readonly DiffPiece[]] {
  if (after === undefined || before.length > longestMarked || after.length > longestMarked)
    return [whole(before), whole(after ?? '')];
  const a = before.match(/\w+|\s+|[^\w\s]/g) ?? [];
  const b = after.match(/\w+|\s+|[^\w\s]/g) ?? [];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail += 1;
  const shared = [...a.slice(0, head), ...a.slice(a.length - tail)].join('').trim().length;
  if (shared * 3 < Math.min(before.trim().length, after.trim().length)) return [whole(before), whole(after)];
  return [cut(a, head, tail), cut(b, head, tail)];
}

const cut = (words: readonly string[], head: number, tail: number): readonly DiffPiece[] =>
  [
    { text: words.slice(0, head).join(''), marked: false },
    { text: words.slice(head, words.length - tail).join(''), marked: true },
    { text: words.slice(words.length - tail).join(''), marked: false },
  ].filter((piece) => piece.text !== '');

/** Folds long runs of unchanged lines, but never a line within `context` of a change. */
function foldSame(rows: readonly DiffRow[]): readonly DiffRow[] {
  const out: DiffRow[] = [];
  for (let i = 0; i < rows.length;) {
    const row = rows[i];
    if (row === undefined) break;
    if (row.kind !== 'same') {
      out.push(row);
      i += 1;
      continue;
    }
    let end = i;
    while (rows[end]?.kind === 'same') end += 1;
    const keepHead = i === 0 || rows[i - 1]?.kind === 'gap' ? 0 : context;
    const keepTail = end === rows.length || rows[end]?.kind === 'gap' ? 0 : context;
    const folded = rows.slice(i + keepHead, Math.max(i + keepHead, end - keepTail));
    if (folded.length >= leastFold) {
      out.push(
        ...rows.slice(i, i + keepHead),
        { kind: 'fold', rows: folded },
        ...rows.slice(end - keepTail, end),
      );
    } else out.push(...rows.slice(i, end));
    i = end;
  }
  return out;
}
