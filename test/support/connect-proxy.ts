import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A proxy for tunnels that leads every name to 127.0.0.1, so that tests have hosts that are not this machine. */
export class ConnectProxy {
  readonly port: number;
  /** `host:port` of every tunnel that was asked for, with the authorization that came along. */
  readonly asked: { readonly target: string; readonly authorization: string | null }[];
  readonly #close: () => Promise<void>;

  private constructor(port: number, asked: ConnectProxy['asked'], close: () => Promise<void>) {
    this.port = port;
    this.asked = asked;
    this.#close = close;
  }

  /** `auth`: `user:password` that it wants. `answer`: refuses all with this status. `silent`: never answers. */
  static async start(
    options: { auth?: string; answer?: number; silent?: boolean } = {},
  ): Promise<ConnectProxy> {
    const asked: { target: string; authorization: string | null }[] = [];
    const sockets = new Set<Socket>();
    const server = createHttpServer();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => undefined);
    });
    server.on('connect', (request, socket) => {
      const target = request.url ?? '';
      const authorization = request.headers['proxy-authorization'] ?? null;
      asked.push({ target, authorization });
      socket.on('error', () => undefined);
      if (options.silent) return;
      const wanted = options.auth && `Basic ${Buffer.from(options.auth).toString('base64')}`;
      const refused = options.answer ?? (wanted && authorization !== wanted ? 407 : null);
      if (refused !== null) {
        socket.end(
          `HTTP/1.1 ${refused} No\r\nProxy-Authenticate: Basic realm="test"\r\nContent-Length: 0\r\n\r\n`,
        );
        return;
      }
      const upstream = connect(Number(target.split(':').at(-1)), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('close', () => upstream.destroy());
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    return new ConnectProxy(port, asked, async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }
  close(): Promise<void> {
    return this.#close();
  }
}

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** An authority of its own and certificates of it for `core.test`, made by openssl. */
export class TestAuthority {
  readonly folder = mkdtempSync(join(tmpdir(), 'agent-runtime-ca-'));
  readonly ca: string;

  constructor() {
    this.#openssl(
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '30',
    );
    this.ca = readFileSync(this.caPath, 'utf8');
  }

  get caPath(): string {
    return join(this.folder, 'ca.pem');
  }

  issue(name: string, expired = false): Certificate {
    const at = (file: string): string => join(this.folder, file);
    const run = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });
    const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    run('req', '-new', ...ec, '-keyout', at('key.pem'), '-out', at('request.pem'), '-subj', `/CN=${name}`);
    writeFileSync(at('ext'), `subjectAltName=DNS:${name}\n`);
    // A life that ended before it began is the one way to an expired one that every openssl has.
    const days = expired ? '-1' : '20';
    run(
      ...[
        'x509',
        '-req',
        '-in',
        at('request.pem'),
        '-CA',
        this.caPath,
        '-CAkey',
        at('ca.key'),
        '-CAcreateserial',
      ],
      ...['-days', days, '-extfile', at('ext'), '-out', at('cert.pem')],
    );
    return { key: readFileSync(at('key.pem'), 'utf8'), cert: readFileSync(at('cert.pem'), 'utf8') };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #openssl(...args: string[]): void {
    execFileSync(
      'openssl',
      [...args, '-keyout', join(this.folder, 'ca.key'), '-out', this.caPath, '-subj', '/CN=Test authority'],
      { stdio: 'ignore' },
    );
  }
}
