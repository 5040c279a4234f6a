import { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';

/**
 * Fails chosen calls to the operating system. It replaces the functions of Node's own modules in this process, so the
 * code under test runs unchanged. A call is named by its site (what is called on which kind of file) and by which
 * occurrence of that site it is; both are the same in every life of the same script.
 */
export const faultCodes = ['EIO', 'ENOSPC', 'EACCES', 'EMFILE', 'EPIPE', 'ETIMEDOUT'] as const;
export type FaultCode = (typeof faultCodes)[number];

export interface Fault {
  /** Or `lasting`: every call that a full disk (ENOSPC) or too many open files (EMFILE) would fail, from a call on. */
  readonly site: string;
  /** From 1. */
  readonly occurrence: number;
  readonly code: FaultCode;
}

/** What cannot be done while a condition lasts. */
const lasting: Partial<Record<FaultCode, RegExp>> = {
  ENOSPC: /^(writeFile|appendFile|mkdir|handle\.writeFile|handle\.sync|fs\.writeFile|open .*\.tmp)/,
  EMFILE:
    /^(open|readFile|readdir|opendir|writeFile|appendFile|spawn|socket\.connect|server\.accept|fs\.writeFile)/,
};

/** One call of the counting run, in order. */
export interface Call {
  readonly site: string;
  readonly occurrence: number;
  readonly phase: string;
}

type Anything = (...args: never[]) => unknown;
type Table = Record<string, unknown>;

const handleMethods = ['read', 'readFile', 'write', 'writeFile', 'appendFile', 'stat', 'sync', 'truncate'];
const promiseMethods = [
  ...[
    'access',
    'appendFile',
    'chmod',
    'copyFile',
    'cp',
    'lchown',
    'link',
    'lstat',
    'mkdir',
    'mkdtemp',
    'open',
  ],
  ...['opendir', 'readFile', 'readdir', 'readlink', 'realpath', 'rename', 'rm', 'rmdir', 'stat', 'statfs'],
  ...['symlink', 'truncate', 'unlink', 'utimes', 'writeFile'],
];
const callbackMethods = ['writeFile', 'appendFile', 'readFile', 'stat', 'open', 'rename', 'unlink', 'mkdir'];
const syncMethods = ['writeFileSync', 'appendFileSync', 'statSync', 'mkdirSync', 'openSync', 'existsSync'];

export class FaultInjector {
  readonly calls: Call[] = [];
  /** What was failed in this life. */
  readonly injected: Fault[] = [];
  phase = 'start';
  /** While false nothing is counted or failed: the test looks at files with the same functions. */
  active = false;
  root = '';
  #planned: readonly Fault[] = [];
  readonly #counts = new Map<string, number>();
  readonly #paths = new WeakMap<object, string>();

  async install(): Promise<void> {
    const promises = fsPromises as unknown as Table;
    const real = { open: fsPromises.open };
    const sample = await real.open(process.execPath, 'r');
    this.#wrapHandle(Object.getPrototypeOf(sample) as Table);
    await sample.close();
    for (const name of promiseMethods) this.#wrapPromise(promises, name);
    for (const name of callbackMethods) this.#wrapCallback(fs as unknown as Table, name);
    for (const name of syncMethods) this.#wrapSync(fs as unknown as Table, name);
    this.#wrapSpawn();
    this.#wrapSockets();
    syncBuiltinESMExports();
  }

  begin(root: string, planned: readonly Fault[]): void {
    this.root = root;
    this.#planned = planned;
    this.#counts.clear();
    this.calls.length = 0;
    this.injected.length = 0;
    this.phase = 'start';
    this.active = true;
  }

  /** Counts the call; the error to fail it with, or null to let it through. */
  gate(site: string): NodeJS.ErrnoException | null {
    if (!this.active) return null;
    const occurrence = (this.#counts.get(site) ?? 0) + 1;
    this.#counts.set(site, occurrence);
    this.calls.push({ site, occurrence, phase: this.phase });
    const planned = this.#planned.find((fault) =>
      fault.site === 'lasting'
        ? this.calls.length >= fault.occurrence && lasting[fault.code]?.test(site)
        : fault.site === site && fault.occurrence === occurrence,
    );
    if (!planned) return null;
    this.injected.push({ site, occurrence, code: planned.code });
    const error: NodeJS.ErrnoException = new Error(`${planned.code}: injected, ${site}`);
    error.code = planned.code;
    error.errno = -constants.errno[planned.code];
    error.syscall = site.split(' ')[0] ?? site;
    return error;
  }

  /** The same kind of file has the same name in every life. Null: a file that is none of this life. */
  #where(named: unknown): string | null {
    const path = Buffer.isBuffer(named) ? named.toString('latin1') : named;
    if (typeof path !== 'string') return null;
    if (/^\/proc\/(\d+|self|sys)\b/.test(path) && !path.startsWith('/proc/self/fd'))
      return path.replace(/\d+/g, '*');
    if (path === '/proc') return path;
    const inside = path.startsWith('/proc/self/fd') ? path : null;
    if (inside !== null) return inside.replace(/\d+/g, '*');
    if (!path.startsWith(this.root)) return null;
    return path
      .slice(this.root.length)
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '*')
      .replace(/[0-9a-f]{6,}/g, '*')
      .replace(/\d+/g, '*')
      .replace(/\.lock\.[^/]*/, '.lock.*')
      .replace(/\.[0-9a-f*]+\.tmp$/, '.*.tmp');
  }

  #wrapPromise(table: Table, name: string): void {
    const original = table[name] as ((...args: unknown[]) => Promise<unknown>) | undefined;
    if (!original) return;
    table[name] = async (...args: unknown[]): Promise<unknown> => {
      const first = args[0];
      const where = this.#where(this.#paths.get(Object(first) as object) ?? first);
      const error = where === null ? null : this.gate(`${name} ${where}`);
      if (error) {
        // A full disk takes the beginning of what is written.
        if (error.code === 'ENOSPC' && (name === 'writeFile' || name === 'appendFile'))
          await original(args[0], half(args[1]), ...args.slice(2));
        throw error;
      }
      const result = await original(...args);
      if (name === 'open' && typeof result === 'object' && result && where !== null)
        this.#paths.set(result, Buffer.isBuffer(first) ? first.toString('latin1') : String(first));
      return result;
    };
  }

  #wrapHandle(prototype: Table): void {
    for (const name of handleMethods) {
      const original = prototype[name] as (...args: unknown[]) => Promise<unknown>;
      const gate = (handle: object): NodeJS.ErrnoException | null => {
        const where = this.#where(this.#paths.get(handle));
        return where === null ? null : this.gate(`handle.${name} ${where}`);
      };
      prototype[name] = async function (this: object, ...args: unknown[]): Promise<unknown> {
        const error = gate(this);
        if (!error) return original.apply(this, args);
        if (error.code === 'ENOSPC' && name === 'writeFile') await original.call(this, half(args[0]));
        throw error;
      };
    }
    const close = prototype['close'] as () => Promise<void>;
    const gateClose = (handle: object): NodeJS.ErrnoException | null => {
      const where = this.#where(this.#paths.get(handle));
      return where === null ? null : this.gate(`handle.close ${where}`);
    };
    // The descriptor is gone even where close reports an error.
    prototype['close'] = async function (this: object): Promise<void> {
      const error = gateClose(this);
      await close.call(this);
      if (error) throw error;
    };
  }

  #wrapCallback(table: Table, name: string): void {
    const original = table[name] as (...args: unknown[]) => void;
    table[name] = (...args: unknown[]): void => {
      const where = this.#where(args[0]);
      const error = where === null ? null : this.gate(`fs.${name} ${where}`);
      const callback = args[args.length - 1];
      if (error && typeof callback === 'function') setImmediate(() => (callback as Anything)(error as never));
      else original(...args);
    };
  }

  #wrapSync(table: Table, name: string): void {
    const original = table[name] as (...args: unknown[]) => unknown;
    table[name] = (...args: unknown[]): unknown => {
      const where = this.#where(args[0]);
      const error = where === null ? null : this.gate(`fs.${name} ${where}`);
      if (error) {
        if (name === 'existsSync') return false;
        throw error;
      }
      return original(...args);
    };
  }

  /** The system call itself says no; what follows is Node's own way to tell it. */
  #wrapSpawn(): void {
    const prototype = ChildProcess.prototype as unknown as Table;
    const original = prototype['spawn'] as (options: unknown) => unknown;
    const injector = this;
    prototype['spawn'] = function (
      this: { _handle: { spawn: unknown } },
      options: { file?: string },
    ): unknown {
      const error = injector.gate(`spawn ${injector.#where(options.file) ?? options.file ?? ''}`);
      if (error) this._handle.spawn = () => error.errno;
      return original.call(this, options);
    };
  }

  #wrapSockets(): void {
    const socket = net.Socket.prototype as unknown as Table;
    const injector = this;
    const kind = (of: { _handle?: object | null; server?: unknown }): string =>
      `${of._handle?.constructor.name ?? 'closed'}${of.server ? ' accepted' : ''}`;
    const connect = socket['connect'] as (...args: unknown[]) => unknown;
    socket['connect'] = function (this: net.Socket, ...args: unknown[]): unknown {
      const error = injector.gate('socket.connect');
      if (!error) return connect.apply(this, args);
      process.nextTick(() => this.destroy(error));
      return this;
    };
    const write = socket['_writeGeneric'] as (...args: unknown[]) => unknown;
    socket['_writeGeneric'] = function (this: net.Socket & { fd?: number }, ...args: unknown[]): unknown {
      const standard = this === (process.stdout as unknown) || this === (process.stderr as unknown);
      const error = standard ? null : injector.gate(`socket.write ${kind(this as never)}`);
      if (!error) return write.apply(this, args);
      const done = args[3] as (error: Error) => void;
      process.nextTick(() => done(error));
      return undefined;
    };
    const read = socket['_read'] as (size: number) => void;
    socket['_read'] = function (this: net.Socket, size: number): void {
      const standard = this === (process.stdin as unknown);
      const error = standard ? null : injector.gate(`socket.read ${kind(this as never)}`);
      if (!error) return read.call(this, size);
      process.nextTick(() => this.destroy(error));
    };
    const server = net.Server.prototype as unknown as Table;
    const listen = server['listen'] as (...args: unknown[]) => unknown;
    server['listen'] = function (this: net.Server, ...args: unknown[]): unknown {
      const pipe = typeof args[0] === 'string' ? 'Pipe' : 'TCP';
      const error = injector.gate(`server.listen ${pipe}`);
      if (error) {
        process.nextTick(() => this.emit('error', error));
        return this;
      }
      this.once('listening', () => injector.#wrapAccept(this, pipe));
      return listen.apply(this, args);
    };
  }

  /** The listening socket reports a connection that it could not take. */
  #wrapAccept(server: net.Server, pipe: string): void {
    const handle = (server as unknown as { _handle: { onconnection: Anything } | null })._handle;
    if (!handle) return;
    const original = handle.onconnection as (
      this: unknown,
      status: number,
      client?: { close(): void },
    ) => void;
    const injector = this;
    handle.onconnection = function (this: unknown, status: number, client?: { close(): void }): void {
      const error = injector.gate(`server.accept ${pipe}`);
      if (!error) return original.call(this, status, client);
      client?.close();
      original.call(this, error.errno ?? -5);
    } as Anything;
  }
}

function half(content: unknown): unknown {
  if (typeof content === 'string') return content.slice(0, Math.floor(content.length / 2));
  if (content instanceof Uint8Array) return content.subarray(0, Math.floor(content.length / 2));
  return content;
}

/** Pids of running processes whose environment holds this value: what a life left behind. */
export function processesWith(value: string): number[] {
  if (process.platform !== 'linux') return [];
  const wanted = Buffer.from(value);
  return fs.readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      return fs.readFileSync(join('/proc', name, 'environ')).includes(wanted) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
