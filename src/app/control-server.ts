import { chmod, unlink } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import type { PipeReply } from '../contract/channels.ts';
import { pipeRequestSchema } from '../contract/pipe-request.ts';
import type { CommandResult } from '../contract/commands.ts';
import type { View } from '../contract/view.ts';
import { fault } from '../observe/errors.ts';

export interface FrontEndServerPorts {
  run(name: string, request: unknown): Promise<CommandResult>;
  subscribe(listener: (view: View) => void): () => void;
}

const limits = { lineBytes: 4 * 1024 * 1024, waitingBytes: 16 * 1024 * 1024 } as const;

/**
 * The control endpoint for the command line: a Unix socket (mode 0600 in a private folder) or a named pipe that only
 * its user can open. One JSON object a line, both ways.
 */
export class ControlServer {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  readonly #ports: FrontEndServerPorts;

  private constructor(ports: FrontEndServerPorts) {
    this.#ports = ports;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  /** The caller holds the instance lock, so a socket file that is there was left behind. */
  static async listen(path: string, ports: FrontEndServerPorts): Promise<ControlServer> {
    const control = new ControlServer(ports);
    const pipe = path.startsWith('\\\\');
    if (!pipe) await unlink(path).catch(() => undefined);
    try {
      await new Promise<void>((resolve, reject) => {
        // Stays for later: a connection that could not be taken (too many open files) is lost, the Runtime is not.
        control.#server.on('error', reject);
        control.#server.listen(path, () => resolve());
      });
      if (!pipe) await chmod(path, 0o600);
      return control;
    } catch (error) {
      control.#server.close();
      throw fault(
        'storage',
        'The control endpoint could not be opened. Check that the state folder is yours and try again.',
        error,
      );
    }
  }

  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#clients) socket.destroy();
    await ended;
  }

  #serve(socket: Socket): void {
    this.#clients.add(socket);
    socket.setEncoding('utf8');
    const session = new PipeSession(this.#ports, (reply) => {
      if (!socket.writable) return;
      // A reader that stopped reading must not grow the daemon: it has to connect again.
      if (socket.writableLength > limits.waitingBytes) socket.destroy();
      else socket.write(`${JSON.stringify(reply)}\n`);
    });
    let rest = '';
    socket.on('data', (chunk: string) => {
      rest += chunk;
      if (rest.length > limits.lineBytes) {
        socket.destroy();
        return;
      }
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '' && !session.receive(line)) socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#clients.delete(socket);
      session.close();
    });
  }
}

/** One front end on a pipe of messages; the same for the control socket and the console's WebSocket. */
export class PipeSession {
  readonly #ports: FrontEndServerPorts;
  readonly #reply: (reply: PipeReply) => void;
  #unsubscribe: (() => void) | null = null;

  constructor(ports: FrontEndServerPorts, reply: (reply: PipeReply) => void) {
    this.#ports = ports;
    this.#reply = reply;
  }

  /** False when the message is none of ours; the caller ends the connection. */
  receive(text: string): boolean {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return false;
    }
    const parsed = pipeRequestSchema.safeParse(json);
    if (!parsed.success) return false;
    const message = parsed.data;
    if (message.type === 'subscribe') {
      this.#unsubscribe ??= this.#ports.subscribe((view) => this.#reply({ type: 'view', view }));
      return true;
    }
    void this.#ports.run(message.name, message.request).then((result) => {
      if (result.ok) this.#reply({ type: 'answer', id: message.id, answer: result.answer });
      else this.#reply({ type: 'error', id: message.id, error: result.error });
    });
    return true;
  }

  close(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
  }
}
