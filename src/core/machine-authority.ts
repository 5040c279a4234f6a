import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import { WIRE_VERSION } from '../protocol/version.ts';

/** One Environment that a machine of somebody may be enrolled for. */
export interface EnvironmentOffer {
  readonly environmentId: string;
  readonly sessionId: string;
  readonly workspaceDirectory: string;
  readonly harness?: string;
  /** The device that enrolling gives; a new one by default. */
  readonly deviceId?: string;
}

interface Key {
  digest: Buffer;
  revoked: boolean;
}

interface Environment extends Omit<EnvironmentOffer, 'deviceId'> {
  /** What `deviceId` becomes once a key enrolled. */
  readonly offeredDevice: string;
  readonly keys: Map<string, Key>;
  /** The first key to enrol owns the Environment for good. */
  boundKeyId: string | null;
  deviceId: string | null;
  deleted: boolean;
}

export type MachineRefusal = 400 | 401 | 405 | 409 | 503;
export type MachineResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly status: MachineRefusal; readonly code?: string };

/** Life of a grant. Milliseconds. */
const grantLife = 30 * 60_000;
const refuse = (
  status: MachineRefusal,
  code?: string,
): { ok: false; status: MachineRefusal; code?: string } => ({
  ok: false,
  status,
  ...(code === undefined ? {} : { code }),
});

/**
 * Who may enrol, and with what (machine-connection 4, 5, 10): Environments, their keys as digests, and signed grants.
 * It is Core's side of the routes; an operator's hand are the methods that begin with a verb.
 */
export class MachineAuthority {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #build: string;
  readonly #signingKey: string;
  readonly #environments = new Map<string, Environment>();
  /** Told of a device whose credential is new, or whose authority ended. */
  readonly #onDevice: (deviceId: string, digest: Buffer | null) => void;

