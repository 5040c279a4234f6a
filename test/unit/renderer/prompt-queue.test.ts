import { describe, expect, test } from 'vitest';
import {
  afterAnswer,
  agentName,
  neighbour,
  promptAge,
  promptQueue,
  queueItems,
} from '../../../renderer/select/prompt-queue.ts';
import { promptFacts } from '../../../renderer/select/prompt-facts.ts';
import { promptShape } from '../../../renderer/select/prompt-shape.ts';
import { inputRows } from '../../../renderer/select/tool-input.ts';
import type { InteractionView, PromptSubject } from '../../../src/contract/view.ts';
import {
  ago,
  ahead,
  binding,
  interaction,
  now,
  prompts,
  view,
} from '../../support/renderer-fixture/samples.ts';

const bound = binding('billing-service');
const command = (text: string, over: Partial<InteractionView> = {}): InteractionView =>
  interaction({ id: 'x', subject: { kind: 'command', command: text, cwd: bound.workspace }, ...over });
const shape = (subject: PromptSubject) => promptShape(interaction({ id: 'x', subject }), bound);

describe('order', () => {
  test('oldest first, whatever order the view has them in', () => {
    const queue = promptQueue({
      interactions: [prompts.question, prompts.command, prompts.diff, prompts.chained],
    });
    expect(queue.map(({ id }) => id)).toEqual(['p-command', 'p-chained', 'p-diff', 'p-question']);
  });

  test('of the same age the order does not change between views', () => {
    const a = command('a', { id: 'a' });
    const b = command('b', { id: 'b' });
    expect(promptQueue({ interactions: [b, a] })).toEqual(promptQueue({ interactions: [a, b] }));
  });

  test('after an answer comes the next older one, else the oldest left, else none', () => {
    const queue = promptQueue(view());
    expect(afterAnswer(queue, 'p-chained')).toBe('p-diff');
    expect(afterAnswer(queue, 'p-question')).toBe('p-command');
    expect(afterAnswer([prompts.command], 'p-command')).toBeNull();
    expect(neighbour(queue, 'p-command', -1)).toBeNull();
  });
});

describe('a card on Home', () => {
  const folded = (subject: PromptSubject): boolean => shape(subject).folded;

  test('stays open for at most three lines without a warning', () => {
    expect(folded({ kind: 'command', command: 'a\nb\nc', cwd: null })).toBe(false);
    expect(folded({ kind: 'command', command: 'a\nb\nc\nd', cwd: null })).toBe(true);
  });

  test('folds for one line that is longer than three', () => {
    expect(folded({ kind: 'command', command: 'x'.repeat(300), cwd: null })).toBe(true);
  });

  test('folds for any warning', () => {
    expect(folded({ kind: 'command', command: 'ls \u200Bx', cwd: bound.workspace })).toBe(true);
    expect(folded({ kind: 'command', command: 'ls', cwd: '/etc' })).toBe(true);
    expect(folded({ kind: 'network', host: 'xn--pple-43d.com', port: 443, protocol: null })).toBe(true);
  });

  test('never opens for a file change or a question', () => {
    expect(promptShape(prompts.diff, bound).folded).toBe(true);
    expect(promptShape(prompts.question, bound).folded).toBe(true);
  });

  test('never offers an answer that only Core may give', () => {
    expect(queueItems(view({ interactions: [prompts.coreOnly] }))[0]?.open).toBe(false);
  });

  test('only the first few are open, so that a hundred stay usable', () => {
    const many = Array.from({ length: 100 }, (_, i) => command('ls', { id: `m${i}`, since: ago(200 - i) }));
    const items = queueItems(view({ interactions: many }));
    expect(items).toHaveLength(100);
    expect(items.filter((item) => item.open).map((item) => item.interaction.id)).toEqual(['m0', 'm1', 'm2']);
  });
});

