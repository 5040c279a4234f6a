import type { Show } from '../src/contract/channels.ts';
import { Signal } from './store.ts';

/** Where the window is. It lives in the address after `#`, so that a reload comes back to the same place. */
export type Route =
  | { readonly screen: 'home' }
  | { readonly screen: 'compose' }
  | { readonly screen: 'prompt'; readonly id: string }
  | { readonly screen: 'turns' }
  | { readonly screen: 'turn'; readonly runId: string }
  | { readonly screen: 'history' }
  | { readonly screen: 'doctor' }
  /** `id` of the enrolment that is open; null to begin one. */
  | { readonly screen: 'enrol'; readonly id: string | null }
  | { readonly screen: 'settings'; readonly tab: SettingsTab };
export const settingsTabs = ['bindings', 'agents', 'rules', 'notifications', 'general'] as const;
export type SettingsTab = (typeof settingsTabs)[number];

export function href(route: Route): string {
  switch (route.screen) {
    case 'home':
      return '#/';
    case 'prompt':
      return `#/prompt/${encodeURIComponent(route.id)}`;
    case 'turn':
      return `#/turns/${encodeURIComponent(route.runId)}`;
    case 'enrol':
      return route.id === null ? '#/enrol' : `#/enrol/${encodeURIComponent(route.id)}`;
    case 'settings':
      return `#/settings/${route.tab}`;
    default:
      return `#/${route.screen}`;
  }
}

export function parseRoute(hash: string): Route {
  const [screen = '', rest = ''] = hash.replace(/^#\/?/, '').split('/', 2);
  const id = decode(rest);
  switch (screen) {
    case 'compose':
    case 'history':
    case 'doctor':
      return { screen };
    case 'prompt':
      return id === '' ? { screen: 'home' } : { screen, id };
    case 'turns':
      return id === '' ? { screen } : { screen: 'turn', runId: id };
    case 'enrol':
      return { screen, id: id === '' ? null : id };
    case 'settings':
      return { screen, tab: settingsTabs.find((tab) => tab === id) ?? 'bindings' };
    default:
      return { screen: 'home' };
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

export const routeOf = (show: Show): Route => {
  switch (show.screen) {
    case 'home':
      return { screen: 'home' };
    case 'prompt':
      return { screen: 'prompt', id: show.id };
    case 'turn':
      return { screen: 'turn', runId: show.run_id };
    case 'settings':
      return { screen: 'settings', tab: 'bindings' };
    case 'enrol':
      return { screen: 'enrol', id: null };
  }
};

/** What the screen that one goes to should focus: its head when the person goes there, nothing by itself. */
export type FocusWish = 'heading' | null;

export class Router extends Signal {
  readonly #page: Window;
  #route: Route;
  #wish: string | null = null;

  constructor(page: Window) {
    super();
    this.#page = page;
    this.#route = parseRoute(page.location.hash);
    page.addEventListener('hashchange', () => {
      const next = parseRoute(page.location.hash);
      if (href(next) === href(this.#route)) return;
      this.#route = next;
      this.notify();
    });
  }
  readonly get = (): Route => this.#route;

  go(route: Route, wish: FocusWish = null): void {
    this.#wish = wish === null ? null : href(route);
    const moved = href(route) !== href(this.#route);
    // A new object also where it stays the same: then its head is focused again.
    this.#route = route;
    if (moved) this.#page.location.hash = href(route);
    this.notify();
  }

  /** True once, for the screen at `route` when the person went there. A screen that is just leaving gets nothing. */
  takeWish(route: Route): boolean {
    if (this.#wish !== href(route)) return false;
    this.#wish = null;
    return true;
  }
}
