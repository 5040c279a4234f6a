import { homedir } from 'node:os';
import { join } from 'node:path';
import { app } from 'electron';
import type { Logger } from '../src/observe/logger.ts';
import { autostartEntry, DesktopEntry } from '../src/app/desktop-entry.ts';

const fileName = 'agent-runtime-desktop.desktop';

/**
 * Starts the app with the session, in the tray. Linux has no call for it: one desktop file in the autostart folder
 * does it. macOS and Windows have login items (written, not run).
 */
export class LoginItem {
  readonly #logger: Logger;
  readonly #file = new DesktopEntry(
    join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'autostart', fileName),
    autostartEntry,
  );
  #set: boolean | null = null;

  readonly #onChanged: (done: boolean) => void;

  /** `onChanged` hears whether the desktop now does what the setting says. */
  constructor(logger: Logger, onChanged: (done: boolean) => void) {
    this.#logger = logger;
    this.#onChanged = onChanged;
  }

  /** Brings the system in line with the setting; a development tree is never registered. */
  apply(wanted: boolean): void {
    if (!app.isPackaged || this.#set === wanted) return;
    this.#set = wanted;
    if (process.platform === 'linux') void this.#linux(wanted);
    else app.setLoginItemSettings({ openAtLogin: wanted, args: ['--hidden'] });
  }

  async #linux(wanted: boolean): Promise<void> {
    try {
      const became = await this.#file.set(wanted, process.env['APPIMAGE'] ?? process.execPath);
      if (became !== 'done') this.#logger.info('login_item.left', { why: became });
      this.#onChanged(!wanted || became === 'done');
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
      this.#logger.warn('login_item.not_written', { code });
      this.#onChanged(false);
    }
  }
}
