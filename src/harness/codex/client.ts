import type { Readable } from 'node:stream';

import { asError, rejected, unknownOutcome, type RuntimeError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { CloseResult } from '../../ownership/owned.ts';
import { delay, within, type Clock } from '../../platform/clock.ts';
import { parseLine, readLines } from '../process/jsonl.ts';
import type { ProcessExit } from '../process/spawn.ts';
import {
  parseNative,
  type NativeLine,
  type Notification,
  type RequestId,
  type ServerRequest,
} from './native-types.ts';

export interface ClientPorts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where messages go. Each call is awaited before the next line is read, which is how back-pressure reaches the program. */
export interface ClientListener {
  notified(notification: Notification): Promise<void>;
  /** The program asks something of us; every request must be answered with `reply` or `refuse`. */
  asked(request: ServerRequest): Promise<void>;
}

/** The process as the client uses it; a `NativeProcess` is one. */
export interface ClientProcess {
  readonly pid: number;
  readonly input: { write(...values: readonly unknown[]): Promise<void> };
  readonly output: Readable;
  readonly exited: Promise<ProcessExit>;
  stop(): Promise<CloseResult>;
}

/** The program refused a request of ours: nothing came of it. */
export interface Refusal {
  readonly code: number;
  readonly unknownMethod: boolean;
}
export type Answer =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Our own code for a question that gets no answer; the model is told of an empty one. */
export const NO_ANSWER = -32001;
const NOT_SERVED = -32601;

/** How long word of our answer's arrival is waited for; a program that sends none has still got the answer. */
const RESOLVED_LIMIT_MS = 3_000;
/** After the program's end: how long its output may stay silent before it is not waited for any more. */
const SILENCE_LIMIT_MS = 1_000;

/**
 * The app server's line protocol over the pipes of one process: requests both ways and notifications, each of our
 * requests with a limit of its own, because some versions leave a request unanswered. A refusal is an answer; a
 * program that is gone or silent is an error of the family `unknown`.
 */
export class CodexClient {
  /** Resolves with a sentence for a person when nothing more will come. Never rejects. */
  readonly ended: Promise<string>;
  readonly #ports: ClientPorts;
  readonly #native: ClientProcess;
  readonly #waiting = new Map<
    RequestId,
    { resolve: (answer: Answer) => void; reject: (error: RuntimeError) => void }
  >();
  readonly #answering = new Map<RequestId, (arrived: boolean) => void>();
  #nextId = 1;
  #handling = false;
  #lines = 0;
  #over = false;
  #broken: string | null = null;

  constructor(ports: ClientPorts, native: ClientProcess, listener: ClientListener) {
    this.#ports = ports;
    this.#native = native;
    this.ended = this.#run(listener);
  }

  get over(): boolean {
    return this.#over;
  }

  /**
   * Asks the program. The limit ends the wait: a late answer is dropped, and what became of the request is unknown.
   * @throws RuntimeError of the family `unknown`
   */
  async ask(method: string, params: unknown, limitMs: number): Promise<Answer> {
    if (this.#over) throw gone();
    const id = this.#nextId++;
    const answer = new Promise<Answer>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    // A failed write also ends the program's output, which rejects everything that waits.
    this.#native.input.write({ id, method, params }).catch(() => undefined);
    const waited = await within(this.#ports.clock, limitMs, answer);
    this.#waiting.delete(id);
    if (waited.kind === 'timeout') throw unknownOutcome('timeout', 'Codex did not answer in time.');
    return waited.value;
  }

  /**
   * `ask` for what is not refused in the ordinary course of things.
   * @throws RuntimeError `rejected` when refused
   */
  async request(method: string, params: unknown, limitMs: number): Promise<unknown> {
    const answer = await this.ask(method, params, limitMs);
    if (answer.kind === 'result') return answer.result;
    this.#ports.logger.warn('codex.request_refused', { method, code: answer.refusal.code });
    throw rejected('harness_failed', 'Codex refused a request of this app.');
  }

  notify(method: string): void {
    this.#native.input.write({ method }).catch(() => undefined);
  }

  /**
   * Answers a request of the program. Resolves when the program has taken the answer, which it says for most requests,
   * or when the answer was written a while ago. Rejects when the program is gone.
   */
  reply(id: RequestId, result: unknown): Promise<void> {
    return this.#answer(id, { id, result });
  }

  /** Says that there is no answer. Resolves like `reply`. */
  decline(id: RequestId, message: string): Promise<void> {
    return this.#answer(id, { id, error: { code: NO_ANSWER, message } });
  }

  /** Answers a request whose effect shows in another way. Resolves when the answer left for the pipe. */
  send(id: RequestId, result: unknown): Promise<void> {
    return this.#native.input.write({ id, result });
  }

  /** `send` for an answer that nobody waits for. */
  tell(id: RequestId, result: unknown): void {
    this.#native.input.write({ id, result }).catch(() => undefined);
  }

  /** Says that a request cannot be served. */
  refuse(id: RequestId): void {
    this.#native.input
      .write({ id, error: { code: NOT_SERVED, message: 'This app cannot do that.' } })
      .catch(() => undefined);
  }

  stop(): Promise<CloseResult> {
    return this.#native.stop();
  }

  async #answer(id: RequestId, line: unknown): Promise<void> {
    if (this.#over) throw gone();
    const arrival = new Promise<boolean>((resolve) => this.#answering.set(id, resolve));
    try {
      await this.#native.input.write(line);
      const heard = await within(this.#ports.clock, RESOLVED_LIMIT_MS, arrival);
      if (heard.kind === 'value' && !heard.value) throw gone();
    } finally {
      this.#answering.delete(id);
    }
  }

  async #run(listener: ClientListener): Promise<string> {
    const reading = this.#read(listener).catch((error: unknown) => {
      this.#ports.logger.error('codex.read_failed', { error: asError(error).name });
      this.#broken ??= 'Codex sent something that could not be handled.';
    });
    const finished = reading.then(() => 'read' as const);
    const first = await Promise.race([finished, this.#native.exited.then(() => 'exited' as const)]);
    if (first === 'exited') await this.#drain(finished);
    this.#over = true;
    // Reading is over while the program may live on (a line too long, a fault): it is of no use any more.
    if (first === 'read') await within(this.#ports.clock, SILENCE_LIMIT_MS, this.#native.exited);
    for (const { reject } of this.#waiting.values()) reject(gone());
    this.#waiting.clear();
    for (const resolve of this.#answering.values()) resolve(false);
    return this.#broken ?? (await this.#farewell());
  }

  /** What was written before the end is read to the end, unless a leftover command merely holds the pipe open. */
  async #drain(finished: Promise<'read'>): Promise<void> {
    for (;;) {
      const seen = this.#lines;
      const waited = await Promise.race([
        finished,
        delay(this.#ports.clock, SILENCE_LIMIT_MS).then(() => 'silence' as const),
      ]);
      if (waited === 'read') return;
      if (!this.#handling && this.#lines === seen) {
        this.#native.output.destroy();
        await finished;
        return;
      }
    }
  }

  async #farewell(): Promise<string> {
    const exit = await within(this.#ports.clock, 0, this.#native.exited);
    if (exit.kind === 'timeout') return 'Codex stopped talking.';
    const { code, signal } = exit.value;
    return `Codex ended (${signal ? `by ${signal}` : `exit code ${code ?? 'unknown'}`}).`;
  }

  async #read(listener: ClientListener): Promise<void> {
    for await (const line of readLines(this.#native.output)) {
      this.#lines++;
      if (line.kind === 'oversized') {
        this.#ports.logger.error('codex.line_too_long', { bytes: line.bytes });
        this.#broken = 'Codex sent a message that is too large.';
        return;
      }
      const parsed = parseNative(parseLine(line.text));
      if (parsed.kind === 'unreadable') {
        this.#ports.logger.error('codex.message_unreadable', { method: parsed.method });
        if (!parsed.vital) continue;
        this.#broken = 'Codex sent something this app does not understand. Update this app.';
        return;
      }
      this.#handling = true;
      try {
        await this.#handle(parsed, listener);
      } finally {
        this.#handling = false;
      }
    }
  }

  async #handle(line: Exclude<NativeLine, { kind: 'unreadable' }>, listener: ClientListener): Promise<void> {
    switch (line.kind) {
      case 'result':
        return this.#answered(line.id, { kind: 'result', result: line.result });
      case 'refusal': {
        const { code, unknownMethod } = line;
        return this.#answered(line.id, { kind: 'refused', refusal: { code, unknownMethod } });
      }
      case 'request':
        return listener.asked(line.request);
      case 'foreign_request':
        this.#ports.logger.warn('codex.request_not_served', { method: line.method });
        return this.refuse(line.id);
      case 'notification': {
        const { notification } = line;
        if (notification.method === 'serverRequest/resolved') {
          const arrived = this.#answering.get(notification.params.requestId);
          if (arrived) return arrived(true);
        }
        return listener.notified(notification);
      }
      case 'ignored':
        return;
    }
  }

  #answered(id: RequestId, answer: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.resolve(answer);
  }
}

const gone = (): RuntimeError => unknownOutcome('closed', 'Codex ended before it answered.');
