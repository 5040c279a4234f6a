import { EventEmitter, once } from 'node:events';
import { messageTypes, Variant, type BusMessage } from '../../electron/bus-message.ts';
import { SessionBus } from '../../electron/session-bus.ts';
import { SecretService } from './secret-service.ts';

const properties = 'org.freedesktop.DBus.Properties';

/** A service on a session bus: takes a name and answers calls. */
abstract class BusService {
  protected readonly bus: SessionBus;

  protected constructor(bus: SessionBus) {
    this.bus = bus;
    bus.serve = (message) => {
      const answer = this.answer(message);
      if (message.flags % 2 === 1) return;
      const to = { replySerial: message.serial, destination: message.sender };
      if (answer === null) {
        bus.send({
          ...to,
          type: messageTypes.error,
          errorName: 'org.freedesktop.DBus.Error.UnknownMethod',
        });
      } else bus.send({ ...to, type: messageTypes.answer, ...answer });
    };
  }

  /** The answer to a call; null for what it does not have. */
  protected abstract answer(message: BusMessage): { signature: string; body: readonly unknown[] } | null;

  protected signal(
    path: string,
    iface: string,
    member: string,
    signature = '',
    body: readonly unknown[] = [],
  ): void {
    this.bus.send({ type: messageTypes.signal, path, interface: iface, member, signature, body });
  }

  close(): void {
    this.bus.close();
  }
}

