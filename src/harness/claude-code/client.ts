import { rejected } from '../../observe/errors.ts';
import type { CloseResult } from '../../ownership/owned.ts';
import type { Random } from '../../platform/random.ts';
import { LineClient, type ClientProcess, type Judged, type LineClientPorts } from '../process/line-client.ts';
import { parseNative, type ControlRequest, type NativeMessage } from './native-types.ts';

export interface ClientPorts extends LineClientPorts {
  readonly random: Random;
}

/** Where messages go. Each call is awaited before the next line is read, which is how back-pressure reaches the program. */
export interface ClientListener {
  message(message: NativeMessage): Promise<void>;
  /** The program asks something of us; every request must be answered with `reply` or `refuse`. */
  request(request: ControlRequest): Promise<void>;
  /** The program took a request back; an answer has no effect any more. */
  withdrawn(requestId: string): Promise<void>;
}

type Answer = { readonly kind: 'success'; readonly response: unknown } | { readonly kind: 'refused' };

/**
 * Claude Code's line protocol over the pipes of one process: messages and requests both ways, each of our requests
 * with a limit of its own. Two kinds of failure are kept apart: the program said no (`rejected`), or it is gone or
 * silent and what became of the request is unknown (`unknown`).
 */
export class ClaudeClient {
  readonly #random: Random;
  readonly #lines: LineClient<NativeMessage, Answer>;

  constructor(ports: ClientPorts, native: ClientProcess, listener: ClientListener) {
    this.#random = ports.random;
    this.#lines = new LineClient(ports, native, {
      name: 'Claude Code',
      log: 'claude',
      judge,
      handle: (message) => this.#handle(message, listener),
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

  /** Sends user messages. Resolves when they left for the pipe. */
  send(...messages: readonly unknown[]): Promise<void> {
    return this.#lines.write(...messages);
  }

  /** Asks the program; resolves with its answer. The limit ends the wait: a late answer is dropped. */
  async control(request: Readonly<Record<string, unknown>>, limitMs: number): Promise<unknown> {
    const id = this.#random.uuid();
    const line = { type: 'control_request', request_id: id, request };
    const answer = await this.#lines.request(id, line, limitMs);
    if (answer.kind === 'success') return answer.response;
    throw rejected('harness_failed', 'Claude Code refused a request of this app.');
  }

  /**
   * Answers a request of the program. Resolves when the program has read the answer, which it says by an echo, or
   * (for one that echoes nothing) when the answer was written a while ago. Rejects when the program is gone.
   */
  reply(requestId: string, response: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#lines.reply(requestId, {
      type: 'control_response',
      response: { subtype: 'success', request_id: requestId, response },
    });
  }

  /** Says that a request cannot be served. */
  refuse(requestId: string, error: string): void {
    this.#lines.tell({
      type: 'control_response',
      response: { subtype: 'error', request_id: requestId, error },
    });
  }

  stop(): Promise<CloseResult> {
    return this.#lines.stop();
  }

  async #handle(message: NativeMessage, listener: ClientListener): Promise<void> {
    switch (message.type) {
      case 'control_response': {
        const { request_id: id, subtype, response } = message.response;
        this.#lines.taken(id);
        this.#lines.answered(id, subtype === 'success' ? { kind: 'success', response } : { kind: 'refused' });
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

function judge(value: unknown): Judged<NativeMessage> {
  const parsed = parseNative(value);
  return parsed.kind === 'unknown' ? { kind: 'ignored' } : parsed;
}
