import { setMaxListeners } from 'node:events';
import { homedir } from 'node:os';

import { fault, rejected } from '../observe/errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { ProcessLedger } from '../ownership/process-ledger.ts';
import { within, type Clock, type Timer } from '../platform/clock.ts';
import { systemEnvironment, type Environment } from '../platform/environment.ts';
import type { Random } from '../platform/random.ts';
import { capabilityDeclaration, declareCapabilities } from '../protocol/capabilities.ts';
import type { HarnessAdapter, Probe } from './adapter.ts';
import { knownAgents } from './acp/known-agents.ts';
import { LoginPath } from './process/login-env.ts';

/** One Harness as the configuration names it; `interfaces` of the product, "Configuration". */
export interface HarnessSettings {
  readonly kind: string;
  readonly adapter: string;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly steering?: string | undefined;
}

export interface RegistryPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly ledger: ProcessLedger;
  /** A private folder of the daemon, outside every workspace. */
  readonly stateDir: string;
  readonly environment?: Environment;
  readonly homeDir?: string;
}

/** A Harness and what the last look at it said. */
export interface HarnessEntry {
  readonly adapter: HarnessAdapter;
  readonly probe: Probe;
}

/** One look at one Harness may take this long; a longer one says "does not answer". */
const PROBE_LIMIT_MS = 60_000;
/** Between looks: an available program rarely changes, an unavailable one may just have been installed. */
const AVAILABLE_INTERVAL_MS = 5 * 60_000;
const UNAVAILABLE_INTERVAL_MS = 30_000;
/** How long the end of the Runtime waits for a look under way. */
const CLOSE_LIMIT_MS = 10_000;
/** The first look is waited for this long before the Runtime goes on with what is known. */
const FIRST_LOOK_MS = 5_000;

/** How an adapter is built from its settings, loaded when one is configured. A new adapter is one entry here. */
const builders: Readonly<
  Record<string, (context: BuildContext, settings: HarnessSettings) => Promise<HarnessAdapter>>
> = {
  'claude-code': async (context, settings) => {
    const { ClaudeCodeAdapter } = await import('./claude-code/adapter.ts');
    return new ClaudeCodeAdapter(context, settings);
  },
  codex: async (context, settings) => {
    const { CodexAdapter } = await import('./codex/adapter.ts');
    return new CodexAdapter(context, settings);
  },
  acp: async (context, settings) => {
    const { AcpAdapter } = await import('./acp/adapter.ts');
    return new AcpAdapter(context, settings);
  },
  demo: async (context, settings) => {
    const { DemoAdapter } = await import('./demo/adapter.ts');
    return new DemoAdapter(context, settings.kind);
  },
};

interface BuildContext extends RegistryPorts {
  readonly environment: Environment;
  readonly homeDir: string;
  readonly loginPath: LoginPath;
  readonly ending: AbortSignal;
}

/** What is offered when nothing is configured. The demo is for the local Core alone, which the composition sees to. */
const defaults: readonly HarnessSettings[] = [
  { kind: 'claude_sdk', adapter: 'claude-code' },
  { kind: 'codex', adapter: 'codex' },
  ...knownAgents.map(({ program }) => ({ kind: program, adapter: 'acp' })),
  { kind: 'demo', adapter: 'demo' },
];

/**
 * The Harness kinds of this machine with complete declarations. Every kind is looked at again while the Runtime
 * runs; a change is announced. Registering is all or nothing: a kind twice, an empty kind or an incomplete
 * declaration is refused.
 */
export class HarnessRegistry {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #entries = new Map<string, { adapter: HarnessAdapter; probe: Probe; hideMissing: boolean }>();
  readonly #listeners = new Set<() => void>();
  #looking: Promise<void> | null = null;
  /** Also those that took too long to be waited for. */
  readonly #probing = new Set<Promise<unknown>>();
  #timer: Timer | null = null;
  readonly #ending = new AbortController();

