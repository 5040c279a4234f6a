import { describe, expect, test } from 'vitest';
import {
  commandLines,
  hiddenCharacters,
  isChained,
  plainOutput,
  rawJson,
  segmentCommand,
  segmentHidden,
  showHidden,
} from '../../../renderer/select/code-text.ts';

describe('operators of a command', () => {
  test('each operator is a segment of its own, the rest is text', () => {
    expect(segmentCommand('a && b | c; d > e $(f)').filter((segment) => segment.kind === 'operator')).toEqual(
      ['&&', '|', ';', '>', '$('].map((text) => ({ kind: 'operator', text })),
    );
  });

  test('the segments of a line put together are the line', () => {
    const line = 'x || y >> z `w` && "a|b" 2>&1';
    expect(
      segmentCommand(line)
        .map((segment) => segment.text)
        .join(''),
    ).toBe(line);
  });

  test.each(['a && b', 'a; b', 'a | b', 'echo $(b)', 'a\nb', 'a `b`'])('%j is a chain', (command) => {
    expect(isChained(command)).toBe(true);
  });

  test.each(['npm test', 'npm test\n', 'ls > out.txt'])('%j is one command', (command) => {
    expect(isChained(command)).toBe(false);
  });
});

describe('characters that cannot be seen', () => {
  test.each([
    ['right-to-left override', '\u202E', 'U+202E'],
    ['zero width space', '\u200B', 'U+200B'],
    ['zero width joiner between letters', '\u200D', 'U+200D'],
    ['byte order mark', '\uFEFF', 'U+FEFF'],
    ['soft hyphen', '\u00AD', 'U+00AD'],
    ['no-break space', '\u00A0', 'U+00A0'],
    ['escape', '\u001B', 'U+001B'],
    ['carriage return', '\r', 'U+000D'],
    ['C1 control', '\u0085', 'U+0085'],
    ['line separator', '\u2028', 'U+2028'],
    ['Hangul filler', '\u3164', 'U+3164'],
    ['variation selector after a letter', '\uFE0F', 'U+FE0F'],
    ['isolate', '\u2066', 'U+2066'],
    ['tag character', '\u{E0041}', 'U+E0041'],
    ['lone surrogate', '\uD800', 'U+D800'],
    ['private use', '\uE000', 'U+E000'],
    ['blank braille', '\u2800', 'U+2800'],
  ])('a %s is shown as its code', (_, character, code) => {
    expect(segmentHidden(`a${character}b`)).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'hidden', text: character, code },
      { kind: 'text', text: 'b' },
    ]);
  });

  test('line feeds and tabs are layout', () => {
    expect(segmentHidden('a\n\tb')).toEqual([{ kind: 'text', text: 'a\n\tb' }]);
  });

  test('the joiners of a picture belong to the picture', () => {
    expect(hiddenCharacters('👩‍🔬 ⚠️ ok').count).toBe(0);
  });

  test('letters of other scripts can be seen', () => {
    expect(hiddenCharacters('привет 日本語 é').count).toBe(0);
  });

  test('each is counted, each code named once, and turning is told apart', () => {
    expect(hiddenCharacters('a\u200Bb\u200Bc')).toEqual({ count: 2, codes: ['U+200B'], turns: false });
    expect(hiddenCharacters('a\u202Eb').turns).toBe(true);
  });

  test('CRLF is a line end, not a hidden character', () => {
    expect(hiddenCharacters('a\r\nb').count).toBe(0);
    expect(commandLines('a\r\nb\n')).toEqual(['a', 'b']);
  });

  test('nothing turns in a title, on the clipboard or in raw JSON', () => {
    expect(showHidden('x\u202Ey')).toBe('xU+202Ey');
    expect(rawJson({ a: 'x\u202Ey' })).toContain('x\\u202ey');
    expect(JSON.parse(rawJson({ a: 'x\u{E0041}y' }))).toEqual({ a: 'x\u{E0041}y' });
  });
});

test('terminal sequences are dropped from output and a lone carriage return ends the line', () => {
  expect(plainOutput('\u001b[31mred\u001b[0m 10%\r20%\r\ndone\u001b]0;title\u0007')).toBe(
    'red 10%\n20%\ndone',
  );
});
