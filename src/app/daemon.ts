import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { historySchema, type HarnessView, type HistoryEntry, type View } from '../contract/view.ts';
import { defaultSettings, settingsSchema, type CommandResult } from '../contract/commands.ts';
import { AuditLog } from '../observe/audit.ts';
import { fault } from '../observe/errors.ts';
import { Health } from '../observe/health.ts';
import type { Logger } from '../observe/logger.ts';
import { Redactor } from '../observe/redact.ts';
import { ProcessLedger } from '../ownership/process-ledger.ts';
import type { Clock } from '../platform/clock.ts';
import { systemEnvironment } from '../platform/environment.ts';
import type { Random } from '../platform/random.ts';
import { LocalSteps } from '../workspace/preparation-steps.ts';
import { LocalWorkspace } from '../workspace/local-workspace.ts';
import { WIRE_VERSION } from '../protocol/version.ts';
import type { RuntimeFact } from '../runtime/facts.ts';
import type { OfferedHarness } from '../runtime/ports.ts';
import { privateFolder } from '../store/atomic-file.ts';
import { InstanceLock } from '../store/instance-lock.ts';
import type { StatePaths } from '../store/paths.ts';
import { JsonDocument } from '../store/settings.ts';
import { SavedRules } from './saved-rules.ts';
import { BoundRuntime, type BindingPorts, type BindingTarget } from './binding.ts';
import { runCommand, type CommandHandlers } from './command-gate.ts';
import { createHandlers } from './commands.ts';
import type { Config } from './config.ts';
import { ControlServer } from './control-server.ts';
import { Receipts, type BindingReceipt } from '../enrol/receipt.ts';
import type { CredentialDesk } from './credentials.ts';
import { enrolledTarget, type EnrolledBindings } from './enrolled-binding.ts';
import { EnrolmentDesk } from './enrolments.ts';
import type { LocalCoreHost } from './local-core.ts';
import { Orphans } from './orphans.ts';
import { Projection } from './projection.ts';
import { ViewPublisher } from './view-publisher.ts';

/** The Harnesses of this machine, as the composition built them. */
export interface HarnessSource {
  /** As last probed, sorted by kind. */
  offered(): readonly OfferedHarness[];
  /** Probes all again; resolves when done. */
  refresh(): Promise<void>;
  onChange(listener: () => void): void;
  close(): void;
}

export interface DaemonOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly paths: StatePaths;
  readonly version: string;
  readonly config: Config;
  readonly credentials: CredentialDesk;
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

const keptHistory = 500;
/** In the view, which front ends get again and again; the rest is on disk. */
const shownHistory = 200;

/**
 * The composition root: builds everything from plain arguments, publishes the view, and ends only when what it
 * started has ended or a person recorded otherwise.
 */
export class Daemon {
  readonly options: DaemonOptions;
  readonly health: Health;
  readonly redactor: Redactor;
  readonly projection: Projection;
  readonly publisher: ViewPublisher;
  readonly bindings = new Map<string, BoundRuntime>();
  readonly enrolments: EnrolmentDesk;
  harnesses: HarnessSource;
  settings: JsonDocument<typeof settingsSchema>;
  readonly rules: SavedRules;
  local: LocalCoreHost | null = null;
  orphans: Orphans;
  readonly #lock: InstanceLock;
  readonly #ledger: ProcessLedger;
  readonly #audit: AuditLog<typeof historySchema>;
  readonly #handlers: CommandHandlers;
  #history: HistoryEntry[] = [];
  #control: ControlServer | null = null;
  #state: View['runtime']['state'] = 'starting';
  #paused = false;
  readonly #startedAt: string;

