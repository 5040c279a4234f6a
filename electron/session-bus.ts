import { connect, type Socket } from 'node:net';
import {
  decodeMessage,
  encodeMessage,
  messageTypes,
  type BusMessage,
  type OutgoingMessage,
} from './bus-message.ts';

/** How long a peer on the bus may take for an answer. Milliseconds. */
const ANSWER_LIMIT = 5_000;
const bus = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
};

export interface BusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly unknown[];
}

/** An error answer of a peer: its D-Bus name, never its text. */
export class BusError extends Error {
  override name = 'BusError';
}

/**
 * One connection to the session bus of a Linux desktop: calls, signals, and names that come and go. Electron has no
 * interface for what the desktop has (a panel that shows tray icons, buttons on notifications); the bus does.
 */
export class SessionBus {
  readonly #socket: Socket;
  readonly #waiting = new Map<
    number,
    { resolve: (body: readonly unknown[]) => void; reject: (error: Error) => void; timer: NodeJS.Timeout }
  >();
  readonly #listeners = new Set<(message: BusMessage) => void>();
  readonly #closed = new Set<() => void>();
  #serial = 0;
  #rest: Buffer = Buffer.alloc(0);
  /** Answers calls of others; none here means that nobody may call. */
  serve: ((message: BusMessage) => void) | null = null;
  name = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#lost());
  }

  /** Null where there is no bus, or none that takes us. */
  static async open(address: string | undefined): Promise<SessionBus | null> {
    for (const path of socketPaths(address ?? '')) {
      const socket = await greeted(path).catch(() => null);
      if (!socket) continue;
      const opened = new SessionBus(socket);
      try {
        const [name] = await opened.call({ ...bus, member: 'Hello' });
        opened.name = String(name);
        return opened;
      } catch {
        opened.close();
      }
    }
    return null;
  }

  /** @throws BusError when the peer refuses, is not there, does not answer in time, or the bus is gone. */
  call(call: BusCall): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new BusError('The bus is gone'));
      const serial = this.send({ type: messageTypes.call, ...call });
      const timer = setTimeout(() => {
        this.#waiting.delete(serial);
        reject(new BusError('No answer'));
      }, ANSWER_LIMIT);
      timer.unref();
      this.#waiting.set(serial, { resolve, reject, timer });
    });
  }

  /** Sends a message of any type and returns its serial. */
  send(message: Omit<OutgoingMessage, 'serial'>): number {
    const serial = ++this.#serial;
    this.#socket.write(encodeMessage({ ...message, serial }));
    return serial;
  }

  /** Asks for signals by a match rule ("type='signal',interface='...'"). */
  async match(rule: string): Promise<void> {
    await this.call({ ...bus, member: 'AddMatch', signature: 's', body: [rule] });
  }

  /** Calls `listener` with each signal that a match rule brings. */
  onSignal(listener: (message: BusMessage) => void): void {
    this.#listeners.add(listener);
  }

  onClose(listener: () => void): void {
    this.#closed.add(listener);
  }

  async hasOwner(name: string): Promise<boolean> {
    const [owned] = await this.call({ ...bus, member: 'NameHasOwner', signature: 's', body: [name] });
    return owned === true;
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    try {
      for (let found = decodeMessage(this.#rest); found; found = decodeMessage(this.#rest)) {
        this.#rest = this.#rest.subarray(found.length);
        this.#take(found.message);
      }
    } catch {
      this.#socket.destroy();
    }
  }

  #take(message: BusMessage): void {
    if (message.type === messageTypes.signal) {
      for (const listener of this.#listeners) listener(message);
      return;
    }
    if (message.type === messageTypes.call) {
      if (this.serve) this.serve(message);
      else if (message.flags % 2 === 0) {
        this.send({
          type: messageTypes.error,
          replySerial: message.serial,
          destination: message.sender,
          errorName: 'org.freedesktop.DBus.Error.UnknownObject',
        });
      }
      return;
    }
    const waiting = this.#waiting.get(message.replySerial ?? -1);
    if (!waiting || message.replySerial === null) return;
    this.#waiting.delete(message.replySerial);
    clearTimeout(waiting.timer);
    if (message.type === messageTypes.answer) waiting.resolve(message.body);
    else waiting.reject(new BusError(message.errorName ?? 'Unknown'));
  }

  #lost(): void {
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new BusError('The bus is gone'));
    }
    this.#waiting.clear();
    for (const listener of this.#closed) listener();
    this.#closed.clear();
  }
}

/** The Unix sockets that an address names, in its order; an abstract name begins with a zero byte. */
export function socketPaths(address: string): string[] {
  return address.split(';').flatMap((one) => {
    const [transport, rest = ''] = one.split(/:(.*)/s);
    if (transport !== 'unix') return [];
    const options = new Map(
      rest.split(',').map((pair) => {
        const [key = '', value = ''] = pair.split(/=(.*)/s);
        return [
          key,
          value.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
        ];
      }),
    );
    const path = options.get('path');
    const abstract = options.get('abstract');
    if (path !== undefined) return [path];
    return abstract === undefined ? [] : [`\0${abstract}`];
  });
}

/** Connects and says who we are; the bus looks at the socket's owner itself. */
function greeted(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const fail = (): void => {
      socket.destroy();
      reject(new BusError('The bus did not take us'));
    };
    const timer = setTimeout(fail, ANSWER_LIMIT);
    const uid = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
    socket.once('connect', () => socket.write(`\0AUTH EXTERNAL ${uid}\r\n`));
    socket.once('data', (chunk: Buffer) => {
      clearTimeout(timer);
      if (!chunk.toString('latin1').startsWith('OK ')) return fail();
      socket.removeAllListeners();
      socket.write('BEGIN\r\n');
      resolve(socket);
    });
    socket.once('error', () => {
      clearTimeout(timer);
      fail();
    });
    socket.once('close', () => {
      clearTimeout(timer);
      fail();
    });
  });
}
