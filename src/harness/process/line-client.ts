import type { Readable } from 'node:stream';

import { asError, unknownOutcome, type RuntimeError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { CloseResult } from '../../ownership/owned.ts';
import { delay, within, type Clock } from '../../platform/clock.ts';
import { parseLine, readLines } from './jsonl.ts';
import type { ProcessExit } from './spawn.ts';

export interface LineClientPorts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The process as a client uses it; a `NativeProcess` is one. */
export interface ClientProcess {
  readonly pid: number;
  readonly input: { write(...values: readonly unknown[]): Promise<void> };
  readonly output: Readable;
  readonly exited: Promise<ProcessExit>;
  stop(): Promise<CloseResult>;
}

/** One value of the program, judged. */
export type Judged<Message> =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'ignored' }
  /** `vital`: what follows cannot be understood without it. `type` is for the log. */
  | { readonly kind: 'unreadable'; readonly type: string; readonly vital: boolean };

export interface LineDialect<Message> {
  /** Of the program, for a person. */
  readonly name: string;
  /** First part of the names of log events. */
  readonly log: string;
  judge(value: unknown): Judged<Message>;
  /** Awaited before the next line is read, which is how back-pressure reaches the program. */
  handle(message: Message): Promise<void>;
}

/** How long word of our answer's arrival is waited for; a program that sends none has still got the answer. */
const TAKEN_LIMIT_MS = 3_000;
/** After the program's end: how long its output may stay silent before it is not waited for any more. */
const SILENCE_LIMIT_MS = 1_000;

/**
 * JSON values as lines over the pipes of one process: our requests by id, each with a limit of its own, and our
 * answers with word of their arrival. A program that is gone or silent is an error of the family `unknown`: what
 * became of the request is not known. A refusal is an answer, and the dialect's business.
 */
export class LineClient<Message, Answer> {
  /** Resolves with a sentence for a person when nothing more will come. Never rejects. */
  readonly ended: Promise<string>;
  readonly #ports: LineClientPorts;
  readonly #native: ClientProcess;
  readonly #dialect: LineDialect<Message>;
  readonly #waiting = new Map<
    string | number,
    { resolve: (answer: Answer) => void; reject: (error: RuntimeError) => void }
  >();
  readonly #taking = new Map<string | number, (taken: boolean) => void>();
  #handling = false;
  #lines = 0;
  #over = false;
  #broken: string | null = null;

  constructor(ports: LineClientPorts, native: ClientProcess, dialect: LineDialect<Message>) {
    this.#ports = ports;
    this.#native = native;
    this.#dialect = dialect;
    this.ended = this.#run();
  }

  get pid(): number {
    return this.#native.pid;
  }
  get over(): boolean {
    return this.#over;
  }

  /** Resolves when the values left for the pipe. */
  write(...values: readonly unknown[]): Promise<void> {
    return this.#native.input.write(...values);
  }

  /** `write` for what nobody waits for: a broken pipe shows at the other end too. */
  tell(value: unknown): void {
    this.#native.input.write(value).catch(() => undefined);
  }

  /**
   * Writes a request and waits for `answered`. The limit ends the wait: a late answer is dropped.
   * @throws RuntimeError of the family `unknown`
   */
  async request(id: string | number, line: unknown, limitMs: number): Promise<Answer> {
    if (this.#over) throw this.#gone();
    const answer = new Promise<Answer>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    // A failed write also ends the program's output, which rejects everything that waits.
    this.tell(line);
    const waited = await within(this.#ports.clock, limitMs, answer);
    this.#waiting.delete(id);
    if (waited.kind === 'timeout')
      throw unknownOutcome('timeout', `${this.#dialect.name} did not answer in time.`);
    return waited.value;
  }

  answered(id: string | number, answer: Answer): void {
    this.#waiting.get(id)?.resolve(answer);
    this.#waiting.delete(id);
  }

  /**
   * Writes our answer to a request of the program. Resolves when the program has read it, which it says (`taken`), or
   * when it was written a while ago.
   * @throws RuntimeError of the family `unknown` when the program is gone
   */
  async reply(id: string | number, line: unknown): Promise<void> {
    if (this.#over) throw this.#gone();
    const arrival = new Promise<boolean>((resolve) => this.#taking.set(id, resolve));
    try {
      await this.#native.input.write(line);
      const heard = await within(this.#ports.clock, TAKEN_LIMIT_MS, arrival);
      if (heard.kind === 'value' && !heard.value) throw this.#gone();
    } finally {
      this.#taking.delete(id);
    }
  }

  /** The program has read our answer. False when none of ours was on its way. */
  taken(id: string | number): boolean {
    const arrived = this.#taking.get(id);
    arrived?.(true);
    return arrived !== undefined;
  }

  stop(): Promise<CloseResult> {
    return this.#native.stop();
  }

  async #run(): Promise<string> {
    const { name, log } = this.#dialect;
    const reading = this.#read().catch((error: unknown) => {
      this.#ports.logger.error(`${log}.read_failed`, { error: asError(error).name });
      this.#broken ??= `${name} sent something that could not be handled.`;
    });
    const finished = reading.then(() => 'read' as const);
    const first = await Promise.race([finished, this.#native.exited.then(() => 'exited' as const)]);
    if (first === 'exited') await this.#drain(finished);
    this.#over = true;
    // Reading is over while the program may live on (a line too long, a fault): it is of no use any more.
    if (first === 'read') await within(this.#ports.clock, SILENCE_LIMIT_MS, this.#native.exited);
    for (const { reject } of this.#waiting.values()) reject(this.#gone());
    this.#waiting.clear();
    for (const resolve of this.#taking.values()) resolve(false);
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
    const { name } = this.#dialect;
    const exit = await within(this.#ports.clock, 0, this.#native.exited);
    if (exit.kind === 'timeout') return `${name} stopped talking.`;
    const { code, signal } = exit.value;
    return `${name} ended (${signal ? `by ${signal}` : `exit code ${code ?? 'unknown'}`}).`;
  }

  async #read(): Promise<void> {
    const { name, log } = this.#dialect;
    for await (const line of readLines(this.#native.output)) {
      this.#lines++;
      if (line.kind === 'oversized') {
        this.#ports.logger.error(`${log}.line_too_long`, { bytes: line.bytes });
        this.#broken = `${name} sent a message that is too large.`;
        return;
      }
      const judged = this.#dialect.judge(parseLine(line.text));
      if (judged.kind === 'ignored') continue;
      if (judged.kind === 'unreadable') {
        this.#ports.logger.error(`${log}.message_unreadable`, { type: judged.type });
        if (!judged.vital) continue;
        this.#broken = `${name} sent something this app does not understand. Update this app.`;
        return;
      }
      this.#handling = true;
      try {
        await this.#dialect.handle(judged.message);
      } finally {
        this.#handling = false;
      }
    }
  }

  #gone(): RuntimeError {
    return unknownOutcome('closed', `${this.#dialect.name} ended before it answered.`);
  }
}
