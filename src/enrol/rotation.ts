import { rejected } from '../observe/errors.ts';
import { permanent, type Failure } from '../observe/failure.ts';
import { parseRemoteUrl } from './addresses.ts';
import type { ExecutorCredential } from './credential-file.ts';
import type { Secrets } from './enrolment-ports.ts';
import { enroll, type CallPorts } from './machine-calls.ts';
import { accountOf, type BindingReceipt } from './receipt.ts';
import { otherKey, requireStored } from './refusals.ts';

/**
 * `enroll` once more for a binding that has its receipt: at a start, and for a rotated key. Whatever Core answers must
 * be what was bound (machine-connection 9). Null: it is.
 */
export async function confirmEnrollment(
  receipt: BindingReceipt,
  secret: string,
  ports: CallPorts,
): Promise<Failure | null> {
  const address = parseRemoteUrl(receipt.remote_url);
  if (!address) return permanent('binding_mismatch', 'address');
  const { enrollment } = receipt;
  const answer = await enroll(
    { coreUrl: address.coreUrl, environmentId: enrollment.environment_id, secret },
    ports,
  );
  if (answer.kind === 'failed') return answer.failure;
  const same =
    answer.value.device_id === enrollment.device_id &&
    answer.value.session_id === enrollment.session_id &&
    answer.value.workspace_directory === enrollment.workspace_directory;
  return same ? null : permanent('binding_mismatch', 'enrollment');
}

/**
 * Puts a rotated secret in the place of the old one (machine-connection 10): the same key of the same Environment, and
 * only after Core took it for the same device (M9). Until then the old secret stays where it is.
 * @throws RuntimeError `conflict`, `other_key_bound`, `credential_store_unavailable`.
 */
export async function rotateSecret(
  receipt: BindingReceipt,
  credential: ExecutorCredential,
  ports: CallPorts & { readonly secrets: Secrets },
): Promise<Failure | null> {
  const { enrollment, key_id: keyId, remote_url: remoteUrl } = receipt;
  if (credential.environmentId !== null && credential.environmentId !== enrollment.environment_id) {
    throw rejected('conflict', 'The credential file is for another Environment than this binding.');
  }
  if (credential.keyId !== keyId) throw otherKey();
  const refused = await confirmEnrollment(receipt, credential.token, ports);
  if (refused) return refused;
  requireStored(
    await ports.secrets.set(accountOf(remoteUrl, enrollment.environment_id, keyId), credential.token, false),
  );
  return null;
}
