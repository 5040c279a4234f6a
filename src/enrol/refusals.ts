import { rejected, type RuntimeError } from '../observe/errors.ts';
import type { CredentialResult } from '../store/credential-store.ts';
import type { FolderFinding } from './folder-rules.ts';

export const otherKey = (): RuntimeError =>
  rejected(
    'other_key_bound',
    'Another key is bound to this Environment, and stays so. Rotate that key instead of using a second one.',
  );

/** @throws RuntimeError `credential_store_unavailable`: nothing was read or changed, and nobody asked anything. */
export function requireStored<T>(result: CredentialResult<T>): T {
  if (result.kind === 'ok') return result.value;
  throw rejected(
    'credential_store_unavailable',
    'The credential store did not answer. Nothing was read or changed. Unlock or start the system keychain and try again, or choose a file for the credential.',
  );
}

export const folderRefusals: Readonly<Record<NonNullable<FolderFinding['refusal']>, string>> = {
  not_absolute: 'The folder must be given whole, from the root on, and in its plain form.',
  root: 'The root of the disk cannot be bound. Choose a folder of its own.',
  home: 'Your home folder itself cannot be bound. Choose a folder in it.',
  holds_home: 'This folder contains your home folder and cannot be bound.',
  own_state: 'This folder belongs to this app’s own state and cannot be bound.',
  holds_own_state: 'This folder contains this app’s own state and cannot be bound.',
  not_a_folder: 'This is not a folder.',
  missing: 'This folder does not exist. Create it, then try again.',
  unreachable: 'This folder cannot be looked at: a part of the way is a broken link or not permitted.',
};
