import type { View } from '../contract/view.ts';
import { historySchema, type HistoryEntry } from '../contract/history.ts';
import type { CommandResult } from '../contract/commands.ts';
import {
  chosenSettingsSchema,
  defaultSettings,
  settingsSchema,
  type ChosenSettings,
  type Settings,
} from '../contract/settings.ts';
import { AuditLog } from '../observe/audit.ts';
import { fault } from '../observe/errors.ts';
import { Health } from '../observe/health.ts';
import { Redactor } from '../observe/redact.ts';
import { ProcessLedger } from '../ownership/process-ledger.ts';
import type { Timer } from '../platform/clock.ts';
import { systemAddresses, watchAddresses } from '../platform/addresses.ts';
import { systemEnvironment } from '../platform/environment.ts';
import { Network } from '../platform/network.ts';
import { environmentProxy } from '../platform/proxy.ts';
import type { RuntimeFact } from '../runtime/facts.ts';
import type { OfferedHarness } from '../runtime/ports.ts';
import { privateFolder } from '../store/atomic-file.ts';
import { InstanceLock } from '../store/instance-lock.ts';
import { JsonDocument } from '../store/settings.ts';
import { bindingPorts } from './binding-ports.ts';
import { BoundRuntime, type BindingTarget, ruleOwner } from './binding.ts';
import { runCommand, type CommandHandlers } from './command-gate.ts';
import { createHandlers } from './commands.ts';
import { ControlServer } from './control-server.ts';
import type { DaemonOptions, HarnessSource } from './daemon-options.ts';
import { buildView, noteAgents, noteFolders } from './daemon-view.ts';
import type { EnrolmentDesk } from './enrolments.ts';
import type { LocalCoreHost } from './local-core.ts';
import { checkNetwork, networkMembers, networkSettings } from './network-settings.ts';
import { Orphans } from './orphans.ts';
import { Projection } from './projection.ts';
import { SavedRules } from './saved-rules.ts';
import { enrolmentDeskOf, serveEnrolled } from './served-enrolments.ts';
import { UpdateDesk } from './updates.ts';
import { ViewPublisher } from './view-publisher.ts';