  constructor(ports: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = ports.clock;
    this.#logger = ports.logger;
    // As many as there are programs at work.
    setMaxListeners(0, this.#ending.signal);
  }

  /**
   * Adds a kind, unavailable until it was looked at. `hideMissing`: not offered at all while its program is not found.
   * @throws RuntimeError `conflict` for a kind that is there already, `invalid_configuration` for an empty one
   */
  register(adapter: HarnessAdapter, options: { readonly hideMissing?: boolean } = {}): void {
    if (adapter.kind.trim() === '') throw rejected('invalid_configuration', 'A Harness needs a kind.');
    if (this.#entries.has(adapter.kind))
      throw rejected(
        'conflict',
        `The Harness kind ${adapter.kind} is there twice. Give one of them another kind.`,
      );
    const hideMissing = options.hideMissing === true;
    const probe: Probe = {
      available: false,
      ...(hideMissing ? { installed: false } : {}),
      version: null,
      reason: `Looking for ${adapter.name}.`,
      capabilities: declareCapabilities([]),
    };
    this.#entries.set(adapter.kind, { adapter, probe, hideMissing });
  }

  /** As last looked at, sorted by kind. */
  offered(): readonly HarnessEntry[] {
    return sorted([...this.#entries.values()].filter((entry) => !isHidden(entry)));
  }

  /** Also what is not offered because its program was not found, for a person who asks what could be. */
  known(): readonly HarnessEntry[] {
    return sorted([...this.#entries.values()]);
  }

  /** Looks at all again; resolves when done. Callers at the same time share one look. */
  refresh(): Promise<void> {
    this.#looking ??= this.#lookAtAll().finally(() => {
      this.#looking = null;
      this.#schedule();
    });
    return this.#looking;
  }

  /** Called after a look that changed something. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** For the adapters: aborted when the Runtime ends. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /**
   * No more looks. Those under way end with what they started; resolves then, or after 10 s: what is still there is in
   * the ledger, and the next start ends it.
   */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#timer?.cancel();
    this.#listeners.clear();
    await within(this.#clock, CLOSE_LIMIT_MS, Promise.allSettled(this.#probing));
  }

  async #lookAtAll(): Promise<void> {
    const before = JSON.stringify(this.offered().map(({ adapter, probe }) => [adapter.kind, probe]));
    await Promise.all(
      [...this.#entries.values()].map(async (entry) => {
        entry.probe = await this.#look(entry.adapter);
      }),
    );
    const after = JSON.stringify(this.offered().map(({ adapter, probe }) => [adapter.kind, probe]));
    if (before === after || this.#ending.signal.aborted) return;
    for (const { adapter, probe } of this.offered()) {
      this.#logger.info('harness.probed', {
        kind: adapter.kind,
        available: probe.available,
        version: probe.version,
      });
    }
    for (const listener of [...this.#listeners]) listener();
  }

  async #look(adapter: HarnessAdapter): Promise<Probe> {
    const silent = (reason: string): Probe => ({
      available: false,
      version: null,
      reason,
      capabilities: declareCapabilities([]),
    });
    try {
      const looked = await within(this.#clock, PROBE_LIMIT_MS, this.#probe(adapter));
      if (looked.kind === 'timeout') return silent(`${adapter.name} does not answer.`);
      if (!capabilityDeclaration.safeParse(looked.value.capabilities).success)
        throw fault('fault', `The declaration of ${adapter.kind} is not complete.`);
      return looked.value;
    } catch (error) {
      this.#logger.error('harness.probe_failed', {
        kind: adapter.kind,
        error: error instanceof Error ? error.name : null,
      });
      return silent(`Looking for ${adapter.name} failed. Look at the log.`);
    }
  }

  #probe(adapter: HarnessAdapter): Promise<Probe> {
    const probe = adapter.probe();
    this.#probing.add(probe);
    const over = (): void => void this.#probing.delete(probe);
    probe.then(over, over);
    return probe;
  }

  #schedule(): void {
    this.#timer?.cancel();
    if (this.#ending.signal.aborted) return;
    const all = [...this.#entries.values()].every((entry) => entry.probe.available);
    const pause = all ? AVAILABLE_INTERVAL_MS : UNAVAILABLE_INTERVAL_MS;
    this.#timer = this.#clock.after(pause, () => void this.refresh(), { background: true });
  }
}

const isHidden = (entry: { readonly probe: Probe; readonly hideMissing: boolean }): boolean =>
  entry.hideMissing && entry.probe.installed === false;

const sorted = (entries: readonly HarnessEntry[]): readonly HarnessEntry[] =>
  entries
    .map(({ adapter, probe }) => ({ adapter, probe }))
    .sort((a, b) => (a.adapter.kind < b.adapter.kind ? -1 : 1));

/**
 * Builds the registry from the configuration, or from what is found without one, and looks once.
 * @throws RuntimeError `invalid_configuration` that names the place for an adapter this version does not have
 */
export async function createHarnessRegistry(
  options: RegistryPorts & { readonly harnesses?: readonly HarnessSettings[] | undefined },
): Promise<HarnessRegistry> {
  const environment = options.environment ?? systemEnvironment;
  const registry = new HarnessRegistry(options);
  const context: BuildContext = {
    ...options,
    environment,
    homeDir: options.homeDir ?? homedir(),
    ending: registry.ending,
    loginPath: new LoginPath({ clock: options.clock, random: options.random, environment }),
  };
  for (const [index, settings] of (options.harnesses ?? defaults).entries()) {
    const build = Object.hasOwn(builders, settings.adapter) ? builders[settings.adapter] : undefined;
    if (!build) {
      throw rejected(
        'invalid_configuration',
        `harnesses[${index}].adapter is not one of ${Object.keys(builders).join(', ')}.`,
      );
    }
    registry.register(await build(context, settings), { hideMissing: options.harnesses === undefined });
  }
  await within(options.clock, FIRST_LOOK_MS, registry.refresh());
  return registry;
}
