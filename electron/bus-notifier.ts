import { Variant } from './bus-message.ts';
import type { Note, NoteEvents, Notifier } from './notifier.ts';
import type { SessionBus } from './session-bus.ts';
import { words } from './words.ts';

const service = {
  destination: 'org.freedesktop.Notifications',
  path: '/org/freedesktop/Notifications',
  interface: 'org.freedesktop.Notifications',
};
const icon = 'agent-runtime-desktop';

interface Shown {
  readonly note: Note;
  readonly events: NoteEvents;
  /** The daemon's number; null until it answered. */
  id: number | null;
  closed: boolean;
}

/**
 * Notifications of a Linux desktop over the bus (org.freedesktop.Notifications 1.2): Electron sends no buttons there,
 * and says `failed` late or not at all.
 */
export class BusNotifier implements Notifier {
  readonly #bus: SessionBus;
  readonly #shown = new Set<Shown>();

  private constructor(bus: SessionBus) {
    this.#bus = bus;
    bus.onSignal((message) => {
      if (message.interface !== service.interface) return;
      const [id, what] = message.body;
      const shown = [...this.#shown].find((one) => one.id === id);
      if (!shown) return;
      if (message.member === 'NotificationClosed') this.#shown.delete(shown);
      if (message.member !== 'ActionInvoked' || shown.closed) return;
      if (what === 'default') shown.events.open();
      else if (what === 'deny' && shown.note.deny !== null) shown.events.deny(shown.note.deny);
    });
  }

  /** Listens before anything is shown, so that no click is missed. */
  static async on(bus: SessionBus): Promise<BusNotifier> {
    const notifier = new BusNotifier(bus);
    for (const member of ['ActionInvoked', 'NotificationClosed']) {
      await bus
        .match(`type='signal',interface='${service.interface}',member='${member}'`)
        .catch(() => undefined);
    }
    return notifier;
  }

  show(note: Note, events: NoteEvents): { close(): void } {
    const shown: Shown = { note, events, id: null, closed: false };
    this.#shown.add(shown);
    this.#notify(shown).catch(() => {
      this.#shown.delete(shown);
      if (!shown.closed) events.failed();
    });
    return {
      close: () => {
        shown.closed = true;
        this.#shown.delete(shown);
        if (shown.id !== null) this.#close(shown.id);
      },
    };
  }

  async #notify(shown: Shown): Promise<void> {
    const { note } = shown;
    const can = await this.#can();
    if (shown.closed) return;
    const body = can.includes('body-markup') ? escaped(note.body) : note.body;
    const deny = note.deny === null ? [] : ['deny', words().note.deny];
    const actions = can.includes('actions') ? ['default', words().note.open, ...deny] : [];
    const hints = {
      'desktop-entry': new Variant('s', icon),
      urgency: new Variant('y', 1),
      ...(note.quiet ? { 'suppress-sound': new Variant('b', true) } : {}),
    };
    const [id] = await this.#bus.call({
      ...service,
      member: 'Notify',
      signature: 'susssasa{sv}i',
      body: ['Agent Runtime', 0, icon, note.title, body, actions, hints, -1],
    });
    shown.id = Number(id);
    // Decided while it was on its way.
    if (shown.closed) this.#close(shown.id);
  }

  /** Asked each time: another daemon may have taken the place of the last. */
  async #can(): Promise<readonly string[]> {
    const [list] = await this.#bus.call({ ...service, member: 'GetCapabilities' });
    return Array.isArray(list) ? list.map(String) : [];
  }

  #close(id: number): void {
    this.#bus
      .call({ ...service, member: 'CloseNotification', signature: 'u', body: [id] })
      .catch(() => undefined);
  }
}

const escaped = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
