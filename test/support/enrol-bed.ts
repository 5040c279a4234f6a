import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CredentialDesk } from '../../src/app/credentials.ts';
import { EnrolmentDesk } from '../../src/app/enrolments.ts';
import { Gateway } from '../../src/core/gateway.ts';
import type { MachineAuthority } from '../../src/core/machine-authority.ts';
import { Receipts, type BindingReceipt } from '../../src/enrol/receipt.ts';
import type { Logger, LogFields } from '../../src/observe/logger.ts';
import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { systemRandom } from '../../src/platform/random.ts';
import type { NativeKeychain } from '../../src/store/keychain.ts';

/** One request that reached Core, in the order of arrival. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

export const environmentId = '58e2e6ff-46cf-477f-8705-f19c41923382';
export const sessionId = '92ea7b07-1c1f-4eb1-b222-b335f2123ed8';

/** Answers a request itself, or lets Core do it (false). */
export type Interceptor = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/** Core on loopback that machines can enrol with, and all that it was asked. */
export class EnrolCore {
  readonly gateway: Gateway;
  readonly seen: SeenRequest[] = [];
  /** Every grant and credential that any of these was shown. */
  static readonly bearers = new Set<string>();
  /** What came over the sockets. */
  readonly frames: string[] = [];
  /** Looked at before Core answers. */
  intercept: Interceptor = () => false;

  private constructor(clock: Clock) {
    this.gateway = new Gateway({
      clock,
      heartbeatSeconds: 1,
      observer: {
        received: (received) => void this.frames.push(JSON.stringify(received)),
        heartbeat: (heartbeat) => void this.frames.push(JSON.stringify(heartbeat)),
      },
      enrolment: { random: systemRandom, build: '2026.11.1' },
      intercept: (request, response) => {
        const url = request.url ?? '';
        const path = url.replace('/api/v1/agent-daemon/', '').replace(/\?.*/, '');
        this.seen.push({ method: request.method ?? '', path, url, headers: request.headers });
        const bearer = request.headers.authorization?.replace('Bearer ', '') ?? '';
        if (bearer !== '') EnrolCore.bearers.add(bearer);
        return this.intercept(request, response);
      },
    });
  }

  static async start(port = 0, clock: Clock = systemClock): Promise<EnrolCore> {
    const core = new EnrolCore(clock);
    await core.gateway.listen(port);
    return core;
  }

  get authority(): MachineAuthority {
    const { authority } = this.gateway;
    if (!authority) throw new Error('This Core takes no machines.');
    return authority;
  }
  get endpoint(): string {
    return `${this.gateway.coreUrl}/agent-daemon/installation`;
  }
  /** Names of the routes that were called. */
  get paths(): readonly string[] {
    return this.seen.map(({ path }) => path);
  }
  /** A key file for an Environment, as an operator gets it. */
  issue(keyId: string, rotate = false, environment = environmentId): string {
    const issued = this.authority.issueKey(environment, keyId, rotate);
    if (!issued.ok) throw new Error(`not issued: ${issued.status}`);
    return issued.value;
  }
  close(): Promise<void> {
    return this.gateway.close();
  }
}

/** A keychain in memory that a test can lock. */
export class FakeKeychain implements NativeKeychain {
  readonly name = 'keychain';
  readonly secrets = new Map<string, string>();
  /** As a locked keyring on Linux: reads give nothing, writes fail. */
  locked = false;

  get(_service: string, account: string): Promise<string | null> {
    return Promise.resolve(this.locked ? null : (this.secrets.get(account) ?? null));
  }
  set(_service: string, account: string, secret: string): Promise<void> {
    if (this.locked) return Promise.reject(new Error('The collection is locked'));
    this.secrets.set(account, secret);
    return Promise.resolve();
  }
  delete(_service: string, account: string): Promise<boolean> {
    return Promise.resolve(!this.locked && this.secrets.delete(account));
  }
}

