import { join } from 'node:path';
import { Menu, Tray, nativeImage, nativeTheme, type MenuItemConstructorOptions } from 'electron';
import { awaitingPerson } from '../src/contract/awaiting.ts';
import type { View } from '../src/contract/view.ts';
import { words } from './words.ts';
import { isStopped, worstState, type WorstState } from '../src/contract/worst-state.ts';

export interface TrayActions {
  open(): void;
  openPrompt(id: string): void;
  pause(): void;
  resume(): void;
  start(): void;
  stopAfterTurns(): void;
  stopNow(): void;
  quit(): void;
}

const iconNames: Record<WorstState, string> = {
  needs_you: 'needs-you',
  disconnected: 'disconnected',
  working: 'working',
  paused: 'paused',
  stopped: 'stopped',
  connected: 'connected',
};

/** The tray icon: a shape for each state, never colour alone, and a menu that opens things but allows nothing. */
export class AppTray {
  readonly #icons: string;
  readonly #actions: TrayActions;
  #tray: Tray | null = null;
  #drawn = '';

  constructor(icons: string, actions: TrayActions) {
    this.#icons = icons;
    this.#actions = actions;
  }

  update(view: View, now: number): void {
    const state = worstState(view, now);
    const menu = menuOf(view, this.#actions);
    const tooltip = tooltipOf(view, state);
    const key = JSON.stringify([
      state,
      tooltip,
      menu.map((item) => [item.label, item.enabled]),
      nativeTheme.shouldUseDarkColors,
    ]);
    if (key === this.#drawn) return;
    this.#drawn = key;
    const image = this.#image(state);
    if (!this.#tray) {
      this.#tray = new Tray(image);
      this.#tray.on('click', () => this.#actions.open());
    } else this.#tray.setImage(image);
    this.#tray.setToolTip(tooltip);
    this.#tray.setContextMenu(Menu.buildFromTemplate(menu));
  }

  /** Makes the icon anew: for a panel that came up after the app, or again. */
  renew(view: View, now: number): void {
    this.destroy();
    this.#drawn = '';
    this.update(view, now);
  }

  destroy(): void {
    this.#tray?.destroy();
    this.#tray = null;
  }

  #image(state: WorstState): Electron.NativeImage {
    // macOS colours a template image itself; elsewhere the panel is dark or light.
    const suffix = process.platform !== 'darwin' && nativeTheme.shouldUseDarkColors ? '-on-dark' : '';
    const size = process.platform === 'linux' ? 22 : 16;
    const image = nativeImage.createFromPath(
      join(this.#icons, `tray-${iconNames[state]}${suffix}-${size}.png`),
    );
    const double = nativeImage.createFromPath(join(this.#icons, `tray-${iconNames[state]}${suffix}-32.png`));
    if (size === 16 && !double.isEmpty()) image.addRepresentation({ scaleFactor: 2, buffer: double.toPNG() });
    if (process.platform === 'darwin') image.setTemplateImage(true);
    return image;
  }
}

export function tooltipOf(view: View, state: WorstState): string {
  const { tray, prompts } = words();
  const waiting = awaitingPerson(view).length;
  if (waiting > 0) return `Agent Runtime: ${prompts(waiting)}`;
  const serving = view.bindings.some(({ connection }) => connection.state === 'serving');
  const said =
    state === 'working' || state === 'needs_you'
      ? tray.turnsOpen(view.turns.length)
      : state === 'connected' && !serving
        ? tray.connecting
        : tray.state[state];
  return `Agent Runtime: ${said}`;
}

export function menuOf(view: View, actions: TrayActions): MenuItemConstructorOptions[] {
  const prompts = awaitingPerson(view);
  const { tray, prompts: promptsWord } = words();
  const separator: MenuItemConstructorOptions = { type: 'separator' };
  const heading =
    prompts.length === 0
      ? []
      : [
          {
            label: promptsWord(prompts.length),
            enabled: false,
          },
          ...prompts.slice(0, 10).map((prompt) => ({
            label:
              prompt.kind === 'permission'
                ? tray.permissionIn(prompt.binding)
                : tray.questionIn(prompt.binding),
            click: () => actions.openPrompt(prompt.id),
          })),
          separator,
        ];
  const stopped = isStopped(view);
  const paused = view.runtime.state === 'paused';
  const open = view.turns.length;
  const running: MenuItemConstructorOptions[] = stopped
    ? [{ label: tray.start, click: () => actions.start() }]
    : [
        paused
          ? { label: tray.resume, click: () => actions.resume() }
          : { label: tray.pause, click: () => actions.pause() },
        { label: tray.stopAfter, click: () => actions.stopAfterTurns() },
        {
          label: tray.stopNow(open),
          click: () => actions.stopNow(),
        },
      ];
  return [
    ...heading,
    ...view.bindings.map((binding) => ({
      label: `${binding.name}: ${tray.binding[binding.connection.state]}`,
      click: () => actions.open(),
    })),
    separator,
    { label: tray.open, click: () => actions.open() },
    ...running,
    separator,
    { label: tray.quit, click: () => actions.quit() },
  ];
}
