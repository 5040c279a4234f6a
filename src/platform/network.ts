import type { Agent } from 'node:http';
import type { SecureContext } from 'node:tls';
import { within, type Clock } from './clock.ts';
import type { ProxyServer, SystemProxy } from './proxy.ts';

/** How long the system may take to name its proxy before the way is taken to be direct. Milliseconds. */
const resolveWait = 5_000;

export interface NetworkSettings {
  readonly proxy:
    | { readonly kind: 'system' }
    | { readonly kind: 'none' }
    | { readonly kind: 'manual'; readonly server: ProxyServer };
  /** PEM of authorities beside the built-in ones. */
  readonly extraCa: string | null;
}

/** How one request gets to its peer. Spread into the options of `https.request` or of a WebSocket. */
export interface Route {
  readonly agent: Agent | false;
  readonly tls: { readonly secureContext: SecureContext } | Record<string, never>;
}
export const directRoute: Route = { agent: false, tls: {} };

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

  settings(): Promise<NetworkSettings> {
    return this.#settings;
  }

  /** `signal` gives up a tunnel that is not there yet; it does nothing to one that is. */
  async routeFor(url: URL, signal: AbortSignal): Promise<Route> {
    const secure = url.protocol === 'https:' || url.protocol === 'wss:';
    // Clear text goes to this machine alone, and no proxy knows the way there.
    if (!secure || isLocal(url.hostname)) {
      if (!secure) return directRoute;
      return { agent: false, tls: await this.#tls((await this.#settings).extraCa) };
    }
    const { proxy, extraCa } = await this.#settings;
    const tls = await this.#tls(extraCa);
    const server =
      proxy.kind === 'manual' ? proxy.server : proxy.kind === 'none' ? null : await this.#ask(url);
    if (server === null) return { agent: false, tls };
    // Most machines have neither a proxy nor an authority of their own, and a start does without the code for them.
    const { Tunnel } = await import('./tunnel.ts');
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

  async #tls(pem: string | null): Promise<Route['tls']> {
    if (pem === null) return {};
    const { createSecureContext, rootCertificates } = await import('node:tls');
    if (this.#trusted?.pem !== pem) {
      this.#trusted = { pem, context: createSecureContext({ ca: [...rootCertificates, pem] }) };
    }
    return { secureContext: this.#trusted.context };
  }
}

const isLocal = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host.endsWith('.localhost') || /^127\./.test(host);