/** Between two tries to write what a full disk refused. Milliseconds. */
const historyRetryMs = 5_000;
const keptHistory = 500;

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
  readonly updates: UpdateDesk;
  readonly bindings = new Map<string, BoundRuntime>();
  readonly network: Network;
  readonly enrolments: EnrolmentDesk;
  harnesses: HarnessSource;
  #chosen: JsonDocument<typeof chosenSettingsSchema>;
  readonly rules: SavedRules;
  local: LocalCoreHost | null = null;
  orphans: Orphans;
  readonly #lock: InstanceLock;
  readonly #ledger: ProcessLedger;
  readonly #audit: AuditLog<typeof historySchema>;
  readonly #handlers: CommandHandlers;
  #history: HistoryEntry[] = [];
  #control: ControlServer | null = null;
  #stopAddresses: () => void = () => undefined;
  #historyRetry: Timer | null = null;
  #state: View['runtime']['state'] = 'starting';
  #paused = false;
  #looked = false;
  readonly startedAt: string;

  private constructor(
    options: DaemonOptions,
    lock: InstanceLock,
    ledger: ProcessLedger,
    harnesses: HarnessSource,
    chosen: JsonDocument<typeof chosenSettingsSchema>,
    rules: SavedRules,
  ) {
    const { clock } = options;
    this.options = options;
    this.#lock = lock;
    this.#ledger = ledger;
    this.harnesses = harnesses;
    this.#chosen = chosen;
    this.rules = rules;
    this.startedAt = new Date(clock.now()).toISOString();
    this.publisher = new ViewPublisher(clock, () => buildView(this));
    const changed = (): void => this.publisher.changed();
    this.health = new Health(clock, changed);
    this.updates = new UpdateDesk({ clock, logger: options.logger, onChange: changed });
    this.redactor = options.redactor ?? new Redactor();
    this.projection = new Projection({
      clock,
      onChange: changed,
      onHistory: (entry) => this.remember(entry),
    });
    this.#audit = new AuditLog(
      options.paths.audit,
      historySchema,
      (error) => {
        options.logger.error('history.not_written', { error: error.name });
        this.#historyNotKept();
      },
      () => this.health.clear('history_not_kept'),
    );
    this.orphans = new Orphans({
      ledger,
      clock,
      logger: options.logger,
      projection: this.projection,
      health: this.health,
    });
    this.network = new Network(clock, options.systemProxy ?? environmentProxy(systemEnvironment));
    this.useNetwork();
    this.enrolments = enrolmentDeskOf(this);
    this.#handlers = createHandlers(this);
    options.credentials.attach(this.health, () => this.#needsCredentials());
    harnesses.onChange(() => this.#harnessesChanged());
  }

  /** @throws RuntimeError `already_running` when another process serves this state folder. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const { paths, clock, random } = options;
    await privateFolder(paths.root);
    const lock = await InstanceLock.acquire(paths.lock, random);
    let harnesses: HarnessSource | null = null;
    let daemon: Daemon | null = null;
    try {
      const ledger = await ProcessLedger.open(paths.ledger, { clock, random }).catch((error: unknown) => {
        throw fault(
          'storage',
          'The list of started programs could not be read. Check the state folder and start again.',
          error,
        );
      });
      harnesses = await options.createHarnesses(ledger);
      const opened = await JsonDocument.open({
        path: paths.settings,
        schema: chosenSettingsSchema,
        initial: {},
        clock,
        random,
      });
      const rules = await SavedRules.open({
        ...{ path: paths.rules, clock, random, logger: options.logger },
        onChange: () => daemon?.publisher.changed(),
        onHistory: (entry) => daemon?.remember(entry),
        bindingOf: (owner) => (daemon ? daemon.#bindingOf(owner) : null),
      });
      daemon = new Daemon(options, lock, ledger, harnesses, opened.document, rules);
      for (const aside of [ledger.setAside, opened.setAside, rules.setAside]) {
        if (aside) daemon.health.add('state_file_set_aside', `A state file was set aside as ${aside}.`);
      }
      await daemon.#begin();
      return daemon;
    } catch (error) {
      // Whoever starts again in this process finds nothing open.
      if (daemon) await daemon.shutdown();
      else {
        await harnesses?.close();
        await lock.release();
      }
      throw error;
    }
  }

  #bindingOf(owner: string): string | null {
    const bound = [...this.bindings.values()].find(({ target }) => ruleOwner(target) === owner);
    return bound?.target.name ?? (owner === 'local' ? owner : null);
  }

  get userAgent(): string {
    return `agent-runtime/${this.options.version}`;
  }
  /** What a person chose, else what the configuration says. */
  get settings(): Settings {
    const { policy, answered_by } = this.options.config.interactions;
    return settingsSchema.parse({ ...defaultSettings, policy, answered_by, ...this.#chosen.value });
  }

  /** @throws RuntimeError `storage` (the choice then holds until the next start), `invalid_configuration`. */
  async choose(change: ChosenSettings): Promise<void> {
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const wire = networkMembers.some((member) => member in given);
    if (wire) await checkNetwork({ ...this.settings, ...given });
    const saved = this.#chosen.set({ ...this.#chosen.value, ...given });
    if (wire) this.useNetwork();
    for (const bound of this.bindings.values()) bound.policyChanged();
    this.publisher.changed();
    await saved;
  }

  /** Takes the way to other machines from the settings; who waits for a connection tries it at once. */
  useNetwork(): void {
    const { credentials } = this.options;
    const register = (secret: string): void => this.redactor.register(secret);
    this.network.use(networkSettings(this.settings, credentials, register));
    for (const bound of this.bindings.values()) {
      if (bound.link.state.state === 'waiting') bound.link.retry();
    }
  }

  get paused(): boolean {
    return this.#paused;
  }
  get state(): View['runtime']['state'] {
    return this.#state;
  }

  /** Adds a binding and starts serving it. */
  serve(target: BindingTarget, key = target.name): BoundRuntime {
    const bound = new BoundRuntime(
      target,
      bindingPorts(this, this.#ledger, {
        onFact: (binding, fact) => this.#onFact(binding, fact),
        onChange: () => this.#onLinkChange(),
      }),
    );
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

  /** Ends the connection of a binding with all it owns, then connects anew. */
  async reconnect(bound: BoundRuntime): Promise<void> {
    await bound.link.stop();
    if (this.#state !== 'stopping') bound.link.start();
  }

  /** Every front end's command comes in here. */
  run(name: string, request: unknown): Promise<CommandResult> {
    this.#lookAtCredentials();
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
    this.updates.close();
    this.publisher.changed();
    this.#stopAddresses();
    await Promise.all([...this.bindings.values()].map((bound) => bound.link.stop()));
    for (const bound of this.bindings.values()) bound.link.dispose();
    await this.harnesses.close();
    await this.local?.close();
    await this.#control?.close();
    await this.#audit.flushed();
    this.#historyRetry?.cancel();
    await this.#chosen.flushed().catch(() => undefined);
    await this.rules.flushed().catch(() => undefined);
    this.publisher.close();
    await this.#lock.release();
    this.options.logger.info('daemon.stopped');
  }

  async #begin(): Promise<void> {
    const { options } = this;
    const past = await this.#audit.load();
    this.#history = past.entries.slice(-keptHistory);
    if (past.skipped > 0) options.logger.warn('history.lines_skipped', { lines: past.skipped });
    this.#control = await ControlServer.listen(options.paths.control, {
      run: (name, request) => this.run(name, request),
      subscribe: (listener) => this.publisher.subscribe(listener),
    });
    // What an earlier run left behind ends before anything new is owned beside it.
    await this.orphans.reap();
    for (const target of options.targets) this.serve(target);
    const { receipts, unreadable } = options.enrolled ?? { receipts: [], unreadable: [] };
    for (const receipt of receipts) serveEnrolled(this, receipt);
    if (unreadable.length > 0) {
      const folders = unreadable.join(', ');
      this.health.raise('binding_unreadable', `The receipt of a binding cannot be read: ${folders}.`);
    }
    this.#stopAddresses = watchAddresses(options.clock, systemAddresses, () => this.#networkChanged());
    if (options.createLocalCore) this.local = await options.createLocalCore(this);
    this.#state = 'running';
    if (this.#needsCredentials()) this.#lookAtCredentials();
    options.logger.info('daemon.started', { version: options.version, bindings: this.bindings.size });
    noteAgents(this);
    this.publisher.changed();
  }

  /** Who waits tries at once, and who is connected is asked whether Core still hears it; this machine is always there. */
  #networkChanged(): void {
    this.options.logger.info('network.changed');
    for (const bound of this.bindings.values()) if (!bound.target.local) bound.link.wake('network_changed');
  }

  /** What could not be written is kept and tried again, until the disk takes it. */
  #historyNotKept(): void {
    this.health.raise('history_not_kept', 'The history could not be written to disk.');
    this.#historyRetry ??= this.options.clock.after(
      historyRetryMs,
      () => {
        this.#historyRetry = null;
        this.#audit.retry();
      },
      { background: true },
    );
  }

  #harnessesChanged(): void {
    noteAgents(this);
    for (const bound of this.bindings.values()) bound.link.beatNow();
    this.publisher.changed();
  }

  /** Once, and not before something served has its secret there or somebody looks: its libraries are large. */
  #lookAtCredentials(): void {
    if (this.#looked) return;
    this.#looked = true;
    void this.options.credentials.probe();
  }

  /** The local Core and a bootstrap file need no keychain; an enrolled binding does. */
  #needsCredentials(): boolean {
    return [...this.bindings.values()].some((bound) => bound.target.expectedUrl !== null);
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
    noteFolders(this);
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
}
