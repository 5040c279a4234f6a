import type { Readable } from 'node:stream';

import { asError, rejected, unknownOutcome, type RuntimeError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { CloseResult } from '../../ownership/owned.ts';
import { delay, within, type Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import { parseLine, readLines } from '../process/jsonl.ts';
import type { ProcessExit } from '../process/spawn.ts';
import { parseNative, type ControlRequest, type NativeMessage } from './native-types.ts';

export interface ClientPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Where messages go. Each call is awaited before the next line is read, which is how back-pressure reaches the program. */
export interface ClientListener {
  message(message: NativeMessage): Promise<void>;
  /** The program asks something of us; every request must be answered with `reply` or `refuse`. */
  request(request: ControlRequest): Promise<void>;
  /** The program took a request back; an answer has no effect any more. */
  withdrawn(requestId: string): Promise<void>;
}

/** The process as the client uses it; a `NativeProcess` is one. */
export interface ClientProcess {
  readonly pid: number;
  readonly input: { write(...values: readonly unknown[]): Promise<void> };
  readonly output: Readable;
  readonly exited: Promise<ProcessExit>;
  stop(): Promise<CloseResult>;
}

/** How long an echo of our answer is waited for; a program that sends none has still got the answer. */
const ECHO_LIMIT_MS = 3_000;
/** After the program's end: how long its output may stay silent before it is not waited for any more. */
const SILENCE_LIMIT_MS = 1_000;

/**
 * Claude Code's line protocol over the pipes of one process: messages and requests both ways, each of our requests
 * with a limit of its own. Two kinds of failure are kept apart: the program said no (`rejected`), or it is gone or
 * silent and what became of the request is unknown (`unknown`).
 */
export class ClaudeClient {
  /** Resolves with a sentence for a person when nothing more will come. Never rejects. */
  readonly ended: Promise<string>;
  readonly #ports: ClientPorts;
  readonly #native: ClientProcess;
  readonly #waiting = new Map<
    string,
    { resolve: (value: unknown) => void; reject: (error: RuntimeError) => void }
  >();
  readonly #echoes = new Map<string, (read: boolean) => void>();
  #handling = false;
  #lines = 0;
  #over = false;
  #broken: string | null = null;

  constructor(ports: ClientPorts, native: ClientProcess, listener: ClientListener) {
    this.#ports = ports;
    this.#native = native;
    this.ended = this.#run(listener);
  }

  get pid(): number {
    return this.#native.pid;
  }
  get over(): boolean {
    return this.#over;
  }

  /** Sends user messages. Resolves when they left for the pipe. */
  send(...messages: readonly unknown[]): Promise<void> {
    return this.#native.input.write(...messages);
  }

  /** Asks the program; resolves with its answer. The limit ends the wait: a late answer is dropped. */
  async control(request: Readonly<Record<string, unknown>>, limitMs: number): Promise<unknown> {
    if (this.#over) throw gone();
    const id = this.#ports.random.uuid();
    const answer = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    // A failed write also ends the program's output, which rejects everything that waits.
    this.#native.input.write({ type: 'control_request', request_id: id, request }).catch(() => undefined);
    const waited = await within(this.#ports.clock, limitMs, answer);
    this.#waiting.delete(id);
    if (waited.kind === 'timeout') throw unknownOutcome('timeout', 'Claude Code did not answer in time.');
    return waited.value;
  }

  /**
   * Answers a request of the program. Resolves when the program has read the answer, which it says by an echo, or
   * (for one that echoes nothing) when the answer was written a while ago. Rejects when the program is gone.
   */
  async reply(requestId: string, response: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.#over) throw gone();
    const echo = new Promise<boolean>((resolve) => this.#echoes.set(requestId, resolve));
    try {
      await this.#native.input.write({
        type: 'control_response',
        response: { subtype: 'success', request_id: requestId, response },
      });
      const heard = await within(this.#ports.clock, ECHO_LIMIT_MS, echo);
      if (heard.kind === 'value' && !heard.value) throw gone();
    } finally {
      this.#echoes.delete(requestId);
    }
  }

  /** Says that a request cannot be served. */
  refuse(requestId: string, error: string): void {
    this.#native.input
      .write({ type: 'control_response', response: { subtype: 'error', request_id: requestId, error } })
      .catch(() => undefined);
  }

  stop(): Promise<CloseResult> {
    return this.#native.stop();
  }

  async #run(listener: ClientListener): Promise<string> {
    const reading = this.#read(listener).catch((error: unknown) => {
      this.#ports.logger.error('claude.read_failed', { error: asError(error).name });
      this.#broken ??= 'Claude Code sent something that could not be handled.';
    });
    const finished = reading.then(() => 'read' as const);
    const first = await Promise.race([finished, this.#native.exited.then(() => 'exited' as const)]);
    if (first === 'exited') await this.#drain(finished);
    this.#over = true;
    // Reading is over while the program may live on (a line too long, a fault): it is of no use any more.
    if (first === 'read') await within(this.#ports.clock, SILENCE_LIMIT_MS, this.#native.exited);
    for (const { reject } of this.#waiting.values()) reject(gone());
    this.#waiting.clear();
    for (const resolve of this.#echoes.values()) resolve(false);
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
    if (exit.kind === 'timeout') return 'Claude Code stopped talking.';
    const { code, signal } = exit.value;
    return `Claude Code ended (${signal ? `by ${signal}` : `exit code ${code ?? 'unknown'}`}).`;
  }

  async #read(listener: ClientListener): Promise<void> {
    for await (const line of readLines(this.#native.output)) {
      this.#lines++;
      if (line.kind === 'oversized') {
        this.#ports.logger.error('claude.line_too_long', { bytes: line.bytes });
        this.#broken = 'Claude Code sent a message that is too large.';
        return;
      }
      const parsed = parseNative(parseLine(line.text));
      if (parsed.kind === 'unknown') continue;
      if (parsed.kind === 'unreadable') {
        this.#ports.logger.error('claude.message_unreadable', { type: parsed.type });
        if (!parsed.vital) continue;
        this.#broken = 'Claude Code sent something this app does not understand. Update this app.';
        return;
      }
      this.#handling = true;
      try {
        await this.#handle(parsed.message, listener);
      } finally {
        this.#handling = false;
      }
    }
  }

  async #handle(message: NativeMessage, listener: ClientListener): Promise<void> {
    switch (message.type) {
      case 'control_response': {
        const { request_id: id, subtype, response } = message.response;
        this.#echoes.get(id)?.(true);
        const waiting = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (subtype === 'success') waiting?.resolve(response);
        else waiting?.reject(rejected('harness_failed', 'Claude Code refused a request of this app.'));
        return;
      }
      case 'control_request':
        return listener.request(message);
      case 'control_cancel_request':
        return listener.withdrawn(message.request_id);
      default:
        return listener.message(message);
    }
  }
}

const gone = (): RuntimeError => unknownOutcome('closed', 'Claude Code ended before it answered.');
