import { writeFile } from 'node:fs/promises';
import { BrowserWindow, dialog, ipcMain } from 'electron';
import { ipcChannels } from '../src/contract/bridge.ts';
import type { Show } from '../src/contract/channels.ts';
import type { CommandResult } from '../src/contract/commands.ts';
import type { View } from '../src/contract/view.ts';
import type { Logger } from '../src/observe/logger.ts';
import { isOurFrame } from './security.ts';

interface Ports {
  run(name: string, request: unknown): Promise<CommandResult>;
  subscribe(listener: (view: View) => void): () => void;
  readonly logger: Logger;
}

/** Serves commands of the window. Every request is parsed again behind `run`; a foreign frame is refused and logged. */
export function serveCommands(ports: Ports): void {
  ipcMain.handle(
    ipcChannels.command,
    async (event, name: unknown, request: unknown): Promise<CommandResult> => {
      if (!isOurFrame(event.sender, event.senderFrame) || typeof name !== 'string') {
        ports.logger.warn('ipc.refused');
        return { ok: false, error: { code: 'usage', message: 'This page may not ask that.' } };
      }
      return ports.run(name, request);
    },
  );
}

/** The system's own dialogue for a folder. It answers with a path and decides nothing. */
export function serveFolderDialog(ports: Pick<Ports, 'logger'>): void {
  ipcMain.handle(ipcChannels.chooseFolder, async (event): Promise<string | null> => {
    const window = BrowserWindow.fromWebContents(event.sender);
    if (!window || !isOurFrame(event.sender, event.senderFrame)) {
      ports.logger.warn('ipc.refused');
      return null;
    }
    const chosen = await dialog.showOpenDialog(window, { properties: ['openDirectory', 'createDirectory'] });
    return chosen.canceled ? null : (chosen.filePaths[0] ?? null);
  });
}

/** Most characters of a text that the window may ask to save. */
const SAVED_TEXT = 16 * 1024 * 1024;

/** Saves a text of the window where the person says in the system's own dialogue, and nowhere else. */
export function serveSaveDialog(ports: Pick<Ports, 'logger'>): void {
  ipcMain.handle(ipcChannels.saveText, async (event, name: unknown, text: unknown): Promise<boolean> => {
    const window = BrowserWindow.fromWebContents(event.sender);
    const fits = typeof text === 'string' && text.length <= SAVED_TEXT;
    const plain = typeof name === 'string' && /^[a-z0-9][a-z0-9.-]{0,80}$/.test(name);
    if (!window || !isOurFrame(event.sender, event.senderFrame) || !fits || !plain) {
      ports.logger.warn('ipc.refused');
      return false;
    }
    const chosen = await dialog.showSaveDialog(window, { defaultPath: name });
    if (chosen.canceled || !chosen.filePath) return false;
    await writeFile(chosen.filePath, text, { mode: 0o600 });
    return true;
  });
}

/** Pushes the view to one window until it is gone. A page that loads (again) gets the whole view first. */
export function pushView(window: BrowserWindow, ports: Ports): void {
  let unsubscribe: (() => void) | null = null;
  const stop = (): void => {
    unsubscribe?.();
    unsubscribe = null;
  };
  window.webContents.on('did-finish-load', () => {
    stop();
    unsubscribe = ports.subscribe((view) => {
      if (!window.isDestroyed()) window.webContents.send(ipcChannels.view, view);
    });
  });
  window.webContents.on('render-process-gone', stop);
  window.on('closed', stop);
}

export function show(window: BrowserWindow, what: Show): void {
  window.webContents.send(ipcChannels.show, what);
}
