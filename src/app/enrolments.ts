import { parseRemoteUrl } from '../enrol/addresses.ts';
import { parseCredential } from '../enrol/credential-file.ts';
import { Enrolment } from '../enrol/enrolment.ts';
import type { EnrolmentPorts } from '../enrol/enrolment-ports.ts';
import { folderRefusals } from '../enrol/refusals.ts';
import { invitationOf, readGrant, readInvitation, type Invitation } from '../enrol/invitation.ts';
import { accountOf, isBindingName, type BindingReceipt, type Receipts } from '../enrol/receipt.ts';
import { rotateSecret } from '../enrol/rotation.ts';
import type { EnrolmentSource, EnrolmentView } from '../contract/enrolment.ts';
import { rejected } from '../observe/errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { Clock } from '../platform/clock.ts';
import type { Network } from '../platform/network.ts';
import { homeFolder } from '../platform/environment.ts';
import type { Random } from '../platform/random.ts';
import { isCanonicalUuid } from '../protocol/ids.ts';
import type { CredentialDesk } from './credentials.ts';
import { failureError, invitationSentences, problemError } from './enrolment-words.ts';

/** Open at the same time: a window and a terminal, and one that was left. */
const mostOpen = 4;

export interface EnrolmentDeskPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly userAgent: string;
  readonly network?: Network;
  readonly credentials: CredentialDesk;
  readonly receipts: Receipts;
  /** Our own state folder. */
  readonly state: string;
  /** Folders in use that no receipt names: the local Core's, and those handed over for this run. */
  otherFolders(): readonly { readonly binding: string; readonly folder: string }[];
  register(secret: string): void;
  /** Serves a binding from now on; false where no Runtime runs. */
  serve(receipt: BindingReceipt): boolean;
  /** Ends its connection; resolves when all it owned has settled. */
  unserve(name: string): Promise<void>;
  /** Ends the rules that a person made for this binding. */
  forgetRules(environmentId: string): Promise<void>;
  /** Connects anew with the secret as it is stored now. */
  restart(name: string): Promise<void>;
  onChange(): void;
}

interface OpenEnrolment {
  readonly enrolment: Enrolment;
  name: string;
  /** By a person; else it follows the folder. */
  named: boolean;
}

/** Enrolling, rotating and removing bindings of this machine, for every front end and with or without a running Runtime. */
export class EnrolmentDesk {
  readonly #ports: EnrolmentDeskPorts;
  readonly #open = new Map<string, OpenEnrolment>();

  /** Text of a link that arrived. It holds a grant: memory alone, and nobody is asked before a person reads it. */
  #arrived: string | null = null;

  constructor(ports: EnrolmentDeskPorts) {
    this.#ports = ports;
  }

  /** A link arrived from outside. It is kept for the person and does nothing by itself. */
  arrive(link: string): void {
    this.#arrived = link;
    this.#ports.onChange();
  }

  ignore(): void {
    this.#arrived = null;
    this.#ports.onChange();
  }

