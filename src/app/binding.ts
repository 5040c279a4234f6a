import type { BindingView, HarnessView } from '../contract/view.ts';
import { Link, type BootstrapOutcome, type ConnectionRouter, type LinkHooks } from '../connection/link.ts';
import type { LinkSender } from '../connection/link-sender.ts';
import { bootstrap } from '../enrol/bootstrap.ts';
import { rejected } from '../observe/errors.ts';
import type { Failure } from '../observe/failure.ts';
import type { Logger } from '../observe/logger.ts';
import type { Clock } from '../platform/clock.ts';
import type { Network } from '../platform/network.ts';
import type { Random } from '../platform/random.ts';
import { composeCapabilities } from '../protocol/capabilities.ts';
import type { HeartbeatPayload } from '../protocol/heartbeat.ts';
import type { RuntimeFact } from '../runtime/facts.ts';
import type { InteractionAnswer, LocalResult } from '../runtime/interactions.ts';
import type { RuleBook } from '../runtime/rule-book.ts';
import type { Binding, InteractionSettings, OfferedHarness } from '../runtime/ports.ts';
import { Router } from '../runtime/router.ts';
import type { SuspensionMemory } from '../runtime/suspension.ts';
import type { LocalWorkspace } from '../workspace/local-workspace.ts';
import { connectionView } from './connection-words.ts';
import { folderState, type FolderState } from './workspace-folder.ts';

/** What a binding connects to, with a credential that only `secret` ever hands out. */
export interface BindingTarget {
  readonly name: string;
  readonly local: boolean;
  readonly coreUrl: string;
  readonly deviceId: string;
  /** The address stored at enrolment; null where nothing is stored. */
  readonly expectedUrl: string | null;
  readonly workspace: Binding | null;
  secret(): Promise<{ kind: 'ok'; secret: string } | { kind: 'failed'; failure: Failure }>;
  /** For a binding that was enrolled on this machine. */
  readonly enrolled?: {
    readonly boundAt: string;
    readonly coreVersion: string | null;
    /** Where its secret lies, for display. */
    store(): string | null;
  };
  /** Asks Core whether it still stands by what was enrolled: at a start and after a rejection, once until it does. */
  confirm?(secret: string, signal: AbortSignal): Promise<Failure | null>;
}

export interface BindingPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly userAgent: string;
  readonly network: Network;
  readonly version: string;
  readonly interactions: InteractionSettings;
  readonly rules: RuleBook;
  readonly executorIdleMs: number;
  /** Kinds offered to a binding as last probed, sorted by kind. */
  harnesses(target: BindingTarget): readonly OfferedHarness[];
  stateDir(sessionId: string): Promise<string>;
  /** The code that serves a bound folder. It outlives connections. */
  workspace(binding: Binding): LocalWorkspace | null;
  paused(): boolean;
  onFact(binding: BoundRuntime, fact: RuntimeFact): void;
  onChange(): void;
}

/** One binding: its link to Core and the router of the present connection. */
export class BoundRuntime {
  readonly target: BindingTarget;
  readonly link: Link;
  readonly #ports: BindingPorts;
  #router: Router | null = null;
  readonly #workspace: LocalWorkspace | null;
  #folder: FolderState = 'usable';
  #confirmed = false;
  /** Outlives the router of one connection: a repeated resume is answered as accepted. */
  readonly #suspensions: SuspensionMemory = { resumed: null };

  constructor(target: BindingTarget, ports: BindingPorts) {
    this.target = target;
    this.#ports = ports;
    this.#workspace = target.workspace ? ports.workspace(target.workspace) : null;
    // What an earlier run left in the folder is gone before anything new is written there.
    void this.#workspace?.sweep();
    this.link = new Link({
      clock: ports.clock,
      random: ports.random,
      logger: ports.logger.with({ binding: target.name }),
      userAgent: ports.userAgent,
      network: ports.network,
      deviceId: target.deviceId,
      credential: () => this.#credential(),
      bootstrap: (credential, deviceId, signal) => this.#bootstrap(credential, deviceId, signal),
      createRouter: (sender, hooks) => this.#createRouter(sender, hooks),
      heartbeat: () => this.#heartbeat(),
      onChange: () => ports.onChange(),
    });
  }

  get activeRuns(): number {
    return this.#router?.activeRuns ?? 0;
  }
  get usage(): { active: number; idle: number; total: number } {
    return this.#router?.usage ?? { active: 0, idle: 0, total: 0 };
  }
  /** What agents are allowed has changed. */
  policyChanged(): void {
    this.#router?.policyChanged();
  }
  get serving(): boolean {
    return this.link.state.state === 'serving';
  }
  /** As of the last dial. */
  get folder(): FolderState {
    return this.#folder;
  }
  /** Why it is not connected, as far as that is known. */
  get failure(): Failure['code'] | null {
    const { state } = this.link;
    return 'failure' in state ? (state.failure?.code ?? null) : null;
  }
  get parked(): boolean {
    return this.link.state.state === 'parked';
  }

  answer(id: string, answer: InteractionAnswer): Promise<LocalResult> {
    return this.#router?.answer(id, answer) ?? Promise.resolve({ kind: 'not_pending' });
  }
  retryCleanup(id: string): Promise<boolean | null> {
    return this.#router?.retryCleanup(id) ?? Promise.resolve(null);
  }
  stopPreparation(id: string): boolean {
    return this.#router?.stopPreparation(id) ?? false;
  }
  async forceCleanup(id: string): Promise<boolean> {
    const router = this.#router;
    return router !== null && ((await router.endUnsettled(id)) || router.forceCleanup(id));
  }

