import { rejected } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { CloseResult } from '../../ownership/owned.ts';
import { LineClient, type ClientProcess, type Judged, type LineClientPorts } from '../process/line-client.ts';
import {
  parseNative,
  type NativeLine,
  type Notification,
  type RequestId,
  type ServerRequest,
} from './native-types.ts';

/** Where messages go. Each call is awaited before the next line is read, which is how back-pressure reaches the program. */
export interface ClientListener {
  notified(notification: Notification): Promise<void>;
  /** The program asks something of us; every request must be answered with `reply` or `refuse`. */
  asked(request: ServerRequest): Promise<void>;
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

type Understood = Exclude<NativeLine, { kind: 'unreadable' | 'ignored' }>;

/**
 * The app server's line protocol over the pipes of one process: requests both ways and notifications, each of our
 * requests with a limit of its own, because some versions leave a request unanswered. A refusal is an answer; a
 * program that is gone or silent is an error of the family `unknown`.
 */
export class CodexClient {
  readonly #logger: Logger;
  readonly #lines: LineClient<Understood, Answer>;
  #nextId = 1;

  constructor(ports: LineClientPorts, native: ClientProcess, listener: ClientListener) {
    this.#logger = ports.logger;
    this.#lines = new LineClient(ports, native, {
      name: 'Codex',
      log: 'codex',
      judge,
      handle: (line) => this.#handle(line, listener),
    });
  }

  /** Resolves with a sentence for a person when nothing more will come. Never rejects. */
  get ended(): Promise<string> {
    return this.#lines.ended;
  }
  get pid(): number {
    return this.#lines.pid;
  }
  get over(): boolean {
    return this.#lines.over;
  }

  /**
   * Asks the program. The limit ends the wait: a late answer is dropped, and what became of the request is unknown.
   * @throws RuntimeError of the family `unknown`
   */
  ask(method: string, params: unknown, limitMs: number): Promise<Answer> {
    const id = this.#nextId++;
    return this.#lines.request(id, { id, method, params }, limitMs);
  }

  /**
   * `ask` for what is not refused in the ordinary course of things.
   * @throws RuntimeError `rejected` when refused
   */
  async request(method: string, params: unknown, limitMs: number): Promise<unknown> {
    const answer = await this.ask(method, params, limitMs);
    if (answer.kind === 'result') return answer.result;
    this.#logger.warn('codex.request_refused', { method, code: answer.refusal.code });
    throw rejected('harness_failed', 'Codex refused a request of this app.');
  }

  notify(method: string): void {
    this.#lines.tell({ method });
  }

  /**
   * Answers a request of the program. Resolves when the program has taken the answer, which it says for most requests,
   * or when the answer was written a while ago. Rejects when the program is gone.
   */
  reply(id: RequestId, result: unknown): Promise<void> {
    return this.#lines.reply(id, { id, result });
  }

  /** Says that there is no answer. Resolves like `reply`. */
  decline(id: RequestId, message: string): Promise<void> {
    return this.#lines.reply(id, { id, error: { code: NO_ANSWER, message } });
  }

  /** Answers a request whose effect shows in another way. Resolves when the answer left for the pipe. */
  send(id: RequestId, result: unknown): Promise<void> {
    return this.#lines.write({ id, result });
  }

  /** `send` for an answer that nobody waits for. */
  tell(id: RequestId, result: unknown): void {
    this.#lines.tell({ id, result });
  }

  /** Says that a request cannot be served. */
  refuse(id: RequestId): void {
    this.#lines.tell({ id, error: { code: NOT_SERVED, message: 'This app cannot do that.' } });
  }

  stop(): Promise<CloseResult> {
    return this.#lines.stop();
  }

  async #handle(line: Understood, listener: ClientListener): Promise<void> {
    switch (line.kind) {
      case 'result':
        return this.#lines.answered(line.id, { kind: 'result', result: line.result });
      case 'refusal': {
        const { code, unknownMethod } = line;
        return this.#lines.answered(line.id, { kind: 'refused', refusal: { code, unknownMethod } });
      }
      case 'request':
        return listener.asked(line.request);
      case 'foreign_request':
        this.#logger.warn('codex.request_not_served', { method: line.method });
        return this.refuse(line.id);
      case 'notification': {
        const { notification } = line;
        if (
          notification.method === 'serverRequest/resolved' &&
          this.#lines.taken(notification.params.requestId)
        )
          return;
        return listener.notified(notification);
      }
    }
  }
}

function judge(value: unknown): Judged<Understood> {
  const line = parseNative(value);
  if (line.kind === 'ignored') return line;
  if (line.kind === 'unreadable') return { ...line, type: line.method ?? 'none' };
  return { kind: 'message', message: line };
}