  get invited(): { readonly host: string | null } | null {
    if (this.#arrived === null) return null;
    const read = readInvitation(this.#arrived);
    return { host: read.kind === 'ok' ? read.invitation.address.host : null };
  }

  get views(): readonly EnrolmentView[] {
    return [...this.#open].map(([id, { enrolment, name }]) => this.#view(id, enrolment, name));
  }

  /** @throws RuntimeError with what is wrong with the text, or why Core did not answer to it. */
  async read(request: {
    source: EnrolmentSource;
    workspace?: string | undefined;
    name?: string | undefined;
  }): Promise<EnrolmentView> {
    this.#makeRoom();
    const { source, workspace } = request;
    const enrolment =
      source.kind === 'credential'
        ? this.#fromCredential(source)
        : await this.#fromInvitation(invitationIn(this.#resolved(source)));
    if (workspace !== undefined) await enrolment.chooseFolder(workspace);
    const id = this.#ports.random.uuid();
    const name = request.name ?? (await this.#freeName(enrolment));
    // Understood; until then it can be tried again.
    if (source.kind === 'arrived') this.#arrived = null;
    this.#open.set(id, { enrolment, name, named: request.name !== undefined });
    this.#ports.onChange();
    return this.#view(id, enrolment, name);
  }

  async chooseFolder(id: string, path: string): Promise<EnrolmentView> {
    const open = this.#find(id);
    await open.enrolment.chooseFolder(path);
    if (!open.named) open.name = await this.#freeName(open.enrolment);
    return this.#view(id, open.enrolment, open.name);
  }

  async confirm(id: string, name: string): Promise<EnrolmentView> {
    const open = this.#find(id);
    open.name = name;
    open.named = true;
    await open.enrolment.confirm(name);
    return this.#view(id, open.enrolment, name);
  }

  close(id: string): void {
    const open = this.#find(id);
    if (open.enrolment.state.state === 'working') {
      throw rejected('busy', 'The binding is just being made. Wait for its end.');
    }
    open.enrolment.drop();
    this.#open.delete(id);
    this.#ports.onChange();
  }

  /** @throws RuntimeError `not_found`, `invalid_credential_file`, or why the new secret was not taken. */
  async rotate(name: string, text: string): Promise<void> {
    const { clock, userAgent, network, credentials, logger } = this.#ports;
    const receipt = await this.#receipt(name);
    const credential = parseCredential(text);
    this.#ports.register(credential.token);
    const failure = await rotateSecret(receipt, credential, {
      clock,
      userAgent,
      ...(network ? { network } : {}),
      secrets: credentials,
    });
    if (failure) throw failureError(failure, parseRemoteUrl(receipt.remote_url)?.host ?? 'Core');
    logger.info('binding.rotated', { binding: name });
    await this.#ports.restart(name);
  }

  /**
   * @throws RuntimeError `credential_store_unavailable` when the secret could not be deleted; then nothing was removed.
   */
  async remove(name: string, leaveCredential: boolean): Promise<void> {
    const { credentials, receipts, clock, logger } = this.#ports;
    const receipt = await this.#receipt(name);
    const { environment_id: environmentId } = receipt.enrollment;
    const account = accountOf(receipt.remote_url, environmentId, receipt.key_id);
    const deleted = await credentials.delete(account);
    if (deleted.kind === 'unavailable') {
      if (!leaveCredential) {
        throw rejected(
          'credential_store_unavailable',
          `${credentials.sentence} Nothing was removed. Unlock it and try again, or remove the binding and leave the entry where it is.`,
        );
      }
      await credentials.abandon(account);
    }
    await receipts.retire(environmentId, clock.now());
    logger.info('binding.removed', { binding: name });
    await this.#ports.unserve(name);
    await this.#ports.forgetRules(environmentId);
  }

  #resolved(source: Exclude<EnrolmentSource, { kind: 'credential' }>): PastedSource {
    if (source.kind !== 'arrived') return source;
    if (this.#arrived === null) throw rejected('not_found', 'No link has brought an invitation.');
    return { kind: 'invitation', text: this.#arrived };
  }

  #view(id: string, enrolment: Enrolment, name: string): EnrolmentView {
    const { credentials } = this.#ports;
    return viewOf(id, enrolment, name, credentials.lasting ? (credentials.store?.backend ?? null) : null);
  }

  async #fromInvitation(invitation: Invitation): Promise<Enrolment> {
    const begun = await Enrolment.fromInvitation(invitation, this.#enrolmentPorts());
    if (begun.kind === 'failed') throw problemError(begun.why, invitation.address.host);
    return begun.enrolment;
  }

  #fromCredential(source: Extract<EnrolmentSource, { kind: 'credential' }>): Enrolment {
    const address = parseRemoteUrl(source.remote_url);
    if (!address) {
      throw rejected(
        'usage',
        'The address of Core must be wss (ws on this machine only) and end in /api/v1/agent-daemon/ws, with nothing after it.',
      );
    }
    if (!isCanonicalUuid(source.environment_id)) {
      throw rejected('usage', 'The Environment is a canonical UUID in lower case.');
    }
    return Enrolment.fromCredential(
      { credential: parseCredential(source.credential), address, environmentId: source.environment_id },
      this.#enrolmentPorts(),
    );
  }

  #enrolmentPorts(): EnrolmentPorts {
    const ports = this.#ports;
    return {
      clock: ports.clock,
      random: ports.random,
      logger: ports.logger,
      userAgent: ports.userAgent,
      ...(ports.network ? { network: ports.network } : {}),
      receipts: ports.receipts,
      secrets: ports.credentials,
      register: (secret) => ports.register(secret),
      serve: (receipt) => ports.serve(receipt),
      onChange: () => ports.onChange(),
      folderRules: async (environmentId) => {
        const { receipts } = await ports.receipts.list();
        const others = receipts
          .filter(({ enrollment }) => enrollment.environment_id !== environmentId)
          .map((receipt) => ({ binding: receipt.name, folder: receipt.local_workspace }));
        return { home: homeFolder(), state: ports.state, others: [...others, ...ports.otherFolders()] };
      },
    };
  }

  /** Named after its folder where that makes a name that is free, else after the Environment. */
  async #freeName(enrolment: Enrolment): Promise<string> {
    const { receipts } = await this.#ports.receipts.list();
    const { environmentId } = enrolment.plan;
    const bound = receipts.find((receipt) => receipt.enrollment.environment_id === environmentId);
    if (bound) return bound.name;
    const folder = enrolment.folder?.canonical.split(/[\\/]/).pop() ?? '';
    const name = folder
      .replace(/[^a-zA-Z0-9._-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 64);
    return isBindingName(name) && !receipts.some((receipt) => receipt.name === name) ? name : environmentId;
  }

  async #receipt(name: string): Promise<BindingReceipt> {
    const { receipts } = await this.#ports.receipts.list();
    const found = receipts.find((receipt) => receipt.name === name);
    if (!found) throw rejected('not_found', `There is no enrolled binding named ${name}.`);
    return found;
  }

  #find(id: string): OpenEnrolment {
    const open = this.#open.get(id);
    if (!open) throw rejected('not_found', 'This enrolment was closed. Begin again.');
    return open;
  }