  view(harnesses: readonly HarnessView[]): BindingView {
    const { target, link } = this;
    return {
      name: target.name,
      local: target.local,
      environment_id: target.workspace?.environmentId ?? null,
      session_id: target.workspace?.sessionId ?? null,
      workspace: target.workspace?.workspace ?? null,
      connection: connectionView({
        state: link.state,
        lastReceivedAt: link.lastReceivedAt,
        checking: link.checking,
        blockers: link.blockers.length,
        host: new URL(target.coreUrl).host,
      }),
      harnesses: [...harnesses],
      enrolled: target.enrolled
        ? {
            bound_at: target.enrolled.boundAt,
            core_version: target.enrolled.coreVersion,
            credential_store: target.enrolled.store(),
          }
        : null,
    };
  }

  /** A preparation in a folder that went away fails before anything native is made. */
  async #requireFolder(): Promise<void> {
    const { workspace } = this.target;
    if (!workspace) return;
    this.#folder = await folderState(workspace.workspace);
    this.#ports.onChange();
    if (this.#folder === 'unusable') throw rejected('workspace_unusable', 'The bound folder is missing.');
  }

  /** The folder is looked at before the secret leaves the machine: without it nothing can be served. */
  async #credential(): Promise<{ kind: 'ok'; secret: string } | { kind: 'failed'; failure: Failure }> {
    const { workspace } = this.target;
    if (workspace) {
      this.#folder = await folderState(workspace.workspace);
      if (this.#folder === 'unusable') {
        return { kind: 'failed', failure: { class: 'attention', code: 'workspace_unusable', detail: null } };
      }
    }
    return this.target.secret();
  }

  async #bootstrap(credential: string, deviceId: string, signal: AbortSignal): Promise<BootstrapOutcome> {
    const { target } = this;
    const { state } = this.link;
    // A start, or a person's word after a rejection; attempts in between do not ask again.
    const anew = state.state === 'bootstrapping' && state.attempt === 1;
    if (target.confirm && (anew || !this.#confirmed)) {
      this.#confirmed = false;
      const failure = await target.confirm(credential, signal);
      if (failure) return { kind: 'failed', failure };
      this.#confirmed = true;
    }
    return bootstrap({
      coreUrl: target.coreUrl,
      deviceId,
      credential,
      userAgent: this.#ports.userAgent,
      network: this.#ports.network,
      clock: this.#ports.clock,
      expectedUrl: target.expectedUrl,
      signal,
    });
  }

  #createRouter(sender: LinkSender, hooks: LinkHooks): ConnectionRouter {
    const { target } = this;
    const router = new Router(
      {
        clock: this.#ports.clock,
        random: this.#ports.random,
        logger: this.#ports.logger.with({ binding: target.name }),
        binding: target.workspace,
        harness: (kind) => this.#offered().find((offered) => offered.adapter.kind === kind) ?? null,
        stateDir: async (sessionId) => {
          await this.#requireFolder();
          return this.#ports.stateDir(sessionId);
        },
        interactions: this.#ports.interactions,
        rules: { book: this.#ports.rules, owner: ruleOwner(target) },
        executorIdleMs: this.#ports.executorIdleMs,
        paused: () => this.#ports.paused(),
        workspace: this.#workspace,
        facts: (fact) => this.#ports.onFact(this, fact),
        suspension: {
          memory: this.#suspensions,
          hooks: { armed: () => hooks.suspended(), failed: () => hooks.drop() },
        },
      },
      sender,
    );
    this.#router = router;
    return {
      receive: (data) => router.receive(data),
      resumeOn: (next, data) => router.resumeOn(next, data),
      shutdown: async () => {
        const result = await router.shutdown();
        if (result.kind === 'settled' && this.#router === router) this.#router = null;
        return result;
      },
    };
  }

  /** Each kind as composed with this binding: what the connection can do, not what the program could. */
  #offered(): readonly OfferedHarness[] {
    return this.#ports.harnesses(this.target).map(({ adapter, probe }) => ({
      adapter,
      probe: {
        ...probe,
        // The folder is served by our own code: what a kind needs for it is to be prepared and to work in it.
        capabilities: composeCapabilities(
          probe.capabilities.local_environment && probe.capabilities.preparation
            ? { ...probe.capabilities, workspace_read_preparation: true, workspace_output_export: true }
            : probe.capabilities,
          { boundFolder: this.#workspace !== null, canExport: this.#workspace !== null },
        ),
      },
    }));
  }

  #heartbeat(): HeartbeatPayload {
    const paused = this.#ports.paused();
    return {
      ts: Math.floor(this.#ports.clock.now() / 1_000),
      active_requests: this.activeRuns,
      daemon_version: this.#ports.version,
      supported_agent_kinds: this.#offered().map(({ adapter, probe }) => ({
        kind: adapter.kind,
        available: probe.available && !paused,
        ...(probe.version === null ? {} : { version: probe.version }),
        capabilities: probe.capabilities,
      })),
    };
  }
}

/** Each Session of the local Core has an Environment of its own; a rule of a folder is for all of them. */
export const ruleOwner = ({ local, workspace }: BindingTarget): string =>
  local ? 'local' : (workspace?.environmentId ?? '');
