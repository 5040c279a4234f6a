import type { Logger } from '../observe/logger.ts';
import type { Redactor } from '../observe/redact.ts';
import type { ProcessLedger } from '../ownership/process-ledger.ts';
import type { Clock } from '../platform/clock.ts';
import type { SystemProxy } from '../platform/proxy.ts';
import type { Random } from '../platform/random.ts';
import type { OfferedHarness } from '../runtime/ports.ts';
import type { StatePaths } from '../store/paths.ts';
import type { BindingTarget } from './binding.ts';
import type { Config } from './config.ts';
import type { CredentialDesk } from './credentials.ts';
import type { Daemon } from './daemon.ts';
import type { EnrolledBindings } from './enrolled-binding.ts';
import type { LocalCoreHost } from './local-core.ts';

/** The Harnesses of this machine, as the composition built them. */
export interface HarnessSource {
  /** As last probed, sorted by kind. */
  offered(): readonly OfferedHarness[];
  /** Probes all again; resolves when done. */
  refresh(): Promise<void>;
  onChange(listener: () => void): void;
  /** No more looks; resolves when the one under way has ended with what it started. */
  close(): Promise<void> | void;
}

export interface DaemonOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly paths: StatePaths;
  readonly version: string;
  readonly config: Config;
  readonly credentials: CredentialDesk;
  /** What the system names as proxy; without it, what the environment names. */
  readonly systemProxy?: SystemProxy;
  /** Where the log lies, for `logs.tail`. */
  createHarnesses(ledger: ProcessLedger): Promise<HarnessSource>;
  /** Masks what this process was given as secrets. */
  readonly redactor?: Redactor;
  /** Bindings to serve besides the local Core. */
  readonly targets: readonly BindingTarget[];
  /** Enrolled bindings to serve; none by default. */
  readonly enrolled?: EnrolledBindings;
  /** Null: no local Core. */
  createLocalCore: ((daemon: Daemon) => Promise<LocalCoreHost>) | null;
}
