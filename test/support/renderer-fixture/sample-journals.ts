import type { JournalEntry } from '../../../src/contract/journal.ts';
import { ago } from './samples.ts';

type Part = JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, 'n' | 'at'> : never) : never;

const journal = (parts: readonly (readonly [number, Part])[]): readonly JournalEntry[] =>
  parts.map(([seconds, part], n) => ({ n, at: ago(seconds), ...part }) as JournalEntry);

export const planJournal = journal([
  [
    161,
    {
      kind: 'input',
      input_id: 'i1',
      by: 'person',
      text: 'Write a test plan for the nightly import job. Look at the code first and ask me about anything that is a matter of taste.',
    },
  ],
  [
    159,
    {
      kind: 'thinking',
      text: 'The import job is in src/import. I should look at the shapes it accepts before I plan anything.',
    },
  ],
  [153, { kind: 'thinking', text: ' Start with run.ts.' }],
  [
    150,
    {
      kind: 'text',
      message_id: 'm1',
      text: 'I will start with the job itself and the shapes of the files that it accepts.',
    },
  ],
  [
    148,
    {
      kind: 'tool_start',
      call_id: 't1',
      name: 'Read',
      summary: 'src/import/run.ts, 212 lines',
      input: { path: 'src/import/run.ts' },
    },
  ],
  [
    147,
    { kind: 'tool_end', call_id: 't1', status: 'completed', output: null, exit_code: null, duration_ms: 100 },
  ],
  [
    140,
    {
      kind: 'tool_start',
      call_id: 't2',
      name: 'Command',
      summary: 'npm test -- --list import',
      input: { command: 'npm test -- --list import' },
    },
  ],
  [
    138,
    {
      kind: 'tool_output',
      call_id: 't2',
      text: 'import/parse.test.ts   9 tests\nimport/run.test.ts     4 tests\n',
    },
  ],
  [137, { kind: 'tool_output', call_id: 't2', text: 'import/retry.test.ts   \u001b[31m0 tests\u001b[0m\n' }],
  [
    136,
    { kind: 'tool_end', call_id: 't2', status: 'completed', output: null, exit_code: 0, duration_ms: 3_800 },
  ],
  [
    100,
    {
      kind: 'text',
      message_id: 'm2',
      text: 'There are 13 tests, none for retries. The retry path writes the same batch twice when the second attempt starts before the first has released its lock, so the plan should begin there.',
    },
  ],
  [
    33,
    {
      kind: 'tool_start',
      call_id: 't3',
      name: 'Read',
      summary: 'src/import/lock.ts',
      input: { path: 'src/import/lock.ts' },
    },
  ],
  [32, { kind: 'prompt', interaction_id: 'p-question', title: 'Asks 3 questions' }],
  [2, { kind: 'text', message_id: 'm3', text: 'The lock is taken per file name, not per batch' }],
]);

/** A long ended Turn: every kind of block, a receipt of each kind, an output of thousands of lines. */
export function longJournal(entries: number): readonly JournalEntry[] {
  const parts: (readonly [number, Part])[] = [
    [
      9_000,
      {
        kind: 'input',
        input_id: 'i1',
        by: 'core',
        text: 'Go through every package and list what is not tested.',
      },
    ],
  ];
  for (let i = 0; parts.length < entries - 16; i++) {
    parts.push([
      8_000,
      {
        kind: 'text',
        message_id: `m${i}`,
        text: `Package ${i}: I read its sources and compare them with its tests. The order of the checks does not matter here.`,
      },
    ]);
    parts.push([
      7_999,
      {
        kind: 'tool_start',
        call_id: `t${i}`,
        name: i % 3 === 0 ? 'Bash' : 'Read',
        summary: i % 3 === 0 ? `npm test -w package-${i}` : `packages/package-${i}/src/index.ts`,
        input: { i },
      },
    ]);
    parts.push([7_998, { kind: 'tool_output', call_id: `t${i}`, text: `ok ${i}\n` }]);
    parts.push([
      7_990,
      {
        kind: 'tool_end',
        call_id: `t${i}`,
        status: i % 7 === 6 ? 'failed' : 'completed',
        output: null,
        exit_code: i % 7 === 6 ? 1 : 0,
        duration_ms: 830 + i,
      },
    ]);
  }
  const many = Array.from({ length: 4_102 }, (_, i) => `line ${i + 1}: checked`).join('\n');
  parts.push([
    600,
    {
      kind: 'tool_start',
      call_id: 'big',
      name: 'Bash',
      summary: 'npm run check:all',
      input: { command: 'npm run check:all' },
    },
  ]);
  parts.push([
    590,
    {
      kind: 'tool_end',
      call_id: 'big',
      status: 'completed',
      output: many,
      exit_code: 0,
      duration_ms: 64_000,
    },
  ]);
  parts.push([580, { kind: 'prompt', interaction_id: 'h10', title: 'Change 1 file' }]);
  parts.push([560, { kind: 'prompt_end', interaction_id: 'h10', text: 'Denied by you, with a reason' }]);
  parts.push([500, { kind: 'input', input_id: 'i2', by: 'person', text: 'Leave the generated files out.' }]);
  parts.push([498, { kind: 'input_state', input_id: 'i2', state: 'accepted', detail: null }]);
  parts.push([450, { kind: 'input', input_id: 'i3', by: 'person', text: 'And sort the list by package.' }]);
  parts.push([449, { kind: 'input_state', input_id: 'i3', state: 'written', detail: null }]);
  parts.push([420, { kind: 'input', input_id: 'i4', by: 'person', text: 'Stop after the tenth.' }]);
  parts.push([400, { kind: 'input_state', input_id: 'i4', state: 'unknown', detail: null }]);
  parts.push([390, { kind: 'notice', text: 'The agent tried again after a network error of its provider.' }]);
  parts.push([
    380,
    {
      kind: 'text',
      message_id: 'last',
      text: 'Seven packages have no test at all. The list is in docs/untested.md.',
    },
  ]);
  parts.push([370, { kind: 'error', code: null, text: 'The provider ended the stream early.' }]);
  parts.push([360, { kind: 'end', outcome: 'completed', text: '' }]);
  return journal(parts);
}
