import type { WebSocket } from 'ws';

import type { Clock, Timer } from '../platform/clock.ts';
import { decodeFrame, encodeFrame, type Decoded, type Frame, type FrameContent } from '../protocol/codec.ts';
import { descriptorOf, type AgentKindDescriptor, type HeartbeatPayload } from '../protocol/heartbeat.ts';
import {
  CLOSE_DEVICE_RETIRED,
  CORE_PREPARATION_SUBSCRIPTIONS,
  CORE_RECEIPT_MS,
  CORE_SILENCE_MS,
  FRAME_BYTES,
} from '../protocol/limits.ts';
import type { CoreFrameType, RuntimeFrameType } from '../protocol/registry.ts';
import { utf8Length } from '../protocol/utf8.ts';
import { OutboundQueue, type SendResult } from './outbound-queue.ts';
import { PreparationSubscription } from './preparation-subscription.ts';
import { Receipts, type ReceiptResult } from './receipts.ts';
import { isRunFrame, RunSubscription } from './run-subscription.ts';

export type ConnectionEnd =
  | 'closed_by_peer'
  | 'closed_by_core'
  | 'silence'
  | 'write_failed'
  | 'write_timeout'
  | 'invalid_heartbeat'
  | 'replaced'
  | 'retired';

/** What was received, for observers: the message as decoded, whatever came of it. */
export type Received = Decoded<RuntimeFrameType>;

export interface ConnectionObserver {
  received?(received: Received, connection: CoreConnection): void;
  /** The heartbeat that was taken; undefined when an invalid one cleared the snapshot. */
  heartbeat?(heartbeat: HeartbeatPayload | undefined, connection: CoreConnection): void;
  ended?(end: ConnectionEnd, connection: CoreConnection): void;
}

export interface ConnectionOptions {
  readonly clock: Clock;
  readonly deviceId: string;
  readonly socket: WebSocket;
  readonly observer: ConnectionObserver;
  /** Whether the device lost its right to be connected; asked at every heartbeat. */
  readonly isRetired: () => boolean;
}

/**
 * One physical connection of a Runtime, with routing, subscriptions and receipts of its own: nothing of it survives
 * on the next one. What it observes is truth of this connection alone.
 */
export class CoreConnection {
  readonly deviceId: string;
  /** Resolves once, with why it ended. */
  readonly closed: Promise<ConnectionEnd>;
  readonly #clock: Clock;
  readonly #socket: WebSocket;
  readonly #observer: ConnectionObserver;
  readonly #isRetired: () => boolean;
  readonly #queue: OutboundQueue;
  readonly #receipts: Receipts;
  readonly #runs = new Map<string, RunSubscription>();
  readonly #preparations = new Map<string, PreparationSubscription>();
  /** Interaction id to Run id, for `permission_cancel`. */
  readonly #interactions = new Map<string, string>();
  #snapshot: HeartbeatPayload | undefined;
  #end: ConnectionEnd | undefined;
  #lastReceived: number;
  #silence: Timer;
  #resolveClosed: (end: ConnectionEnd) => void = () => undefined;

