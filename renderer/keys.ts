import type { WindowLink } from './bridge.ts';

/** Keyboard shortcuts, named once: for the handler, the tooltip and `aria-keyshortcuts`. ⌘ stands for Ctrl on macOS. */
export interface Shortcut {
  readonly key: string;
  readonly ctrl?: boolean;
  readonly shift?: boolean;
  readonly alt?: boolean;
}

export const shortcuts = {
  oldestPrompt: { key: 'F6' },
  back: { key: 'F6', shift: true },
  home: { key: '1', ctrl: true },
  turns: { key: '2', ctrl: true },
  history: { key: '3', ctrl: true },
  doctor: { key: '4', ctrl: true },
  settings: { key: '5', ctrl: true },
  preferences: { key: ',', ctrl: true },
  compose: { key: 'n', ctrl: true },
  previousPrompt: { key: 'ArrowUp', alt: true },
  nextPrompt: { key: 'ArrowDown', alt: true },
  allowOnce: { key: 'y', ctrl: true },
  allowTurn: { key: 'y', ctrl: true, shift: true },
  deny: { key: 'd', ctrl: true },
  denyReason: { key: 'd', ctrl: true, shift: true },
  later: { key: 'Escape' },
  raw: { key: 'j', ctrl: true },
  send: { key: 'Enter', ctrl: true },
  stopTurn: { key: '.', ctrl: true },
  search: { key: 'f', ctrl: true },
  follow: { key: 'End' },
} as const satisfies Record<string, Shortcut>;

type Platform = WindowLink['platform'];

interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
}

/** True when exactly this shortcut was pressed. AltGr arrives as Ctrl with Alt and is never one. */
export function pressed(event: KeyPress, shortcut: Shortcut, platform: Platform): boolean {
  const main = platform === 'darwin' ? event.metaKey : event.ctrlKey;
  const other = platform === 'darwin' ? event.ctrlKey : event.metaKey;
  return (
    event.key.toLowerCase() === shortcut.key.toLowerCase() &&
    main === (shortcut.ctrl ?? false) &&
    !other &&
    event.shiftKey === (shortcut.shift ?? false) &&
    event.altKey === (shortcut.alt ?? false)
  );
}

const named: Record<string, string> = { ArrowUp: '↑', ArrowDown: '↓', Escape: 'Esc' };

/** The key caps of a shortcut: ["Ctrl", "Shift", "Y"]. */
export function caps(shortcut: Shortcut, platform: Platform): readonly string[] {
  const mac = platform === 'darwin';
  return [
    ...(shortcut.ctrl ? [mac ? '⌘' : 'Ctrl'] : []),
    ...(shortcut.alt ? [mac ? '⌥' : 'Alt'] : []),
    ...(shortcut.shift ? [mac ? '⇧' : 'Shift'] : []),
    named[shortcut.key] ?? (shortcut.key.length === 1 ? shortcut.key.toUpperCase() : shortcut.key),
  ];
}

/** For a tooltip: "Ctrl+Shift+Y", "⇧⌘Y". */
export const shortcutText = (shortcut: Shortcut, platform: Platform): string =>
  caps(shortcut, platform).join(platform === 'darwin' ? '' : '+');

/** For `aria-keyshortcuts`. */
export function ariaShortcut(shortcut: Shortcut, platform: Platform): string {
  return [
    ...(shortcut.ctrl ? [platform === 'darwin' ? 'Meta' : 'Control'] : []),
    ...(shortcut.alt ? ['Alt'] : []),
    ...(shortcut.shift ? ['Shift'] : []),
    shortcut.key.length === 1 ? shortcut.key.toUpperCase() : shortcut.key,
  ].join('+');
}

const textTypes = ['text', 'password', 'search', 'email', 'url', 'number', 'tel'];

/** A place where keys write text: no shortcut of a prompt acts there. */
export function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLInputElement) return textTypes.includes(target.type);
  return target instanceof HTMLElement && target.isContentEditable;
}
