import { sentences, type Sentence, type SentenceCode } from '../../src/contract/sentences.ts';
import { currentLanguage, t, type TextParams } from './t.ts';

/** A sentence of a Runtime by its code, with what stands at its places. */
export interface Said {
  readonly code: SentenceCode;
  readonly params: Readonly<Record<string, string>>;
}

interface Shape {
  readonly code: SentenceCode;
  readonly pattern: RegExp;
  readonly places: readonly string[];
}

/** What a place may hold: anything but the end of a sentence. */
const held = '((?:(?!\\. )[^])+?)';
const escaped = (text: string): string => text.replace(/[.*+?^$()|[\]\\{}]/g, '\\$&');
const forms = (sentence: Sentence): readonly string[] =>
  typeof sentence === 'string' ? [sentence] : [sentence.one, sentence.other];

function read(): { whole: ReadonlyMap<string, SentenceCode>; shapes: readonly Shape[] } {
  const whole = new Map<string, SentenceCode>();
  const shapes: (Shape & { readonly fixed: number })[] = [];
  for (const [key, sentence] of Object.entries(sentences)) {
    // Object.entries forgets that these are the codes.
    const code = key as SentenceCode;
    for (const form of forms(sentence)) {
      const parts = form.split(/\{(\w+)\}/);
      if (parts.length === 1) whole.set(form, code);
      else {
        const text = parts.map((part, index) => (index % 2 === 0 ? escaped(part) : held)).join('');
        shapes.push({
          code,
          pattern: new RegExp(`^${text}$`),
          places: parts.filter((_, index) => index % 2 === 1),
          fixed: parts.filter((_, index) => index % 2 === 0).join('').length,
        });
      }
    }
  }
  // What says more of itself comes first: "{agent}: {why}" would take almost anything.
  return { whole, shapes: shapes.sort((a, b) => b.fixed - a.fixed) };
}

let known: ReturnType<typeof read> | null = null;

/** Which sentence of the contract this is; null where it is none. */
export function saidOf(text: string): Said | null {
  known ??= read();
  const code = known.whole.get(text);
  if (code !== undefined) return { code, params: {} };
  for (const shape of known.shapes) {
    const found = shape.pattern.exec(text);
    if (!found) continue;
    return {
      code: shape.code,
      params: Object.fromEntries(shape.places.map((place, index) => [place, found[index + 1] ?? ''])),
    };
  }
  return null;
}

/** Places that hold a number, which each language writes its own way. */
const numeric: ReadonlySet<string> = new Set(['count', 'mb', 'gb']);

function worded({ code, params }: Said): string {
  const filled: TextParams = Object.fromEntries(
    Object.entries(params).map(([place, value]) => [
      place,
      numeric.has(place) && Number.isFinite(Number(value)) ? Number(value) : (one(value) ?? value),
    ]),
  );
  return t(code, filled);
}

function one(text: string): string | null {
  const found = saidOf(text);
  return found ? worded(found) : null;
}

/** Several sentences in a row, the longest run that is known first; a part that is not known stays as it is. */
function row(text: string): string {
  const parts = text.split(/(\. )/);
  const pieces: string[] = [];
  for (let index = 0; index < parts.length; index += 2)
    pieces.push(`${parts[index] ?? ''}${(parts[index + 1] ?? '').trimEnd()}`);
  const out: string[] = [];
  for (let at = 0; at < pieces.length;) {
    let taken = 1;
    let words = pieces[at] ?? '';
    for (let end = pieces.length; end > at; end--) {
      const found = one(pieces.slice(at, end).join(' '));
      if (found === null) continue;
      words = found;
      taken = end - at;
      break;
    }
    out.push(words);
    at += taken;
  }
  return out.join(' ');
}

const most = 500;
const longest = 2_000;
const remembered = new Map<string, string>();
let rememberedIn = '';

/** What a Runtime said, in the language of the window; as it came where the window has no words of its own for it. */
export function said(text: string): string {
  const language = currentLanguage();
  if (language.startsWith('en') || text.length > longest) return text;
  if (language !== rememberedIn || remembered.size >= most) {
    remembered.clear();
    rememberedIn = language;
  }
  const before = remembered.get(text);
  if (before !== undefined) return before;
  const words = row(text);
  remembered.set(text, words);
  return words;
}
