import { ReadableStream, WritableStream } from 'node:stream/web';

import {
  client,
  RequestError,
  type AnyMessage,
  type ClientConnection,
  type Stream,
} from '@agentclientprotocol/sdk';
import * as z from 'zod';

import { asError, unknownOutcome, type RuntimeError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { CloseResult } from '../../ownership/owned.ts';
import { within, type Clock } from '../../platform/clock.ts';
import { isJsonObject } from '../../protocol/presence.ts';
import { parseLine, readLines } from '../process/jsonl.ts';
import type { ClientProcess } from '../process/line-client.ts';
import {
  elicitationRequest,
  permissionRequest,
  sessionNotification,
  type ElicitationRequest,
  type PermissionRequest,
  type SessionUpdate,
} from './protocol.ts';

/** Where the agent's messages go. */
export interface AgentListener {
  /** Awaited before the next message is read, which is how back-pressure reaches the agent. */
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  permission(request: PermissionRequest, exchange: Exchange): Promise<Record<string, unknown>>;
  elicitation(request: ElicitationRequest, exchange: Exchange): Promise<Record<string, unknown>>;
}

/** One request of the agent while it waits for our answer. */
export interface Exchange {
  /** The agent took the request back. */
  readonly signal: AbortSignal;
  /** Whether the answer left for the pipe; false when the agent was gone first. Never rejects. */
  readonly written: Promise<boolean>;
}

export type AgentAnswer =
  | { readonly kind: 'answer'; readonly value: unknown }
  /** `message`: its own words, for a person. They are never read to classify. */
  | { readonly kind: 'refused'; readonly code: number; readonly message: string };

/** Lines that are no message of the protocol before an agent counts as broken. */
const STRAY_LINES = 1_000;
const MESSAGE_LIMIT = 500;

/**
 * The protocol over the pipes of one agent, through the SDK's client. Session updates are taken from the stream in
 * their order and awaited one by one; the SDK itself would start all of them at once.
 */
export class AgentConnection {
  /** Resolves with a sentence for a person when nothing more will come. Never rejects. */
  readonly ended: Promise<string>;
  readonly #native: ClientProcess;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #connection: ClientConnection;
  #reason: string | null = null;
  #over = false;
  /** Answers of ours that have not left yet, by the agent's request. */
  readonly #answers = new Map<string, (written: boolean) => void>();
  /** Who wants to know that the next request of a method left for the pipe. */
  #watch: { readonly method: string; readonly written: () => void } | null = null;

  constructor(
    ports: { readonly clock: Clock; readonly logger: Logger },
    native: ClientProcess,
    listener: AgentListener,
  ) {
    this.#native = native;
    this.#clock = ports.clock;
    this.#logger = ports.logger;
    this.#connection = client({ name: 'agent-runtime' })
      .onRequest(
        'session/request_permission',
        { parse: (value) => permissionRequest.safeParse(value) },
        (context) => {
          if (!context.params.success) throw RequestError.invalidParams();
          return listener.permission(context.params.data, this.#exchange(context));
        },
      )
      .onRequest(
        'elicitation/create',
        { parse: (value) => elicitationRequest.safeParse(value) },
        (context) => {
          if (!context.params.success) throw RequestError.invalidParams();
          return listener.elicitation(context.params.data, this.#exchange(context));
        },
      )
      // What else an agent tells or asks is not served; nothing of it may reach a log.
      .onNotification('*', () => undefined)
      .connect(stream(this.#messages(listener), this.#writer()));
    this.ended = this.#connection.closed.then(async () => {
      this.#over = true;
      for (const resolve of this.#answers.values()) resolve(false);
      this.#answers.clear();
      if (this.#reason !== null) return this.#reason;
      const exit = await within(this.#clock, 1_000, native.exited);
      if (exit.kind === 'timeout') return 'The agent closed its output.';
      const { code, signal } = exit.value;
      return `The agent ended by itself (${signal ?? `code ${code ?? 'unknown'}`}).`;
    });
  }

  get over(): boolean {
    return this.#over;
  }

  /**
   * Asks the agent. The limit ends the wait (null: none); a late answer is dropped.
   * @throws RuntimeError `unknown`: it is gone or silent.
   */
  async request(
    method: string,
    params: object,
    limitMs: number | null,
    onWritten: () => void = () => undefined,
  ): Promise<AgentAnswer> {
    if (this.#over) throw gone();
    this.#watch = { method, written: onWritten };
    const answer = this.#connection.agent.request<unknown, object>(method, params).then(
      (value): AgentAnswer => ({ kind: 'answer', value }),
      (error: unknown): AgentAnswer => {
        if (!(error instanceof RequestError) || this.#over) throw gone();
        return { kind: 'refused', code: error.code, message: String(error.message).slice(0, MESSAGE_LIMIT) };
      },
    );
    if (limitMs === null) return answer;
    const waited = await within(this.#clock, limitMs, answer);
    if (waited.kind === 'timeout') throw unknownOutcome('timeout', 'The agent did not answer in time.');
    return waited.value;
  }

  /** Resolves when it was written. */
  async notify(method: string, params: object): Promise<void> {
    if (this.#over) throw gone();
    await this.#connection.agent.notify<object>(method, params);
  }

  stop(): Promise<CloseResult> {
    return this.#native.stop();
  }

  /** One message at a time, and the next only when there is room for what the last one said. */
  #messages(listener: AgentListener): ReadableStream<AnyMessage> {
    const lines = readLines(this.#native.output);
    let stray = 0;
    const next = async (): Promise<AnyMessage | null> => {
      for (;;) {
        const { value: line, done } = await lines.next();
        if (done) return null;
        const value = line.kind === 'line' ? parseLine(line.text) : undefined;
        if (!isJsonObject(value)) {
          if (line.kind === 'oversized') this.#reason = 'The agent sent a message that is too large.';
          else if (line.text.trim() === '' || ++stray <= STRAY_LINES) continue;
          else this.#reason = 'The agent does not speak the Agent Client Protocol.';
          return null;
        }
        if (value['method'] !== 'session/update') return anyMessage.parse(value);
        const parsed = sessionNotification.safeParse(value['params']);
        if (parsed.success) await listener.update(parsed.data.sessionId, parsed.data.update);
      }
    };
    return new ReadableStream<AnyMessage>(
      {
        pull: async (controller) => {
          const message = await next().catch((error: unknown) => {
            this.#logger.error('acp.read_failed', { error: asError(error).name });
            this.#reason ??= 'The agent sent something that could not be handled.';
            return null;
          });
          if (message) return controller.enqueue(message);
          controller.close();
          // What nobody reads any more must not keep the agent's pipe open.
          await lines.return(undefined);
        },
        cancel: async () => {
          await lines.return(undefined);
        },
      },
      { highWaterMark: 0 },
    );
  }

  #exchange({ requestId, signal }: { readonly requestId: unknown; readonly signal: AbortSignal }): Exchange {
    const written = new Promise<boolean>((resolve) => this.#answers.set(JSON.stringify(requestId), resolve));
    return { signal, written };
  }

  #writer(): WritableStream<AnyMessage> {
    return new WritableStream<AnyMessage>({
      write: async (message) => {
        await this.#native.input.write(message);
        if (!('method' in message)) {
          const key = JSON.stringify(message.id);
          this.#answers.get(key)?.(true);
          this.#answers.delete(key);
          return;
        }
        if (message.method !== this.#watch?.method) return;
        const { written } = this.#watch;
        this.#watch = null;
        written();
      },
    });
  }
}

/** The SDK judges every message itself and answers those that are none. */
const anyMessage = z.custom<AnyMessage>(isJsonObject);

/** Node's stream classes are those of the browser; only their declarations are told apart. */
const stream = (readable: ReadableStream<AnyMessage>, writable: WritableStream<AnyMessage>): Stream =>
  ({ readable, writable }) as unknown as Stream;

const gone = (): RuntimeError => unknownOutcome('harness_failed', 'The agent has ended.');
