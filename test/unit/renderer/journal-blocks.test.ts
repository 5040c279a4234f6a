import { describe, expect, test } from 'vitest';
import {
  JournalBlocks,
  lastLines,
  lineCount,
  outputParts,
  type Block,
} from '../../../renderer/select/journal-blocks.ts';
import { journalEntrySchema, type JournalEntry } from '../../../src/contract/journal.ts';
import { longJournal, planJournal } from '../../support/renderer-fixture/sample-journals.ts';
import { ago } from '../../support/renderer-fixture/samples.ts';

const blocksOf = (entries: readonly JournalEntry[]): readonly Block[] => {
  const blocks = new JournalBlocks();
  blocks.append(entries);
  return blocks.chunks.flat();
};
const entry = (n: number, kind: JournalEntry['kind'], rest: Record<string, unknown>): JournalEntry =>
  journalEntrySchema.parse({ n, at: ago(100 - n), kind, ...rest });

describe('blocks', () => {
  test('a real Turn reads in order', () => {
    expect(blocksOf(planJournal).map((block) => block.kind)).toEqual([
      'input',
      'think',
      'say',
      'tool',
      'tool',
      'say',
      'tool',
      'prompt',
      'say',
    ]);
  });

  test('adjacent text of one message is one block; a tool call in between begins another', () => {
    const blocks = blocksOf([
      entry(0, 'text', { message_id: 'm', text: 'a' }),
      entry(1, 'text', { message_id: 'm', text: 'b' }),
      entry(2, 'tool_start', { call_id: 't', name: 'Read', summary: '', input: null }),
      entry(3, 'text', { message_id: 'm', text: 'c' }),
    ]);
    expect(blocks.map((block) => (block.kind === 'say' ? block.text : block.kind))).toEqual([
      'ab',
      'tool',
      'c',
    ]);
  });

  test('the complete message replaces what its fragments built, where they differ', () => {
    const parts = [
      entry(0, 'text', { message_id: 'm', text: 'Hel' }),
      entry(1, 'text', { message_id: 'm', text: 'lo' }),
    ];
    const whole = (text: string): readonly Block[] =>
      blocksOf([...parts, entry(2, 'message', { message_id: 'm', text, phase: null })]);
    expect(whole('Hello')).toMatchObject([{ text: 'Hello' }]);
    expect(whole('Hello there')).toMatchObject([{ text: 'Hello there' }]);
  });

  test('text after a complete message is a new block', () => {
    const blocks = blocksOf([
      entry(0, 'message', { message_id: 'm', text: 'a', phase: null }),
      entry(1, 'text', { message_id: 'm', text: 'b' }),
    ]);
    expect(blocks).toMatchObject([{ text: 'a' }, { text: 'b' }]);
  });

  test('a tool call gathers its output and its end; the final output replaces the streamed one', () => {
    const blocks = blocksOf([
      entry(0, 'tool_start', { call_id: 't', name: 'Bash', summary: 'ls', input: {} }),
      entry(1, 'tool_output', { call_id: 't', text: 'a\n' }),
      entry(2, 'tool_output', { call_id: 't', text: 'b\n' }),
    ]);
    expect(blocks).toMatchObject([{ output: 'a\nb\n', breaks: 2, status: 'running' }]);
    const ended = blocksOf([
      entry(0, 'tool_start', { call_id: 't', name: 'Bash', summary: 'ls', input: {} }),
      entry(1, 'tool_output', { call_id: 't', text: 'a\n' }),
      entry(2, 'tool_end', {
        call_id: 't',
        status: 'failed',
        output: 'x\ny\nz',
        exit_code: 2,
        duration_ms: 5,
      }),
    ]);
    expect(ended).toMatchObject([{ output: 'x\ny\nz', breaks: 2, status: 'failed', exit_code: 2 }]);
  });

  test('output of a call whose start was not seen is not lost', () => {
    expect(blocksOf([entry(0, 'tool_output', { call_id: 't', text: 'a' })])).toMatchObject([
      { kind: 'tool', output: 'a' },
    ]);
  });

  test('a receipt changes its input: written, then accepted', () => {
    const input = [
      entry(0, 'input', { input_id: 'i', text: 'x', by: 'person' }),
      entry(1, 'input_state', { input_id: 'i', state: 'written', detail: null }),
    ];
    expect(blocksOf(input)).toMatchObject([{ state: { name: 'written' } }]);
    expect(
      blocksOf([...input, entry(2, 'input_state', { input_id: 'i', state: 'accepted', detail: null })]),
    ).toMatchObject([{ state: { name: 'accepted' } }]);
  });

  test('a state of an unknown input changes nothing', () => {
    expect(
      blocksOf([entry(0, 'input_state', { input_id: 'none', state: 'accepted', detail: null })]),
    ).toEqual([]);
  });

  test('a prompt learns its end', () => {
    const blocks = blocksOf([
      entry(0, 'prompt', { interaction_id: 'p', title: 'Run' }),
      entry(1, 'prompt_end', { interaction_id: 'p', text: 'Denied' }),
    ]);
    expect(blocks).toMatchObject([{ end: 'Denied' }]);
  });
});

describe('size', () => {
  test('a new line makes only its own chunk anew', () => {
    const blocks = new JournalBlocks();
    blocks.append(longJournal(5_000));
    const before = blocks.chunks;
    blocks.append([entry(90_000, 'notice', { text: 'x' })]);
    expect(before.length).toBeGreaterThan(50);
    expect(blocks.chunks.slice(0, before.length - 1).every((chunk, i) => chunk === before[i])).toBe(true);
  });

  test('the last lines are cut at a line', () => {
    const text = Array.from({ length: 1_000 }, (_, i) => `l${i}`).join('\n');
    const tail = lastLines(text, 200);
    expect(tail.cut).toBe(true);
    expect(tail.text.split('\n')).toHaveLength(200);
    expect(tail.text.startsWith('l800\n')).toBe(true);
    expect(lastLines(`${text}\n`, 200).text.startsWith('l800\n')).toBe(true);
    expect(lastLines('a\nb', 200)).toEqual({ text: 'a\nb', cut: false });
    expect(lastLines('', 200)).toEqual({ text: '', cut: false });
  });

  test('lines are counted with and without a last line feed', () => {
    expect([lineCount('', 0), lineCount('a', 0), lineCount('a\n', 1), lineCount('a\nb', 1)]).toEqual([
      0, 1, 1, 2,
    ]);
  });

  test('parts of an output put together are the output', () => {
    const text = Array.from({ length: 1_001 }, (_, i) => (i % 5 === 1 ? '' : `l${i}`)).join('\n');
    for (const size of [1, 7, 400, 5_000]) expect(outputParts(text, size, 1e6).join('\n')).toBe(text);
    expect(outputParts(text, 400, 1e6)).toHaveLength(3);
  });

  test('a part ends early where its lines are long, and a line without an end is cut between characters', () => {
    const lines = ['a'.repeat(60), 'b'.repeat(60), 'c'];
    expect(outputParts(lines.join('\n'), 400, 100)).toEqual([lines[0], `${lines[1]}\n${lines[2]}`]);
    expect(outputParts('\u{1F600}'.repeat(5), 400, 5)).toEqual([
      '\u{1F600}'.repeat(2),
      '\u{1F600}'.repeat(2),
      '\u{1F600}',
    ]);
    expect(outputParts('one\n\n\ntwo\n', 1, 100)).toEqual(['one', '', '', 'two']);
  });
});
