/**
 * Where secrets lie. `get` tells an absent secret from one that could not be read: a read failure never leads to a
 * new identity, a wipe or plaintext. Every call has a time limit and only one runs at a time.
 */
export interface CredentialStore {
  /** For display: which keychain, memory or file holds the secrets. */
  readonly backend: string;
  get(account: string): Promise<CredentialResult<string | null>>;
  set(account: string, secret: string): Promise<CredentialResult<void>>;
  /** True when something was deleted. */
  delete(account: string): Promise<CredentialResult<boolean>>;
}

export type CredentialResult<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'unavailable'; readonly reason: UnavailableReason };

/** Why the store did not answer. `locked_or_lost`: a secret is known to be stored, and reading it gave nothing. */
export type UnavailableReason = 'none' | 'locked' | 'locked_or_lost' | 'timeout' | 'refused';

export const ok = <T>(value: T): CredentialResult<T> => ({ kind: 'ok', value });
export const unavailable = (
  reason: UnavailableReason,
): { kind: 'unavailable'; reason: UnavailableReason } => ({
  kind: 'unavailable',
  reason,
});

/** Secrets for this run only, where the person agreed to that. */
export class MemoryCredentialStore implements CredentialStore {
  readonly backend = 'memory';
  readonly #secrets = new Map<string, string>();

  has(account: string): boolean {
    return this.#secrets.has(account);
  }

  get(account: string): Promise<CredentialResult<string | null>> {
    return Promise.resolve(ok(this.#secrets.get(account) ?? null));
  }
  set(account: string, secret: string): Promise<CredentialResult<void>> {
    this.#secrets.set(account, secret);
    return Promise.resolve(ok(undefined));
  }
  delete(account: string): Promise<CredentialResult<boolean>> {
    return Promise.resolve(ok(this.#secrets.delete(account)));
  }
}