describe('what is asked', () => {
  test('a chain is called a chain', () => {
    expect(shape({ kind: 'command', command: 'a && b', cwd: null }).title).toBe('Run a chained command');
    expect(shape({ kind: 'command', command: 'a', cwd: null }).title).toBe('Run a command');
  });

  test('a folder is placed against the bound one, also through ..', () => {
    const place = (cwd: string): unknown => {
      const one = shape({ kind: 'command', command: 'ls', cwd });
      return one.kind === 'command' ? one.folder?.place : null;
    };
    expect(place('/home/user/projects/billing-service')).toBe('bound');
    expect(place('/home/user/projects/billing-service/')).toBe('bound');
    expect(place('/home/user/projects/billing-service/src')).toBe('inside');
    expect(place('/home/user/projects/billing-service/../other')).toBe('outside');
    expect(place('/home/user/projects/billing-service-2')).toBe('outside');
  });

  test.each([
    ['an empty command', { kind: 'command', command: ' \n', cwd: null }],
    ['no file', { kind: 'file_change', changes: [] }],
    ['a file without its change', prompts.unshowable.subject],
    ['a tool without input', { kind: 'tool', name: 't', server: null, input: null }],
    ['no host', { kind: 'network', host: '', port: null, protocol: null }],
  ] as const)('%s cannot be shown', (_, subject) => {
    expect(shape(subject as PromptSubject).kind).toBe('unshowable');
  });

  test('a deleted file without its text can be shown: its name is the input', () => {
    expect(
      shape({
        kind: 'file_change',
        changes: [{ path: 'a', kind: 'delete', diff: '', inside_workspace: true }],
      }).kind,
    ).toBe('file_change');
  });

  test('hidden characters in a path, a tool’s value or its name are counted', () => {
    expect(
      shape({
        kind: 'file_change',
        changes: [{ path: 'a\u202E.ts', kind: 'add', diff: '+x', inside_workspace: true }],
      }).hidden.count,
    ).toBe(1);
    expect(
      shape({ kind: 'tool', name: 'a\u200Bb', server: null, input: { k: 'v\u200B' } }).hidden.count,
    ).toBe(2);
  });

  test('a tool’s name in the title shows its hidden characters and is cut', () => {
    expect(shape({ kind: 'tool', name: 'a\u202Eb', server: null, input: {} }).title).toBe(
      'Use a tool: aU+202Eb',
    );
    expect(shape({ kind: 'tool', name: 'n'.repeat(100), server: null, input: {} }).title.length).toBeLessThan(
      80,
    );
  });

  test('the input of a tool is whole: label and value, nested ones indented', () => {
    expect(
      inputRows({
        title: 'x',
        labels: ['a', 'b'],
        deep: { n: 1, none: null, list: [{ k: 'v' }] },
        empty: {},
        no: [],
      }),
    ).toEqual([
      { depth: 0, label: 'title', value: 'x' },
      { depth: 0, label: 'labels', value: 'a, b' },
      { depth: 0, label: 'deep', value: null },
      { depth: 1, label: 'n', value: '1' },
      { depth: 1, label: 'none', value: 'null' },
      { depth: 1, label: 'list', value: null },
      { depth: 2, label: '1', value: null },
      { depth: 3, label: 'k', value: 'v' },
      { depth: 0, label: 'empty', value: '{}' },
      { depth: 0, label: 'no', value: '[]' },
    ]);
  });

  test('facts that were not measured are left out', () => {
    const facts = promptFacts(
      command('ls', { subject: { kind: 'command', command: 'ls', cwd: null } }),
      shape({ kind: 'command', command: 'ls', cwd: null }),
      now,
    );
    expect(facts.map((fact) => fact.label)).toEqual(['Runs as', 'Rules', 'Deadline']);
  });
});

test('an age counts up, a deadline down, and soon is amber', () => {
  expect(promptAge(prompts.command, now)).toEqual({ text: '4:12', soon: false });
  expect(promptAge(prompts.question, now)).toEqual({ text: 'expires in 4:28', soon: true });
  expect(promptAge(command('x', { expires_at: ahead(600) }), now).soon).toBe(false);
});

test('an agent is called by its name, which any binding knows, and by its kind where none does', () => {
  expect(agentName(view(), 'billing-service', 'codex')).toBe('Codex');
  expect(agentName(view(), 'a binding that is gone', 'codex')).toBe('Codex');
  expect(agentName(view(), null, 'codex')).toBe('Codex');
  expect(agentName(view(), 'billing-service', 'gone')).toBe('gone');
});
