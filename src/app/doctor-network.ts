import { X509Certificate } from 'node:crypto';
import type { CommandAnswer } from '../contract/commands.ts';
import type { Settings } from '../contract/settings.ts';
import { asError } from '../observe/errors.ts';
import { within, type Clock } from '../platform/clock.ts';
import type { Environment } from '../platform/environment.ts';
import { environmentProxy, proxyServer, type SystemProxy } from '../platform/proxy.ts';
import { readAuthorities } from './network-settings.ts';

type Check = CommandAnswer<'doctor.run'>['checks'][number];

/** How this machine reaches others, as the settings and the system have it. */
export interface NetworkSubject {
  readonly clock: Clock;
  readonly choice: Pick<Settings, 'proxy' | 'proxy_url' | 'proxy_user' | 'extra_ca'>;
  readonly environment: Environment;
  /** What the desktop names; null where no desktop is asked. */
  readonly desktop: SystemProxy | null;
  /** Whether a password of the proxy is kept; null where that cannot be told now. */
  readonly hasPassword: () => Promise<boolean | null>;
}

interface Part {
  readonly text: string;
  readonly level: NonNullable<Check['level']>;
  readonly next: string | null;
}
const well = (text: string): Part => ({ text, level: 'ok', next: null });

const desktopWait = 5_000;

/**
 * Which proxy and which authorities are used, and where each comes from. `cores` are the hosts that are dialled, for
 * which a system may name a proxy or leave it out. Never a user, a password or what stands behind a host.
 */
export async function networkCheck(subject: NetworkSubject, cores: readonly string[]): Promise<Check> {
  const parts = [await proxyPart(subject, cores[0] ?? null), await authoritiesPart(subject)];
  const level = parts.some((part) => part.level === 'fail')
    ? 'fail'
    : parts.some((part) => part.level === 'warn')
      ? 'warn'
      : 'ok';
  const next = parts.map((part) => part.next).filter((remedy) => remedy !== null);
  return {
    name: 'Proxy and certificates',
    ok: level !== 'fail',
    level,
    text: parts.map((part) => part.text).join(' '),
    next: next.length === 0 ? null : next.join(' '),
  };
}

async function proxyPart(subject: NetworkSubject, core: string | null): Promise<Part> {
  const { choice } = subject;
  switch (choice.proxy) {
    case 'none':
      return well('No proxy: Settings say to reach every Core directly.');
    case 'manual':
      return manualPart(subject);
    case 'system':
      return systemPart(subject, core);
  }
}

async function manualPart({ choice, hasPassword }: NetworkSubject): Promise<Part> {
  const server = proxyServer(choice.proxy_url);
  if (!server) {
    return {
      text: 'The proxy of Settings has no address that can be used, so every Core is reached directly.',
      level: 'fail',
      next: 'Name its address in Settings, or choose another way.',
    };
  }
  const host = hostOf(server.url);
  if (choice.proxy_user === '') return well(`Proxy ${host}, from Settings.`);
  return (await hasPassword()) === false
    ? {
        text: `Proxy ${host}, from Settings. It is given a user, and no password is kept for it.`,
        level: 'warn',
        next: 'Give its password in Settings.',
      }
    : well(`Proxy ${host} with a user and a password, from Settings.`);
}

async function systemPart(
  { environment, desktop, clock }: NetworkSubject,
  core: string | null,
): Promise<Part> {
  const variable = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].find(
    (name) => (environment.get(name) ?? '') !== '',
  );
  // Any other host: what is named for one is named for all but those left out.
  const url = new URL(`https://${core ?? 'example.com'}`);
  if (variable !== undefined) {
    const named = proxyServer(environment.get(variable) ?? '');
    if (!named) {
      return {
        text: `${variable} of the environment names no proxy that can be used.`,
        level: 'warn',
        next: 'Put it right in the environment, or name a proxy in Settings.',
      };
    }
    const used = await environmentProxy(environment)(url);
    if (used) return well(`Proxy ${hostOf(used.url)}, from ${variable} of the environment.`);
    return well(
      `Proxy ${hostOf(named.url)}, from ${variable} of the environment, but NO_PROXY leaves out ${url.host}.`,
    );
  }
  if (!desktop) return well('No proxy: the environment names none.');
  const asked = await within(
    clock,
    desktopWait,
    desktop(url).catch(() => null),
  );
  if (asked.kind === 'timeout') {
    return {
      text: 'The desktop did not say within 5 s whether there is a proxy, so Core is reached directly.',
      level: 'warn',
      next: 'Look at the proxy settings of the system, or name a proxy in Settings.',
    };
  }
  return well(
    asked.value === null
      ? 'No proxy: neither the environment nor the desktop names one.'
      : `Proxy ${hostOf(asked.value.url)}, as the desktop names it.`,
  );
}

async function authoritiesPart({ choice, clock }: NetworkSubject): Promise<Part> {
  const path = choice.extra_ca;
  if (path === '') return well('Certificates: the built-in authorities.');
  let pem: string | null;
  try {
    pem = await readAuthorities(path);
  } catch (error) {
    return {
      text: asError(error).message,
      level: 'fail',
      next: `Until then nobody of ${path} is believed. Put the file right, or name another in Settings.`,
    };
  }
  const blocks = (pem ?? '').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const expired = blocks.filter(
    (block) => Date.parse(new X509Certificate(block).validTo) < clock.now(),
  ).length;
  const text = `Certificates: the built-in authorities and ${blocks.length} more of ${path}, from Settings.`;
  if (expired === 0) return well(text);
  return {
    text: `${text} Expired of these: ${expired}.`,
    level: 'warn',
    next: 'Ask whoever runs your network for a new file of authorities.',
  };
}

/** Host and port alone. */
const hostOf = (url: string): string => new URL(url).host;
