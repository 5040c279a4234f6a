import type { Logger } from '../observe/logger.ts';
import type { Clock } from '../platform/clock.ts';
import type { Network } from '../platform/network.ts';
import type { Random } from '../platform/random.ts';
import type { CredentialResult } from '../store/credential-store.ts';
import type { CoreAddress } from './addresses.ts';
import type { EnrolWay } from './enrolment-state.ts';
import type { FolderRules } from './folder-rules.ts';
import type { BindingReceipt, Receipts } from './receipt.ts';

/** Secrets by account, as the store of this machine keeps them. */
export interface Secrets {
  get(account: string): Promise<CredentialResult<string | null>>;
  /** `lasting`: nobody else has it, so that it must outlive this process. */
  set(account: string, secret: string, lasting: boolean): Promise<CredentialResult<void>>;
  delete(account: string): Promise<CredentialResult<boolean>>;
}

export interface EnrolmentPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly userAgent: string;
  readonly network?: Network;
  readonly receipts: Receipts;
  readonly secrets: Secrets;
  /** The home folder, our own state, and the folders of the bindings of other Environments. */
  folderRules(environmentId: string): Promise<Omit<FolderRules, 'mayCreate'>>;
  /** Told of every secret before it is used, so that it can be masked. */
  register(secret: string): void;
  /** Serves the binding from now on; false where no Runtime runs that could. */
  serve(receipt: BindingReceipt): boolean;
  onChange(): void;
}

/** What would be bound, to whom. Nothing of it is a secret. */
export interface EnrolmentPlan {
  readonly way: EnrolWay;
  readonly address: CoreAddress;
  readonly environmentId: string;
  readonly keyId: string;
  /** The folder as the Session names it; null where only the enrolment itself will tell. */
  readonly frozenFolder: string | null;
  readonly coreVersion: string | null;
  readonly harness: string | null;
  /** End of the invitation, Unix milliseconds. */
  readonly expiresAt: number | null;
}
