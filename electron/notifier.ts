import { Notification } from 'electron';
import { words } from './words.ts';

/** One notification: what it says, and what its button would deny. */
export interface Note {
  readonly title: string;
  readonly body: string;
  /** Id of the permission that a Deny button may answer; null where there is nothing to deny, or more than one. */
  readonly deny: string | null;
  /** Says again what is known already: no sound. */
  readonly quiet: boolean;
}

export interface NoteEvents {
  open(): void;
  deny(id: string): void;
  failed(): void;
}

/** How a notification reaches the desktop. `show` returns what takes it back. */
export interface Notifier {
  show(note: Note, events: NoteEvents): { close(): void };
}

/** Through Electron: macOS has the button, Windows and a Linux without a bus have the text alone. */
export class ElectronNotifier implements Notifier {
  show(note: Note, events: NoteEvents): { close(): void } {
    if (!Notification.isSupported()) {
      events.failed();
      return { close: () => undefined };
    }
    const { deny } = note;
    const notification = new Notification({
      title: note.title,
      body: note.body,
      silent: note.quiet,
      ...(deny === null ? {} : { actions: [{ type: 'button' as const, text: words().note.deny }] }),
    });
    notification.on('click', () => events.open());
    notification.on('action', () => {
      if (deny !== null) events.deny(deny);
    });
    notification.on('failed', () => events.failed());
    notification.show();
    return { close: () => notification.close() };
  }
}
