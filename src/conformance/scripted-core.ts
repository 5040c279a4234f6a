import type { IncomingMessage } from 'node:http';

import type { ConnectionEnd, CoreConnection, Received } from '../core/connection.ts';
import { Gateway } from '../core/gateway.ts';
import { within, type Clock } from '../platform/clock.ts';
import { decodeEnvelope } from '../protocol/envelope.ts';
import type { HeartbeatPayload } from '../protocol/heartbeat.ts';
import { isJsonObject } from '../protocol/presence.ts';
import type { RouteError } from '../core/http-routes.ts';
import type { ScriptFrame } from './scenario.ts';

/** Told of everything that goes either way, in order, with the number of its connection. */
export interface ScriptedCoreWitness {
  opened(connection: number): void;
  said(connection: number, frame: ScriptFrame): void;
  heard(connection: number, frame: ScriptFrame): void;
  lost(connection: number): void;
}

/** What the scripted Core waits for: a frame, or the end of the connection. */
export type Incoming =
  | { readonly kind: 'frame'; readonly frame: ScriptFrame }
  /** A message that is no frame of a Runtime as the contract has it: why. */
  | { readonly kind: 'broken'; readonly why: string }
  | { readonly kind: 'closed'; readonly end: ConnectionEnd };

/** One attempt to open the socket, as a Runtime made it. */
export interface DialSeen {
  readonly version: string | null;
  readonly deviceId: string | null;
  readonly bearer: boolean;
  /** The credential stood in the URL, where it must never be. */
  readonly credentialInUrl: boolean;
}

export const contractDevice = 'runtime';
/** A dummy: it opens nothing but a scripted Core. */
export const contractCredential = 'synthetic-contract-credential';

/**
 * Core as a script plays it, on the real gateway: it says what it is told and hands out what it receives, in order.
 * Heartbeats are kept apart, because they stand in no exchange.
 */
export class ScriptedCore {
  readonly #clock: Clock;
  readonly #gateway: Gateway;
  readonly #dials: DialSeen[] = [];
  #refusal: { status: number; error: string } | null = null;
  #incoming: Incoming[] = [];
  #waiter: ((incoming: Incoming) => void) | null = null;
  #connection: CoreConnection | null = null;
  #connections = 0;
  #heartbeat: HeartbeatPayload | null = null;
  /** For whoever writes a history of the exchange. */
  witness: ScriptedCoreWitness | null = null;
  #onReady: (() => void)[] = [];
  #onDial: (() => void)[] = [];
  #onJoin: (() => void)[] = [];