async function opened(address: string, name: string): Promise<SessionBus> {
  const bus = await SessionBus.open(address);
  if (!bus) throw new Error('There is no session bus.');
  await bus.call({
    ...{ destination: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus' },
    ...{ interface: 'org.freedesktop.DBus', member: 'RequestName', signature: 'su', body: [name, 4] },
  });
  return bus;
}

const watcherName = 'org.kde.StatusNotifierWatcher';
const itemName = 'org.kde.StatusNotifierItem';

export interface MenuEntry {
  readonly id: number;
  readonly label: string;
  readonly enabled: boolean;
}

/** What a panel gets of the tray icon. */
export interface TrayIcon {
  readonly tooltip: string;
  readonly width: number;
  /** Alpha of each pixel: the shape without its colour. */
  readonly shape: Buffer;
  /** Pixels as the bus has them: ARGB, big endian. */
  readonly pixels: Buffer;
}

/** A panel with a place for tray icons: StatusNotifierWatcher and host in one, without a picture. */
export class TrayPanel extends BusService {
  readonly #items: { destination: string; path: string }[] = [];
  readonly #events = new EventEmitter();

  static async start(address: string): Promise<TrayPanel> {
    const panel = new TrayPanel(await opened(address, watcherName));
    panel.signal('/StatusNotifierWatcher', watcherName, 'StatusNotifierHostRegistered');
    return panel;
  }

  /** Resolves when an app has given its icon to this panel. */
  async item(): Promise<{ destination: string; path: string }> {
    const last = this.#items.at(-1);
    if (last) return last;
    await once(this.#events, 'item');
    return this.item();
  }

  async icon(): Promise<TrayIcon> {
    const all = await this.#properties();
    const [first] = Array.isArray(all['IconPixmap']) ? (all['IconPixmap'] as unknown[]) : [];
    const [width, , pixels] = Array.isArray(first) ? (first as unknown[]) : [];
    if (!Buffer.isBuffer(pixels)) throw new Error('The tray icon has no pixels.');
    const tooltip = Array.isArray(all['ToolTip']) ? String((all['ToolTip'] as unknown[])[2]) : '';
    return {
      tooltip: tooltip === '' && typeof all['Title'] === 'string' ? all['Title'] : tooltip,
      width: Number(width),
      shape: Buffer.from(pixels.filter((_, at) => at % 4 === 0)),
      pixels,
    };
  }

  /** A click on the icon. */
  async click(): Promise<void> {
    const item = await this.item();
    await this.bus.call({ ...item, interface: itemName, member: 'Activate', signature: 'ii', body: [1, 1] });
  }

  /** The entries of its menu, separators left out. */
  async menu(): Promise<readonly MenuEntry[]> {
    const [, layout] = await this.bus.call({
      ...(await this.#menuAddress()),
      member: 'GetLayout',
      signature: 'iias',
      body: [0, -1, []],
    });
    const entries: MenuEntry[] = [];
    const walk = (node: unknown): void => {
      const [id, about, children] = node as [number, Record<string, unknown>, unknown[]];
      if (typeof about['label'] === 'string') {
        entries.push({
          id,
          label: about['label'].replace(/_(.)/g, '$1'),
          enabled: about['enabled'] !== false,
        });
      }
      children.forEach(walk);
    };
    walk(layout);
    return entries;
  }

  /** Chooses the entry that begins with these words. */
  async choose(words: string): Promise<void> {
    const entry = (await this.menu()).find(({ label }) => label.startsWith(words));
    if (!entry) throw new Error(`The tray menu has no ${words}`);
    await this.bus.call({
      ...(await this.#menuAddress()),
      member: 'Event',
      signature: 'isvu',
      body: [entry.id, 'clicked', new Variant('s', ''), 0],
    });
  }

  protected answer(message: BusMessage): { signature: string; body: readonly unknown[] } | null {
    if (message.interface === properties) {
      const all = {
        IsStatusNotifierHostRegistered: new Variant('b', true),
        ProtocolVersion: new Variant('i', 0),
        RegisteredStatusNotifierItems: new Variant(
          'as',
          this.#items.map(({ destination, path }) => destination + path),
        ),
      };
      if (message.member === 'GetAll') return { signature: 'a{sv}', body: [all] };
      const value = all[String(message.body[1]) as keyof typeof all];
      return value === undefined ? null : { signature: 'v', body: [value] };
    }
    if (message.member === 'RegisterStatusNotifierItem') {
      const service = String(message.body[0]);
      this.#items.push(
        service.startsWith('/')
          ? { destination: message.sender ?? '', path: service }
          : { destination: service, path: '/StatusNotifierItem' },
      );
      this.#events.emit('item');
      return { signature: '', body: [] };
    }
    return message.member === 'RegisterStatusNotifierHost' ? { signature: '', body: [] } : null;
  }

  async #properties(): Promise<Record<string, unknown>> {
    const item = await this.item();
    const [all] = await this.bus.call({
      ...item,
      ...{ interface: properties, member: 'GetAll', signature: 's', body: [itemName] },
    });
    return all as Record<string, unknown>;
  }

  async #menuAddress(): Promise<{ destination: string; path: string; interface: string }> {
    const item = await this.item();
    const path = (await this.#properties())['Menu'];
    return { destination: item.destination, path: String(path), interface: 'com.canonical.dbusmenu' };
  }
}

const notificationsName = 'org.freedesktop.Notifications';

export interface ShownNotification {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  /** Keys of its buttons; `default` is the click on the whole. */
  readonly actions: readonly string[];
  /** Everything that was sent, as one text. */
  readonly sent: string;
}

/** A notification daemon without a picture: keeps what it was given and can be clicked. */
export class NotificationDaemon extends BusService {
  readonly #capabilities: readonly string[];
  readonly #open = new Map<number, ShownNotification>();
  readonly #events = new EventEmitter();
  /** Everything that was ever shown. */
  readonly seen: ShownNotification[] = [];
  #next = 0;
  /** Answers every Notify with an error, as a daemon does that is out of room. */
  refuses = false;

  private constructor(bus: SessionBus, capabilities: readonly string[]) {
    super(bus);
    this.#capabilities = capabilities;
  }

  static async start(
    address: string,
    capabilities: readonly string[] = ['actions', 'body', 'body-markup'],
  ): Promise<NotificationDaemon> {
    return new NotificationDaemon(await opened(address, notificationsName), capabilities);
  }

  get open(): readonly ShownNotification[] {
    return [...this.#open.values()];
  }

  /** Resolves when what is shown fits. */
  async when(fits: (open: readonly ShownNotification[]) => boolean): Promise<readonly ShownNotification[]> {
    while (!fits(this.open)) await once(this.#events, 'change');
    return this.open;
  }

  /** Chooses a button, as a click does: the notification goes away afterwards. */
  act(id: number, action: string): void {
    this.signalAction(id, action);
    this.#gone(id, 2);
  }

  /** Chooses a button of one that stays. */
  signalAction(id: number, action: string): void {
    this.signal('/org/freedesktop/Notifications', notificationsName, 'ActionInvoked', 'us', [id, action]);
  }

  protected answer(message: BusMessage): { signature: string; body: readonly unknown[] } | null {
    switch (message.member) {
      case 'GetCapabilities':
        return { signature: 'as', body: [this.#capabilities] };
      case 'GetServerInformation':
        return { signature: 'ssss', body: ['panel', 'tests', '1', '1.2'] };
      case 'CloseNotification':
        this.#gone(Number(message.body[0]), 3);
        return { signature: '', body: [] };
      case 'Notify':
        return this.refuses ? null : { signature: 'u', body: [this.#show(message.body)] };
      default:
        return null;
    }
  }

  #show(body: readonly unknown[]): number {
    const id = Number(body[1]) || ++this.#next;
    const actions = Array.isArray(body[5]) ? body[5].map(String).filter((_, at) => at % 2 === 0) : [];
    const shown = {
      id,
      title: String(body[3]),
      body: String(body[4]),
      actions,
      sent: JSON.stringify(body),
    };
    this.#open.set(id, shown);
    this.seen.push(shown);
    this.#events.emit('change');
    return id;
  }

  #gone(id: number, reason: number): void {
    if (!this.#open.delete(id)) return;
    this.signal('/org/freedesktop/Notifications', notificationsName, 'NotificationClosed', 'uu', [
      id,
      reason,
    ]);
    this.#events.emit('change');
  }
}

/** A desktop in miniature: session bus, unlocked keyring, panel and notification daemon. */
export class DesktopSession {
  readonly keyring: SecretService;
  readonly panel: TrayPanel;
  readonly notifications: NotificationDaemon;

  private constructor(keyring: SecretService, panel: TrayPanel, notifications: NotificationDaemon) {
    this.keyring = keyring;
    this.panel = panel;
    this.notifications = notifications;
  }

  static async start(): Promise<DesktopSession> {
    const keyring = await SecretService.start();
    const panel = await TrayPanel.start(keyring.address);
    return new DesktopSession(keyring, panel, await NotificationDaemon.start(keyring.address));
  }

  get env(): Readonly<Record<string, string>> {
    return this.keyring.env;
  }

  async close(): Promise<void> {
    this.panel.close();
    this.notifications.close();
    await this.keyring.close();
  }
}
