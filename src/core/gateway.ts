import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';

import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import { FRAME_BYTES, HEARTBEAT_DEFAULT_SECONDS } from '../protocol/limits.ts';
import { answerEnrolment } from './enrolment-routes.ts';
import { MachineAuthority } from './machine-authority.ts';
import { CoreConnection, type ConnectionObserver } from './connection.ts';
import {
  answerRequest,
  API_PREFIX,
  judgeUpgrade,
  refuseUpgrade,
  SOCKET_PATH,
  type Authority,
  type RouteError,
} from './http-routes.ts';

export interface GatewayOptions {
  readonly clock: Clock;
  readonly heartbeatSeconds?: number;
  /** Told of every connection and of what it receives; may be a test's. */
  readonly observer?: GatewayObserver;
  /**
   * Asked for every upgrade before Core's own checks: a refusal that a test wants to see, or undefined to let the
   * ordinary checks decide.
   */
  readonly refuse?: (request: IncomingMessage) => RouteError | undefined;
  /** Asked for every plain request before Core's own routes: true when it answered itself. For a test that listens in. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
  /** With it machines can enrol here; without it every device is registered by hand. */
  readonly enrolment?: { readonly random: Random; readonly build: string };
}

export interface GatewayObserver extends ConnectionObserver {
  connected?(connection: CoreConnection): void;
}

interface Device {
  credentialDigest: Buffer;
  retired: boolean;
  /** Of the credential that the open connection authenticated with. */
  connectedDigest?: Buffer;
}

/**
 * The machine side of Core on 127.0.0.1: HTTP routes, the handshake with its order of checks, and one connection for
 * each known device, the newest of which wins. It knows nothing of Sessions and Turns.
 */
export class Gateway {
  readonly #clock: Clock;
  readonly #heartbeatSeconds: number;
  readonly #observer: GatewayObserver;
  readonly #refuse: (request: IncomingMessage) => RouteError | undefined;
  readonly #intercept: GatewayOptions['intercept'];
  readonly #devices = new Map<string, Device>();
  readonly #connections = new Map<string, CoreConnection>();
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
  });
  readonly #open = new Set<Duplex>();
  /** Who may enrol; null where nobody can. */
  readonly authority: MachineAuthority | null;
  #origin = '';

  constructor(options: GatewayOptions) {
    this.#clock = options.clock;
    this.#heartbeatSeconds = options.heartbeatSeconds ?? HEARTBEAT_DEFAULT_SECONDS;
    this.#observer = options.observer ?? {};
    this.#refuse = options.refuse ?? (() => undefined);
    this.#intercept = options.intercept;
    this.authority = options.enrolment
      ? new MachineAuthority({
          ...options.enrolment,
          clock: options.clock,
          onDevice: (deviceId, secret) => this.#setDevice(deviceId, secret),
        })
      : null;
    this.#server = createServer((request, response) => {
      void answerRequest(this.#routes, request, response);
    });
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(request, socket, head),
    );
    // A connection that could not be taken (too many open files) is lost; the port goes on listening.
    this.#server.on('error', () => undefined);
    this.#server.on('connection', (socket: Duplex) => {
      this.#open.add(socket);
      socket.on('close', () => this.#open.delete(socket));
    });
  }

  /** Binds a loopback port, a free one by default. */
  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('The local Core has no port.');
    this.#origin = `127.0.0.1:${address.port}`;
  }

  /** Ends every connection and the port. */
  async close(): Promise<void> {
    for (const connection of [...this.#connections.values()]) connection.drop();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  /** What a bootstrap file calls `core_url`. */
  get coreUrl(): string {
    return `http://${this.#origin}${API_PREFIX}`;
  }

  get socketUrl(): string {
    return `ws://${this.#origin}${SOCKET_PATH}`;
  }

  /** Makes a device known, or gives a known one a new credential. Only a digest of it is kept. */
  registerDevice(deviceId: string, credential: string): void {
    this.#devices.set(deviceId, { credentialDigest: digest(credential), retired: false });
  }

  /** The device may not connect any more; an open connection is closed with 4001 at its next heartbeat. */
  retireDevice(deviceId: string): void {
    const device = this.#devices.get(deviceId);
    if (device) device.retired = true;
  }

  /** A digest in the place of the former one; null: the authority of the device ended, the device itself did not. */
  #setDevice(deviceId: string, secret: Buffer | null): void {
    const known = this.#devices.get(deviceId);
    const credentialDigest = secret ?? digest('');
    if (known) known.credentialDigest = credentialDigest;
    else this.#devices.set(deviceId, { credentialDigest, retired: false });
  }

  connection(deviceId: string): CoreConnection | undefined {
    return this.#connections.get(deviceId);
  }

  get #routes() {
    const { authority } = this;
    return {
      authenticate: (deviceId: string, credential: string) => this.#authenticate(deviceId, credential),
      isOnline: (deviceId: string) => this.#connections.has(deviceId),
      heartbeatSeconds: this.#heartbeatSeconds,
      socketUrl: () => this.socketUrl,
      ...(this.#intercept ? { intercept: this.#intercept } : {}),
      ...(authority
        ? {
            more: (request: IncomingMessage, response: ServerResponse, url: URL) =>
              answerEnrolment(
                {
                  authority,
                  socketUrl: this.socketUrl,
                  isConnected: (id, key) => this.#isConnected(id, key),
                },
                request,
                response,
                url,
              ),
          }
        : {}),
    };
  }

  #isConnected(deviceId: string, secret: Buffer): boolean {
    const device = this.#devices.get(deviceId);
    return (
      this.#connections.has(deviceId) && !device?.retired && device?.connectedDigest?.equals(secret) === true
    );
  }

  #authenticate(deviceId: string, credential: string): Authority {
    const device = this.#devices.get(deviceId);
    // A device that is not known is compared all the same, so that an answer takes equally long.
    const matches = timingSafeEqual(digest(credential), device?.credentialDigest ?? digest(''));
    if (!device || device.retired) return 'unknown_device';
    return matches ? 'ok' : 'bad_credential';
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const decision = this.#refuse(request) ?? judgeUpgrade(this.#routes, request);
    if ('status' in decision) {
      refuseUpgrade(socket, decision);
      return;
    }
    const { deviceId } = decision;
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      this.#connections.get(deviceId)?.drop('replaced');
      const connection = new CoreConnection({
        clock: this.#clock,
        deviceId,
        socket: webSocket,
        isRetired: () => this.#devices.get(deviceId)?.retired ?? true,
        observer: {
          received: (received, from) => this.#observer.received?.(received, from),
          heartbeat: (heartbeat, from) => this.#observer.heartbeat?.(heartbeat, from),
          ended: (end, from) => {
            if (this.#connections.get(deviceId) === from) this.#connections.delete(deviceId);
            this.#observer.ended?.(end, from);
          },
        },
      });
      this.#connections.set(deviceId, connection);
      const device = this.#devices.get(deviceId);
      if (device) device.connectedDigest = device.credentialDigest;
      this.#observer.connected?.(connection);
    });
  }
}

const digest = (credential: string): Buffer => createHash('sha256').update(credential).digest();
