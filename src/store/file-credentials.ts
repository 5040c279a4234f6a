import * as z from 'zod';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import { ok, unavailable, type CredentialResult, type CredentialStore } from './credential-store.ts';
import { readJson, writeAtomic } from './atomic-file.ts';

const schema = z.object({ version: z.literal(1), secrets: z.record(z.string(), z.string()) });

/** Secrets in an owner-only file, by the person's explicit choice alone. Anybody who runs as this user can read it. */
export class FileCredentialStore implements CredentialStore {
  readonly backend = 'file';
  readonly #path: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #onSetAside: (as: string) => void;

  /** `onSetAside`: the file could not be understood and was kept under another name. */
  constructor(path: string, clock: Clock, random: Random, onSetAside: (as: string) => void) {
    this.#path = path;
    this.#clock = clock;
    this.#random = random;
    this.#onSetAside = onSetAside;
  }

  async get(account: string): Promise<CredentialResult<string | null>> {
    const secrets = await this.#read();
    return secrets ? ok(secrets[account] ?? null) : unavailable('refused');
  }

  async set(account: string, secret: string): Promise<CredentialResult<void>> {
    const secrets = await this.#read();
    if (!secrets) return unavailable('refused');
    await this.#write({ ...secrets, [account]: secret });
    return ok(undefined);
  }

  async delete(account: string): Promise<CredentialResult<boolean>> {
    const secrets = await this.#read();
    if (!secrets) return unavailable('refused');
    const { [account]: removed, ...rest } = secrets;
    await this.#write(rest);
    return ok(removed !== undefined);
  }

  /** Null: it is there and cannot be read. Never taken for empty. */
  async #read(): Promise<Record<string, string> | null> {
    try {
      const read = await readJson(this.#path, schema, this.#clock);
      if (read.kind === 'ok') return read.value.secrets;
      if (read.kind === 'broken') this.#onSetAside(read.setAside);
      return read.kind === 'absent' ? {} : null;
    } catch {
      return null;
    }
  }

  #write(secrets: Record<string, string>): Promise<void> {
    return writeAtomic(this.#path, `${JSON.stringify({ version: 1, secrets }, null, 2)}\n`, this.#random);
  }
}