  private constructor(clock: Clock, heartbeatSeconds: number) {
    this.#clock = clock;
    this.#gateway = new Gateway({
      clock,
      heartbeatSeconds,
      refuse: (request) => this.#judgeDial(request),
      observer: {
        connected: (connection) => {
          this.#connection = connection;
          this.#connections++;
          this.witness?.opened(this.#connections);
          this.#heartbeat = null;
          for (const joined of this.#onJoin.splice(0)) joined();
        },
        received: (received, connection) => {
          if (connection === this.#connection) this.#receive(received);
        },
        heartbeat: (heartbeat, connection) => {
          if (connection !== this.#connection || !heartbeat) return;
          this.#heartbeat = heartbeat;
          for (const ready of this.#onReady.splice(0)) ready();
        },
        ended: (end, connection) => {
          if (connection !== this.#connection) return;
          this.witness?.lost(this.#connections);
          this.#push({ kind: 'closed', end });
        },
      },
    });
    this.#gateway.registerDevice(contractDevice, contractCredential);
  }

  /** Long heartbeats keep the exchange free of what is not part of it. */
  static async listen(options: { clock: Clock; heartbeatSeconds?: number }): Promise<ScriptedCore> {
    const core = new ScriptedCore(options.clock, options.heartbeatSeconds ?? 86_400);
    await core.#gateway.listen();
    return core;
  }

  close(): Promise<void> {
    return this.#gateway.close();
  }

  get coreUrl(): string {
    return this.#gateway.coreUrl;
  }
  get gateway(): Gateway {
    return this.#gateway;
  }
  get dials(): readonly DialSeen[] {
    return this.#dials;
  }
  get connections(): number {
    return this.#connections;
  }
  get connection(): CoreConnection | null {
    return this.#connection?.isOpen ? this.#connection : null;
  }
  get heartbeat(): HeartbeatPayload | null {
    return this.#heartbeat;
  }

  /** Resolves when a connection is open and its first heartbeat was valid; false after `ms`. */
  async ready(ms: number): Promise<boolean> {
    if (this.connection && this.#heartbeat) return true;
    const ready = new Promise<void>((resolve) => this.#onReady.push(resolve));
    return (await within(this.#clock, ms, ready)).kind === 'value';
  }

  /** Resolves when a connection is open, whether or not anything was said on it; false after `ms`. */
  async joined(ms: number): Promise<boolean> {
    if (this.connection) return true;
    const joined = new Promise<void>((resolve) => this.#onJoin.push(resolve));
    return (await within(this.#clock, ms, joined)).kind === 'value';
  }

  /** The next attempt to open the socket; false after `ms`. */
  async dialed(ms: number): Promise<boolean> {
    const dialed = new Promise<void>((resolve) => this.#onDial.push(resolve));
    return (await within(this.#clock, ms, dialed)).kind === 'value';
  }

  /** Answers every attempt to open the socket like this until `admitAll`. */
  refuseWith(refusal: { status: number; error: string }): void {
    this.#refusal = refusal;
  }
  admitAll(): void {
    this.#refusal = null;
  }

  send(frame: ScriptFrame): boolean {
    this.witness?.said(this.#connections, frame);
    const { type, id, payload } = frame;
    const body = Object.keys(payload).length > 0 ? { payload } : {};
    return this.sendText(JSON.stringify({ type, ...(id === '' ? {} : { id }), ...body }));
  }
  sendText(text: string): boolean {
    return this.#connection?.sendText(text) === 'queued';
  }

  /** Resolves when the Runtime has read everything that was sent. */
  async roundTrip(): Promise<void> {
    await this.connection?.roundTrip();
  }

  /** What came next, in order; null when nothing came within `ms`. */
  async next(ms: number): Promise<Incoming | null> {
    const first = this.#incoming.shift();
    if (first) return first;
    const arrived = new Promise<Incoming>((resolve) => (this.#waiter = resolve));
    const result = await within(this.#clock, ms, arrived);
    if (result.kind === 'value') return result.value;
    this.#waiter = null;
    return null;
  }

  /** Loses the connection without a close frame. */
  drop(): void {
    this.#connection?.drop();
    this.#incoming = [];
  }

  #receive(received: Received): void {
    switch (received.outcome) {
      case 'malformed':
        return this.#push({ kind: 'broken', why: 'a message that is no JSON Envelope' });
      case 'unknown_type':
        return this.#push({ kind: 'broken', why: `a frame of the unknown type ${received.type}` });
      case 'refused':
        if (received.refusal.type === 'heartbeat')
          return this.#push({ kind: 'broken', why: 'an invalid heartbeat' });
        return this.#push({
          kind: 'broken',
          why: `an invalid ${received.refusal.type} (${received.refusal.path})`,
        });
      case 'frame':
        break;
    }
    if (received.frame.type === 'heartbeat') return;
    // As it was written: a zero value that should have been left out is a difference.
    const payload = decodeEnvelope(received.frame.text)?.payload;
    const { type, id } = received.frame;
    const frame = { type, id, payload: isJsonObject(payload) ? payload : {} };
    this.witness?.heard(this.#connections, frame);
    this.#push({ kind: 'frame', frame });
  }

  #push(incoming: Incoming): void {
    const waiter = this.#waiter;
    this.#waiter = null;
    if (waiter) waiter(incoming);
    else this.#incoming.push(incoming);
  }

  #judgeDial(request: IncomingMessage): RouteError | undefined {
    const url = new URL(request.url ?? '/', 'http://core.invalid');
    this.#dials.push({
      version: url.searchParams.get('version'),
      deviceId: url.searchParams.get('device_id'),
      bearer: request.headers.authorization === `Bearer ${contractCredential}`,
      credentialInUrl: (request.url ?? '').includes(contractCredential),
    });
    for (const dialed of this.#onDial.splice(0)) dialed();
    return this.#refusal ? { ...this.#refusal, detail: 'refused by a scenario' } : undefined;
  }
}
