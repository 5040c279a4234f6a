import { planJournal, longJournal } from './sample-journals.ts';
import { ago, turns, view } from './samples.ts';
import type { JournalEntry } from '../../../src/contract/journal.ts';
import type { Scenario } from './scenarios.ts';

/** 1,000 lines of a build in an entry of about 64 KiB. */
const linesOf = (part: number): string =>
  Array.from(
    { length: 1_000 },
    (_, i) => `[${part}.${i}] compiled packages/module-${i % 97}/src/index.ts with no errors\n`,
  ).join('');

/** One tool that printed more than 10 MiB. */
function outputJournal(): readonly JournalEntry[] {
  const base = { at: ago(300) };
  const parts = Array.from({ length: 160 }, (_, i): JournalEntry => ({
    ...base,
    n: i + 1,
    kind: 'tool_output',
    call_id: 'big',
    text: linesOf(i),
  }));
  return [
    {
      ...base,
      n: 0,
      kind: 'tool_start',
      call_id: 'big',
      name: 'Bash',
      summary: 'npm run build:all',
      input: { command: 'npm run build:all' },
    },
    ...parts,
    {
      ...base,
      n: parts.length + 1,
      kind: 'tool_end',
      call_id: 'big',
      status: 'completed',
      output: null,
      exit_code: 0,
      duration_ms: 64_000,
    },
  ];
}

/** What takes long to make: made when asked for, and no part of the pictures. */
export const longScenarios: Readonly<Record<string, () => Scenario>> = {
  'long-events': () => ({ view: opened, hash: '#/', journals: { 'run-plan': longJournal(100_000) } }),
  'long-output': () => ({ view: opened, hash: '#/', journals: { 'run-plan': outputJournal() } }),
};

const opened = view({
  interactions: [],
  turns: [{ ...turns.plan, entries: planJournal.length }],
});
