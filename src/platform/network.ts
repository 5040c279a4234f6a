import type { Agent, ClientRequest } from 'node:http';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { within, type Clock } from './clock.ts';
import type { Environment } from './environment.ts';

/** How long the system may take to name its proxy before the way is taken to be direct. Milliseconds. */
const resolveWait = 5_000;

/** A proxy for tunnels. `auth` is `user:password`, sent to the proxy alone. */
export interface ProxyServer {
  readonly url: string;
  readonly auth: string | null;
}

export interface NetworkSettings {
  readonly proxy:
    | { readonly kind: 'system' }
    | { readonly kind: 'none' }
    | { readonly kind: 'manual'; readonly server: ProxyServer };
  /** PEM of authorities beside the built-in ones. */
  readonly extraCa: string | null;
}

/** The proxy that the system names for an address; null: none. */
export type SystemProxy = (url: URL) => Promise<ProxyServer | null>;

/** How one request gets to its peer. Spread into the options of `https.request` or of a WebSocket. */
export interface Route {
  readonly agent: Agent | false;
  readonly tls: { readonly secureContext: SecureContext } | Record<string, never>;
}
export const directRoute: Route = { agent: false, tls: {} };

/** The proxy answered CONNECT with this, or (null) could not be spoken to. */
export class ProxyError extends Error {
  readonly code = 'ERR_PROXY';
  readonly status: number | null;
  constructor(status: number | null) {
    super(status === null ? 'The proxy could not be reached' : `The proxy answered ${status}`);
    this.name = 'ProxyError';
    this.status = status;
  }
}

/**
 * The one place that knows how this machine reaches others: the proxy and the authorities. Changes count from the next
 * request on; what is connected stays.
 */
export class Network {
  readonly #clock: Clock;
  readonly #system: SystemProxy;
  /** Waited for by every request: nothing goes a way that the settings do not name. */
  #settings: Promise<NetworkSettings>;
  #trusted: { readonly pem: string; readonly context: SecureContext } | null = null;

  constructor(clock: Clock, system: SystemProxy, settings?: NetworkSettings | Promise<NetworkSettings>) {
    this.#clock = clock;
    this.#system = system;
    this.#settings = Promise.resolve(settings ?? { proxy: { kind: 'system' }, extraCa: null });
  }

  use(settings: NetworkSettings | Promise<NetworkSettings>): void {
    this.#settings = Promise.resolve(settings);
  }

  /** `signal` gives up a tunnel that is not there yet; it does nothing to one that is. */
  async routeFor(url: URL, signal: AbortSignal): Promise<Route> {
    const secure = url.protocol === 'https:' || url.protocol === 'wss:';
    // Clear text goes to this machine alone, and no proxy knows the way there.
    if (!secure || isLocal(url.hostname)) {
      if (!secure) return directRoute;
      return { agent: false, tls: this.#tls((await this.#settings).extraCa) };
    }
    const { proxy, extraCa } = await this.#settings;
    const tls = this.#tls(extraCa);
    const server =
      proxy.kind === 'manual' ? proxy.server : proxy.kind === 'none' ? null : await this.#ask(url);
    if (server === null) return { agent: false, tls };
    return { agent: new Tunnel(server, tls, signal), tls };
  }

  async #ask(url: URL): Promise<ProxyServer | null> {
    const answer = await within(
      this.#clock,
      resolveWait,
      this.#system(url).catch(() => null),
    );
    return answer.kind === 'value' ? answer.value : null;
  }

  #tls(pem: string | null): Route['tls'] {
    if (pem === null) return {};
    if (this.#trusted?.pem !== pem) {
      this.#trusted = { pem, context: createSecureContext({ ca: [...rootCertificates, pem] }) };
    }
    return { secureContext: this.#trusted.context };
  }
}

/** One tunnel through a proxy, for one request. */
class Tunnel extends HttpsProxyAgent<string> {
  readonly #signal: AbortSignal;
  readonly #giveUp: AbortController;

  constructor(server: ProxyServer, tls: Route['tls'], signal: AbortSignal) {
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

const isLocal = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host.endsWith('.localhost') || /^127\./.test(host);

/** A proxy as a person or the environment writes it; null where it is none. A user in it becomes its `auth`. */
export function proxyServer(text: string): ProxyServer | null {
  try {
    const url = new URL(text.includes('://') ? text : `http://${text}`);
    if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') return null;
    if (url.search !== '' || url.hash !== '' || (url.pathname !== '/' && url.pathname !== '')) return null;
    const auth =
      url.username === '' && url.password === ''
        ? null
        : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    return { url: `${url.protocol}//${url.host}`, auth };
  } catch {
    return null;
  }
}

/** `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in either case: what a system without settings of its own goes by. */
export function environmentProxy(environment: Environment): SystemProxy {
  const read = (name: string): string =>
    environment.get(name.toLowerCase()) ?? environment.get(name.toUpperCase()) ?? '';
  return (url) => {
    const named = read('https_proxy') || read('all_proxy');
    return Promise.resolve(named === '' || exempt(url, read('no_proxy')) ? null : proxyServer(named));
  };
}

function exempt(url: URL, list: string): boolean {
  const host = url.hostname.toLowerCase();
  const port = url.port === '' ? '443' : url.port;
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const at = /^(.*?)(?::(\d+))?$/.exec(entry);
      if (at?.[2] !== undefined && at[2] !== port) return false;
      const name = (at?.[1] ?? entry).replace(/^\*?\.?/, '');
      return host === name || host.endsWith(`.${name}`);
    });
}

/** The first usable entry of a proxy list as a browser names it (`PROXY host:port; DIRECT`); null: direct. */
export function fromProxyList(list: string): ProxyServer | null {
  for (const entry of list.split(';')) {
    const [kind, place] = entry.trim().split(/\s+/);
    if (kind === 'DIRECT') return null;
    if (place === undefined) continue;
    if (kind === 'PROXY') return proxyServer(`http://${place}`);
    if (kind === 'HTTPS') return proxyServer(`https://${place}`);
  }
  return null;
}