/** The enrolments of one state folder, without a Runtime unless a test stands in for it. */
export class EnrolBed {
  readonly core: EnrolCore;
  readonly home: string;
  readonly state: string;
  readonly workspace: string;
  readonly keychain: FakeKeychain;
  readonly receipts: Receipts;
  readonly credentials: CredentialDesk;
  readonly desk: EnrolmentDesk;
  readonly registered: string[] = [];
  readonly served: BindingReceipt[] = [];
  readonly restarted: string[] = [];
  readonly unserved: string[] = [];
  readonly forgotten: string[] = [];
  readonly log: string[] = [];
  /** Whether a Runtime takes what is bound. */
  serving = false;

  private constructor(options: {
    core: EnrolCore;
    home: string;
    keychain: FakeKeychain;
    credentials: CredentialDesk;
    log: string[];
    logger: Logger;
    clock: Clock;
  }) {
    this.core = options.core;
    this.home = options.home;
    this.state = join(options.home, 'state');
    this.workspace = join(options.home, 'project');
    this.keychain = options.keychain;
    this.credentials = options.credentials;
    this.log = options.log;
    this.receipts = new Receipts(join(this.state, 'environments'), systemRandom);
    this.desk = new EnrolmentDesk({
      clock: options.clock,
      random: systemRandom,
      logger: options.logger,
      userAgent: 'agent-runtime/test',
      credentials: this.credentials,
      receipts: this.receipts,
      state: this.state,
      otherFolders: () => [],
      register: (secret) => void this.registered.push(secret),
      serve: (receipt) => {
        this.served.push(receipt);
        return this.serving;
      },
      unserve: (name) => Promise.resolve(void this.unserved.push(name)),
      forgetRules: (id) => Promise.resolve(void this.forgotten.push(id)),
      restart: (name) => Promise.resolve(void this.restarted.push(name)),
      onChange: () => undefined,
    });
  }

  static async make(
    options: { core?: EnrolCore; home?: string; keychain?: FakeKeychain; clock?: Clock } = {},
  ): Promise<EnrolBed> {
    const home = options.home ?? (await realpath(await mkdtemp(join(tmpdir(), 'agent-runtime-enrol-'))));
    await mkdir(join(home, 'state'), { recursive: true, mode: 0o700 });
    const keychain = options.keychain ?? new FakeKeychain();
    const log: string[] = [];
    const logger = recordingLogger(log);
    const clock = options.clock ?? systemClock;
    const credentials = await CredentialDesk.open({
      clock,
      random: systemRandom,
      logger,
      path: join(home, 'state', 'credentials.json'),
      load: () => keychain,
    });
    await credentials.probe();
    const core = options.core ?? (await EnrolCore.start());
    const bed = new EnrolBed({ core, home, keychain, credentials, log, logger, clock });
    if (!options.core) core.authority.offer({ environmentId, sessionId, workspaceDirectory: bed.workspace });
    return bed;
  }

  /** The same machine after a restart: nothing but what is on disk and in the keychain is left. */
  restart(): Promise<EnrolBed> {
    return EnrolBed.make({ core: this.core, home: this.home, keychain: this.keychain });
  }

  /** What a Session shows to the person. */
  command(grant = this.core.authority.grant(environmentId)): string {
    return `curl -fsSL ${this.core.gateway.coreUrl}/agent-daemon/install/2026.11.1/bootstrap.sh | sh -s -- --endpoint ${this.core.endpoint} --grant '${grant}'`;
  }

  get account(): string {
    return `${new URL(this.core.gateway.coreUrl).host}/${environmentId}/${environmentId}`;
  }

  async close(): Promise<void> {
    await this.core.close();
    await rm(this.home, { recursive: true, force: true });
  }
}

function recordingLogger(lines: string[], base: LogFields = {}): Logger {
  const write =
    (level: string) =>
    (event: string, fields: LogFields = {}): void =>
      void lines.push(JSON.stringify({ level, event, ...base, ...fields }));
  return {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    with: (fields) => recordingLogger(lines, { ...base, ...fields }),
  };
}