  /** What nobody works on any more makes room, the oldest first. */
  #makeRoom(): void {
    for (const [id, { enrolment }] of this.#open) {
      if (this.#open.size < mostOpen) return;
      if (enrolment.state.state === 'working') continue;
      enrolment.drop();
      this.#open.delete(id);
    }
    if (this.#open.size >= mostOpen) throw rejected('busy', 'Too many enrolments are open. Close one first.');
  }
}

type PastedSource = Exclude<EnrolmentSource, { kind: 'credential' | 'arrived' }>;

function invitationIn(source: PastedSource): Invitation {
  const result =
    source.kind === 'invitation'
      ? readInvitation(source.text)
      : invitationOf(source.endpoint, readGrant(source.grant));
  if (result.kind === 'fault') throw rejected('invalid_invitation', invitationSentences[result.fault]);
  return result.invitation;
}

function viewOf(id: string, enrolment: Enrolment, name: string, store: string | null): EnrolmentView {
  const { plan, state, folder } = enrolment;
  const error = state.state === 'failed' ? problemError(state.problem, plan.address.host) : null;
  return {
    id,
    way: plan.way,
    state: state.state,
    step: 'step' in state ? state.step : null,
    host: plan.address.host,
    encrypted: plan.address.coreUrl.startsWith('https:'),
    environment_id: plan.environmentId,
    core_version: plan.coreVersion,
    harness: plan.harness,
    expires_at: plan.expiresAt === null ? null : new Date(plan.expiresAt).toISOString(),
    name: enrolment.receipt?.name ?? name,
    folder_frozen: enrolment.folderFrozen,
    folder: folder && {
      asked: folder.asked,
      path: folder.canonical,
      exists: folder.exists,
      writable: folder.writable,
      free_bytes: folder.freeBytes,
      refusal: folder.refusal === null ? null : folderRefusals[folder.refusal],
      overlaps: [...folder.overlaps],
    },
    credential_store: store,
    connected: state.state === 'bound' ? state.connected : null,
    error: error && { code: error.code, message: error.message },
  };
}
