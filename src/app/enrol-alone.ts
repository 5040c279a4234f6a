import { readProtectedFile } from '../enrol/credential-file.ts';
import { Receipts } from '../enrol/receipt.ts';
import { historySchema } from '../contract/history.ts';
import { AuditLog } from '../observe/audit.ts';
import { createFileLogger } from '../observe/log-sink.ts';
import type { LogLevel } from '../observe/logger.ts';
import { Redactor } from '../observe/redact.ts';
import { systemClock } from '../platform/clock.ts';
import { systemRandom } from '../platform/random.ts';
import { privateFolder } from '../store/atomic-file.ts';
import { InstanceLock } from '../store/instance-lock.ts';
import type { StatePaths } from '../store/paths.ts';
import { CredentialDesk } from './credentials.ts';
import { EnrolmentDesk } from './enrolments.ts';
import { SavedRules } from './saved-rules.ts';

/**
 * Runs `use` with the enrolments of a state folder that no Runtime serves now. The lock is held meanwhile, so that none
 * starts in between.
 * @throws RuntimeError `already_running`.
 */
export async function withEnrolments<T>(
  options: { readonly paths: StatePaths; readonly version: string; readonly logLevel: LogLevel },
  use: (desk: EnrolmentDesk, credentials: CredentialDesk) => Promise<T>,
): Promise<T> {
  const { paths, version, logLevel: level } = options;
  await privateFolder(paths.root);
  const lock = await InstanceLock.acquire(paths.lock, systemRandom);
  try {
    const redactor = new Redactor();
    const clock = systemClock;
    const random = systemRandom;
    const logger = createFileLogger({ folder: paths.logs, level, redactor, clock, stderr: null });
    const credentials = await CredentialDesk.open({ clock, random, logger, path: paths.credentials });
    const desk = new EnrolmentDesk({
      clock,
      random,
      logger,
      credentials,
      userAgent: `agent-runtime/${version}`,
      receipts: new Receipts(paths.environments, random),
      state: paths.root,
      otherFolders: () => [],
      register: (secret) => redactor.register(secret),
      serve: () => false,
      unserve: () => Promise.resolve(),
      forgetRules: async (environmentId) => {
        const history = new AuditLog(paths.audit, historySchema, ({ name: error }) =>
          logger.error('history.not_written', { error }),
        );
        const rules = await SavedRules.open({
          ...{ path: paths.rules, clock, random, logger },
          onChange: () => undefined,
          onHistory: (entry) => history.append(entry),
          bindingOf: () => null,
        });
        rules.removeOf(environmentId);
        await Promise.all([rules.flushed(), history.flushed()]);
      },
      restart: () => Promise.resolve(),
      onChange: () => undefined,
    });
    return await use(desk, credentials);
  } finally {
    await lock.release();
  }
}

/**
 * The text of a credential file, by its whole path.
 * @throws RuntimeError `invalid_credential_file` where others can read it or a link leads to it.
 */
export const credentialFileText = (path: string): Promise<string> => readProtectedFile(path);
