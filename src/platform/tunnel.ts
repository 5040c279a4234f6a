import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { ProxyError, type ProxyServer } from './proxy.ts';

/** One tunnel through a proxy, for one request. */
export class Tunnel extends HttpsProxyAgent<string> {
  readonly #signal: AbortSignal;
  readonly #giveUp: AbortController;

  constructor(server: ProxyServer, tls: { readonly secureContext?: SecureContext }, signal: AbortSignal) {
    const giveUp = new AbortController();
    super(server.url, {
      ...tls,
      signal: giveUp.signal,
      headers:
        server.auth === null
          ? {}
          : { 'Proxy-Authorization': `Basic ${Buffer.from(server.auth, 'utf8').toString('base64')}` },
    });
    this.#signal = signal;
    this.#giveUp = giveUp;
  }

  override isSecureEndpoint(): boolean {
    return true;
  }

  override async connect(
    request: ClientRequest,
    options: Parameters<HttpsProxyAgent<string>['connect']>[1],
  ): Promise<Socket> {
    let status: number | null = null;
    this.once('proxyConnect', (answer: { statusCode: number }) => (status = answer.statusCode));
    const stop = (): void => this.#giveUp.abort();
    if (this.#signal.aborted) stop();
    this.#signal.addEventListener('abort', stop, { once: true });
    let socket: (Socket & Duplex) | null = null;
    try {
      socket = await super.connect(request, options);
    } catch {
      throw new ProxyError(null);
    } finally {
      this.#signal.removeEventListener('abort', stop);
    }
    if (status === 200) return socket;
    socket.destroy();
    throw new ProxyError(status);
  }
}
