import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeError, fault, rejected } from '../observe/errors.ts';
import { permanent } from '../observe/failure.ts';
import { delay } from '../platform/clock.ts';
import type { CoreAddress } from './addresses.ts';
import type { ExecutorCredential } from './credential-file.ts';
import type { EnrolmentPlan, EnrolmentPorts } from './enrolment-ports.ts';
import {
  advanceEnrolment,
  type EnrolEvent,
  type EnrolProblem,
  type EnrolState,
  type EnrolStep,
} from './enrolment-state.ts';
import { judgeFolder, provideFolder, type FolderFinding } from './folder-rules.ts';
import type { Invitation } from './invitation.ts';
import {
  askConnected,
  claimInstallation,
  enroll,
  readInstallation,
  type CallPorts,
  type EnrolFailure,
  type Enrollment,
} from './machine-calls.ts';
import { accountOf, isBindingName, type BindingReceipt } from './receipt.ts';
import { folderRefusals, otherKey, requireStored } from './refusals.ts';

/** Confirming the connection (machine-connection 5.1): once a second, milliseconds. Not confirmed is not fatal. */
export const connectionCheck = { every: 1_000, most: 45_000 } as const;

/** A folder name of Core's that stands for whatever was bound here (environment-workspace 3). */
const anyFolder = '/workspace';

/**
 * One enrolment of this machine: the driver of `enrolment-state.ts`. The secret and the grant live in here and leave
 * it in an Authorization header or towards the credential store alone.
 */
export class Enrolment {
  readonly plan: EnrolmentPlan;
  readonly #ports: EnrolmentPorts;
  readonly #grant: string | null;
  readonly #given: string | null;
  readonly #abort = new AbortController();
  #state: EnrolState = { state: 'review' };
  #folder: FolderFinding | null = null;
  #receipt: BindingReceipt | null = null;

  private constructor(
    plan: EnrolmentPlan,
    secrets: { grant: string | null; given: string | null },
    ports: EnrolmentPorts,
  ) {
    this.plan = plan;
    this.#ports = ports;
    this.#grant = secrets.grant;
    this.#given = secrets.given;
  }

  /** Asks Core what the invitation is for (machine-connection 5.1). */
  static async fromInvitation(
    invitation: Invitation,
    ports: EnrolmentPorts,
  ): Promise<{ kind: 'ok'; enrolment: Enrolment } | { kind: 'failed'; why: EnrolFailure }> {
    const { address, grant, environmentId, expiresAt } = invitation;
    ports.register(grant);
    const read = await readInstallation({ coreUrl: address.coreUrl, grant, environmentId }, callPorts(ports));
    if (read.kind === 'failed') return read;
    const { value } = read;
    const enrolment = new Enrolment(
      {
        way: 'grant',
        address: { ...address, remoteUrl: value.remoteUrl },
        environmentId: value.environmentId,
        keyId: value.environmentId,
        frozenFolder: value.workspaceDirectory === anyFolder ? null : value.workspaceDirectory,
        coreVersion: value.coreVersion,
        harness: value.harness,
        expiresAt,
      },
      { grant, given: null },
      ports,
    );
    if (enrolment.plan.frozenFolder !== null) await enrolment.chooseFolder(enrolment.plan.frozenFolder);
    return { kind: 'ok', enrolment };
  }

  /** With a credential that an operator issued (machine-connection 5.2). Asks nobody anything. */
  static fromCredential(
    given: { credential: ExecutorCredential; address: CoreAddress; environmentId: string },
    ports: EnrolmentPorts,
  ): Enrolment {
    const { credential, address, environmentId } = given;
    if (credential.environmentId !== null && credential.environmentId !== environmentId) {
      throw rejected('conflict', 'The credential file is for another Environment than the one named.');
    }
    ports.register(credential.token);
    return new Enrolment(
      {
        way: 'credential',
        address,
        environmentId,
        keyId: credential.keyId,
        frozenFolder: null,
        coreVersion: null,
        harness: null,
        expiresAt: null,
      },
      { grant: null, given: credential.token },
      ports,
    );
  }

  get state(): EnrolState {
    return this.#state;
  }
  /** As last looked at; null until one is named. */
  get folder(): FolderFinding | null {
    return this.#folder;
  }
  /** What was bound, once it was. An Environment that was bound before keeps the name that it had. */
  get receipt(): BindingReceipt | null {
    return this.#receipt;
  }
  /** Whether a folder may still be named: the one of a Session that names its own cannot be changed. */
  get folderFrozen(): boolean {
    return this.plan.frozenFolder !== null;
  }

