import { join } from 'node:path';
import { BrowserWindow, nativeTheme, screen } from 'electron';
import type { Show } from '../src/contract/channels.ts';
import type { Logger } from '../src/observe/logger.ts';
import { show } from './ipc.ts';
import { origin } from './security.ts';
import { placeInAddress } from './window-address.ts';
import { isOnDisplay, leastSize, placeOn, type WindowPlace, type WindowPlaceStore } from './window-place.ts';

/**
 * The one window. Closing it destroys it (about 40 MB come back) and the Runtime goes on; it opens again in a moment.
 * It never raises itself or takes focus for a prompt.
 */
export class MainWindow {
  readonly #folder: string;
  readonly #icon: string;
  readonly #logger: Logger;
  readonly #places: WindowPlaceStore;
  readonly #onCreate: (window: BrowserWindow) => void;
  readonly #mayHide: () => boolean;
  #window: BrowserWindow | null = null;
  #crashes: number[] = [];
  #pending: Show | null = null;

  constructor(options: {
    folder: string;
    icon: string;
    logger: Logger;
    places: WindowPlaceStore;
    onCreate: (window: BrowserWindow) => void;
    /** Whether there is a way back to a window that is gone; without one, closing only minimises. */
    mayHide: () => boolean;
  }) {
    this.#folder = options.folder;
    this.#icon = options.icon;
    this.#logger = options.logger;
    this.#places = options.places;
    this.#onCreate = options.onCreate;
    this.#mayHide = options.mayHide;
  }

  get focused(): boolean {
    return this.#window?.isFocused() ?? false;
  }
  get isOpen(): boolean {
    return this.#window !== null;
  }

  /** Opens or raises it, because the person asked for it. */
  open(what?: Show): void {
    if (this.#window && !this.#window.isDestroyed()) {
      if (this.#window.isMinimized()) this.#window.restore();
      this.#window.show();
      this.#window.focus();
      if (what) show(this.#window, what);
      return;
    }
    this.#pending = what ?? null;
    this.#create();
  }

  /** A window that is there to be found and takes no focus: the way back where no tray shows an icon. */
  openMinimised(): void {
    if (!this.#window) this.#create(false).minimize();
  }

  /** The window that is open; never makes one. */
  get current(): BrowserWindow | null {
    return this.#window;
  }

  #create(shown = true): BrowserWindow {
    const window = new BrowserWindow({
      ...placeOn(this.#places.load(), workAreas()),
      minWidth: leastSize.width,
      minHeight: leastSize.height,
      show: false,
      title: 'Agent Runtime',
      icon: this.#icon,
      backgroundColor: nativeTheme.shouldUseDarkColors ? '#111214' : '#f6f5f3',
      autoHideMenuBar: true,
      ...(process.platform === 'darwin' ? { titleBarStyle: 'hiddenInset' as const } : {}),
      webPreferences: {
        preload: join(this.#folder, 'preload.cjs'),
        sandbox: true,
        contextIsolation: true,
        nodeIntegration: false,
        webSecurity: true,
        webviewTag: false,
        spellcheck: false,
        navigateOnDragDrop: false,
      },
    });
    this.#window = window;
    this.#onCreate(window);
    window.once('ready-to-show', () => {
      if (shown) window.show();
    });
    window.webContents.on('did-finish-load', () => {
      const what = this.#pending;
      this.#pending = null;
      if (what) show(window, what);
    });
    window.webContents.on('render-process-gone', (_event, details) => this.#crashed(details.reason));
    window.on('close', (event) => {
      void this.#places.save({ ...window.getNormalBounds() });
      if (this.#mayHide()) return;
      event.preventDefault();
      window.minimize();
    });
    window.on('closed', () => {
      if (this.#window === window) this.#window = null;
    });
    // At its place from the first picture on: a prompt is not preceded by Home.
    void window.loadURL(`${origin}/${this.#pending ? placeInAddress(this.#pending) : ''}`);
    return window;
  }

  /** The window is only a picture of the daemon: load it again, but not for ever. */
  #crashed(reason: string): void {
    this.#logger.warn('window.gone', { reason });
    const now = performance.now();
    this.#crashes = [...this.#crashes.filter((at) => now - at < 60_000), now];
    const window = this.#window;
    if (!window || window.isDestroyed()) return;
    if (this.#crashes.length > 3) {
      window.destroy();
      return;
    }
    const place = window.webContents.getURL();
    void window.loadURL(place.startsWith(`${origin}/`) ? place : `${origin}/`);
  }

  /** A display is gone or is another size: a window that lies on none any more comes back to the main one. */
  displaysChanged(): void {
    const window = this.#window;
    if (!window || window.isDestroyed() || window.isMinimized() || window.isFullScreen()) return;
    const areas = workAreas();
    const bounds = window.getBounds();
    if (isOnDisplay(bounds, areas)) return;
    const { width, height } = placeOn(bounds, areas);
    window.setSize(width, height);
    window.center();
    this.#logger.info('window.brought_back', {});
  }
}

/** Work areas, the one of the main display first. */
function workAreas(): WindowPlace[] {
  const main = screen.getPrimaryDisplay();
  const others = screen.getAllDisplays().filter(({ id }) => id !== main.id);
  return [main, ...others].map(({ workArea }) => workArea);
}
