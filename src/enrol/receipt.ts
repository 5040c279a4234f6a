import { lstat, readFile, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { fault, rejected } from '../observe/errors.ts';
import { createOnce } from '../platform/create-once.ts';
import type { Random } from '../platform/random.ts';
import { isAbsoluteLocalPath, isCanonicalUuid } from '../protocol/ids.ts';
import { codeOf, privateFolder } from '../store/atomic-file.ts';
import { parseRemoteUrl } from './addresses.ts';

const uuid = z.string().refine(isCanonicalUuid);
const path = z.string().refine(isAbsoluteLocalPath);

/** `^[a-zA-Z0-9._-]{1,64}$`, and not a name that means something already. */
export const isBindingName = (text: string): boolean =>
  /^[a-zA-Z0-9._-]{1,64}$/.test(text) && !/^\.{1,2}$/.test(text) && text !== 'local';

const receiptSchema = z.strictObject({
  version: z.literal(1),
  /** Name of the binding on this machine. */
  name: z.string().refine(isBindingName),
  remote_url: z.string().refine((text) => parseRemoteUrl(text) !== null),
  enrollment: z.strictObject({
    device_id: uuid,
    session_id: uuid,
    environment_id: uuid,
    workspace_directory: path,
  }),
  /** Real path of the bound folder. */
  local_workspace: path,
  /** Where what Core installs for this Environment lies. */
  capability_directory: path,
  /** Names the secret in the credential store; the secret itself is never here. */
  key_id: uuid,
  bound_at: z.iso.datetime(),
  /** Build of Core when it was bound and the kind its Session names; recorded and shown, compared with nothing. */
  core_version: z.string().nullable(),
  harness: z.string().nullable(),
});

/**
 * What proves to which Environment the state folder of a binding belongs (machine-connection 9). Written once; every
 * later start must match it. It holds no secret.
 */
export type BindingReceipt = z.output<typeof receiptSchema>;

export type ReceiptResult =
  | { readonly kind: 'ok'; readonly receipt: BindingReceipt }
  | { readonly kind: 'absent' }
  /** It is there and is not a receipt of ours for this folder. Nothing is served from it and nothing replaces it. */
  | { readonly kind: 'unreadable' };

const receiptName = 'environment.json';
const removedForm = /^environment\.removed-(\d+)\.json$/;

/** Name of the secret in the credential store: `<host>/<environment id>/<key id>`. */
export function accountOf(remoteUrl: string, environmentId: string, keyId: string): string {
  return `${parseRemoteUrl(remoteUrl)?.host ?? 'unknown'}/${environmentId}/${keyId}`;
}

/** The receipts of a state folder, one private folder an Environment. */
export class Receipts {
  /** `environments` of the state folder. */
  readonly #root: string;
  readonly #random: Random;

  constructor(root: string, random: Random) {
    this.#root = root;
    this.#random = random;
  }

  folderOf(environmentId: string): string {
    return join(this.#root, environmentId);
  }

  /** All that can be read, by name; and the folders whose receipt cannot. */
  async list(): Promise<{ receipts: BindingReceipt[]; unreadable: string[] }> {
    const names = await readdir(this.#root).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return [];
      throw fault(
        'storage',
        'The bindings of this machine could not be read. Check the state folder.',
        error,
      );
    });
    const receipts: BindingReceipt[] = [];
    const unreadable: string[] = [];
    for (const name of names.filter(isCanonicalUuid)) {
      const found = await this.read(name);
      if (found.kind === 'ok') receipts.push(found.receipt);
      else if (found.kind === 'unreadable') unreadable.push(this.folderOf(name));
    }
    receipts.sort((a, b) => (a.name < b.name ? -1 : 1));
    return { receipts, unreadable };
  }

  async read(environmentId: string): Promise<ReceiptResult> {
    return readReceipt(join(this.folderOf(environmentId), receiptName), environmentId);
  }

  /**
   * Whether the state kept for this Environment may go on under `identity`. State without a receipt belongs to nobody
   * known, and a receipt that names something else belongs to somebody else (M4).
   * @throws RuntimeError `conflict` before any secret is used.
   */
  async requireSame(identity: { remoteUrl: string; environmentId: string }): Promise<BindingReceipt | null> {
    const { environmentId, remoteUrl } = identity;
    const found = await this.read(environmentId);
    const folder = this.folderOf(environmentId);
    if (found.kind === 'unreadable') throw foreign(folder);
    if (found.kind === 'ok') {
      if (found.receipt.remote_url !== remoteUrl) throw foreign(folder);
      return found.receipt;
    }
    const removed = await this.#removed(environmentId);
    if (removed.some((receipt) => receipt?.remote_url !== remoteUrl)) throw foreign(folder);
    if (removed.length === 0 && (await this.#hasState(environmentId))) {
      throw rejected(
        'conflict',
        `There is state of this Environment in ${folder} that no enrolment made. Move that folder away, then enrol again.`,
      );
    }
    return null;
  }

  /**
   * Writes the receipt, exclusively and durably. One that is there already must say the same.
   * @throws RuntimeError `conflict` when it does not, `storage` when the disk says no.
   */
  async write(receipt: BindingReceipt): Promise<BindingReceipt> {
    const checked = receiptSchema.parse(receipt);
    const { environment_id: environmentId, session_id: sessionId } = checked.enrollment;
    const folder = await this.#privateFolder(environmentId);
    for (const before of await this.#removed(environmentId)) {
      if (before?.enrollment.session_id !== sessionId) throw foreign(folder);
    }
    const file = join(folder, receiptName);
    let made: 'created' | 'exists';
    try {
      made = await createOnce(file, `${JSON.stringify(checked, null, 2)}\n`, this.#random.hex(6));
    } catch (error) {
      throw fault(
        'storage',
        'The binding could not be written to disk. Check that the disk has room.',
        error,
      );
    }
    if (made === 'created') return checked;
    const found = await this.read(environmentId);
    if (found.kind !== 'ok' || !sameBinding(found.receipt, checked)) throw foreign(folder);
    return found.receipt;
  }

  /** Ends a binding. The receipt stays under another name, so that its history is never taken for somebody else's. */
  async retire(environmentId: string, now: number): Promise<void> {
    const folder = this.folderOf(environmentId);
    try {
      await rename(join(folder, receiptName), join(folder, `environment.removed-${now}.json`));
    } catch (error) {
      throw fault('storage', 'The binding could not be removed from disk. Check the state folder.', error);
    }
  }

  async #removed(environmentId: string): Promise<(BindingReceipt | null)[]> {
    const folder = this.folderOf(environmentId);
    const names = await readdir(folder).catch(() => []);
    return Promise.all(
      names
        .filter((name) => removedForm.test(name))
        .map(async (name) => {
          const found = await readReceipt(join(folder, name), environmentId);
          return found.kind === 'ok' ? found.receipt : null;
        }),
    );
  }

  /** Anything but what a receipt in the making leaves behind. */
  async #hasState(environmentId: string): Promise<boolean> {
    const names = await readdir(this.folderOf(environmentId)).catch(() => []);
    return names.some((name) => !name.startsWith(`${receiptName}.`));
  }

  async #privateFolder(environmentId: string): Promise<string> {
    await privateFolder(this.#root);
    const folder = await privateFolder(this.folderOf(environmentId));
    const found = await lstat(folder).catch((error: unknown) => {
      throw fault('storage', `The folder ${folder} could not be looked at. Check the state folder.`, error);
    });
    const mine =
      process.platform === 'win32' || (found.uid === process.getuid?.() && (found.mode & 0o077) === 0);
    if (!found.isDirectory() || !mine) {
      throw fault(
        'storage',
        `The folder ${folder} must be yours alone (mode 700). Make it so and enrol again.`,
      );
    }
    return folder;
  }
}

/** Everything that must not change from one start to the next. */
export function sameBinding(a: BindingReceipt, b: BindingReceipt): boolean {
  const { enrollment: one } = a;
  const { enrollment: other } = b;
  return (
    a.remote_url === b.remote_url &&
    a.local_workspace === b.local_workspace &&
    a.capability_directory === b.capability_directory &&
    a.key_id === b.key_id &&
    one.device_id === other.device_id &&
    one.session_id === other.session_id &&
    one.environment_id === other.environment_id &&
    one.workspace_directory === other.workspace_directory
  );
}

async function readReceipt(file: string, environmentId: string): Promise<ReceiptResult> {
  try {
    const found = await lstat(file);
    if (!found.isFile() || (process.platform !== 'win32' && found.uid !== process.getuid?.())) {
      return { kind: 'unreadable' };
    }
    const parsed = receiptSchema.safeParse(JSON.parse(await readFile(file, 'utf8')));
    return parsed.success && parsed.data.enrollment.environment_id === environmentId
      ? { kind: 'ok', receipt: parsed.data }
      : { kind: 'unreadable' };
  } catch (error) {
    return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
      ? { kind: 'absent' }
      : { kind: 'unreadable' };
  }
}

const foreign = (folder: string): ReturnType<typeof rejected> =>
  rejected(
    'conflict',
    `What is kept in ${folder} belongs to a different Environment or history. Nothing was sent. Move that folder away to enrol anew.`,
  );
