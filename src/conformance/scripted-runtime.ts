import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { WebSocket } from 'ws';
import * as z from 'zod';

import { within, type Clock } from '../platform/clock.ts';
import { capabilityNames } from '../protocol/capabilities.ts';
import { decodeFrame } from '../protocol/codec.ts';
import { decodeEnvelope } from '../protocol/envelope.ts';
import { FRAME_BYTES } from '../protocol/limits.ts';
import { isJsonObject } from '../protocol/presence.ts';
import { WIRE_VERSION } from '../protocol/version.ts';
import type { ScriptFrame } from './scenario.ts';

export type FromCore =
  | { readonly kind: 'frame'; readonly frame: ScriptFrame }
  /** A message that our strict decoder refuses: why. */
  | { readonly kind: 'broken'; readonly why: string }
  | { readonly kind: 'closed'; readonly code: number };

export interface CoreAddress {
  /** Machine API base that ends in `/api/v1`. */
  readonly url: string;
  readonly deviceId: string;
  readonly credential: string;
}

export type BootstrapSeen =
  | { readonly kind: 'ok'; readonly socketUrl: string; readonly version: string; readonly deviceId: string }
  | { readonly kind: 'refused'; readonly status: number; readonly error: string }
  | { readonly kind: 'failed'; readonly why: string };

const bootstrapBody = z.object({
  device_id: z.string().default(''),
  ws_url: z.string().default(''),
  protocol_version: z.string().default(''),
});
const errorBody = z.object({ error: z.string() });
const bootstrapMs = 10_000;

