/** The theme of the page: kept for the first paint of the next start, while the daemon's setting is the truth. */
export type Theme = 'system' | 'light' | 'dark';

const themeKey = 'agent-runtime.theme';

export function keptTheme(page: Window): Theme {
  try {
    const kept = page.localStorage.getItem(themeKey);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}

export function keepTheme(page: Window, theme: Theme): void {
  try {
    page.localStorage.setItem(themeKey, theme);
  } catch {
    // A browser that keeps nothing shows the system's theme at the next first paint.
  }
}

/** Sets `data-theme` on the root: what every colour hangs on. */
export function paintTheme(page: Window, theme: Theme): void {
  const dark =
    theme === 'dark' || (theme === 'system' && page.matchMedia('(prefers-color-scheme: dark)').matches);
  page.document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}
