/**
 * Questions that `JSON.parse` forgets the answer to: where a member stands in the raw text, and whether an object
 * repeats one. The text must be valid JSON. Nothing is copied but the slice that is asked for.
 */

/** `[start, end)` of the value at `path` (object members only, the last of repeated ones), or undefined. */
export function memberSpan(text: string, path: readonly string[]): readonly [number, number] | undefined {
  let span: readonly [number, number] | undefined = [skipBlank(text, 0), text.length];
  for (const name of path) {
    if (!span || text[span[0]] !== '{') return undefined;
    let found: readonly [number, number] | undefined;
    eachMember(text, span[0], (key, start, end) => {
      if (key === name) found = [start, end];
    });
    span = found;
  }
  return span;
}

/** Whether the object at `path`, or any object inside it, names a member twice. */
export function hasRepeatedMember(text: string, path: readonly string[]): boolean {
  const span = memberSpan(text, path);
  return span !== undefined && repeats(text, span[0]);
}

function repeats(text: string, start: number): boolean {
  const pending = [start];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const names = new Set<string>();
    let members = 0;
    const visit = (key: string | undefined, from: number): void => {
      if (key !== undefined) {
        names.add(key);
        members++;
      }
      if (text[from] === '{' || text[from] === '[') pending.push(from);
    };
    if (text[at] === '{') eachMember(text, at, visit);
    else if (text[at] === '[') eachElement(text, at, (from) => visit(undefined, from));
    if (names.size !== members) return true;
  }
  return false;
}

function eachMember(
  text: string,
  open: number,
  visit: (key: string, start: number, end: number) => void,
): void {
  let at = skipBlank(text, open + 1);
  while (at < text.length && text[at] !== '}') {
    const keyEnd = skipValue(text, at);
    const key = String(JSON.parse(text.slice(at, keyEnd)));
    const start = skipBlank(text, skipBlank(text, keyEnd) + 1);
    const end = skipValue(text, start);
    visit(key, start, end);
    at = skipSeparator(text, end);
  }
}

function eachElement(text: string, open: number, visit: (start: number) => void): void {
  let at = skipBlank(text, open + 1);
  while (at < text.length && text[at] !== ']') {
    visit(at);
    at = skipSeparator(text, skipValue(text, at));
  }
}

function skipBlank(text: string, at: number): number {
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++;
  return at;
}

function skipSeparator(text: string, at: number): number {
  const next = skipBlank(text, at);
  return text[next] === ',' ? skipBlank(text, next + 1) : next;
}

/** The end of the value that starts at `at`. */
function skipValue(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return skipString(text, at);
  if (first !== '{' && first !== '[') {
    while (at < text.length && !',]} \t\n\r'.includes(text.charAt(at))) at++;
    return at;
  }
  for (let depth = 0; at < text.length;) {
    const unit = text[at];
    if (unit === '"') {
      at = skipString(text, at);
      continue;
    }
    at++;
    if (unit === '{' || unit === '[') depth++;
    else if ((unit === '}' || unit === ']') && --depth === 0) break;
  }
  return at;
}

function skipString(text: string, at: number): number {
  for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
  return at + 1;
}
