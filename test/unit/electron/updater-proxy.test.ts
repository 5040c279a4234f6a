import { expect, test } from 'vitest';
import { proxyConfig, proxyLogin } from '../../../electron/updater-proxy.ts';

test.each([
  [{ kind: 'system' } as const, { mode: 'system' }, null],
  [{ kind: 'none' } as const, { mode: 'direct' }, null],
  [
    { kind: 'manual', server: { url: 'http://proxy.example.com:3128', auth: null } } as const,
    { mode: 'fixed_servers', proxyRules: 'http://proxy.example.com:3128' },
    null,
  ],
  [
    { kind: 'manual', server: { url: 'http://[::1]:8080', auth: 'ann:a:b' } } as const,
    { mode: 'fixed_servers', proxyRules: 'http://[::1]:8080' },
    { user: 'ann', password: 'a:b' },
  ],
  [
    { kind: 'manual', server: { url: 'http://proxy.example.com:3128', auth: 'ann:' } } as const,
    { mode: 'fixed_servers', proxyRules: 'http://proxy.example.com:3128' },
    { user: 'ann', password: '' },
  ],
])('updates go the way of the settings %j', (proxy, config, login) => {
  expect(proxyConfig(proxy)).toEqual(config);
  expect(proxyLogin(proxy)).toEqual(login);
});
