import type { ExecutionConfiguration } from '../protocol/execution.ts';
import type {
  ExecutionPreparePayload,
  ExecutionReleasePayload,
  ExecutionStartPayload,
  PreparationOperation,
  PreparationRejectionCode,
  PreparationStatusPayload,
} from '../protocol/preparation.ts';
import { AdmissionBook } from './admission-book.ts';
import { admit, freshAdmission, isOpen, reusedAdmission, type AdmissionEvent } from './admission-state.ts';
import { Admission, status } from './admission.ts';
import {
  checkExecutorConfiguration,
  checkReadOnlyConfiguration,
  configurationFingerprint,
} from './configuration-checks.ts';
import { reuseConflict } from './executor-reuse.ts';
import { isInvalid } from './executor-state.ts';
import type { ExecutorRecord, Executors } from './executors.ts';
import { fingerprint } from './fingerprint.ts';
import { budgets } from './limits.ts';
import type { OfferedHarness, RuntimePorts, SendResult, Sender } from './ports.ts';
import type { ReadOnlyAdmissions } from './read-only.ts';
import type { Run, RunInit } from './run.ts';

/** What else of the connection an admission depends on. */
export interface AdmissionHost {
  readonly ports: RuntimePorts;
  readonly sender: Sender;
  readonly executors: Executors;
  readonly readOnly: ReadOnlyAdmissions;
  /** A write, an export or a runtime preparation is under way or was left uncertain. */
  mutationActive(): boolean;
  runtimePreparationActive(): boolean;
  run(id: string): Run | undefined;
  /** True while a Run of this id is active or its end is still on its way to Core. */
  runIdTaken(id: string): boolean;
  createRun(init: RunInit): Run;
  drop(reason: 'duplicate_start' | 'duplicate_run'): void;
  closed(): boolean;
}

/**
 * `execution_prepare`, `execution_start`, `execution_release` (wire 5, runtime-behaviour 2.4 to 2.10). Each request is
 * decided in one synchronous step; native work and publications follow outside the receive loop.
 */
export class Admissions {
  readonly #host: AdmissionHost;
  readonly #book: AdmissionBook;

