import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CredentialDesk } from '../../../src/app/credentials.ts';
import { checkNetwork, keepProxyPassword, networkSettings } from '../../../src/app/network-settings.ts';
import { defaultSettings, type Settings } from '../../../src/contract/settings.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { TestAuthority } from '../../support/connect-proxy.ts';
import { FakeKeychain } from '../../support/enrol-bed.ts';
import { FakeClock } from '../../support/fake-clock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'network-settings-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const manual = (change: Partial<Settings> = {}): Settings => ({
  ...defaultSettings,
  proxy: 'manual',
  proxy_url: 'http://proxy.test:3128',
  ...change,
});

describe('what can be saved', () => {
  test.each([
    ['no address', manual({ proxy_url: '' }), 'must look like'],
    ['a path behind it', manual({ proxy_url: 'http://proxy.test:3128/x' }), 'must look like'],
    ['a password in it', manual({ proxy_url: 'http://anna:pw@proxy.test:3128' }), 'fields of their own'],
    ['a colon in the user', manual({ proxy_user: 'a:b' }), 'cannot hold a colon'],
    ['half a path', manual({ extra_ca: 'ca.pem' }), 'whole path'],
    ['a file that is not there', manual({ extra_ca: '/nowhere/ca.pem' }), 'cannot be read'],
  ])('%s is refused in plain words', async (_, settings, words) => {
    await expect(checkNetwork(settings)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining(words) as string,
    });
  });

  test('a file without a certificate, or with a broken one, is refused', async () => {
    const path = join(folder, 'ca.pem');
    await writeFile(path, 'nothing');
    await expect(checkNetwork(manual({ extra_ca: path }))).rejects.toThrow('no certificate in PEM form');
    await writeFile(path, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
    await expect(checkNetwork(manual({ extra_ca: path }))).rejects.toThrow('cannot be read');
  });

  test('a real one counts', async () => {
    const authority = new TestAuthority();
    try {
      const settings = manual({ extra_ca: authority.caPath });
      await checkNetwork(settings);
      const desk = await openDesk();
      const { extraCa } = await networkSettings(settings, desk, () => undefined);
      expect(extraCa).toBe(authority.ca.trim());
    } finally {
      authority.remove();
    }
  });
});

const keychain = new FakeKeychain();
const openDesk = (): Promise<CredentialDesk> =>
  CredentialDesk.open({
    clock: new FakeClock(),
    random: systemRandom,
    logger: silentLogger,
    path: join(folder, 'credentials.json'),
    load: () => keychain,
  });

describe('the password of the proxy', () => {
  test('lies in the credential store, is masked in both its forms, and can be forgotten', async () => {
    const desk = await openDesk();
    await keepProxyPassword(desk, 'canary-password');
    const masked: string[] = [];
    const settings = manual({ proxy_user: 'anna' });
    const look = async () =>
      (await networkSettings(settings, desk, (secret) => void masked.push(secret))).proxy;
    expect(await look()).toEqual({
      kind: 'manual',
      server: { url: 'http://proxy.test:3128', auth: 'anna:canary-password' },
    });
    expect(masked).toEqual(['canary-password', Buffer.from('anna:canary-password').toString('base64')]);
    expect(await readFile(join(folder, 'credentials.json'), 'utf8')).not.toContain('canary-password');
    await keepProxyPassword(desk, '');
    expect(await look()).toMatchObject({ server: { auth: 'anna:' } });
  });

  test('is not sent where no user is named', async () => {
    const desk = await openDesk();
    await keepProxyPassword(desk, 'canary-password');
    const { proxy } = await networkSettings(manual(), desk, () => undefined);
    expect(proxy).toEqual({ kind: 'manual', server: { url: 'http://proxy.test:3128', auth: null } });
  });

  test('a store that does not answer is told, and nothing is kept', async () => {
    keychain.locked = true;
    try {
      await expect(keepProxyPassword(await openDesk(), 'canary-password')).rejects.toMatchObject({
        code: 'credential_store_unavailable',
      });
    } finally {
      keychain.locked = false;
    }
  });
});
