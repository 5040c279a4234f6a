import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandAnswer } from '../contract/commands.ts';
import {
  chosenSettingsSchema,
  defaultSettings,
  settingsSchema,
  type ChosenSettings,
} from '../contract/settings.ts';
import { createHarnessRegistry } from '../harness/registry.ts';
import type { Logger } from '../observe/logger.ts';
import { ProcessLedger } from '../ownership/process-ledger.ts';
import { systemClock } from '../platform/clock.ts';
import { systemEnvironment } from '../platform/environment.ts';
import { systemRandom } from '../platform/random.ts';
import { privateFolder } from '../store/atomic-file.ts';
import { InstanceLock } from '../store/instance-lock.ts';
import type { StatePaths } from '../store/paths.ts';
import type { Config } from './config.ts';
import { CredentialDesk } from './credentials.ts';
import { runDoctor } from './doctor.ts';
import { hasProxyPassword } from './network-settings.ts';

/** The checks while no Runtime runs: when nothing starts is when they are needed most. */
export async function doctorAlone(
  paths: StatePaths,
  config: Config,
  logger: Logger,
): Promise<CommandAnswer<'doctor.run'>['checks']> {
  const ports = { clock: systemClock, random: systemRandom };
  await privateFolder(paths.root);
  // Programs are looked at, so the ledger is ours while that lasts.
  const lock = await InstanceLock.acquire(paths.lock, systemRandom);
  try {
    const ledger = await ProcessLedger.open(paths.ledger, ports);
    const harnesses = await createHarnessRegistry({
      ...ports,
      logger,
      ledger,
      harnesses: config.harnesses,
      stateDir: join(paths.root, 'harness'),
    });
    try {
      const credentials = await CredentialDesk.open({ ...ports, logger, path: paths.credentials });
      const openCleanup = (await ledger.orphans()).length;
      const chosen = await readChoice(paths.settings);
      const network = {
        clock: systemClock,
        choice: settingsSchema.parse({ ...defaultSettings, ...chosen }),
        environment: systemEnvironment,
        desktop: null,
        hasPassword: () => hasProxyPassword(credentials),
      };
      const time = { clock: systemClock, network: null };
      return await runDoctor({ paths, credentials, harnesses, network, time, bindings: [], openCleanup });
    } finally {
      await harnesses.close();
    }
  } finally {
    await lock.release();
  }
}

/** What was chosen, as far as it can be read; nothing is written or set aside here. */
async function readChoice(path: string): Promise<ChosenSettings> {
  try {
    return chosenSettingsSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return {};
  }
}
