import { describe, expect, test } from 'vitest';

import type { NativePermission } from '../../../src/harness/adapter.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { coverageOf, RuleBook, type AskedPermission, type Rule } from '../../../src/runtime/rule-book.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const command = (text: string, more: Partial<NativePermission> = {}): NativePermission => ({
  ...{ key: 'k', tool: 'Bash', title: text, reason: null, expiresInMs: null },
  subject: { kind: 'command', command: text, cwd: null },
  payload: { tool_use_id: 'first' },
  input: { command: text },
  ...more,
});
const asked = (native: NativePermission, more: Partial<AskedPermission> = {}): AskedPermission => ({
  ...{ owner: 'e', workspace: '/w', harness: 'claude_sdk', sessionId: 's', runId: 'r', native },
  ...more,
});
const bookOf = (clock = new FakeClock()): RuleBook => new RuleBook({ clock, random: systemRandom });
const test1 = command('npm test');

describe('what a rule can cover', () => {
  test.each<[string, NativePermission, string | null]>([
    ['one command', command('  npm test '), 'npm test'],
    ['a chain', command('npm test && rm x'), null],
    ['a pipe', command('a | b'), null],
    ['a redirection', command('a > b'), null],
    ['a substitution', command('a $(b)'), null],
    ['back quotes', command('a `b`'), null],
    ['two lines', command('a\nb'), null],
    ['text that hides a part of itself', command('a \u202e b'), null],
    ['nothing', command(' '), null],
    ['more than can be read', command('x'.repeat(3_000)), null],
    [
      'a tool, whatever the order of its input',
      command('', { subject: { kind: 'tool', name: 'f', server: null, input: { b: 1, a: [true] } } }),
      '{"a":[true],"b":1}',
    ],
    [
      'a host',
      command('', { subject: { kind: 'network', host: 'h', port: 443, protocol: 'https' } }),
      'https h 443',
    ],
    ['a change of files', command('', { subject: { kind: 'file_change', changes: [] } }), null],
  ])('%s', (_, native, match) => {
    expect(coverageOf(native)?.match ?? null).toBe(match);
  });
});

describe('where a rule applies', () => {
  test('the same request with another call id, and nothing that differs in anything', () => {
    const book = bookOf();
    expect(book.save('folder', asked(test1), null)).toBe(true);
    const applies = (native: NativePermission, more: Partial<AskedPermission> = {}): boolean =>
      book.apply(asked(native, more)) !== null;
    expect(applies({ ...test1, key: 'other', payload: { tool_use_id: 'second' } })).toBe(true);
    expect(applies(test1, { sessionId: 'other', runId: 'other' })).toBe(true);
    expect(applies(command('npm test '))).toBe(false);
    expect(applies(command('npm tesT'))).toBe(false);
    expect(applies({ ...test1, tool: 'PowerShell' })).toBe(false);
    expect(applies({ ...test1, input: { command: 'npm test', run_in_background: false } })).toBe(false);
    expect(applies({ ...test1, subject: { kind: 'command', command: 'npm test', cwd: '/w/sub' } })).toBe(
      false,
    );
    expect(applies(test1, { workspace: '/other' })).toBe(false);
    expect(applies(test1, { owner: 'other' })).toBe(false);
    expect(applies(test1, { harness: 'codex' })).toBe(false);
    expect(book.all[0]).toMatchObject({ used: 2, match: 'npm test' });
  });

  test('each scope ends where it says', async () => {
    const clock = new FakeClock();
    const book = bookOf(clock);
    for (const scope of ['turn', 'session', 'folder'] as const) {
      book.save(scope, asked(command(scope)), 7);
    }
    const left = (more: Partial<AskedPermission>): string[] =>
      ['turn', 'session', 'folder'].filter((scope) => book.apply(asked(command(scope), more)) !== null);
    expect(left({})).toEqual(['turn', 'session', 'folder']);
    expect(left({ runId: 'r2' })).toEqual(['session', 'folder']);
    expect(left({ runId: 'r2', sessionId: 's2' })).toEqual(['folder']);
    book.endTurn('r');
    expect(left({})).toEqual(['session', 'folder']);
    await clock.advance(7 * 24 * 3_600_000);
    expect(left({})).toEqual(['session']);
  });

  test('without a folder there is no rule for one', () => {
    expect(bookOf().save('folder', asked(test1, { workspace: null }), null)).toBe(false);
  });

  test('removed is removed, saved again is one rule, and rules of Turns are not restored', () => {
    const book = bookOf();
    book.save('folder', asked(test1), null);
    book.save('folder', asked(test1), 3);
    book.save('turn', asked(test1), null);
    expect(book.all.map(({ scope }) => scope).sort()).toEqual(['folder', 'turn']);
    const again = bookOf();
    again.restore(book.all);
    expect(again.all.map(({ scope }) => scope)).toEqual(['folder']);
    const [rule] = again.all as [Rule];
    expect(again.remove(rule.id)?.match).toBe('npm test');
    expect(again.remove(rule.id)).toBeNull();
    expect(again.apply(asked(test1))).toBeNull();
  });
});
