import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { WebSocketServer } from 'ws';
import { fault } from '../observe/errors.ts';
import type { Logger } from '../observe/logger.ts';
import { PipeSession, type FrontEndServerPorts } from './control-server.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

const cookieName = 'agent_runtime_console';

/**
 * The window as a web page on loopback, off unless asked for. The printed URL carries a token that works once and is
 * exchanged for a cookie; every request must name this host, and a socket this origin, so that no other page of the
 * browser can reach it.
 */
export class ConsoleServer {
  readonly #folder: string;
  readonly #ports: FrontEndServerPorts;
  readonly #logger: Logger;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 4 * 1024 * 1024,
    perMessageDeflate: false,
  });
  #token: string | null = randomBytes(24).toString('base64url');
  readonly #cookies = new Set<string>();
  #port = 0;

  private constructor(folder: string, ports: FrontEndServerPorts, logger: Logger) {
    this.#folder = folder;
    this.#ports = ports;
    this.#logger = logger;
    this.#server = createServer((request, response) => {
      // Whatever a stranger sends ends in an answer; it never reaches the process.
      this.#serve(request, response).catch(() => {
        if (!response.headersSent) response.writeHead(400, security);
        response.end();
      });
    });
    this.#server.on('clientError', (_error, socket) => socket.destroy());
    this.#server.on('upgrade', (request, socket, head) => {
      const refuse = (line: string): void => {
        socket.write(`HTTP/1.1 ${line}\r\nConnection: close\r\n\r\n`);
        socket.destroy();
      };
      if (request.url !== '/console' || !this.#hostIsOurs(request)) return refuse('404 Not Found');
      if (request.headers.origin !== this.#origin()) return refuse('403 Forbidden');
      if (!this.#knows(request)) return refuse('401 Unauthorized');
      this.#sockets.handleUpgrade(request, socket, head, (ws) => {
        const session = new PipeSession(this.#ports, (reply) => {
          if (ws.readyState === ws.OPEN) ws.send(JSON.stringify(reply));
        });
        ws.on('message', (data) => {
          if (!session.receive(String(data))) ws.close(1008);
        });
        ws.on('close', () => session.close());
        ws.on('error', () => ws.terminate());
      });
    });
  }

  /** `folder` holds the built window. Port 0 picks a free one. */
  static async listen(
    options: { folder: string; port: number; logger: Logger },
    ports: FrontEndServerPorts,
  ): Promise<ConsoleServer> {
    const console_ = new ConsoleServer(options.folder, ports, options.logger);
    await new Promise<void>((resolve, reject) => {
      // Stays for later: a connection that could not be taken is lost, the Runtime is not.
      console_.#server.on('error', reject);
      console_.#server.listen(options.port, '127.0.0.1', () => resolve());
    });
    const address = console_.#server.address();
    if (typeof address !== 'object' || address === null) throw fault('fault', 'The console has no address.');
    console_.#port = address.port;
    return console_;
  }

  /** The URL to open, with its one-time token. Print it once; it is never logged. */
  get url(): string {
    return `${this.#origin()}/open?token=${this.#token ?? ''}`;
  }

  async close(): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate();
    const ended = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections?.();
    await ended;
  }

  #origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }
  #hostIsOurs(request: IncomingMessage): boolean {
    return request.headers.host === `127.0.0.1:${this.#port}`;
  }
  #knows(request: IncomingMessage): boolean {
    const cookie = /(?:^|;\s*)agent_runtime_console=([A-Za-z0-9_-]+)/.exec(request.headers.cookie ?? '')?.[1];
    return cookie !== undefined && this.#cookies.has(digest(cookie));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const end = (status: number, text: string): void => {
      response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', ...security });
      response.end(text);
    };
    if (!this.#hostIsOurs(request)) return end(421, 'Open the address that was printed in the terminal.');
    if (request.method !== 'GET') return end(405, 'Only GET.');
    const [pathname = '/', query = ''] = (request.url ?? '/').split('?');
    if (pathname === '/open') return this.#open(new URLSearchParams(query).get('token') ?? '', response, end);
    if (!this.#knows(request)) {
      return end(
        401,
        'This page needs the one-time address that was printed in the terminal. Ask for a new one there.',
      );
    }
    const path = normalize(
      join(this.#folder, pathname === '/' ? 'index.html' : decodeURIComponent(pathname)),
    );
    const type = types[extname(path)];
    if (!path.startsWith(this.#folder + sep) || type === undefined) return end(404, 'Not found.');
    try {
      const body = await readFile(path);
      response.writeHead(200, { 'Content-Type': type, ...security });
      response.end(body);
    } catch {
      end(404, 'Not found.');
    }
  }

  #open(token: string, response: ServerResponse, end: (status: number, text: string) => void): void {
    if (this.#token === null || !equal(token, this.#token)) {
      this.#logger.warn('console.token_refused');
      return end(
        401,
        'This address was used already or is not the one that was printed. Start the console again.',
      );
    }
    this.#token = null;
    const cookie = randomBytes(24).toString('base64url');
    this.#cookies.add(digest(cookie));
    response.writeHead(303, {
      Location: '/',
      'Set-Cookie': `${cookieName}=${cookie}; HttpOnly; SameSite=Strict; Path=/`,
      ...security,
    });
    response.end();
  }
}

const security = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const equal = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(digest(a)), Buffer.from(digest(b)));
