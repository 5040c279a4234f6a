import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import * as z from 'zod';

import { judgeFrame } from '../../../src/conformance/frames.ts';
import { verdictDifferences, verdictRows, type VerdictRow } from '../../support/frame-fixtures.ts';

type Disagreement = 'accepted' | 'refused' | 'canonical' | 'stage';

function disagreement(row: VerdictRow): Disagreement | undefined {
  const verdict = judgeFrame({ frame: row.frame });
  if (verdict.ok !== row.strict) return verdict.ok ? 'accepted' : 'refused';
  if (verdict.ok) return isDeepStrictEqual(verdict.canonical, row.canonical) ? undefined : 'canonical';
  return row.stage === undefined || row.stage === verdict.stage ? undefined : 'stage';
}

/** The named difference that explains a disagreement, or what is wrong with it. */
function explain(row: VerdictRow, found: Disagreement): string {
  const text = JSON.stringify(row.frame);
  if (row.mutation.startsWith('case ')) return 'case';
  if (found === 'accepted' && isOnlyAboutBlankText(row)) return 'white-space-text';
  if (found === 'stage' && judgeFrame({ frame: row.frame }).stage === 'decode' && row.stage === 'validate')
    return 'undeclared-and-invalid';
  return `unexplained ${found}: ${row.mutation}: ${text.slice(0, 300)}`;
}

const part = z.looseObject({ type: z.string(), text: z.string().nullish() });
const blankMessage = z
  .object({ content: z.array(part).min(1) })
  .refine(
    ({ content }) =>
      content.every(({ type, text }) => type === 'input_text' && (text ?? '').trim() === '') &&
      content.some(({ text }) => (text ?? '') !== ''),
  );
const withInput = z.object({ payload: z.object({ input: z.array(z.unknown()) }) });

/** One message of the input has white space and nothing else to say. */
function isOnlyAboutBlankText(row: VerdictRow): boolean {
  const frame = withInput.safeParse(row.frame);
  return frame.success && frame.data.payload.input.some((message) => blankMessage.safeParse(message).success);
}

test('every verdict of the corpus is ours, or its difference is listed with a reason', () => {
  const rows = verdictRows();
  const counts = new Map<string, number>();
  for (const row of rows) {
    const found = disagreement(row);
    if (!found) continue;
    const id = explain(row, found);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  expect(rows).toHaveLength(3_000);
  expect(Object.fromEntries(counts)).toEqual(
    Object.fromEntries(verdictDifferences().map((difference) => [difference.id, difference.rows])),
  );
});
