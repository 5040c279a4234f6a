import { mkdir, unlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { app } from 'electron';
import type { Logger } from '../src/observe/logger.ts';

const fileName = 'agent-runtime-desktop.desktop';

/**
 * Starts the app with the session, in the tray. Linux has no call for it: one desktop file in the autostart folder
 * does it. macOS and Windows have login items (written, not run).
 */
export class LoginItem {
  readonly #logger: Logger;
  #set: boolean | null = null;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Brings the system in line with the setting; a development tree is never registered. */
  apply(wanted: boolean): void {
    if (!app.isPackaged || this.#set === wanted) return;
    const first = this.#set === null;
    this.#set = wanted;
    if (process.platform === 'linux') {
      // Nothing to undo at the first look when it was never wanted.
      if (first && !wanted) return;
      void this.#linux(wanted);
      return;
    }
    app.setLoginItemSettings({ openAtLogin: wanted, args: ['--hidden'] });
  }

  async #linux(wanted: boolean): Promise<void> {
    const path = join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'autostart', fileName);
    try {
      if (!wanted) {
        await unlink(path);
        return;
      }
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, autostartEntry(process.env['APPIMAGE'] ?? process.execPath));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
      if (code !== 'ENOENT') this.#logger.warn('login_item.not_written', { code });
    }
  }
}

/** A desktop entry; the path is quoted as the entry format wants. */
export function autostartEntry(program: string): string {
  const quoted = program.replace(/(["`$\\])/g, '\\$1').replace(/%/g, '%%');
  return [
    '[Desktop Entry]',
    'Type=Application',
    'Name=Agent Runtime',
    `Exec="${quoted}" --hidden`,
    'X-GNOME-Autostart-enabled=true',
    '',
  ].join('\n');
}