  constructor(options: {
    clock: Clock;
    random: Random;
    build: string;
    onDevice: (deviceId: string, digest: Buffer | null) => void;
  }) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#build = options.build;
    this.#signingKey = options.random.hex(32);
    this.#onDevice = options.onDevice;
  }

  has(environmentId: string): boolean {
    return this.#environments.has(environmentId);
  }

  offer(environment: EnvironmentOffer): void {
    this.#environments.set(environment.environmentId, {
      ...environment,
      offeredDevice: environment.deviceId ?? this.#random.uuid(),
      keys: new Map(),
      boundKeyId: null,
      deviceId: null,
      deleted: false,
    });
  }

  /** A fresh grant, as every read of the Session gives one. */
  grant(environmentId: string): string {
    const claims = {
      principal: 'local',
      environment_id: environmentId,
      version: this.#build,
      expires_at: Math.floor((this.#clock.now() + grantLife) / 1_000),
    };
    const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
    return `${body}.${this.#sign(body)}`;
  }

  /** Issues a key, or a new secret for one; the file as it is shown once. */
  issueKey(environmentId: string, keyId: string, rotate = false): MachineResult<string> {
    const environment = this.#environments.get(environmentId);
    if (!environment || environment.deleted) return refuse(401);
    if (environment.keys.has(keyId) && !rotate) return refuse(409, 'executor_credential_exists');
    const token = Buffer.from(this.#random.hex(32), 'hex').toString('base64url');
    this.#setKey(environment, keyId, digest(token));
    const file = { key_id: keyId, environment_id: environmentId, executor_token: token };
    return { ok: true, value: JSON.stringify(file) };
  }

  revokeKey(environmentId: string, keyId: string): void {
    const environment = this.#environments.get(environmentId);
    const key = environment?.keys.get(keyId);
    if (!environment || !key) return;
    key.revoked = true;
    if (environment.boundKeyId === keyId && environment.deviceId) this.#onDevice(environment.deviceId, null);
  }

  deleteSession(environmentId: string): void {
    const environment = this.#environments.get(environmentId);
    if (!environment) return;
    environment.deleted = true;
    if (environment.deviceId) this.#onDevice(environment.deviceId, null);
  }

  /** What a grant is for. */
  installation(grant: string, remoteUrl: string): MachineResult<Record<string, string>> {
    const environment = this.#grantee(grant);
    if (!environment) return refuse(401, 'installation_authorization_invalid');
    return {
      ok: true,
      value: {
        version: this.#build,
        protocol_version: WIRE_VERSION,
        environment_id: environment.environmentId,
        remote_url: remoteUrl,
        workspace_directory: environment.workspaceDirectory,
        ...(environment.harness === undefined ? {} : { harness: environment.harness }),
      },
    };
  }

  /** Makes a secret of the machine the Environment's first key. Never replaces or revives one. */
  claim(grant: string, token: unknown): MachineResult<null> {
    const environment = this.#grantee(grant);
    if (!environment) return refuse(401, 'installation_authorization_invalid');
    if (typeof token !== 'string' || !isSecret(token)) return refuse(400);
    const [[, known] = []] = environment.keys;
    if (!known) {
      this.#setKey(environment, environment.environmentId, digest(token));
      return { ok: true, value: null };
    }
    const mine = environment.keys.get(environment.environmentId);
    const same = mine !== undefined && !mine.revoked && timingSafeEqual(mine.digest, digest(token));
    return same ? { ok: true, value: null } : refuse(409, 'executor_credential_exists');
  }

  /** Binds one device to the Environment; a repeat with the same key is the same binding. */
  enroll(environmentId: string, credential: string): MachineResult<Record<string, string>> {
    const found = this.#authorized(environmentId, credential);
    if (!found.ok) return found;
    const { environment, keyId, key } = found.value;
    environment.boundKeyId ??= keyId;
    environment.deviceId ??= environment.offeredDevice;
    this.#onDevice(environment.deviceId, key.digest);
    return {
      ok: true,
      value: {
        device_id: environment.deviceId,
        session_id: environment.sessionId,
        environment_id: environmentId,
        workspace_directory: environment.workspaceDirectory,
      },
    };
  }

  /** The device whose connection is asked about, when the credential may ask. */
  boundDevice(
    environmentId: string,
    credential: string,
  ): MachineResult<{ deviceId: string | null; digest: Buffer }> {
    const found = this.#authorized(environmentId, credential);
    if (!found.ok) return found;
    return {
      ok: true,
      value: { deviceId: found.value.environment.deviceId, digest: found.value.key.digest },
    };
  }

  #authorized(
    environmentId: string,
    credential: string,
  ): MachineResult<{ environment: Environment; keyId: string; key: Key }> {
    const environment = this.#environments.get(environmentId);
    if (!environment || environment.deleted) return refuse(401);
    const given = digest(credential);
    const [keyId, key] =
      [...environment.keys].find(([, known]) => timingSafeEqual(known.digest, given)) ?? [];
    if (keyId === undefined || !key || key.revoked) return refuse(401);
    if (environment.boundKeyId !== null && environment.boundKeyId !== keyId) return refuse(409);
    return { ok: true, value: { environment, keyId, key } };
  }

  #setKey(environment: Environment, keyId: string, secret: Buffer): void {
    environment.keys.set(keyId, { digest: secret, revoked: false });
    if (environment.boundKeyId === keyId && environment.deviceId)
      this.#onDevice(environment.deviceId, secret);
  }

  #grantee(grant: string): Environment | null {
    const [body = '', signature = ''] = grant.split('.');
    const expected = Buffer.from(this.#sign(body));
    const given = Buffer.from(signature);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    const claims: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
    const member = (name: string): unknown =>
      typeof claims === 'object' && claims !== null ? Reflect.get(claims, name) : undefined;
    const [expires, version, id] = [member('expires_at'), member('version'), member('environment_id')];
    if (typeof expires !== 'number' || expires * 1_000 <= this.#clock.now()) return null;
    if (version !== this.#build || typeof id !== 'string') return null;
    const environment = this.#environments.get(id);
    return environment && !environment.deleted ? environment : null;
  }

  #sign(body: string): string {
    return createHmac('sha256', this.#signingKey).update(body).digest('base64url');
  }
}

/** Exactly 32 bytes in canonical unpadded base64url. */
const isSecret = (text: string): boolean =>
  text.length === 43 && Buffer.from(text, 'base64url').toString('base64url') === text;

const digest = (credential: string): Buffer => createHash('sha256').update(credential.trim()).digest();
