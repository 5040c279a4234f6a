import { en } from './en.ts';

/** One text, or its forms by number (`Intl.PluralRules`); `{name}` marks a place to fill. */
export type Text = string | { readonly one: string; readonly other: string };
export type TextKey = keyof typeof en;
export type Catalogue = Readonly<Record<TextKey, Text>>;
export type TextParams = Readonly<Record<string, string | number>>;

let catalogue: Catalogue = en;
let language = 'en-GB';
let plural = new Intl.PluralRules(language);

/** Changes every text that is drawn from now on. `tag` is a BCP 47 language tag. */
export function setCatalogue(tag: string, texts: Catalogue): void {
  language = tag;
  catalogue = texts;
  plural = new Intl.PluralRules(tag);
}

/** The language tag that dates and numbers are written in. */
export const currentLanguage = (): string => language;

function template(key: TextKey, params: TextParams): string {
  const text = catalogue[key];
  if (typeof text === 'string') return text;
  return plural.select(Number(params['count'] ?? 0)) === 'one' ? text.one : text.other;
}

/** The text for `key`, with its places filled. A number is written the way the language writes it. */
export function t(key: TextKey, params: TextParams = {}): string {
  return template(key, params).replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = params[name];
    return value === undefined ? whole : typeof value === 'number' ? number(value) : value;
  });
}

/** The text for `key` cut at its places, for a sentence that holds a link or a bold word. */
export function textParts(
  key: TextKey,
  params: TextParams = {},
): readonly (string | { readonly slot: string })[] {
  return template(key, params)
    .split(/(\{\w+\})/)
    .filter((part) => part !== '')
    .map((part) => {
      const slot = /^\{(\w+)\}$/.exec(part)?.[1];
      return slot === undefined ? part : { slot };
    });
}

export const number = (value: number): string => new Intl.NumberFormat(language).format(value);

/** With exactly `digits` behind the mark: 3.8 or 3,8. */
export const decimal = (value: number, digits: number): string =>
  new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    value,
  );
