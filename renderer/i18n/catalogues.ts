import type { Language } from '../language.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import type { Catalogue } from './t.ts';

/** BCP 47 tag for dates, numbers and plurals, and the texts. */
export const catalogues: Readonly<Record<Language, { readonly tag: string; readonly texts: Catalogue }>> = {
  en: { tag: 'en-GB', texts: en },
  de: { tag: 'de-DE', texts: de },
};
