import type { ProxyConfig } from 'electron';
import type { ProxyChoice } from '../src/app/network-settings.ts';

/** The proxy of the settings in Chromium's words. */
export function proxyConfig(proxy: ProxyChoice): ProxyConfig {
  if (proxy.kind !== 'manual') return { mode: proxy.kind === 'system' ? 'system' : 'direct' };
  const { protocol, host } = new URL(proxy.server.url);
  return { mode: 'fixed_servers', proxyRules: `${protocol}//${host}` };
}

/** What the proxy of the settings is answered when it asks who is there; null: nothing is known. */
export function proxyLogin(proxy: ProxyChoice): { readonly user: string; readonly password: string } | null {
  const auth = proxy.kind === 'manual' ? proxy.server.auth : null;
  if (auth === null) return null;
  // A name holds no colon, a password may.
  const end = auth.indexOf(':');
  return { user: auth.slice(0, end), password: auth.slice(end + 1) };
}