  constructor(options: ConnectionOptions) {
    this.deviceId = options.deviceId;
    this.#clock = options.clock;
    this.#socket = options.socket;
    this.#observer = options.observer;
    this.#isRetired = options.isRetired;
    this.#receipts = new Receipts(options.clock);
    this.#queue = new OutboundQueue(options.clock, {
      write: (text, done) => this.#socket.send(text, done),
      broken: (reason) => this.#finish(reason),
    });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#lastReceived = this.#clock.monotonic();
    this.#silence = this.#watchSilence(CORE_SILENCE_MS);
    this.#socket.on('message', (data: Buffer) => this.#receive(data.toString('utf8')));
    this.#socket.on('close', () => this.#finish('closed_by_peer'));
    // The close event follows; the error's text is chosen by the peer and is of no use.
    this.#socket.on('error', () => undefined);
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** The last valid heartbeat; undefined before the first one: then capabilities are unknown, not absent. */
  get heartbeat(): HeartbeatPayload | undefined {
    return this.#snapshot;
  }

  /** What the Runtime advertises of a kind; undefined when it is not advertised or nothing is known yet. */
  descriptor(kind: string): AgentKindDescriptor | undefined {
    return this.#snapshot && descriptorOf(this.#snapshot, kind);
  }

  send<T extends CoreFrameType>(type: T, content: FrameContent<T>): SendResult {
    const frame = encodeFrame(type, content);
    return frame.bytes > FRAME_BYTES ? 'too_large' : this.#queue.send(frame.text);
  }

  /** Sends any text, valid or not: for peers that test a Runtime. */
  sendText(text: string): SendResult {
    return utf8Length(text) > FRAME_BYTES ? 'too_large' : this.#queue.send(text);
  }

  /**
   * Resolves with true when the peer has read everything that was queued before: it answers a ping in its turn. False
   * when the connection ended first. It proves nothing about what the peer did with it.
   */
  async roundTrip(): Promise<boolean> {
    await this.#queue.idle();
    if (this.#end) return false;
    return new Promise((resolve) => {
      this.#socket.once('pong', () => resolve(true));
      void this.closed.then(() => resolve(false));
      this.#socket.ping();
    });
  }

  /** Subscribe before anything is sent that may be answered. A second subscription replaces the first. */
  subscribeRun(runId: string): RunSubscription {
    this.#runs.get(runId)?.end('unsubscribed');
    const subscription = new RunSubscription(() => {
      if (this.#runs.get(runId) === subscription) this.#runs.delete(runId);
    });
    if (this.#end) subscription.end('connection_lost');
    else this.#runs.set(runId, subscription);
    return subscription;
  }

  /** Undefined when 64 subscriptions are open already. */
  subscribePreparation(requestId: string): PreparationSubscription | undefined {
    if (this.#preparations.size >= CORE_PREPARATION_SUBSCRIPTIONS && !this.#preparations.has(requestId))
      return undefined;
    this.#preparations.get(requestId)?.end('unsubscribed');
    const subscription = new PreparationSubscription(() => {
      if (this.#preparations.get(requestId) === subscription) this.#preparations.delete(requestId);
    });
    if (this.#end) subscription.end('connection_lost');
    else this.#preparations.set(requestId, subscription);
    return subscription;
  }

  /** Waits for the application receipt of a delivery. Call it before the frame is sent. */
  receipt(deliveryId: string, ms: number = CORE_RECEIPT_MS): Promise<ReceiptResult> {
    if (this.#end) return Promise.resolve({ kind: 'unobserved', reason: 'connection_lost' });
    return this.#receipts.wait(deliveryId, ms);
  }

  /** Ends the connection without a code: only a retired device gets one. */
  drop(end: ConnectionEnd = 'closed_by_core'): void {
    this.#finish(end);
  }

  /** Ends the connection with a close code. */
  close(code: number, end: ConnectionEnd = 'closed_by_core'): void {
    this.#socket.close(code);
    this.#finish(end, false);
  }

  #receive(text: string): void {
    if (this.#end) return;
    this.#lastReceived = this.#clock.monotonic();
    const received = decodeFrame(text, 'runtime-to-core');
    this.#observer.received?.(received, this);
    if (received.outcome === 'frame') this.#route(received.frame);
    else if (received.outcome === 'refused' && received.refusal.type === 'heartbeat')
      this.#invalidHeartbeat();
  }

  #route(frame: Frame<RuntimeFrameType>): void {
    switch (frame.type) {
      case 'heartbeat':
        this.#takeHeartbeat(frame.payload);
        return;
      case 'preparation_status':
        this.#preparations.get(frame.id)?.offer(frame.payload);
        return;
      case 'interaction_decision_ack':
        this.#receipts.offer(frame.payload);
        return;
      default:
        if (isRunFrame(frame)) this.#runs.get(this.#runOf(frame))?.offer(frame);
        if (frame.type === 'done') this.#forgetInteractions(frame.id);
    }
  }

  #forgetInteractions(runId: string): void {
    for (const [interaction, owner] of this.#interactions)
      if (owner === runId) this.#interactions.delete(interaction);
  }

  /** The Run a frame belongs to; requests open the way for the withdrawal that only names the interaction. */
  #runOf(frame: Frame<RuntimeFrameType>): string {
    if (frame.type === 'permission_request')
      this.#interactions.set(frame.payload.request_id.trim(), frame.id);
    if (frame.type !== 'permission_cancel') return frame.id;
    const runId = this.#interactions.get(frame.id) ?? '';
    this.#interactions.delete(frame.id);
    return runId;
  }

  #takeHeartbeat(heartbeat: HeartbeatPayload): void {
    if (this.#isRetired()) {
      this.close(CLOSE_DEVICE_RETIRED, 'retired');
      return;
    }
    this.#snapshot = heartbeat;
    this.#observer.heartbeat?.(heartbeat, this);
  }

  #invalidHeartbeat(): void {
    this.#snapshot = undefined;
    this.#observer.heartbeat?.(undefined, this);
    this.#finish('invalid_heartbeat');
  }

  #watchSilence(ms: number): Timer {
    return this.#clock.after(
      ms,
      () => {
        const left = CORE_SILENCE_MS - (this.#clock.monotonic() - this.#lastReceived);
        if (left <= 0) this.#finish('silence');
        else if (!this.#end) this.#silence = this.#watchSilence(left);
      },
      { background: true },
    );
  }

  #finish(end: ConnectionEnd, terminate = true): void {
    if (this.#end) return;
    this.#end = end;
    this.#silence.cancel();
    this.#queue.close();
    if (terminate) this.#socket.terminate();
    const reason = end === 'replaced' ? 'replaced' : 'connection_lost';
    for (const subscription of [...this.#runs.values(), ...this.#preparations.values()])
      subscription.end(reason);
    this.#receipts.end(reason);
    this.#observer.ended?.(end, this);
    this.#resolveClosed(end);
  }
}
