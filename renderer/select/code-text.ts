/**
 * Text of an agent, cut into what it is: plain text, the operators of a shell line, and characters that cannot be
 * seen or that change the direction of what follows. Those are shown as codes and never applied.
 */
export type CodeSegment =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'operator'; readonly text: string }
  | { readonly kind: 'hidden'; readonly text: string; readonly code: string };

/** Unseen by nature: other, controls, format, line and paragraph separators, spaces but the common one, fillers. */
const unseen =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Cs}\p{Co}\p{Cn}\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u2800\u3164\uFFA0\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/u;
const anyUnseen = new RegExp(`(?![ \\n\\t])${unseen.source}`, 'u');

const pictograph = /\p{Extended_Pictographic}|\p{Emoji_Modifier}/u;
const operators = /&&|\|\||\||;|>>|>|\$\(|`/g;

/** Bidirectional controls turn the direction of the text that follows them. */
const turning = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;

export const codePointName = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** A joiner or a variation selector inside an emoji belongs to a picture that can be seen. */
function partOfPicture(characters: readonly string[], index: number): boolean {
  const before = characters[index - 1] ?? '';
  const character = characters[index];
  if (character === '\uFE0F') return pictograph.test(before);
  if (character !== '\u200D') return false;
  const base = before === '\uFE0F' ? (characters[index - 2] ?? '') : before;
  return pictograph.test(base) && pictograph.test(characters[index + 1] ?? '');
}

/** Cuts `text` at its hidden characters. Line feeds and tabs are layout and stay; a carriage return does not. */
export function segmentHidden(text: string): readonly CodeSegment[] {
  if (!anyUnseen.test(text)) return text === '' ? [] : [{ kind: 'text', text }];
  const segments: CodeSegment[] = [];
  let plain = '';
  const flush = (): void => {
    if (plain !== '') segments.push({ kind: 'text', text: plain });
    plain = '';
  };
  const characters = Array.from(text);
  characters.forEach((character, index) => {
    if (!anyUnseen.test(character) || partOfPicture(characters, index)) {
      plain += character;
      return;
    }
    flush();
    segments.push({ kind: 'hidden', text: character, code: codePointName(character) });
  });
  flush();
  return segments;
}

function markOperators(text: string): readonly CodeSegment[] {
  const segments: CodeSegment[] = [];
  let from = 0;
  for (const match of text.matchAll(operators)) {
    if (match.index > from) segments.push({ kind: 'text', text: text.slice(from, match.index) });
    segments.push({ kind: 'operator', text: match[0] });
    from = match.index + match[0].length;
  }
  if (from < text.length) segments.push({ kind: 'text', text: text.slice(from) });
  return segments;
}

/** One line of a command: hidden characters as codes, then the operators of the rest. */
export const segmentCommand = (line: string): readonly CodeSegment[] =>
  segmentHidden(line).flatMap((segment) =>
    segment.kind === 'text' ? markOperators(segment.text) : [segment],
  );

/** The lines of a command; CRLF counts as one line end. */
export const commandLines = (text: string): readonly string[] =>
  text.replace(/\r\n/g, '\n').replace(/\n$/, '').split('\n');

/** True when the text joins several commands or starts another one inside (`&&`, `||`, `;`, `|`, `$(`, a new line). */
export const isChained = (command: string): boolean => /&&|\||;|\$\(|`|\n\s*\S/.test(command.trim());

export interface HiddenCharacters {
  readonly count: number;
  /** Distinct codes, first seen first, at most 8. */
  readonly codes: readonly string[];
  /** True when one of them turns the direction of what follows. */
  readonly turns: boolean;
}

export function hiddenCharacters(text: string): HiddenCharacters {
  const hidden = segmentHidden(text.replace(/\r\n/g, '\n')).filter((segment) => segment.kind === 'hidden');
  return {
    count: hidden.length,
    codes: [...new Set(hidden.map((segment) => segment.code))].slice(0, 8),
    turns: hidden.some((segment) => turning.test(segment.text)),
  };
}

/** `text` with each hidden character written as its code: for a label, a title, the clipboard. */
export const showHidden = (text: string): string =>
  segmentHidden(text)
    .map((segment) => (segment.kind === 'hidden' ? segment.code : segment.text))
    .join('');

/** Output of a terminal program as plain text: colour and cursor sequences dropped, a lone carriage return as a line end. */
export const plainOutput = (text: string): string =>
  text.includes('\u001b') || text.includes('\r')
    ? text
        .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g, '')
        .replace(/\r\n?/g, '\n')
    : text;

/** JSON for the raw form, with every hidden character as its \\u escape, so that nothing acts while it is read. */
export function rawJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? 'null';
  return segmentHidden(text)
    .map((segment) =>
      segment.kind === 'hidden'
        ? Array.from(
            { length: segment.text.length },
            (_, i) => `\\u${segment.text.charCodeAt(i).toString(16).padStart(4, '0')}`,
          ).join('')
        : segment.text,
    )
    .join('');
}
