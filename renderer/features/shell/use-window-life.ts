import { useEffect, useRef } from 'react';
import type { View } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { pressed, shortcuts } from '../../keys.ts';
import { routeOf, type Route } from '../../router.ts';
import { announcements, countdownAnnouncements } from '../../select/announcements.ts';
import { windowTitle } from '../../select/overview.ts';
import { promptQueue } from '../../select/prompt-queue.ts';
import { useNow, useRoute, useServices, useWindowState } from '../../services.ts';

/** Shortcuts that work on every screen. None of them decides anything. */
export function useGlobalKeys(): void {
  const { link, router, views } = useServices();
  const back = useRef<{ readonly route: Route; readonly focus: Element | null } | null>(null);
  useEffect(() => {
    const jumps: readonly (readonly [(typeof shortcuts)[keyof typeof shortcuts], Route])[] = [
      [shortcuts.home, { screen: 'home' }],
      [shortcuts.turns, { screen: 'turns' }],
      [shortcuts.history, { screen: 'history' }],
      [shortcuts.doctor, { screen: 'doctor' }],
      [shortcuts.settings, { screen: 'settings', tab: 'bindings' }],
      [shortcuts.preferences, { screen: 'settings', tab: 'bindings' }],
    ];
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]') !== null)
        return;
      const { view } = views.get();
      if (view === null) return;
      const go = (route: Route): void => {
        event.preventDefault();
        router.go(route, 'heading');
      };
      for (const [shortcut, route] of jumps) if (pressed(event, shortcut, link.platform)) return go(route);
      if (pressed(event, shortcuts.compose, link.platform) && view.bindings.some((binding) => binding.local))
        return go({ screen: 'compose' });
      if (pressed(event, shortcuts.oldestPrompt, link.platform)) {
        const oldest = promptQueue(view)[0];
        if (oldest === undefined) return;
        if (router.get().screen !== 'prompt')
          back.current = { route: router.get(), focus: document.activeElement };
        return go({ screen: 'prompt', id: oldest.id });
      }
      if (pressed(event, shortcuts.back, link.platform) && back.current !== null) {
        const { route, focus } = back.current;
        back.current = null;
        event.preventDefault();
        router.go(route, focus instanceof HTMLElement && focus.isConnected ? null : 'heading');
        if (focus instanceof HTMLElement && focus.isConnected) focus.focus();
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [link, router, views]);
}

/** What tray, notification and menu ask to be shown; the focus of the window, for what ended unseen. */
export function useShellEvents(): void {
  const { link, router, desk } = useServices();
  useEffect(() => link.onShow((show) => router.go(routeOf(show), 'heading')), [link, router]);
  useEffect(() => {
    const focus = (): void => desk.windowFocus(true);
    const blur = (): void => desk.windowFocus(false);
    desk.windowFocus(document.hasFocus());
    window.addEventListener('focus', focus);
    window.addEventListener('blur', blur);
    return () => {
      window.removeEventListener('focus', focus);
      window.removeEventListener('blur', blur);
    };
  }, [desk]);
}

/** Says changes of state once, and nothing else: countdowns only at 60 s and 10 s. */
export function useAnnouncements(): void {
  const { live, clock } = useServices();
  const { view } = useWindowState();
  const now = useNow();
  const seen = useRef<View | null>(null);
  const ticked = useRef(now);
  useEffect(() => {
    if (view === null) return;
    const said = announcements(seen.current, view, clock.now());
    seen.current = view;
    const urgent = said.filter((item) => item.urgent).map((item) => item.text);
    const polite = said.filter((item) => !item.urgent).map((item) => item.text);
    if (urgent.length > 0) live.say(urgent.join(' '), true);
    if (polite.length > 0) live.say(polite.join(' '));
  }, [view, live, clock]);
  useEffect(() => {
    if (view !== null)
      for (const item of countdownAnnouncements(view, ticked.current, now)) live.say(item.text);
    ticked.current = now;
  }, [view, now, live]);
}

const names: Record<Route['screen'], () => string> = {
  home: () => t('nav.home'),
  compose: () => t('compose.short'),
  prompt: () => t('queue.title'),
  turns: () => t('nav.turns'),
  turn: () => t('nav.turns'),
  history: () => t('nav.history'),
  doctor: () => t('nav.doctor'),
  enrol: () => t('enrol.bar'),
  settings: () => t('nav.settings'),
};

export function useWindowTitle(): void {
  const { view } = useWindowState();
  const { screen } = useRoute();
  const title = windowTitle(view, names[screen]());
  useEffect(() => {
    document.title = title;
  }, [title]);
}
