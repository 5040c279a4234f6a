import * as z from 'zod';
import type { Health } from '../observe/health.ts';
import type { Logger } from '../observe/logger.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import type { Secrets } from '../enrol/enrolment-ports.ts';
import {
  MemoryCredentialStore,
  unavailable,
  type CredentialResult,
  type CredentialStore,
  type UnavailableReason,
} from '../store/credential-store.ts';
import { FileCredentialStore } from '../store/file-credentials.ts';
import {
  KeychainStore,
  keychainHangs,
  loadKeychain,
  type NativeKeychain,
  type StoredMarks,
} from '../store/keychain.ts';
import { JsonDocument } from '../store/settings.ts';

const marksSchema = z.object({
  /** Account to backend; no secret. */
  stored: z.record(z.string(), z.string()),
  /** What the person chose while the keychain was unavailable. */
  choice: z.enum(['keychain', 'file']),
});

/**
 * Which credential store is in use, and what the person may choose while the keychain does not answer. Plaintext on
 * disk only ever by the person's explicit choice; nothing is wiped or re-enrolled because a read failed.
 */
export class CredentialDesk implements Secrets {
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #marks: JsonDocument<typeof marksSchema>;
  readonly #file: FileCredentialStore;
  /** Lives as long as this process, whatever is chosen later. */
  readonly #memory = new MemoryCredentialStore();
  readonly #load: () => NativeKeychain | null;
  readonly #clock: Clock;
  #keychain: KeychainStore | null = null;
  #keychainWorks = false;
  #store: CredentialStore | null = null;
  #reason: UnavailableReason = 'none';
  #health: Health | null = null;
  /** Damaged files, by the names they are kept under. */
  readonly #setAside: string[] = [];
  #needed: () => boolean = () => false;

