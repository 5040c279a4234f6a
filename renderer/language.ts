/** The language of the page: kept for the first paint of the next start, while the daemon's setting is the truth. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];
export type LanguageChoice = 'system' | Language;

const languageKey = 'agent-runtime.language';

export function keptLanguage(page: Window): LanguageChoice {
  try {
    const kept = page.localStorage.getItem(languageKey);
    return languages.find((language) => language === kept) ?? 'system';
  } catch {
    return 'system';
  }
}

export function keepLanguage(page: Window, choice: LanguageChoice): void {
  try {
    page.localStorage.setItem(languageKey, choice);
  } catch {
    // A browser that keeps nothing begins in the system's language at the next first paint.
  }
}

/** The first of the system's languages that there are texts for, else English. */
export function languageOf(page: Window, choice: LanguageChoice): Language {
  if (choice !== 'system') return choice;
  for (const tag of page.navigator.languages) {
    const known = languages.find((language) => tag === language || tag.startsWith(`${language}-`));
    if (known !== undefined) return known;
  }
  return 'en';
}

/** Sets `lang` on the root: what a screen reader speaks and hyphenation follow. */
export function paintLanguage(page: Window, language: Language): void {
  page.document.documentElement.lang = language;
}
