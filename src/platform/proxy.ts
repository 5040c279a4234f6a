import type { Environment } from './environment.ts';

/** A proxy for tunnels. `auth` is `user:password`, sent to the proxy alone. */
export interface ProxyServer {
  readonly url: string;
  readonly auth: string | null;
}

/** The proxy that the system names for an address; null: none. */
export type SystemProxy = (url: URL) => Promise<ProxyServer | null>;

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