/** `POST /agent-daemon/bootstrap` as a Runtime sends it. */
export function bootstrapAt(address: CoreAddress): Promise<BootstrapSeen> {
  const url = new URL(`${address.url.replace(/\/$/, '')}/agent-daemon/bootstrap`);
  const body = JSON.stringify({ device_id: address.deviceId });
  return new Promise((resolve) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      timeout: bootstrapMs,
      headers: {
        authorization: `Bearer ${address.credential}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', (error) => resolve({ kind: 'failed', why: codeOf(error) }));
    request.on('response', (response) => {
      void readJson(response).then((json) => {
        const status = response.statusCode ?? 0;
        if (status < 200 || status > 299) return resolve({ kind: 'refused', status, error: errorOf(json) });
        const parsed = bootstrapBody.safeParse(json);
        if (!parsed.success) return resolve({ kind: 'failed', why: 'the answer is not the expected object' });
        const { ws_url: given, protocol_version: version, device_id: deviceId } = parsed.data;
        resolve({ kind: 'ok', version, deviceId, socketUrl: given === '' ? derivedUrl(address.url) : given });
      });
    });
    request.end(body);
  });
}

function derivedUrl(base: string): string {
  return `${base.replace(/\/$/, '').replace(/^http/, 'ws')}/agent-daemon/ws`;
}

export type Dialed =
  | { readonly kind: 'open'; readonly runtime: ScriptedRuntime }
  | { readonly kind: 'refused'; readonly status: number; readonly error: string }
  | { readonly kind: 'failed'; readonly why: string };

/** A Runtime as a script plays it: a bare socket that says what it is told and hands out what it receives. */
export class ScriptedRuntime {
  readonly #clock: Clock;
  readonly #socket: WebSocket;
  readonly #incoming: FromCore[] = [];
  #waiter: ((incoming: FromCore) => void) | null = null;
  #open = true;

  private constructor(clock: Clock, socket: WebSocket) {
    this.#clock = clock;
    this.#socket = socket;
    socket.on('message', (data: Buffer) => this.#push(read(data)));
    socket.on('close', (code: number) => {
      this.#open = false;
      this.#push({ kind: 'closed', code });
    });
    socket.on('error', () => undefined);
  }

  static dial(
    clock: Clock,
    socketUrl: string,
    as: { deviceId?: string; credential: string | null; version?: string },
  ): Promise<Dialed> {
    const url = new URL(socketUrl);
    if (as.deviceId !== undefined) url.searchParams.set('device_id', as.deviceId);
    url.searchParams.set('version', as.version ?? WIRE_VERSION);
    const socket = new WebSocket(url, {
      headers: as.credential === null ? {} : { authorization: `Bearer ${as.credential}` },
      perMessageDeflate: false,
      maxPayload: FRAME_BYTES,
      handshakeTimeout: bootstrapMs,
    });
    // Listens before it is open: Core may speak at once.
    const runtime = new ScriptedRuntime(clock, socket);
    return new Promise((resolve) => {
      socket.once('open', () => resolve({ kind: 'open', runtime }));
      socket.once('unexpected-response', (_request, response) => {
        void readJson(response).then((json) =>
          resolve({ kind: 'refused', status: response.statusCode ?? 0, error: errorOf(json) }),
        );
      });
      socket.once('error', (error) => resolve({ kind: 'failed', why: codeOf(error) }));
    });
  }

  get open(): boolean {
    return this.#open;
  }

  send(frame: ScriptFrame): void {
    const { type, id, payload } = frame;
    const body = Object.keys(payload).length > 0 ? { payload } : {};
    this.sendText(JSON.stringify({ type, ...(id === '' ? {} : { id }), ...body }));
  }
  sendText(text: string): void {
    if (this.#open) this.#socket.send(text);
  }

  /** A first heartbeat that offers `kind` with everything but what is named. */
  heartbeat(kind: string, without: readonly string[] = []): void {
    const capabilities = Object.fromEntries(capabilityNames.map((name) => [name, !without.includes(name)]));
    const ts = Math.floor(this.#clock.now() / 1_000);
    const supported = [{ kind, available: true, version: '1.0.0', capabilities }];
    this.send({
      type: 'heartbeat',
      id: '',
      payload: { ts, active_requests: 0, supported_agent_kinds: supported },
    });
  }

  async next(ms: number): Promise<FromCore | null> {
    const first = this.#incoming.shift();
    if (first) return first;
    const arrived = new Promise<FromCore>((resolve) => (this.#waiter = resolve));
    const result = await within(this.#clock, ms, arrived);
    if (result.kind === 'value') return result.value;
    this.#waiter = null;
    return null;
  }

  /** Resolves when the peer read everything that was sent before. */
  roundTrip(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#open) return resolve();
      this.#socket.once('pong', () => resolve());
      this.#socket.once('close', () => resolve());
      this.#socket.ping();
    });
  }

  /** Loses the connection without a close frame. */
  drop(): void {
    this.#open = false;
    this.#socket.terminate();
    this.#incoming.length = 0;
  }

  #push(incoming: FromCore): void {
    const waiter = this.#waiter;
    this.#waiter = null;
    if (waiter) waiter(incoming);
    else this.#incoming.push(incoming);
  }
}

/** Decoded strictly, as our Runtime does: what it refuses a Core must not send. */
function read(data: Buffer): FromCore {
  const decoded = decodeFrame(data, 'core-to-runtime');
  switch (decoded.outcome) {
    case 'malformed':
      return { kind: 'broken', why: 'a message that is no JSON Envelope' };
    case 'unknown_type':
      return { kind: 'broken', why: `a frame of the unknown type ${decoded.type}` };
    case 'refused':
      return { kind: 'broken', why: `an invalid ${decoded.refusal.type} (${decoded.refusal.path})` };
    case 'frame': {
      const { type, id, text } = decoded.frame;
      const payload = decodeEnvelope(text)?.payload;
      return { kind: 'frame', frame: { type, id, payload: isJsonObject(payload) ? payload : {} } };
    }
  }
}

async function readJson(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

function errorOf(json: unknown): string {
  const parsed = errorBody.safeParse(json);
  return parsed.success ? parsed.data.error : '';
}

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.name;
