import { defaultSettings, type FrontEnd, type Settings } from '../src/contract/commands.ts';
import { Signal } from './store.ts';
import { keepTheme, keptTheme, paintTheme, type Theme } from './theme.ts';

/** The settings of the daemon, and the theme of this page that follows them. */
export class SettingsStore extends Signal {
  readonly #link: FrontEnd;
  readonly #page: Window;
  #settings: Settings | null = null;

  constructor(link: FrontEnd, page: Window) {
    super();
    this.#link = link;
    this.#page = page;
    page
      .matchMedia('(prefers-color-scheme: dark)')
      .addEventListener('change', () => paintTheme(page, this.theme));
  }
  readonly get = (): Settings | null => this.#settings;

  get theme(): Theme {
    return this.#settings?.theme ?? keptTheme(this.#page);
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
    this.notify();
  }
}
