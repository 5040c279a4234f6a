/** Shells that Codex wraps a command in. */
const SHELL = /(?:^|\/)(?:ba|z|da|k)?sh$/;

/**
 * The command that a shell was given, when `command` is exactly a shell, `-c` or `-lc`, and one more word; else the
 * whole. What is shown is then what will run, without the wrapping and its quotes.
 */
export function innerCommand(command: string): string {
  const words = splitWords(command);
  const [shell = '', flag, inner] = words ?? [];
  const wrapped = words?.length === 3 && SHELL.test(shell) && (flag === '-lc' || flag === '-c');
  return wrapped && inner !== undefined ? inner : command;
}

/** Words of a quoted command line by the quoting rules of POSIX shells, or null for one with anything else in it. */
function splitWords(line: string): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === "'") {
      const end = line.indexOf("'", at + 1);
      if (end < 0) return null;
      word = (word ?? '') + line.slice(at + 1, end);
      at = end;
    } else if (char === '"') {
      const quoted = doubleQuoted(line, at + 1);
      if (quoted === null) return null;
      word = (word ?? '') + quoted.text;
      at = quoted.end;
    } else if (char === ' ') {
      if (word !== null) words.push(word);
      word = null;
    } else if (/[A-Za-z0-9_@%+=:,./-]/.test(char)) word = (word ?? '') + char;
    else return null;
  }
  if (word !== null) words.push(word);
  return words;
}

function doubleQuoted(line: string, from: number): { readonly text: string; readonly end: number } | null {
  let text = '';
  for (let at = from; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === '"') return { text, end: at };
    if (char === '`' || char === '$') return null;
    if (char === '\\' && /["\\$`]/.test(line.charAt(at + 1))) text += line.charAt(++at);
    else text += char;
  }
  return null;
}
