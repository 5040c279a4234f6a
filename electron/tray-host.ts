import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SessionBus } from './session-bus.ts';

const watcher = 'org.kde.StatusNotifierWatcher';
/** A display server that does not answer is as good as none. Milliseconds. */
const DISPLAY_LIMIT = 2_000;

/**
 * Whether anything on this desktop draws tray icons. Electron makes a tray either way and says nothing, so on Linux the
 * bus is asked for a host of status items and the display for the older kind of tray. Elsewhere there always is one.
 */
export class TrayHost {
  readonly #bus: SessionBus | null;
  readonly #env: NodeJS.ProcessEnv;
  readonly #onChange: (present: boolean, appeared: boolean) => void;
  #present: boolean;

  private constructor(
    bus: SessionBus | null,
    env: NodeJS.ProcessEnv,
    onChange: (present: boolean, appeared: boolean) => void,
    present: boolean,
  ) {
    this.#bus = bus;
    this.#env = env;
    this.#onChange = onChange;
    this.#present = present;
  }

  /**
   * `onChange` is told each later change, and `appeared` when a host of status items came up: an icon that was made
   * before has to be made again for it.
   */
  static async watch(
    bus: SessionBus | null,
    env: NodeJS.ProcessEnv,
    onChange: (present: boolean, appeared: boolean) => void,
  ): Promise<TrayHost> {
    if (process.platform !== 'linux') return new TrayHost(null, env, onChange, true);
    const host = new TrayHost(bus, env, onChange, false);
    host.#present = await host.#look();
    if (bus) await host.#listen(bus).catch(() => undefined);
    return host;
  }

  get present(): boolean {
    return this.#present;
  }

  /** Looks again: the older kind of tray tells nobody when it comes or goes. */
  async refresh(appeared = false): Promise<void> {
    if (process.platform !== 'linux') return;
    const present = await this.#look();
    if (present === this.#present && !appeared) return;
    this.#present = present;
    this.#onChange(present, appeared && present);
  }

  async #listen(bus: SessionBus): Promise<void> {
    bus.onSignal((message) => {
      if (message.member === 'NameOwnerChanged') {
        const [name, , owner] = message.body;
        if (name === watcher) void this.refresh(owner !== '');
      } else if (message.interface === watcher)
        void this.refresh(message.member === 'StatusNotifierHostRegistered');
    });
    const sender = 'org.freedesktop.DBus';
    await bus.match(`type='signal',sender='${sender}',member='NameOwnerChanged',arg0='${watcher}'`);
    for (const member of ['StatusNotifierHostRegistered', 'StatusNotifierHostUnregistered']) {
      await bus.match(`type='signal',interface='${watcher}',member='${member}'`);
    }
  }

  async #look(): Promise<boolean> {
    return (await this.#statusHost()) || (await ownerOfTraySelection(this.#env).catch(() => false));
  }

  async #statusHost(): Promise<boolean> {
    if (!this.#bus) return false;
    try {
      if (!(await this.#bus.hasOwner(watcher))) return false;
      const [registered] = await this.#bus.call({
        destination: watcher,
        path: '/StatusNotifierWatcher',
        interface: 'org.freedesktop.DBus.Properties',
        member: 'Get',
        signature: 'ss',
        body: [watcher, 'IsStatusNotifierHostRegistered'],
      });
      return registered === true;
    } catch {
      return false;
    }
  }
}

/** Whether somebody owns the selection by which X11 trays are found, on a display of this machine. */
async function ownerOfTraySelection(env: NodeJS.ProcessEnv): Promise<boolean> {
  const display = /^(?:unix)?:(\d+)(?:\.(\d+))?$/.exec(env['DISPLAY'] ?? '');
  if (!display) return false;
  const [, number = '0', screen = '0'] = display;
  const cookie = await cookieOf(env, number);
  const socket = connect(`/tmp/.X11-unix/X${number}`);
  const timer = setTimeout(() => socket.destroy(), DISPLAY_LIMIT);
  try {
    const answers = new Answers(socket);
    const name = Buffer.from(cookie ? 'MIT-MAGIC-COOKIE-1' : '');
    const hello = Buffer.alloc(12);
    hello.write('l', 0);
    hello.writeUInt16LE(11, 2);
    hello.writeUInt16LE(name.length, 6);
    hello.writeUInt16LE(cookie?.length ?? 0, 8);
    socket.write(Buffer.concat([hello, padded(name), padded(cookie ?? Buffer.alloc(0))]));
    const greeting = await answers.take(8);
    if (greeting[0] !== 1) return false;
    await answers.take(greeting.readUInt16LE(6) * 4);
    const selection = padded(Buffer.from(`_NET_SYSTEM_TRAY_S${screen}`));
    const intern = Buffer.alloc(8);
    intern.writeUInt8(16, 0);
    intern.writeUInt16LE(2 + selection.length / 4, 2);
    intern.writeUInt16LE(`_NET_SYSTEM_TRAY_S${screen}`.length, 4);
    socket.write(Buffer.concat([intern, selection]));
    const atom = (await answers.take(32)).readUInt32LE(8);
    const owner = Buffer.alloc(8);
    owner.writeUInt8(23, 0);
    owner.writeUInt16LE(2, 2);
    owner.writeUInt32LE(atom, 4);
    socket.write(owner);
    return (await answers.take(32)).readUInt32LE(8) !== 0;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

/** What a display server sent, by the length that is wanted. */
class Answers {
  #bytes: Buffer = Buffer.alloc(0);
  #wanted: { length: number; resolve: (bytes: Buffer) => void; reject: (error: Error) => void } | null = null;
  #ended = false;

  constructor(socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#give();
    });
    const end = (): void => {
      this.#ended = true;
      this.#give();
    };
    socket.on('error', end);
    socket.on('close', end);
  }

  take(length: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#wanted = { length, resolve, reject };
      this.#give();
    });
  }

  #give(): void {
    const wanted = this.#wanted;
    if (!wanted) return;
    if (this.#bytes.length >= wanted.length) {
      this.#wanted = null;
      const bytes = this.#bytes.subarray(0, wanted.length);
      this.#bytes = this.#bytes.subarray(wanted.length);
      wanted.resolve(bytes);
    } else if (this.#ended) {
      this.#wanted = null;
      wanted.reject(new Error('The display server did not answer'));
    }
  }
}

/** The cookie for a display; null where there is no file or no entry (a server may take us without). */
async function cookieOf(env: NodeJS.ProcessEnv, display: string): Promise<Buffer | null> {
  const file = await readFile(env['XAUTHORITY'] || join(homedir(), '.Xauthority')).catch(() => null);
  let at = 2;
  const part = (): Buffer => {
    const length = file ? file.readUInt16BE(at) : 0;
    at += 2 + length;
    return file ? file.subarray(at - length, at) : Buffer.alloc(0);
  };
  while (file && at + 8 <= file.length) {
    part();
    const number = part().toString('latin1');
    const name = part().toString('latin1');
    const data = part();
    if (name === 'MIT-MAGIC-COOKIE-1' && (number === display || number === '')) return data;
    at += 2;
  }
  return null;
}

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