  constructor(host: AdmissionHost) {
    this.#host = host;
    this.#book = new AdmissionBook({
      otherRecords: () => host.readOnly.records,
      run: (id) => host.run(id),
      now: () => host.ports.clock.monotonic(),
    });
  }

  get open(): readonly Admission[] {
    return this.#book.all.filter((admission) => isOpen(admission.state));
  }
  get records(): number {
    return this.#book.size;
  }

  prepare(
    requestId: string,
    payload: ExecutionPreparePayload,
    trace: string | undefined,
    text: string,
  ): void {
    const reject = (code: PreparationRejectionCode): void =>
      this.reject(requestId, code, 'execution_prepare', trace);
    if (requestId.trim() === '') return reject('invalid_request');
    const { ports, executors } = this.#host;
    if (payload.configuration.workspace_read_only) {
      const offered = this.#offer(payload.configuration.agent_kind);
      const wrong = checkReadOnlyConfiguration(payload, offered, ports.binding);
      if (wrong) return reject(wrong);
      if (this.#host.runtimePreparationActive()) return reject('resource_unavailable');
      if (this.#book.byRequest(requestId)) return reject('request_conflict');
      const code = this.#host.readOnly.prepare(requestId, payload, trace);
      if (code) reject(code);
      return;
    }
    const offered = this.#offer(payload.configuration.agent_kind);
    const checked = checkExecutorConfiguration(payload, offered, ports.binding, text);
    if (checked || !offered) return reject(checked ?? 'resource_unavailable');
    if (this.#host.mutationActive()) return reject('resource_unavailable');
    this.#book.prune();
    const requestFingerprint = fingerprint(payload);
    if (this.#host.readOnly.hasRequest(requestId)) return reject('request_conflict');
    const known = this.#book.byRequest(requestId);
    if (known) {
      if (known.requestFingerprint !== requestFingerprint) return reject('request_conflict');
      void this.#publish(known);
      return;
    }
    if (this.#book.full) return reject('preparation_capacity');
    const { session_id: sessionId, configuration } = payload;
    const stateKey = configuration.agent_state_key ?? '';
    const sharing = executors.byStateKey(stateKey);
    if (sharing && sharing.sessionId !== sessionId) return reject('session_binding_conflict');
    const existing = executors.bySession(sessionId);
    if (!executors.canActivate) return reject('preparation_capacity');
    const print = configurationFingerprint(configuration);
    if (existing) {
      const conflict = reuseConflict(existing, configuration, print);
      if (conflict) return reject(conflict);
      this.#reuse(existing, requestId, requestFingerprint, configuration, trace);
      return;
    }
    if (!executors.canCreate) return reject('executor_capacity');
    this.#create(offered, requestId, requestFingerprint, sessionId, configuration, print, trace);
  }

  start(requestId: string, payload: ExecutionStartPayload, trace: string | undefined): void {
    const reject = (code: PreparationRejectionCode): void =>
      this.reject(requestId, code, 'execution_start', trace);
    const { handle, executor_id: executorId, run_id: runId, input } = payload;
    if (handle === '' || executorId === '' || runId.trim() === '') return reject('invalid_start');
    if (this.#host.mutationActive()) return reject('resource_unavailable');
    if (this.#host.readOnly.has(handle, requestId)) return reject('read_only_preparation');
    const admission = this.#book.byHandle(handle);
    if (!admission || admission.requestId !== requestId) return reject('unknown_preparation');
    if (admission.executor.id !== executorId) return reject('unknown_executor');
    const { phase } = admission.state;
    if (phase.state === 'starting' || phase.state === 'started') {
      if (admission.startFingerprint !== fingerprint(payload)) return reject('start_conflict');
      if (!admission.startPublished) return this.#host.drop('duplicate_start');
      void this.#publish(admission);
      return;
    }
    const { executor } = admission;
    const holds = executor.state.state === 'admitted' && executor.state.handle === handle;
    if (phase.state !== 'ready' || !holds) {
      const uncertain =
        phase.state === 'ready' && isInvalid(executor.state) && executor.state.state !== 'gone';
      return reject(uncertain ? 'executor_cleanup_unconfirmed' : 'preparation_not_ready');
    }
    if (this.#host.ports.clock.monotonic() >= admission.deadline) return this.#expire(admission);
    if (this.#host.runIdTaken(runId)) return reject('run_conflict');

    admission.startFingerprint = fingerprint(payload);
    this.#apply(admission, { type: 'start', runId });
    this.#host.executors.apply(executor, { type: 'run', runId });
    const { configuration } = admission;
    const run = this.#host.createRun({
      id: runId,
      sessionId: executor.sessionId,
      executor,
      trace,
      observeMessages: configuration.observe_messages === true,
      observeTools: configuration.observe_tool_observations === true,
      observeSubagents: configuration.observe_subagent_identities === true,
      closeOnCompletion: configuration.release_on_completion === true,
      direct: false,
    });
    this.#host.ports.facts({
      type: 'turn_started',
      runId,
      sessionId: executor.sessionId,
      harness: executor.offered.adapter.kind,
      input,
      canSteer: executor.offered.probe.capabilities.durable_input_receipts,
    });
    this.#host.ports.facts({ type: 'evidence', runId, fact: 'prepared', by: 'runtime', detail: null });
    void this.#start(admission, run, payload);
  }

  release(requestId: string, payload: ExecutionReleasePayload, trace: string | undefined): void {
    const reject = (code: PreparationRejectionCode): void =>
      this.reject(requestId, code, 'execution_release', trace);
    if (payload.handle === '') return reject('invalid_release');
    if (this.#host.readOnly.release(payload.handle, requestId)) return;
    const admission = this.#book.byHandle(payload.handle);
    if (!admission || admission.requestId !== requestId) return reject('unknown_preparation');
    if (this.#apply(admission, { type: 'release' })) this.#abandon(admission);
    void this.#publish(admission);
  }

  /** Whether a reservation may be read through now (runtime-behaviour 2.21). */
  readable(handle: string, environmentId: string): boolean {
    const admission = this.#book.byHandle(handle);
    if (admission?.state.phase.state !== 'ready') return false;
    const { executor } = admission;
    return (
      executor.state.state === 'admitted' &&
      executor.state.handle === handle &&
      executor.environmentId === environmentId &&
      this.#host.ports.clock.monotonic() < admission.deadline
    );
  }

  /** Shutdown or `device_shutdown`: what has not started fails; its Executor is closed by the caller. */
  failOpen(): void {
    for (const admission of this.#book.all) this.#apply(admission, { type: 'connection_closed' });
  }

  reject(
    requestId: string,
    code: PreparationRejectionCode,
    operation: PreparationOperation,
    trace: string | undefined,
    about?: Admission,
  ): void {
    void this.#send(
      requestId,
      {
        revision: 0,
        state: 'rejected',
        error_code: code,
        operation,
        ...(about ? { handle: about.handle, executor_id: about.executor.id } : {}),
      },
      trace,
      budgets.receiptSend,
    );
  }

  #offer(kind: string): OfferedHarness | null {
    const offered = this.#host.ports.harness(kind);
    return offered && offered.probe.available && !this.#host.ports.paused() ? offered : null;
  }

  #create(
    offered: OfferedHarness,
    requestId: string,
    requestFingerprint: string,
    sessionId: string,
    configuration: ExecutionConfiguration,
    print: string,
    trace: string | undefined,
  ): void {
    const { ports, executors } = this.#host;
    const handle = ports.random.uuid();
    const executor = executors.create(
      {
        sessionId,
        stateKey: configuration.agent_state_key ?? '',
        environmentId: configuration.local_environment?.id ?? null,
        fingerprint: print,
        offered,
      },
      handle,
      {
        sessionId,
        workspace: configuration.local_environment ? (ports.binding?.workspace ?? null) : null,
        configuration,
        policy: ports.interactions.policy,
      },
    );
    const admission = this.#grant(
      handle,
      requestId,
      requestFingerprint,
      executor,
      configuration,
      false,
      trace,
    );
    void this.#publish(admission).then((sent) => {
      if (sent !== 'written' && this.#apply(admission, { type: 'undeliverable' })) this.#abandon(admission);
    });
    void this.#prepared(admission);
  }

  #reuse(
    executor: ExecutorRecord,
    requestId: string,
    requestFingerprint: string,
    configuration: ExecutionConfiguration,
    trace: string | undefined,
  ): void {
    const handle = this.#host.ports.random.uuid();
    this.#host.executors.apply(executor, { type: 'admit', handle });
    const admission = this.#grant(
      handle,
      requestId,
      requestFingerprint,
      executor,
      configuration,
      true,
      trace,
    );
    void this.#publishReady(admission);
  }

  #grant(
    handle: string,
    requestId: string,
    requestFingerprint: string,
    executor: ExecutorRecord,
    configuration: ExecutionConfiguration,
    reused: boolean,
    trace: string | undefined,
  ): Admission {
    const { clock } = this.#host.ports;
    const admission = new Admission({
      handle,
      requestId,
      requestFingerprint,
      executor,
      configuration,
      reused,
      trace,
      expiresAt: clock.now() + budgets.admissionLifetime,
      deadline: clock.monotonic() + budgets.admissionLifetime,
      state: reused ? reusedAdmission : freshAdmission,
    });
    admission.timer = clock.after(budgets.admissionLifetime, () => this.#expire(admission), {
      background: true,
    });
    this.#book.add(admission);
    return admission;
  }

  async #prepared(admission: Admission): Promise<void> {
    const { executor } = admission;
    const result = await executor.preparation;
    if (result.kind === 'ready') {
      if (!isOpen(admission.state)) {
        // Released or expired meanwhile: the Executor was closed by whoever abandoned it, or is closed now.
        if (executor.state.state === 'preparing') await this.#host.executors.close(executor, 'invalidated');
        return;
      }
      if (!this.#host.executors.apply(executor, { type: 'admit', handle: admission.handle })) return;
      if (this.#apply(admission, { type: 'prepared' })) await this.#publishReady(admission);
      return;
    }
    if (!this.#apply(admission, { type: 'preparation_failed' })) return;
    if (!result.closed) this.#apply(admission, { type: 'cleanup_unconfirmed' });
    await this.#publish(admission);
  }

  async #publishReady(admission: Admission): Promise<void> {
    const sent = await this.#publish(admission);
    if (sent !== 'written' && this.#apply(admission, { type: 'undeliverable' })) this.#abandon(admission);
  }

  async #start(admission: Admission, run: Run, payload: ExecutionStartPayload): Promise<void> {
    const delivered = (await this.#publish(admission)) === 'written';
    const skip = !delivered || run.cancelled || this.#host.closed();
    const outcome = skip ? null : await run.begin(payload.input);
    if (outcome === null || outcome.kind === 'no_turn') {
      this.#apply(admission, { type: 'start_failed' });
      const cancelled = run.cancelled || skip;
      const attempt = await run.claim('abort', 'start_failed');
      if (!delivered || this.#host.closed()) return;
      const code: PreparationRejectionCode = cancelled
        ? 'start_cancelled'
        : attempt.kind === 'settled'
          ? 'executor_unavailable'
          : 'executor_cleanup_unconfirmed';
      this.reject(admission.requestId, code, 'execution_start', admission.trace, admission);
      return;
    }
    this.#host.ports.facts({ type: 'evidence', runId: run.id, fact: 'started', by: 'harness', detail: null });
    this.#apply(admission, { type: 'transferred' });
    // A cancel that came during the native start: its receipt alone tells the result.
    if (run.cancelled) return;
    const left = Math.max(0, admission.deadline - this.#host.ports.clock.monotonic());
    const sent = await this.#publish(admission, left);
    admission.startPublished = true;
    if (sent !== 'written') {
      void run.claim('abort', 'send_failed');
      return;
    }
    run.publish();
    if (outcome.error !== undefined) void run.claim('abort', 'start_failed');
  }

  #expire(admission: Admission): void {
    if (!this.#apply(admission, { type: 'deadline' })) return;
    this.#abandon(admission);
    void this.#publish(admission);
  }

  /** A healthy Executor outlives its admission; one that is still being prepared is cancelled and closed. */
  #abandon(admission: Admission): void {
    const { executor } = admission;
    const { executors } = this.#host;
    if (executor.state.state === 'admitted' && executor.state.handle === admission.handle)
      executors.rest(executor);
    else if (executor.state.state === 'preparing') void executors.close(executor, 'invalidated');
  }

  #apply(admission: Admission, event: AdmissionEvent): boolean {
    const next = admit(admission.state, event);
    if (!next) return false;
    admission.state = next;
    if (!isOpen(next)) admission.timer?.cancel();
    return true;
  }

  #publish(admission: Admission, budget: number = budgets.receiptSend): Promise<SendResult> {
    return this.#send(admission.requestId, status(admission), admission.trace, budget);
  }

  #send(
    requestId: string,
    payload: PreparationStatusPayload,
    trace: string | undefined,
    budget: number,
  ): Promise<SendResult> {
    if (this.#host.closed()) return Promise.resolve('failed');
    return this.#host.sender.send({ type: 'preparation_status', id: requestId, payload, trace }, budget);
  }
}
