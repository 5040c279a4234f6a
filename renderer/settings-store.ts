import type { FrontEnd } from '../src/contract/commands.ts';
import { defaultSettings, type Settings } from '../src/contract/settings.ts';
import { catalogues } from './i18n/catalogues.ts';
import { setCatalogue } from './i18n/t.ts';
import {
  keepLanguage,
  keptLanguage,
  languageOf,
  paintLanguage,
  type Language,
  type LanguageChoice,
} from './language.ts';
import { Signal } from './store.ts';
import { keepTheme, keptTheme, paintTheme, type Theme } from './theme.ts';

/** The settings of the daemon, and the theme and language of this page that follow them. */
export class SettingsStore extends Signal {
  readonly #link: FrontEnd;
  readonly #page: Window;
  #settings: Settings | null = null;
  #language: Language;

  constructor(link: FrontEnd, page: Window) {
    super();
    this.#link = link;
    this.#page = page;
    this.#language = this.#speak();
    page
      .matchMedia('(prefers-color-scheme: dark)')
      .addEventListener('change', () => paintTheme(page, this.theme));
    page.addEventListener('languagechange', () => {
      this.#language = this.#speak();
      this.notify();
    });
  }
  readonly get = (): Settings | null => this.#settings;

  /** The language that all texts are drawn in now. */
  readonly language = (): Language => this.#language;

  get theme(): Theme {
    return this.#settings?.theme ?? keptTheme(this.#page);
  }

  get languageChoice(): LanguageChoice {
    return this.#settings?.language ?? keptLanguage(this.#page);
  }

  async load(): Promise<void> {
    this.#take(await this.#link.call('settings.get', {}));
  }

  /** Shows the change at once and takes it back when the daemon refuses it. */
  async change(change: Partial<Settings>): Promise<void> {
    const before = this.#settings ?? defaultSettings;
    this.#take({ ...before, ...change });
    try {
      this.#take(await this.#link.call('settings.set', change));
    } catch (error) {
      this.#take(before);
      throw error;
    }
  }

  #take(settings: Settings): void {
    this.#settings = settings;
    keepTheme(this.#page, settings.theme);
    paintTheme(this.#page, settings.theme);
    keepLanguage(this.#page, settings.language);
    this.#language = this.#speak();
    this.notify();
  }

  #speak(): Language {
    const language = languageOf(this.#page, this.languageChoice);
    const { tag, texts } = catalogues[language];
    setCatalogue(tag, texts);
    paintLanguage(this.#page, language);
    return language;
  }
}
