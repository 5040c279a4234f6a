import { join } from 'node:path';
import { createHarnessRegistry } from '../harness/registry.ts';
import { asError } from '../observe/errors.ts';
import { createFileLogger } from '../observe/log-sink.ts';
import type { Logger, LogLevel } from '../observe/logger.ts';
import { Redactor } from '../observe/redact.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import type { SystemProxy } from '../platform/proxy.ts';
import { systemRandom } from '../platform/random.ts';
import { privateFolder } from '../store/atomic-file.ts';
import type { NativeKeychain } from '../store/keychain.ts';
import type { StatePaths } from '../store/paths.ts';
import type { BindingTarget } from './binding.ts';
import type { Config } from './config.ts';
import { CredentialDesk } from './credentials.ts';
import { Daemon } from './daemon.ts';
import type { EnrolledBindings } from './enrolled-binding.ts';

export interface ComposeOptions {
  readonly paths: StatePaths;
  readonly version: string;
  readonly config: Config;
  readonly targets: readonly BindingTarget[];
  readonly enrolled?: EnrolledBindings;
  /** Folder of the local Core's Turns, or null for no local Core. */
  readonly localWorkspace: string | null;
  readonly logLevel: LogLevel;
  /** Also to stderr, for a headless Runtime. */
  readonly stderr: LogLevel | null;
  readonly redactor?: Redactor;
  /** What the desktop names as proxy. */
  readonly systemProxy?: SystemProxy;
  /** In place of the machine's own, for whoever plays faults on all of it. */
  readonly ports?: { readonly clock?: Clock; readonly loadKeychain?: () => NativeKeychain | null };
}

/** The real thing: system clock, files, keychain and programs. Both front ends' processes start here. */
export async function compose(options: ComposeOptions): Promise<{ daemon: Daemon; logger: Logger }> {
  const { paths, config } = options;
  const { clock = systemClock, loadKeychain } = options.ports ?? {};
  const random = systemRandom;
  await privateFolder(paths.root);
  const redactor = options.redactor ?? new Redactor();
  let unwritten = false;
  let running: Daemon | null = null;
  const noteLog = (): void => {
    if (unwritten) running?.health.raise('log_not_kept', 'Lines of the log could not be written to disk.');
  };
  const logger = createFileLogger({
    folder: paths.logs,
    level: options.logLevel,
    redactor,
    clock,
    stderr: options.stderr,
    onUnwritten: () => {
      unwritten = true;
      noteLog();
    },
  });
  // A promise of ours that nobody waited for is our bug: it is written down, and the daemon goes on.
  process.on('unhandledRejection', (reason) =>
    logger.error('fault.unhandled', { error: asError(reason).name }),
  );
  const credentials = await CredentialDesk.open({
    ...{ clock, random, logger, path: paths.credentials },
    ...(loadKeychain ? { load: loadKeychain } : {}),
  });
  const workspace = options.localWorkspace;
  const daemon = await Daemon.start({
    clock,
    random,
    logger,
    paths,
    version: options.version,
    config,
    credentials,
    redactor,
    targets: options.targets,
    ...(options.enrolled ? { enrolled: options.enrolled } : {}),
    ...(options.systemProxy ? { systemProxy: options.systemProxy } : {}),
    createHarnesses: (ledger) =>
      createHarnessRegistry({
        clock,
        random,
        logger,
        ledger,
        harnesses: config.harnesses,
        stateDir: join(paths.root, 'harness'),
      }),
    createLocalCore:
      workspace === null
        ? null
        : async (host) => (await import('./local-core.ts')).startLocalCore(host, workspace),
  });
  running = daemon;
  noteLog();
  return { daemon, logger };
}
