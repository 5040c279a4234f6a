import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { networkCheck, type NetworkSubject } from '../../../src/app/doctor-network.ts';
import { defaultSettings } from '../../../src/contract/settings.ts';
import type { Environment } from '../../../src/platform/environment.ts';
import { TestAuthority } from '../../support/connect-proxy.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const environment = (variables: Readonly<Record<string, string>>): Environment => ({
  platform: 'linux',
  get: (name) => variables[name],
  all: () => variables,
});

const subject = (change: Partial<NetworkSubject> & { readonly settings?: object } = {}): NetworkSubject => ({
  clock: new FakeClock(),
  environment: environment({}),
  desktop: null,
  hasPassword: () => Promise.resolve(true),
  ...change,
  choice: { ...defaultSettings, ...change.settings },
});
const manual = { proxy: 'manual', proxy_url: 'http://proxy.test:3128' };
const look = (change?: Parameters<typeof subject>[0], cores: readonly string[] = []) =>
  networkCheck(subject(change), cores);

describe('the proxy', () => {
  test('none: says who was asked', async () => {
    expect(await look()).toMatchObject({
      name: 'Proxy and certificates',
      ok: true,
      level: 'ok',
      text: 'No proxy: the environment names none. Certificates: the built-in authorities.',
      next: null,
    });
    const desktop = (): Promise<null> => Promise.resolve(null);
    expect((await look({ desktop })).text).toContain('neither the environment nor the desktop');
    expect((await look({ settings: { proxy: 'none' } })).text).toContain('Settings say to reach every Core');
  });

  test('of the environment: its host, the variable, and never who may use it', async () => {
    const check = await look({
      environment: environment({ https_proxy: 'http://anna:canary-password@proxy.test:3128' }),
    });
    expect(check.text).toContain('Proxy proxy.test:3128, from https_proxy of the environment.');
    expect(JSON.stringify(check)).not.toMatch(/anna|canary-password/);
  });

  test('a Core that the environment leaves out is named', async () => {
    const check = await look(
      { environment: environment({ HTTPS_PROXY: 'proxy.test:3128', NO_PROXY: '.example.com' }) },
      ['core.example.com'],
    );
    expect(check.text).toContain('but NO_PROXY leaves out core.example.com.');
    expect(check.level).toBe('ok');
  });

  test('a variable that names none is worth a look and stops nothing', async () => {
    expect(await look({ environment: environment({ ALL_PROXY: 'socks5://proxy.test' }) })).toMatchObject({
      ok: true,
      level: 'warn',
      next: 'Put it right in the environment, or name a proxy in Settings.',
    });
  });

  test('of the desktop, which gets 5 s to say', async () => {
    const desktop: NetworkSubject['desktop'] = (url) =>
      Promise.resolve({ url: `http://${url.hostname}.proxy:8080`, auth: 'anna:pw' });
    expect((await look({ desktop }, ['core.example.com'])).text).toContain(
      'Proxy core.example.com.proxy:8080, as the desktop names it.',
    );
    const clock = new FakeClock();
    const silent = look({ clock, desktop: () => new Promise<never>(() => undefined) });
    await clock.advance(5_000);
    expect(await silent).toMatchObject({ ok: true, level: 'warn' });
  });

  test('of Settings: with a user, without its password, without an address', async () => {
    expect((await look({ settings: manual })).text).toContain('Proxy proxy.test:3128, from Settings.');
    const withUser = { ...manual, proxy_user: 'anna' };
    const well = await look({ settings: withUser });
    expect(well.text).toContain('Proxy proxy.test:3128 with a user and a password, from Settings.');
    expect(well.text).not.toContain('anna');
    expect(await look({ settings: withUser, hasPassword: () => Promise.resolve(false) })).toMatchObject({
      ok: true,
      level: 'warn',
      next: 'Give its password in Settings.',
    });
    expect(await look({ settings: withUser, hasPassword: () => Promise.resolve(null) })).toMatchObject({
      level: 'ok',
    });
    expect(await look({ settings: { ...manual, proxy_url: 'nothing useful' } })).toMatchObject({
      ok: false,
      level: 'fail',
    });
  });
});

describe('the file of authorities', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'doctor-network-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('says how many it adds, and where it was named', async () => {
    const authority = new TestAuthority();
    try {
      const path = join(folder, 'two.pem');
      await writeFile(path, `${authority.ca}\n${authority.ca}`);
      const clock = new FakeClock(Date.now());
      expect(await look({ clock, settings: { extra_ca: path } })).toMatchObject({
        level: 'ok',
        text: `No proxy: the environment names none. Certificates: the built-in authorities and 2 more of ${path}, from Settings.`,
      });
      const later = new FakeClock(Date.now() + 100 * 365 * 24 * 3_600_000);
      expect(await look({ clock: later, settings: { extra_ca: path } })).toMatchObject({
        ok: true,
        level: 'warn',
        text: expect.stringContaining('Expired of these: 2.') as string,
      });
    } finally {
      authority.remove();
    }
  });

  test('one that is gone or holds none fails, with what to do', async () => {
    const path = join(folder, 'gone.pem');
    expect(await look({ settings: { extra_ca: path } })).toMatchObject({
      ok: false,
      level: 'fail',
      text: expect.stringContaining('cannot be read') as string,
      next: expect.stringContaining(path) as string,
    });
    await writeFile(path, 'nothing');
    expect((await look({ settings: { extra_ca: path } })).text).toContain('no certificate in PEM form');
  });
});
