import { parseRemoteUrl } from '../enrol/addresses.ts';
import { accountOf, Receipts, type BindingReceipt } from '../enrol/receipt.ts';
import { confirmEnrollment } from '../enrol/rotation.ts';
import { fault, rejected } from '../observe/errors.ts';
import { permanent } from '../observe/failure.ts';
import type { Clock } from '../platform/clock.ts';
import type { Network } from '../platform/network.ts';
import { systemRandom, type Random } from '../platform/random.ts';
import type { StatePaths } from '../store/paths.ts';
import type { BindingTarget } from './binding.ts';
import type { CredentialDesk } from './credentials.ts';

/** The bindings of this machine as their receipts have them. */
export interface EnrolledBindings {
  readonly receipts: readonly BindingReceipt[];
  /** Folders whose receipt cannot be read: nothing is served from them. */
  readonly unreadable: readonly string[];
}

/**
 * All enrolled bindings, or those that are named.
 * @throws RuntimeError `not_found` for a name that no binding has.
 */
export async function enrolledBindings(
  paths: StatePaths,
  names: readonly string[] = [],
  random: Random = systemRandom,
): Promise<EnrolledBindings> {
  const all = await new Receipts(paths.environments, random).list();
  const unknown = names.find((name) => !all.receipts.some((receipt) => receipt.name === name));
  if (unknown !== undefined) {
    const known = all.receipts.map(({ name }) => name).join(', ');
    throw rejected(
      'not_found',
      `There is no enrolled binding of that name. ${known === '' ? 'Nothing is enrolled here.' : `There are: ${known}.`}`,
    );
  }
  return names.length === 0
    ? all
    : { ...all, receipts: all.receipts.filter((receipt) => names.includes(receipt.name)) };
}

/** What a receipt makes servable. The secret is read from the store for each dial and kept nowhere else. */
export function enrolledTarget(
  receipt: BindingReceipt,
  ports: {
    readonly credentials: CredentialDesk;
    readonly clock: Clock;
    readonly userAgent: string;
    readonly network: Network;
    register(secret: string): void;
  },
): BindingTarget {
  const { enrollment } = receipt;
  const address = parseRemoteUrl(receipt.remote_url);
  if (!address) throw fault('storage', 'The receipt of a binding names an address that must not be used.');
  const account = accountOf(receipt.remote_url, enrollment.environment_id, receipt.key_id);
  return {
    name: receipt.name,
    local: false,
    coreUrl: address.coreUrl,
    deviceId: enrollment.device_id,
    expectedUrl: receipt.remote_url,
    workspace: {
      environmentId: enrollment.environment_id,
      sessionId: enrollment.session_id,
      workspace: receipt.local_workspace,
      recordedDirectory: enrollment.workspace_directory,
    },
    enrolled: {
      boundAt: receipt.bound_at,
      coreVersion: receipt.core_version,
      store: () => ports.credentials.backendOf(account),
    },
    secret: async () => {
      const kept = await ports.credentials.get(account);
      if (kept.kind === 'unavailable') {
        // No rejection: it goes on by itself once the store answers.
        const failure = { class: 'attention', code: 'credential_store_unavailable', detail: null } as const;
        return { kind: 'failed', failure };
      }
      if (kept.value === null) return { kind: 'failed', failure: permanent('credential_missing') };
      ports.register(kept.value);
      return { kind: 'ok', secret: kept.value };
    },
    confirm: (secret, signal) =>
      confirmEnrollment(receipt, secret, {
        clock: ports.clock,
        userAgent: ports.userAgent,
        network: ports.network,
        signal,
      }),
  };
}
