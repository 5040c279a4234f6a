import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configSchema } from '../../../src/app/config.ts';
import { CredentialDesk } from '../../../src/app/credentials.ts';
import { Daemon } from '../../../src/app/daemon.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemEnvironment } from '../../../src/platform/environment.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { statePaths, type StatePaths } from '../../../src/store/paths.ts';

async function life<T>(paths: StatePaths, use: (daemon: Daemon) => Promise<T>): Promise<T> {
  const ports = { clock: systemClock, random: systemRandom, logger: silentLogger };
  const daemon = await Daemon.start({
    ...{ ...ports, paths, version: 'test', targets: [], createLocalCore: null },
    config: configSchema.parse({ interactions: { policy: 'accept_edits', answered_by: 'local' } }),
    credentials: await CredentialDesk.open({ ...ports, path: paths.credentials, load: () => null }),
    createHarnesses: () =>
      Promise.resolve({
        offered: () => [],
        refresh: () => Promise.resolve(),
        onChange: () => () => undefined,
        close: () => Promise.resolve(),
      }),
  });
  try {
    return await use(daemon);
  } finally {
    await daemon.shutdown();
  }
}

test('what a person chose wins over the configuration, and nothing else is kept', async () => {
  const paths = statePaths(await mkdtemp(join(tmpdir(), 'agent-runtime-settings-')), systemEnvironment);
  await life(paths, async (daemon) => {
    expect(daemon.settings).toMatchObject({ policy: 'accept_edits', answered_by: 'local', theme: 'system' });
    await daemon.run('settings.set', { theme: 'dark' });
    expect(daemon.settings).toMatchObject({ policy: 'accept_edits', theme: 'dark' });
    const set = await daemon.run('settings.set', { policy: 'ask' });
    expect(set).toMatchObject({ ok: true, answer: { policy: 'ask', answered_by: 'local', theme: 'dark' } });
  });
  expect(JSON.parse(await readFile(paths.settings, 'utf8'))).toEqual({ theme: 'dark', policy: 'ask' });
  await life(paths, async (daemon) => {
    expect(daemon.settings).toMatchObject({ policy: 'ask', answered_by: 'local', theme: 'dark' });
    expect(await daemon.run('settings.set', { policy: 'always' })).toMatchObject({ ok: false });
  });
});

test('a proxy that cannot be one is refused and not kept; its password never lies with the settings', async () => {
  const paths = statePaths(await mkdtemp(join(tmpdir(), 'agent-runtime-settings-')), systemEnvironment);
  await life(paths, async (daemon) => {
    const bad = await daemon.run('settings.set', { proxy: 'manual', proxy_url: 'no address' });
    expect(bad).toMatchObject({ ok: false, error: { code: 'invalid_configuration' } });
    expect(daemon.settings.proxy).toBe('system');
    await daemon.run('settings.set', {
      proxy: 'manual',
      proxy_url: 'http://proxy.test:1',
      proxy_user: 'anna',
    });
    await daemon.run('credentials.choose', { choice: 'memory' });
    expect(await daemon.run('proxy.password', { password: 'canary-password' })).toMatchObject({ ok: true });
    expect(JSON.stringify(await daemon.run('settings.get', {}))).not.toContain('canary');
    expect(JSON.stringify(daemon.publisher.current())).not.toContain('canary');
    await daemon.network.routeFor(new URL('https://core.test/'), new AbortController().signal);
    expect(daemon.redactor.redact('said canary-password')).not.toContain('canary');
  });
  expect(await readFile(paths.settings, 'utf8')).not.toContain('canary');
});

test('a file of a version that knew fewer settings is read', async () => {
  const paths = statePaths(await mkdtemp(join(tmpdir(), 'agent-runtime-settings-')), systemEnvironment);
  const old = {
    theme: 'light',
    notifications: false,
    start_minimised: false,
    start_at_login: false,
    keep_awake: true,
  };
  await writeFile(paths.settings, JSON.stringify(old));
  await life(paths, (daemon) => {
    expect(daemon.settings).toMatchObject({ ...old, policy: 'accept_edits' });
    return Promise.resolve();
  });
});