  private constructor(
    options: DaemonOptions,
    lock: InstanceLock,
    ledger: ProcessLedger,
    harnesses: HarnessSource,
    settings: JsonDocument<typeof settingsSchema>,
    rules: SavedRules,
  ) {
    const { clock } = options;
    this.options = options;
    this.#lock = lock;
    this.#ledger = ledger;
    this.harnesses = harnesses;
    this.settings = settings;
    this.rules = rules;
    this.#startedAt = new Date(clock.now()).toISOString();
    this.publisher = new ViewPublisher(clock, () => this.#buildView());
    const changed = (): void => this.publisher.changed();
    this.health = new Health(clock, changed);
    this.redactor = options.redactor ?? new Redactor();
    this.projection = new Projection({
      clock,
      onChange: changed,
      onHistory: (entry) => this.remember(entry),
    });
    this.#audit = new AuditLog(options.paths.audit, historySchema, (error) => {
      options.logger.error('history.not_written', { error: error.name });
      this.health.raise('history_not_kept', 'The history could not be written to disk.');
    });
    this.orphans = new Orphans({
      ledger,
      clock,
      logger: options.logger,
      projection: this.projection,
      health: this.health,
    });
    this.enrolments = this.#enrolmentDesk();
    this.#handlers = createHandlers(this);
    options.credentials.attach(this.health, () => this.#needsCredentials());
    harnesses.onChange(() => this.#harnessesChanged());
  }

  /** @throws RuntimeError `already_running` when another process serves this state folder. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const { paths, clock, random } = options;
    await privateFolder(paths.root);
    const lock = await InstanceLock.acquire(paths.lock, random);
    try {
      const ledger = await ProcessLedger.open(paths.ledger, { clock, random }).catch((error: unknown) => {
        throw fault(
          'storage',
          'The list of started programs could not be read. Check the state folder and start again.',
          error,
        );
      });
      const harnesses = await options.createHarnesses(ledger);
      const opened = await JsonDocument.open({
        path: paths.settings,
        schema: settingsSchema,
        initial: defaultSettings,
        clock,
        random,
      });
      const rules = await SavedRules.open({
        ...{ path: paths.rules, clock, random, logger: options.logger },
        onChange: () => daemon.publisher.changed(),
        onHistory: (entry) => daemon.remember(entry),
        bindingOf: (environmentId) => daemon.#bindingOf(environmentId),
      });
      const daemon: Daemon = new Daemon(options, lock, ledger, harnesses, opened.document, rules);
      for (const aside of [ledger.setAside, opened.setAside, rules.setAside]) {
        if (aside) daemon.health.raise('state_file_set_aside', `A state file was set aside as ${aside}.`);
      }
      await daemon.#begin();
      return daemon;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  #bindingOf(environmentId: string): string | null {
    const bound = [...this.bindings.values()].find(
      ({ target }) => target.workspace?.environmentId === environmentId,
    );
    return bound?.target.name ?? null;
  }

  get #userAgent(): string {
    return `agent-runtime/${this.options.version}`;
  }
  get paused(): boolean {
    return this.#paused;
  }
  get state(): View['runtime']['state'] {
    return this.#state;
  }

  bindingPorts(): BindingPorts {
    const { clock, random, logger, version, config, paths } = this.options;
    const { policy, answered_by: answeredBy, timeout_seconds: seconds } = config.interactions;
    return {
      clock,
      random,
      logger,
      version,
      userAgent: this.#userAgent,
      interactions: { policy, answeredBy, timeoutMs: seconds === undefined ? null : seconds * 1_000 },
      rules: this.rules.book,
      executorIdleMs: config.limits.executor_idle_seconds * 1_000,
      harnesses: (target) => this.offeredTo(target.local),
      stateDir: async (sessionId) => {
        const folder = join(paths.sessions, safeName(sessionId));
        await mkdir(folder, { recursive: true, mode: 0o700 });
        return folder;
      },
      workspace: ({ workspace: root, environmentId, sessionId }) => {
        const stateDir = join(paths.environments, safeName(environmentId));
        return new LocalWorkspace({
          root,
          stateDir,
          logger,
          createSteps: (files) =>
            new LocalSteps({
              ports: { clock, random, ledger: this.#ledger },
              environment: systemEnvironment,
              root,
              stateDir,
              identity: { environmentId, sessionId },
              operatorFile: null,
              files,
            }),
        });
      },
      paused: () => this.#paused,
      onFact: (binding, fact) => this.#onFact(binding, fact),
      onChange: () => this.#onLinkChange(),
    };
  }

  /** Adds a binding and starts serving it. */
  serve(target: BindingTarget, key = target.name): BoundRuntime {
    const bound = new BoundRuntime(target, this.bindingPorts());
    this.bindings.set(key, bound);
    bound.link.start();
    this.publisher.changed();
    return bound;
  }

  /** Stops and forgets a binding. Resolves when all it owned has settled. */
  async unserve(key: string): Promise<void> {
    const bound = this.bindings.get(key);
    if (!bound) return;
    await bound.link.stop();
    bound.link.dispose();
    this.bindings.delete(key);
    this.publisher.changed();
  }

  #serveEnrolled(receipt: BindingReceipt): void {
    const known = this.bindings.get(receipt.name);
    // Enrolled again with a fresh key: it connects with that one.
    if (known) return void (known.serving || this.#reconnect(known));
    const { clock, credentials } = this.options;
    const register = (secret: string): void => this.redactor.register(secret);
    this.serve(enrolledTarget(receipt, { credentials, clock, userAgent: this.#userAgent, register }));
  }

  /** Ends the connection with all it owns, then connects anew. */
  async #reconnect(bound: BoundRuntime): Promise<void> {
    await bound.link.stop();
    if (this.#state !== 'stopping') bound.link.start();
  }

  #enrolmentDesk(): EnrolmentDesk {
    const { clock, random, logger, credentials, paths } = this.options;
    return new EnrolmentDesk({
      clock,
      random,
      logger,
      credentials,
      userAgent: this.#userAgent,
      receipts: new Receipts(paths.environments, random),
      state: paths.root,
      otherFolders: () => {
        const folders = new Map<string, string>();
        for (const { target } of this.bindings.values()) {
          if (!target.enrolled && target.workspace) folders.set(target.name, target.workspace.workspace);
        }
        return [...folders].map(([binding, folder]) => ({ binding, folder }));
      },
      register: (secret) => this.redactor.register(secret),
      serve: (receipt) => {
        this.#serveEnrolled(receipt);
        return true;
      },
      unserve: (name) => this.unserve(name),
      restart: async (name) => {
        const bound = this.bindings.get(name);
        if (bound) await this.#reconnect(bound);
      },
      onChange: () => this.publisher.changed(),
    });
  }

  /** Every front end's command comes in here. */
  run(name: string, request: unknown): Promise<CommandResult> {
    return runCommand(this.#handlers, name, request, this.options.logger);
  }

  history(): readonly HistoryEntry[] {
    return this.#history;
  }

  pause(paused: boolean): void {
    this.#paused = paused;
    if (this.#state === 'running' || this.#state === 'paused') this.#state = paused ? 'paused' : 'running';
    for (const bound of this.bindings.values()) bound.link.beatNow();
    this.publisher.changed();
  }

  /** Stops serving. `now` ends open Turns; else it waits for them. The process stays. */
  async stopServing(mode: 'after_turns' | 'now'): Promise<void> {
    this.pause(true);
    this.#state = 'stopping';
    this.publisher.changed();
    if (mode === 'after_turns') await this.#turnsOver();
    if (this.#state !== 'stopping') return;
    await Promise.all([...this.bindings.values()].map((bound) => bound.link.stop()));
    this.#state = 'paused';
    this.publisher.changed();
  }

  /** Serves again after a stop, or takes back one that still waits. */
  startServing(): void {
    this.#state = 'running';
    this.pause(false);
    for (const bound of this.bindings.values()) bound.link.start();
  }

  /**
   * Ends everything this process started and then itself. Resolves when all has settled; what blocks is in the view
   * meanwhile and can be retried or forced.
   */
  async shutdown(): Promise<void> {
    this.#state = 'stopping';
    this.publisher.changed();
    await Promise.all([...this.bindings.values()].map((bound) => bound.link.stop()));
    for (const bound of this.bindings.values()) bound.link.dispose();
    this.harnesses.close();
    await this.local?.close();
    await this.#control?.close();
    await this.#audit.flushed();
    await this.settings.flushed().catch(() => undefined);
    await this.rules.flushed().catch(() => undefined);
    this.publisher.close();
    await this.#lock.release();
    this.options.logger.info('daemon.stopped');
  }

  async #begin(): Promise<void> {
    const { options } = this;
    const past = await this.#audit.load();
    this.#history = past.entries.slice(-keptHistory);
    this.#control = await ControlServer.listen(options.paths.control, {
      run: (name, request) => this.run(name, request),
      subscribe: (listener) => this.publisher.subscribe(listener),
    });
    // What an earlier run left behind ends before anything new is owned beside it.
    await this.orphans.reap();
    for (const target of options.targets) this.serve(target);
    const { receipts, unreadable } = options.enrolled ?? { receipts: [], unreadable: [] };
    for (const receipt of receipts) this.#serveEnrolled(receipt);
    if (unreadable.length > 0) {
      const folders = unreadable.join(', ');
      this.health.raise('binding_unreadable', `The receipt of a binding cannot be read: ${folders}.`);
    }
    if (options.createLocalCore) this.local = await options.createLocalCore(this);
    this.#state = 'running';
    void options.credentials.probe();
    options.logger.info('daemon.started', { version: options.version, bindings: this.bindings.size });
    this.#noteAgents();
    this.publisher.changed();
  }

  #harnessesChanged(): void {
    this.#noteAgents();
    for (const bound of this.bindings.values()) bound.link.beatNow();
    this.publisher.changed();
  }

  /** The local Core and a bootstrap file need no keychain; an enrolled binding does. */
  #needsCredentials(): boolean {
    return [...this.bindings.values()].some((bound) => bound.target.expectedUrl !== null);
  }

  #noteAgents(): void {
    const real = this.harnesses.offered().filter(({ adapter }) => adapter.kind !== 'demo');
    if (real.some(({ probe }) => probe.available)) return this.health.clear('no_agent');
    const reason = real
      .map(({ adapter, probe }) => `${adapter.name}: ${probe.reason ?? 'not available'}`)
      .join(' ');
    this.health.raise('no_agent', reason === '' ? 'No agent was found on this machine.' : reason);
  }

