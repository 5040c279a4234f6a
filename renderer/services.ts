import { createContext, useCallback, useContext, useSyncExternalStore } from 'react';
import type { Settings } from '../src/contract/settings.ts';
import type { View } from '../src/contract/view.ts';
import type { WindowLink } from './bridge.ts';
import { t } from './i18n/t.ts';
import { LiveRegions, ToastShelf } from './notices.ts';
import { PromptDesk, type DeskState } from './prompt-desk.ts';
import { Router, type Route } from './router.ts';
import { showHidden } from './select/code-text.ts';
import { SettingsStore } from './settings-store.ts';
import { TurnJournals, ViewStore, type WindowState } from './store.ts';
import { Ticker, type WindowClock } from './window-clock.ts';

/** Everything a screen may use, built once for a page. */
export interface Services {
  readonly link: WindowLink;
  readonly clock: WindowClock;
  readonly ticker: Ticker;
  readonly views: ViewStore;
  readonly journals: TurnJournals;
  readonly desk: PromptDesk;
  readonly router: Router;
  readonly settings: SettingsStore;
  readonly toasts: ToastShelf;
  readonly live: LiveRegions;
}

export function createServices(link: WindowLink, clock: WindowClock, page: Window): Services {
  const views = new ViewStore(link, clock);
  const toasts = new ToastShelf(clock);
  const onRule = ({ id, match, binding }: View['rules'][number]): void => {
    const undo = (): void =>
      void link.call('rule.remove', { id }).then(
        () => toasts.done(t('toast.rule_removed')),
        (error: unknown) => toasts.failed(error),
      );
    toasts.done(t('toast.rule_saved', { match: showHidden(match).slice(0, 80), binding }), undo);
  };
  return {
    link,
    clock,
    ticker: new Ticker(clock),
    views,
    journals: new TurnJournals(link),
    desk: new PromptDesk({ link, views, clock, onRule }),
    router: new Router(page),
    settings: new SettingsStore(link, page),
    toasts,
    live: new LiveRegions(),
  };
}

export const ServicesContext = createContext<Services | null>(null);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error('The window was drawn without its services.');
  return services;
}

export function useWindowState(): WindowState {
  const { views } = useServices();
  return useSyncExternalStore(views.subscribe, views.get);
}

/** The latest snapshot; screens are drawn only once there is one. */
export function useView(): View {
  const { view } = useWindowState();
  if (view === null) throw new Error('A screen was drawn before the first view.');
  return view;
}

export function useRoute(): Route {
  const { router } = useServices();
  return useSyncExternalStore(router.subscribe, router.get);
}

export function useDesk(): DeskState {
  const { desk } = useServices();
  return useSyncExternalStore(desk.subscribe, desk.get);
}

export function useSettings(): Settings | null {
  const { settings } = useServices();
  return useSyncExternalStore(settings.subscribe, settings.get);
}

/** Wall clock, at most a second old. Use it in the smallest component that shows a time. */
export function useNow(): number {
  const { ticker } = useServices();
  return useSyncExternalStore(ticker.subscribe, ticker.now);
}

/** Runs a command of the person: a refusal becomes a toast with the daemon's words. */
export function useAct(): (work: () => Promise<unknown>, done?: string) => void {
  const { toasts } = useServices();
  return useCallback(
    (work, done) => {
      work().then(
        () => {
          if (done !== undefined) toasts.done(done);
        },
        (error: unknown) => toasts.failed(error),
      );
    },
    [toasts],
  );
}
