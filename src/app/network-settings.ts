import { readFile } from 'node:fs/promises';
import { X509Certificate } from 'node:crypto';
import { isAbsolute } from 'node:path';
import type { Settings } from '../contract/settings.ts';
import { rejected } from '../observe/errors.ts';
import { systemEnvironment } from '../platform/environment.ts';
import type { NetworkSettings } from '../platform/network.ts';
import { environmentProxy, fromProxyList, proxyServer, type SystemProxy } from '../platform/proxy.ts';
import type { CredentialDesk } from './credentials.ts';

/** Where the credential store keeps the password of the proxy. */
const proxyAccount = 'proxy-password';

/** The way that the settings name. */
export type ProxyChoice = NetworkSettings['proxy'];

type NetworkChoice = Pick<Settings, 'proxy' | 'proxy_url' | 'proxy_user' | 'extra_ca'>;
export const networkMembers = ['proxy', 'proxy_url', 'proxy_user', 'extra_ca'] as const;

/**
 * Whether these settings can be used at all, before they are kept.
 * @throws RuntimeError `invalid_configuration` with a sentence that repeats no value.
 */
export async function checkNetwork(choice: NetworkChoice): Promise<void> {
  if (choice.proxy === 'manual') {
    const server = proxyServer(choice.proxy_url);
    if (!server) {
      throw rejected(
        'invalid_configuration',
        'The address of the proxy must look like http://proxy.example.com:3128, with nothing after the port.',
      );
    }
    if (server.auth !== null) {
      throw rejected(
        'invalid_configuration',
        'The address of the proxy must hold no user and no password. They have fields of their own.',
      );
    }
    if (choice.proxy_user.includes(':'))
      throw rejected('invalid_configuration', 'The name of a proxy user cannot hold a colon.');
  }
  await readAuthorities(choice.extra_ca);
}

/** What the settings come to, with the password from the credential store. `register` masks it wherever it might show. */
export async function networkSettings(
  choice: NetworkChoice,
  credentials: CredentialDesk,
  register: (secret: string) => void,
): Promise<NetworkSettings> {
  // A file that cannot be read any more trusts nobody; connections then say which certificate they do not trust.
  const ca = await readAuthorities(choice.extra_ca).catch(() => null);
  if (choice.proxy !== 'manual') return { proxy: { kind: choice.proxy }, extraCa: ca };
  const server = proxyServer(choice.proxy_url);
  if (!server) return { proxy: { kind: 'none' }, extraCa: ca };
  if (choice.proxy_user === '') return { proxy: { kind: 'manual', server }, extraCa: ca };
  const kept = await credentials.get(proxyAccount);
  const password = kept.kind === 'ok' ? (kept.value ?? '') : '';
  if (password !== '') register(password);
  const auth = `${choice.proxy_user}:${password}`;
  register(Buffer.from(auth, 'utf8').toString('base64'));
  return { proxy: { kind: 'manual', server: { ...server, auth } }, extraCa: ca };
}

/**
 * What a desktop names as proxy, also by a script of its own: `resolve` answers with a browser's list for an address.
 * The environment comes first, for it alone can name a user and a password.
 */
export function desktopProxy(resolve: (address: string) => Promise<string>): SystemProxy {
  const fromEnvironment = environmentProxy(systemEnvironment);
  return async (url) => {
    const address = new URL(url);
    address.protocol = 'https:';
    return (await fromEnvironment(address)) ?? fromProxyList(await resolve(address.origin));
  };
}

/** Whether a password is kept; null while the store does not answer. */
export async function hasProxyPassword(credentials: CredentialDesk): Promise<boolean | null> {
  const kept = await credentials.get(proxyAccount);
  return kept.kind === 'ok' ? (kept.value ?? '') !== '' : null;
}

/**
 * Keeps the password in the credential store, or forgets it (an empty one).
 * @throws RuntimeError `credential_store_unavailable`.
 */
export async function keepProxyPassword(credentials: CredentialDesk, password: string): Promise<void> {
  const result =
    password === ''
      ? await credentials.delete(proxyAccount)
      : await credentials.set(proxyAccount, password, false);
  if (result.kind === 'unavailable') {
    throw rejected(
      'credential_store_unavailable',
      `${credentials.sentence} The password was not kept. Unlock or start it and try again.`,
    );
  }
}

/**
 * The certificates of a PEM file, one after the other; null for no file.
 * @throws RuntimeError `invalid_configuration`, which does not name the path.
 */
export async function readAuthorities(path: string): Promise<string | null> {
  if (path === '') return null;
  const refuse = (why: string): Error => rejected('invalid_configuration', why);
  if (!isAbsolute(path)) throw refuse('Name the whole path of the file of authorities.');
  const text = await readFile(path, 'utf8').catch(() => {
    throw refuse('The file of authorities cannot be read. Check that it is there and yours to read.');
  });
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw refuse('The file of authorities holds no certificate in PEM form.');
  try {
    for (const block of blocks) new X509Certificate(block);
  } catch {
    throw refuse('A certificate in the file of authorities cannot be read. Ask for the file anew.');
  }
  return blocks.join('\n');
}