  #onFact(binding: BoundRuntime, fact: RuntimeFact): void {
    this.projection.observe(binding.target, fact);
    if (fact.type === 'agent_started') {
      if (fact.why === null) return this.health.clear('agent_not_started');
      return this.health.raise(
        'agent_not_started',
        `The agent ${fact.kind} could not be started. ${fact.why}`,
      );
    }
    if (fact.type !== 'cleanup' && fact.type !== 'cleanup_ended') return;
    if (this.projection.cleanup.some((item) => item.state === 'unconfirmed')) {
      this.health.raise('cleanup_unconfirmed', 'Something that was started has not been proven gone.');
    } else this.health.clear('cleanup_unconfirmed');
  }

  #onLinkChange(): void {
    const bound = [...this.bindings.values()];
    const unusable = bound.find(({ folder }) => folder === 'unusable');
    const readOnly = bound.find(({ folder }) => folder === 'read_only');
    const tell = (
      code: 'workspace_unusable' | 'workspace_read_only',
      found: BoundRuntime | undefined,
    ): void => {
      if (!found) return this.health.clear(code);
      const folder = found.target.workspace?.workspace ?? found.target.name;
      const what = code === 'workspace_unusable' ? 'is missing or cannot be opened' : 'can only be read';
      this.health.raise(code, `The folder ${folder} ${what}.`);
    };
    tell('workspace_unusable', unusable);
    tell('workspace_read_only', readOnly);
    this.publisher.changed();
  }

  /** Adds to the history, in memory and on disk. */
  remember(entry: HistoryEntry): void {
    this.#history = [...this.#history, entry].slice(-keptHistory);
    this.#audit.append(entry);
  }

  async #turnsOver(): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        const busy = [...this.bindings.values()].some((bound) => bound.activeRuns > 0);
        if (busy && this.#state === 'stopping') return;
        unsubscribe();
        resolve();
      };
      let unsubscribe: () => void = () => undefined;
      unsubscribe = this.publisher.subscribe(() => queueMicrotask(look));
    });
  }

  /** The demo is for the local Core alone, unless the configuration names it. */
  offeredTo(local: boolean): readonly OfferedHarness[] {
    const named = (this.options.config.harnesses ?? []).some((harness) => harness.adapter === 'demo');
    return this.harnesses.offered().filter(({ adapter }) => local || named || adapter.kind !== 'demo');
  }

  #harnessViews(local: boolean): HarnessView[] {
    return this.offeredTo(local).map(({ adapter, probe }) => ({
      kind: adapter.kind,
      name: adapter.name,
      available: probe.available && !this.#paused,
      version: probe.version,
      reason: probe.reason,
      capabilities: { ...probe.capabilities },
    }));
  }

  #buildView(): Omit<View, 'revision'> {
    const external = [...this.bindings.values()]
      .filter((bound) => !bound.target.local)
      .map((bound) => bound.view(this.#harnessViews(false)));
    const local = this.local?.view(this.#harnessViews(true));
    return {
      runtime: {
        state: this.#state,
        version: this.options.version,
        wire_version: WIRE_VERSION,
        started_at: this.#startedAt,
      },
      bindings: local ? [...external, local] : external,
      turns: [...this.projection.turns, ...(this.local?.queued() ?? [])],
      interactions: [...this.projection.interactions],
      cleanup: [...this.projection.cleanup],
      transfers: [...this.projection.transfers],
      history: this.#history.slice(-shownHistory),
      rules: this.rules.view,
      enrolments: [...this.enrolments.views],
      credential_store: this.options.credentials.store?.backend ?? null,
      health: this.health.items.map((item) => ({ ...item, since: new Date(item.since).toISOString() })),
      drops: { ...this.projection.drops },
    };
  }
}

/** Session ids come from Core: only what is a plain name becomes a folder as it is. */
function safeName(sessionId: string): string {
  if (/^[A-Za-z0-9-]{1,64}$/.test(sessionId)) return sessionId;
  return `x${Buffer.from(sessionId, 'utf8').toString('hex').slice(0, 120)}`;
}
