import { z } from 'zod';
import type { Health } from '../observe/health.ts';
import type { Logger } from '../observe/logger.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import {
  MemoryCredentialStore,
  type CredentialStore,
  type UnavailableReason,
} from '../store/credential-store.ts';
import { FileCredentialStore } from '../store/file-credentials.ts';
import { KeychainStore, loadKeychain, type NativeKeychain, type StoredMarks } from '../store/keychain.ts';
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
export class CredentialDesk {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #marks: JsonDocument<typeof marksSchema>;
  readonly #secretsFile: string;
  readonly #load: () => NativeKeychain | null;
  #keychain: KeychainStore | null = null;
  #store: CredentialStore | null = null;
  #reason: UnavailableReason = 'none';
  #health: Health | null = null;
  #needed: () => boolean = () => false;

  private constructor(options: {
    clock: Clock;
    random: Random;
    logger: Logger;
    marks: JsonDocument<typeof marksSchema>;
    secretsFile: string;
    load: () => NativeKeychain | null;
  }) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#logger = options.logger;
    this.#marks = options.marks;
    this.#secretsFile = options.secretsFile;
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
    const { document } = await JsonDocument.open({
      path: options.path,
      schema: marksSchema,
      initial: { stored: {}, choice: 'keychain' },
      clock: options.clock,
      random: options.random,
    });
    return new CredentialDesk({
      ...options,
      marks: document,
      secretsFile: options.path.replace(/\.json$/, '') + '.secrets.json',
      load: options.load ?? (() => loadKeychain(options.logger)),
    });
  }

  /** `needed` tells whether anything served now has its secret in the store. */
  attach(health: Health, needed: () => boolean): void {
    this.#health = health;
    this.#needed = needed;
  }
  /** The store in use, or null while none answers. */
  get store(): CredentialStore | null {
    return this.#store;
  }
  /** Why there is none, for a person. */
  get sentence(): string {
    return sentences[this.#reason];
  }

  /** A real write, read and delete on a throw-away account shows whether the keychain works. */
  async probe(): Promise<void> {
    if (this.#marks.value.choice === 'file') {
      this.#use(new FileCredentialStore(this.#secretsFile, this.#clock, this.#random));
      return;
    }
    const native = this.#keychain ? null : this.#load();
    if (native) {
      this.#keychain = new KeychainStore({
        native,
        clock: this.#clock,
        logger: this.#logger,
        marks: this.#storedMarks(),
      });
    }
    if (!this.#keychain) return this.#unavailable('none');
    const result = await this.#keychain.probe(this.#random);
    if (result.kind === 'ok') this.#use(this.#keychain);
    else this.#unavailable(result.reason);
  }

  async choose(choice: 'retry' | 'memory' | 'file'): Promise<void> {
    switch (choice) {
      case 'retry':
        await this.#marks.set({ ...this.#marks.value, choice: 'keychain' });
        return this.probe();
      case 'memory':
        this.#use(new MemoryCredentialStore());
        return;
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