  /**
   * Names the folder, or looks at it again.
   * @throws RuntimeError `conflict` for another folder than the Session's.
   */
  async chooseFolder(path: string): Promise<FolderFinding> {
    const { frozenFolder } = this.plan;
    if (frozenFolder !== null && path !== frozenFolder && !(await sameFolder(path, frozenFolder))) {
      throw rejected(
        'conflict',
        `The Session is for the folder ${frozenFolder} and no other. Another folder needs another Session.`,
      );
    }
    this.#folder = await judgeFolder(frozenFolder ?? path, {
      ...(await this.#ports.folderRules(this.plan.environmentId)),
      mayCreate: this.plan.way === 'grant',
    });
    this.#ports.onChange();
    return this.#folder;
  }

  /** Gives the enrolment up where it only waits; what a step has done stays done. */
  drop(): void {
    if (this.#state.state !== 'working') this.#abort.abort();
  }

  /** Goes on to the end. Resolves when it is bound, or with the reason why not; may be repeated after a failure. */
  async confirm(name: string): Promise<EnrolState> {
    if (!this.#apply({ type: 'confirm' })) throw rejected('busy', 'This enrolment is under way or over.');
    try {
      return await this.#work(name);
    } catch (error) {
      if (error instanceof Stopped) return this.#state;
      const known =
        error instanceof RuntimeError
          ? error
          : fault('fault', 'The enrolment broke off inside the app.', error);
      this.#apply({ type: 'step_failed', problem: { of: 'here', error: known } });
      return this.#state;
    }
  }

  async #work(name: string): Promise<EnrolState> {
    const { receipts, secrets, clock } = this.#ports;
    const { address, environmentId, keyId } = this.plan;
    const existing = await this.#identity(name);
    const folder = await this.#provide(existing);
    this.#done();
    const account = accountOf(address.remoteUrl, environmentId, keyId);
    let secret = this.#given;
    let enrollment: Enrollment;
    if (secret === null) {
      const kept = await this.#takeSecret(account);
      ({ secret } = kept);
      this.#done();
      await this.#claim(secret, kept.fresh ? () => secrets.delete(account) : null);
      this.#done();
      enrollment = await this.#enroll(secret, folder, existing);
      this.#done();
    } else {
      enrollment = await this.#enroll(secret, folder, existing);
      this.#done();
      requireStored(await secrets.set(account, secret, false));
      this.#done();
    }
    const receipt = await receipts.write({
      version: 1,
      name: existing?.name ?? name,
      remote_url: address.remoteUrl,
      enrollment,
      local_workspace: folder,
      capability_directory: join(receipts.folderOf(environmentId), 'capabilities'),
      key_id: keyId,
      bound_at: existing?.bound_at ?? new Date(clock.now()).toISOString(),
      core_version: this.plan.coreVersion,
      harness: this.plan.harness,
    });
    this.#receipt = receipt;
    this.#ports.logger.info('enrol.bound', { binding: receipt.name, way: this.plan.way });
    const serving = this.#ports.serve(receipt);
    this.#done(serving);
    if (serving) await this.#confirmConnection(secret);
    return this.#state;
  }

  /** Everything that can be wrong without asking anybody, before the secret is used (M4). */
  async #identity(name: string): Promise<BindingReceipt | null> {
    const { receipts } = this.#ports;
    const { address, environmentId, keyId } = this.plan;
    const existing = await receipts.requireSame({ remoteUrl: address.remoteUrl, environmentId });
    if (existing && existing.key_id !== keyId) throw otherKey();
    if (existing) return existing;
    if (!isBindingName(name)) {
      throw rejected(
        'usage',
        'The name takes letters, digits, dot, dash and underscore, at most 64; not “local”.',
      );
    }
    const known = await receipts.list();
    if (known.receipts.some((receipt) => receipt.name === name)) {
      throw rejected('conflict', `There is a binding named ${name} already. Choose another name.`);
    }
    return null;
  }

  async #provide(existing: BindingReceipt | null): Promise<string> {
    const shown = this.#folder;
    if (!shown) throw rejected('workspace_unusable', 'Name the folder to bind first.');
    const found = await this.chooseFolder(shown.asked);
    if (found.refusal !== null) throw rejected('workspace_unusable', folderRefusals[found.refusal]);
    if (found.canonical !== shown.canonical) {
      throw rejected(
        'workspace_unusable',
        'The folder is not the one any more that was confirmed. Look at it again.',
      );
    }
    if (existing && existing.local_workspace !== found.canonical) {
      throw rejected('conflict', `This Environment is bound to ${existing.local_workspace} and stays there.`);
    }
    return provideFolder(found);
  }

  /** The secret of an earlier try, or a new one that is in the store before anybody hears of it (M2). */
  async #takeSecret(account: string): Promise<{ secret: string; fresh: boolean }> {
    const { secrets, random } = this.#ports;
    const kept = requireStored(await secrets.get(account));
    if (kept !== null) {
      this.#ports.register(kept);
      return { secret: kept, fresh: false };
    }
    const secret = Buffer.from(random.hex(32), 'hex').toString('base64url');
    this.#ports.register(secret);
    requireStored(await secrets.set(account, secret, true));
    return { secret, fresh: true };
  }

  async #claim(secret: string, forget: (() => Promise<unknown>) | null): Promise<void> {
    const { coreUrl } = this.plan.address;
    const claimed = await claimInstallation({ coreUrl, grant: this.#grant ?? '', secret }, this.#call());
    if (claimed.kind === 'ok') return;
    // A definite no to a secret that is new: nothing depends on it. After an unclear answer it must stay.
    if (claimed.why.of === 'grant' && forget) await forget();
    this.#stop(claimed.why);
  }

  async #enroll(secret: string, folder: string, existing: BindingReceipt | null): Promise<Enrollment> {
    const { address, environmentId, frozenFolder, way } = this.plan;
    const answer = await enroll({ coreUrl: address.coreUrl, environmentId, secret }, this.#call());
    if (answer.kind === 'failed') this.#stop({ of: 'connection', failure: answer.failure });
    const { value } = answer;
    if (existing && JSON.stringify(sorted(existing.enrollment)) !== JSON.stringify(sorted(value))) {
      this.#stop({ of: 'connection', failure: permanent('binding_mismatch', 'enrollment') });
    }
    const named = value.workspace_directory;
    if (way === 'grant' && named !== (frozenFolder ?? anyFolder)) {
      this.#stop({ of: 'connection', failure: permanent('binding_mismatch', 'folder') });
    }
    if (named !== anyFolder && !(await sameFolder(named, folder))) {
      throw rejected(
        'conflict',
        `The Session is for the folder ${named} and no other. Name that folder, or use another Session.`,
      );
    }
    return value;
  }

  async #confirmConnection(secret: string): Promise<void> {
    const { clock } = this.#ports;
    const { address, environmentId } = this.plan;
    const until = clock.monotonic() + connectionCheck.most;
    for (;;) {
      const asked = await askConnected({ coreUrl: address.coreUrl, environmentId, secret }, this.#call());
      const connected = asked.kind === 'ok' && asked.connected;
      // A key that Core refuses will not be seen connected; the link says why.
      const hopeless = asked.kind === 'failed' && asked.failure.class === 'permanent';
      const over = hopeless || clock.monotonic() + connectionCheck.every > until;
      if (connected || over || !(await delay(clock, connectionCheck.every, this.#abort.signal))) {
        this.#apply({ type: 'answered', connected });
        return;
      }
    }
  }

  #call(): CallPorts {
    return { ...callPorts(this.#ports), signal: this.#abort.signal };
  }

  #done(serving = false): void {
    this.#apply({ type: 'step_done', serving });
  }

  #stop(problem: EnrolProblem): never {
    this.#apply({ type: 'step_failed', problem });
    throw new Stopped();
  }

  #apply(event: EnrolEvent): boolean {
    const next = advanceEnrolment(this.#state, event, this.plan.way);
    if (!next) return false;
    this.#state = next;
    this.#ports.logger.info(`enrol.${next.state}`, { step: stepOf(next), way: this.plan.way });
    this.#ports.onChange();
    return true;
  }
}

/** A step ended the enrolment and the state says why. */
class Stopped extends Error {}

const stepOf = (state: EnrolState): EnrolStep | null => ('step' in state ? state.step : null);
const sorted = (enrollment: Enrollment): [string, string][] => Object.entries(enrollment).sort();
const callPorts = ({ clock, userAgent, network }: EnrolmentPorts): CallPorts => ({
  clock,
  userAgent,
  ...(network ? { network } : {}),
});

async function sameFolder(one: string, other: string): Promise<boolean> {
  const real = (path: string): Promise<string> => realpath(path).catch(() => path);
  return (await real(one)) === (await real(other));
}
