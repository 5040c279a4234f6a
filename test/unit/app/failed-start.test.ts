import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultConfig } from '../../../src/app/config.ts';
import { CredentialDesk } from '../../../src/app/credentials.ts';
import { Daemon } from '../../../src/app/daemon.ts';
import type { DaemonOptions } from '../../../src/app/daemon-options.ts';
import { ControlClient } from '../../../src/cli/client.ts';
import { fault } from '../../../src/observe/errors.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemEnvironment } from '../../../src/platform/environment.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { statePaths } from '../../../src/store/paths.ts';
import { Deferred } from '../../support/controlled-harness.ts';

async function options(): Promise<DaemonOptions & { closed: () => number; close: Deferred<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'agent-runtime-start-'));
  const paths = statePaths(root, systemEnvironment);
  const ports = { clock: systemClock, random: systemRandom, logger: silentLogger };
  let closed = 0;
  const close = new Deferred<void>();
  return {
    ...ports,
    ...{ paths, version: 'test', config: defaultConfig, targets: [] },
    credentials: await CredentialDesk.open({ ...ports, path: paths.credentials, load: () => null }),
    createHarnesses: () =>
      Promise.resolve({
        offered: () => [],
        refresh: () => Promise.resolve(),
        onChange: () => () => undefined,
        close: () => {
          closed++;
          return close.promise;
        },
      }),
    createLocalCore: null,
    closed: () => closed,
    close,
  };
}

test('a start that fails closes what it opened, and the next one in the same process works', async () => {
  const failing = await options();
  failing.close.resolve();
  const createLocalCore = (): Promise<never> =>
    Promise.reject(fault('storage', 'No port for the local Core.'));
  await expect(Daemon.start({ ...failing, createLocalCore })).rejects.toThrow('No port for the local Core.');
  expect(failing.closed()).toBe(1);
  await expect(ControlClient.connect(failing.paths.control)).rejects.toThrow();
  expect(await readdir(failing.paths.root)).not.toContain('lock.json');
  const daemon = await Daemon.start(failing);
  expect(daemon.state).toBe('running');
  await daemon.shutdown();
});

test('a shutdown waits for the look at an agent that is under way', async () => {
  const slow = await options();
  const daemon = await Daemon.start(slow);
  let over = false;
  const ended = daemon.shutdown().then(() => (over = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(slow.closed()).toBe(1);
  expect(over).toBe(false);
  slow.close.resolve();
  await ended;
  expect(over).toBe(true);
});
