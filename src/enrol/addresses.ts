/**
 * Address rules of the machine routes (machine-connection 2). All are questions about a text that somebody gave: what
 * breaks one is refused before anything is asked of any machine (M1).
 */
const socketPath = '/api/v1/agent-daemon/ws';
const remoteForm = /^(wss|ws):\/\/([^\s/?#@\\%]+)\/api\/v1\/agent-daemon\/ws$/;
const endpointForm =
  /^(https|http):\/\/([^\s/?#@\\%]+)(?:\/(?:api\/v1(?:\/agent-daemon(?:\/installation)?)?)?)?\/?$/;
const longestAddress = 2_048;

export interface CoreAddress {
  /** The WebSocket address, byte for byte as it is stored. */
  readonly remoteUrl: string;
  /** HTTP base of the machine routes, ends in `/api/v1`. */
  readonly coreUrl: string;
  /** Host, with the port where it is not the usual one. */
  readonly host: string;
}

/**
 * A `remote_url`: an absolute address with a host and exactly the socket's path; no user, query, fragment, escape or
 * blank around it; `wss`, or `ws` on this machine. Null: it must not be used.
 */
export function parseRemoteUrl(text: string): CoreAddress | null {
  const [, scheme] = (text.length <= longestAddress && remoteForm.exec(text)) || [];
  const url = parse(text);
  if (scheme === undefined || !url || url.hostname === '' || url.pathname !== socketPath) return null;
  if (scheme === 'ws' && !isLoopback(url.hostname)) return null;
  const http = scheme === 'wss' ? 'https' : 'http';
  return { remoteUrl: text, coreUrl: `${http}://${url.host}/api/v1`, host: url.host };
}

/**
 * The endpoint that an invitation names: Core's public origin, alone or with the path of the installation route.
 * Null: it must not be used. The `remoteUrl` is the one that Core's answer has to name.
 */
export function parseEndpoint(text: string): CoreAddress | null {
  const [, scheme] = (text.length <= longestAddress && endpointForm.exec(text)) || [];
  const url = parse(text);
  if (scheme === undefined || !url || url.hostname === '') return null;
  if (scheme === 'http' && !isLoopback(url.hostname)) return null;
  const ws = scheme === 'https' ? 'wss' : 'ws';
  return {
    remoteUrl: `${ws}://${url.host}${socketPath}`,
    coreUrl: `${scheme}://${url.host}/api/v1`,
    host: url.host,
  };
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
