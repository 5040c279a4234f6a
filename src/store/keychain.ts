import { createRequire } from 'node:module';
import * as z from 'zod';
import { asError } from '../observe/errors.ts';
import type { Logger } from '../observe/logger.ts';
import { within, type Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import {
  ok,
  unavailable,
  type CredentialResult,
  type CredentialStore,
  type UnavailableReason,
} from './credential-store.ts';

/** What both native modules are reduced to. */
export interface NativeKeychain {
  readonly name: string;
  get(service: string, account: string): Promise<string | null>;
  set(service: string, account: string, secret: string): Promise<void>;
  delete(service: string, account: string): Promise<boolean>;
}

export const keychainLimits = { call: 5_000 } as const;
const service = 'agent-runtime';

/**
 * Remembers, without the secret, that one was stored and where. Without it a locked keyring, which reads as "nothing
 * there" on Linux, could not be told from an empty one.
 */
export interface StoredMarks {
  has(account: string): boolean;
  add(account: string, backend: string): Promise<void>;
  remove(account: string): Promise<void>;
}

/**
 * The OS keychain behind `CredentialStore`. A waiting native call holds one of the few threads that file reads and
 * name look-ups need, so there is never a second one: after a time-out the store stays unavailable until the first
 * call came back.
 */
export class KeychainStore implements CredentialStore {
  readonly backend: string;
  readonly #native: NativeKeychain;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #marks: StoredMarks;
  #busy: Promise<unknown> = Promise.resolve();
  #hanging = false;

  constructor(options: { native: NativeKeychain; clock: Clock; logger: Logger; marks: StoredMarks }) {
    this.#native = options.native;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#marks = options.marks;
    this.backend = options.native.name;
  }

  async get(account: string): Promise<CredentialResult<string | null>> {
    const result = await this.#call('get', () => this.#native.get(service, account));
    if (result.kind === 'ok' && result.value === null && this.#marks.has(account))
      return unavailable('locked_or_lost');
    // A kill between the two writes of `set`.
    if (result.kind === 'ok' && result.value !== null && !this.#marks.has(account)) {
      await this.#marks.add(account, this.backend);
    }
    return result;
  }

  async set(account: string, secret: string): Promise<CredentialResult<void>> {
    const result = await this.#call('set', () => this.#native.set(service, account, secret));
    if (result.kind === 'ok') await this.#marks.add(account, this.backend);
    return result;
  }

  async delete(account: string): Promise<CredentialResult<boolean>> {
    const result = await this.#call('delete', () => this.#native.delete(service, account));
    // Deleting nothing where something is known to be stored is a locked keyring, not a success.
    if (result.kind === 'ok' && !result.value && this.#marks.has(account))
      return unavailable('locked_or_lost');
    if (result.kind === 'ok') await this.#marks.remove(account);
    return result;
  }

  /** A whole round trip on a throw-away account, about 30 ms where a keychain works. */
  async probe(random: Random): Promise<CredentialResult<void>> {
    const account = `probe-${random.hex(8)}`;
    const value = random.hex(8);
    const set = await this.#call('set', () => this.#native.set(service, account, value));
    if (set.kind !== 'ok') return set;
    const read = await this.#call('get', () => this.#native.get(service, account));
    const deleted = await this.#call('delete', () => this.#native.delete(service, account));
    if (read.kind !== 'ok') return read;
    if (deleted.kind !== 'ok') return deleted;
    return read.value === value && deleted.value ? ok(undefined) : unavailable('refused');
  }

  async #call<T>(operation: string, run: () => Promise<T>): Promise<CredentialResult<T>> {
    if (this.#hanging) return unavailable('timeout');
    const before = this.#busy;
    let release: () => void = () => undefined;
    this.#busy = new Promise<void>((resolve) => (release = resolve));
    await before;
    if (this.#hanging) {
      release();
      return unavailable('timeout');
    }
    const call = run().then(
      (value): CredentialResult<T> => ok(value),
      (error: unknown): CredentialResult<T> => unavailable(reasonOf(asError(error).message)),
    );
    const result = await within(this.#clock, keychainLimits.call, call);
    if (result.kind === 'value') {
      if (result.value.kind !== 'ok')
        this.#logger.info('keychain.unavailable', { operation, reason: result.value.reason });
      release();
      return result.value;
    }
    this.#hanging = true;
    hangingCalls += 1;
    this.#logger.warn('keychain.timeout', { operation });
    // Whoever waits in line is told the same at once; the next call may run when this one came back.
    release();
    void call.then(() => {
      this.#hanging = false;
      hangingCalls -= 1;
    });
    return unavailable('timeout');
  }
}

let hangingCalls = 0;

/**
 * Whether a native call waits for a person who does not answer. The thread that it holds keeps this process from
 * exiting in the ordinary way, whoever started the call.
 */
export const keychainHangs = (): boolean => hangingCalls > 0;

/** Native modules say it in prose alone. Only the choice of sentence for the person hangs on this, never an action. */
function reasonOf(message: string): UnavailableReason {
  if (/dismiss|locked|prompt/i.test(message)) return 'locked';
  if (
    /no such interface|not provided|unknown or unsupported transport|cannot autolaunch|does not exist|ServiceUnknown|connect/i.test(
      message,
    )
  ) {
    return 'none';
  }
  return 'refused';
}

const load = createRequire(import.meta.url);
const keytarModule = z.object({
  getPassword: z.custom<(service: string, account: string) => Promise<string | null>>(
    (value) => typeof value === 'function',
  ),
  setPassword: z.custom<(service: string, account: string, secret: string) => Promise<void>>(
    (value) => typeof value === 'function',
  ),
  deletePassword: z.custom<(service: string, account: string) => Promise<boolean>>(
    (value) => typeof value === 'function',
  ),
});
interface AsyncEntry {
  getPassword(): Promise<string | null | undefined>;
  setPassword(secret: string): Promise<unknown>;
  deletePassword(): Promise<boolean>;
}
const keyringModule = z.object({
  AsyncEntry: z.custom<new (service: string, account: string, options?: unknown) => AsyncEntry>(
    (value) => typeof value === 'function',
  ),
});

/**
 * keytar, or the fallback pinned to the Secret Service (never the kernel keyring, which a reboot empties). Null: this
 * machine has no keychain module that loads.
 */
export function loadKeychain(logger: Logger): NativeKeychain | null {
  try {
    const keytar = keytarModule.parse(load('keytar'));
    return {
      name: 'keychain',
      get: (s, account) => keytar.getPassword(s, account),
      set: (s, account, secret) => keytar.setPassword(s, account, secret),
      delete: (s, account) => keytar.deletePassword(s, account),
    };
  } catch (error) {
    logger.warn('keychain.keytar_not_loaded', { error: asError(error).name });
  }
  try {
    const { AsyncEntry: Entry } = keyringModule.parse(load('@napi-rs/keyring'));
    const entry = (s: string, account: string): AsyncEntry =>
      new Entry(s, account, { linux: { store: 'secret-service' } });
    // The constructor itself throws where there is no service, hence the async functions.
    return {
      name: 'keyring',
      get: async (s, account) => (await entry(s, account).getPassword()) ?? null,
      set: async (s, account, secret) => void (await entry(s, account).setPassword(secret)),
      delete: async (s, account) => entry(s, account).deletePassword(),
    };
  } catch (error) {
    logger.warn('keychain.keyring_not_loaded', { error: asError(error).name });
    return null;
  }
}
