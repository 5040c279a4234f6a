import { connect, type Socket } from 'node:net';
import { pipeReplySchema } from '../contract/channels.ts';
import {
  commands,
  type CommandAnswer,
  type CommandName,
  type CommandRequest,
  type FrontEnd,
} from '../contract/commands.ts';
import type { View } from '../contract/view.ts';
import { RuntimeError, errorCodes, rejected, type ErrorCode } from '../observe/errors.ts';

/** A running Runtime over its control endpoint. One connection, closed by `close`. */
export class ControlClient implements FrontEnd {
  readonly #socket: Socket;
  readonly #waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  readonly #listeners = new Set<(view: View) => void>();
  #next = 0;
  #rest = '';
  #subscribed = false;
  #last: View | null = null;
  /** Resolves when the connection is gone, by whoever ended it. */
  readonly ended: Promise<void>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => this.#receive(chunk));
    socket.on('close', () => this.#lost());
    socket.on('error', () => this.#lost());
    this.ended = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  /** @throws RuntimeError `not_running` when nothing listens there. */
  static connect(path: string): Promise<ControlClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once('connect', () => {
        socket.removeAllListeners('error');
        resolve(new ControlClient(socket));
      });
      socket.once('error', () =>
        reject(
          rejected(
            'not_running',
            'No Runtime is running here. Start one with `agent-runtime run` or the app.',
          ),
        ),
      );
    });
  }

  async call<N extends CommandName>(name: N, request: CommandRequest<N>): Promise<CommandAnswer<N>> {
    const answer = await this.pass(name, request);
    const schema = commands[name].answer;
    // The table binds this name to this answer; the parse is the proof.
    return schema.parse(answer) as CommandAnswer<N>;
  }

  /** Hands a request on as it is: the Runtime parses it. The answer is as the Runtime gave it. */
  pass(name: CommandName, request: unknown): Promise<unknown> {
    const id = ++this.#next;
    const slow = setTimeout(() => {
      process.stderr.write('The Runtime has not answered yet. Ctrl C gives up waiting.\n');
    }, patienceMs);
    return new Promise<unknown>((resolve, reject) => {
      if (this.#socket.destroyed) return reject(notRunning());
      this.#waiting.set(id, { resolve, reject });
      this.#socket.write(`${JSON.stringify({ type: 'call', id, name, request })}\n`);
    }).finally(() => clearTimeout(slow));
  }

  onView(listener: (view: View) => void): () => void {
    this.#listeners.add(listener);
    if (this.#last) listener(this.#last);
    if (!this.#subscribed) {
      this.#subscribed = true;
      this.#socket.write(`${JSON.stringify({ type: 'subscribe' })}\n`);
    }
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: string): void {
    this.#rest += chunk;
    const lines = this.#rest.split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const reply = pipeReplySchema.parse(JSON.parse(line));
      if (reply.type === 'view') {
        this.#last = reply.view;
        for (const listener of this.#listeners) listener(reply.view);
        continue;
      }
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if (reply.type === 'answer') waiting?.resolve(reply.answer);
      else waiting?.reject(new RuntimeError('rejected', codeOf(reply.error.code), reply.error.message));
    }
  }

  #lost(): void {
    for (const { reject } of this.#waiting.values()) {
      reject(notRunning());
    }
    this.#waiting.clear();
  }
}

/** Before a person is told that an answer takes long. */
const patienceMs = 5_000;

const notRunning = (): RuntimeError =>
  rejected('not_running', 'The Runtime ended before it answered. What it was doing is not known here.');

const codeOf = (text: string): ErrorCode => errorCodes.find((code) => code === text) ?? 'fault';