  private constructor(options: {
    clock: Clock;
    random: Random;
    logger: Logger;
    marks: JsonDocument<typeof marksSchema>;
    secretsFile: string;
    load: () => NativeKeychain | null;
    setAside: string | null;
  }) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#logger = options.logger;
    this.#marks = options.marks;
    this.#file = new FileCredentialStore(options.secretsFile, options.clock, options.random, (as) =>
      this.#wasSetAside(as),
    );
    if (options.setAside !== null) this.#wasSetAside(options.setAside);
    this.#load = options.load;
  }

  static async open(options: {
    clock: Clock;
    random: Random;
    logger: Logger;
    /** Non-secret marks; the file of secrets, should a person choose one, lies beside it. */
    path: string;
    load?: () => NativeKeychain | null;
  }): Promise<CredentialDesk> {
    const { document, setAside } = await JsonDocument.open({
      path: options.path,
      schema: marksSchema,
      initial: { stored: {}, choice: 'keychain' },
      clock: options.clock,
      random: options.random,
    });
    return new CredentialDesk({
      ...options,
      marks: document,
      setAside,
      secretsFile: options.path.replace(/\.json$/, '') + '.secrets.json',
      load: options.load ?? (() => loadKeychain(options.logger)),
    });
  }

  /** `needed` tells whether anything served now has its secret in the store. */
  attach(health: Health, needed: () => boolean): void {
    this.#health = health;
    this.#needed = needed;
    for (const as of this.#setAside) this.#tellSetAside(as);
  }
  /** The store in use, or null while none answers. */
  get store(): CredentialStore | null {
    return this.#store;
  }
  /** Why there is none, for a person. */
  get sentence(): string {
    return sentences[this.#reason];
  }

  /** Whether `set` with a lasting secret has a place for it now. */
  get lasting(): boolean {
    return this.#store !== null && this.#store !== this.#memory;
  }

  /** Where a secret lies, for display. */
  backendOf(account: string): string | null {
    return this.#memory.has(account) ? this.#memory.backend : (this.#marks.value.stored[account] ?? null);
  }

  /** From where it was put: the memory of this run, the file, or the keychain. */
  async get(account: string): Promise<CredentialResult<string | null>> {
    const held = await this.#memory.get(account);
    if (held.kind === 'ok' && held.value !== null) return held;
    const store = await this.#holder(account);
    return store ? store.get(account) : unavailable(this.#reason);
  }

  /** `lasting`: a secret that nobody else has. The memory of this run is no place for it. */
  async set(account: string, secret: string, lasting: boolean): Promise<CredentialResult<void>> {
    if (!this.#store) await this.probe();
    const store = this.#store;
    if (!store || (lasting && store === this.#memory)) return unavailable(this.#reason);
    const former = this.#marks.value.stored[account];
    const result = await store.set(account, secret);
    if (result.kind !== 'ok' || store === this.#memory) return result;
    await this.#memory.delete(account);
    // No copy of an older secret stays where it was before the person chose another place.
    if (store === this.#file) {
      if (former !== undefined && former !== store.backend) await this.#keychain?.delete(account);
      await this.#storedMarks().add(account, store.backend);
    } else if (former === this.#file.backend) await this.#file.delete(account);
    return result;
  }

  async delete(account: string): Promise<CredentialResult<boolean>> {
    const held = await this.#memory.delete(account);
    const stored = account in this.#marks.value.stored;
    const store = await this.#holder(account);
    if (!store) return stored ? unavailable(this.#reason) : held;
    const result = await store.delete(account);
    if (result.kind === 'ok' && store === this.#file) await this.#storedMarks().remove(account);
    return result;
  }

  /** Forgets that anything is stored, where the person gives an entry up that cannot be reached any more. */
  async abandon(account: string): Promise<void> {
    await this.#memory.delete(account);
    await this.#storedMarks().remove(account);
  }

  /** The store that holds a secret, or would; null while it does not answer. */
  async #holder(account: string): Promise<CredentialStore | null> {
    const backend = this.#marks.value.stored[account];
    if (backend === this.#file.backend) return this.#file;
    if (backend === undefined) {
      if (this.#marks.value.choice === 'file') return this.#file;
      // The list of what lies where may be lost; a file is there only because somebody chose it.
      const filed = await this.#file.get(account);
      if (filed.kind === 'ok' && filed.value !== null) return this.#file;
    }
    if (!this.#keychain || this.#store !== this.#keychain) await this.#probeKeychain();
    return this.#keychainWorks ? this.#keychain : null;
  }

  /** A real write, read and delete on a throw-away account shows whether the keychain works. */
  async probe(): Promise<void> {
    if (this.#marks.value.choice === 'file') return this.#use(this.#file);
    await this.#probeKeychain();
    if (this.#keychain && this.#keychainWorks) this.#use(this.#keychain);
    else this.#unavailable(this.#reason);
  }

  async #probeKeychain(): Promise<void> {
    const native = this.#keychain ? null : this.#load();
    if (native) {
      this.#keychain = new KeychainStore({
        native,
        clock: this.#clock,
        logger: this.#logger,
        marks: this.#storedMarks(),
      });
    }
    const result = this.#keychain ? await this.#keychain.probe(this.#random) : unavailable('none');
    this.#keychainWorks = result.kind === 'ok';
    if (result.kind === 'unavailable') this.#reason = result.reason;
  }

  async choose(choice: 'retry' | 'memory' | 'file'): Promise<void> {
    switch (choice) {
      case 'retry':
        await this.#marks.set({ ...this.#marks.value, choice: 'keychain' });
        return this.probe();
      case 'memory':
        return this.#use(this.#memory);
      case 'file':
        await this.#marks.set({ ...this.#marks.value, choice: 'file' });
        return this.probe();
    }
  }

  #use(store: CredentialStore): void {
    this.#store = store;
    this.#logger.info('credentials.store', { backend: store.backend });
    this.#health?.clear('credential_store_unavailable');
  }

  #unavailable(reason: UnavailableReason): void {
    this.#store = null;
    this.#reason = reason;
    this.#logger.info('credentials.unavailable', { reason });
    this.#health?.raise('credential_store_unavailable', sentences[reason], this.#needed() ? 'error' : 'info');
  }

  #wasSetAside(as: string): void {
    this.#logger.warn('credentials.set_aside', {});
    this.#setAside.push(as);
    this.#tellSetAside(as);
  }

  #tellSetAside(as: string): void {
    this.#health?.add('state_file_set_aside', `The file of stored credentials was set aside as ${as}.`);
  }

  #storedMarks(): StoredMarks {
    const write = (stored: Record<string, string>): Promise<void> =>
      this.#marks.set({ ...this.#marks.value, stored });
    return {
      has: (account) => account in this.#marks.value.stored,
      add: (account, backend) => write({ ...this.#marks.value.stored, [account]: backend }),
      remove: (account) => {
        const { [account]: removed, ...rest } = this.#marks.value.stored;
        void removed;
        return write(rest);
      },
    };
  }
}

const sentences: Record<UnavailableReason, string> = {
  none: 'There is no system keychain here.',
  locked: 'The system keychain is locked.',
  locked_or_lost: 'The keychain is locked, or the entry of this binding was removed from it.',
  timeout: 'The system keychain did not answer within 5 s.',
  refused: 'The system keychain refused.',
};

/** Ends the process where a keychain call hangs, which an ordinary exit would wait for without end. Else does nothing. */
export function endDespiteKeychain(): void {
  if (keychainHangs() && process.platform !== 'win32') process.kill(process.pid, 'SIGKILL');
}
