import { asError, assertNever } from '../observe/errors.ts';
import { decodeFrame, type Frame, type Refusal } from '../protocol/codec.ts';
import type { CoreFrameType } from '../protocol/registry.ts';
import { parseTrace } from '../protocol/trace.ts';
import { Admissions, type AdmissionHost } from './admissions.ts';
import { Cancellations } from './cancellation.ts';
import { DirectRuns } from './direct-runs.ts';
import { blockedBy, type Activity, type Operation } from './exclusion.ts';
import { isInvalid } from './executor-state.ts';
import { Executors, type ExecutorRecord } from './executors.ts';
import type { DropReason } from './facts.ts';
import { FolderWork } from './folder-work.ts';
import { Functions } from './functions.ts';
import { Interactions, type InteractionAnswer, type LocalResult } from './interactions.ts';
import type { RuntimePorts, Sender } from './ports.ts';
import { refuse } from './refusals.ts';
import { Run, type RunHost, type RunInit } from './run.ts';
import { Steering } from './steering.ts';
import { Suspension } from './suspension.ts';
import { SwitchableSender } from './switchable-sender.ts';

export type ShutdownResult =
  { readonly kind: 'settled' } | { readonly kind: 'unsettled'; readonly blockers: readonly string[] };

/**
 * Everything Core may ask of one physical connection (runtime-behaviour 2). A new router is made for each connection
 * and inherits nothing. `receive` decides in one synchronous step and never waits for native work.
 */
export class Router {
  readonly #ports: RuntimePorts;
  readonly #sender: SwitchableSender;
  readonly #executors: Executors;
  readonly #runs = new Map<string, Run>();
  /** Runs that are over and whose end is still on its way: their ids are not free yet. */
  readonly #untold = new Set<string>();
  readonly #interactions: Interactions;
  readonly #functions: Functions;
  readonly #steering: Steering;
  readonly #cancellations: Cancellations;
  readonly #admissions: Admissions;
  readonly #direct: DirectRuns;
  readonly #suspension: Suspension;
  readonly #folder: FolderWork;
  #closed = false;
  #shutdown: Promise<ShutdownResult> | null = null;

  constructor(ports: RuntimePorts, first: Sender) {
    const sender = new SwitchableSender(first);
    this.#ports = ports;
    this.#sender = sender;
    this.#executors = new Executors(ports);
    const isActive = (runId: string): boolean => this.#runs.has(runId);
    this.#interactions = new Interactions(ports, sender, isActive);
    this.#functions = new Functions(ports, sender, isActive);
    this.#steering = new Steering(ports, sender);
    this.#cancellations = new Cancellations(ports, sender, () => this.#closed);
    this.#folder = new FolderWork({
      ports,
      sender,
      blockedBy: (operation) => this.#blockedBy(operation),
      otherRecords: () => this.#admissions.records,
      readable: (handle, environmentId) => this.#admissions.readable(handle, environmentId),
      readableRun: (runId, environmentId) => {
        const run = this.#runs.get(runId);
        return Boolean(run?.published && run.gateOpen && run.executor.environmentId === environmentId);
      },
      drop: (reason) => this.#drop(reason),
      closed: () => this.#closed,
    });
    const host: AdmissionHost = {
      ports,
      sender,
      executors: this.#executors,
      readOnly: this.#folder.readOnly,
      mutationActive: () => this.#blockedBy('prepare') !== null,
      runtimePreparationActive: () => this.#blockedBy('prepare_read_only') !== null,
      run: (id) => this.#runs.get(id),
      runIdTaken: (id) => this.#runs.has(id) || this.#untold.has(id) || this.#direct.refuses(id),
      createRun: (init) => this.#createRun(init),
      drop: (reason) => this.#drop(reason),
      closed: () => this.#closed,
    };
    this.#admissions = new Admissions(host);
    this.#direct = new DirectRuns(host);
    this.#suspension = new Suspension({
      clock: ports.clock,
      sender,
      binding: ports.binding,
      memory: ports.suspension.memory,
      hooks: ports.suspension.hooks,
      busy: () => this.#busy(),
      closeIdle: () => this.#closeIdle(),
    });
  }

  get activeRuns(): number {
    return this.#runs.size;
  }
  /** Executors at work, idle and in all; equals what is owned at every step. */
  get usage(): { active: number; idle: number; total: number } {
    return this.#executors.usage;
  }

  /** One inbound message, whole. Never throws: a defect in one handler fails that frame alone. */
  receive(data: Uint8Array | string): void {
    if (this.#closed) return this.#drop('router_closed');
    const decoded = decodeFrame(data, 'core-to-runtime');
    switch (decoded.outcome) {
      case 'malformed':
        return this.#drop('invalid_json');
      case 'unknown_type':
        return this.#drop('unknown_type');
      case 'refused':
        if (this.#suspension.fenced && decoded.refusal.type !== 'device_shutdown')
          return this.#drop('quiesced');
        if (decoded.refusal.type === 'device_shutdown') return this.#deviceShutdown(undefined);
        return this.#refuse(decoded.refusal);
      case 'frame':
        break;
    }
    if (this.#suspension.fenced && decoded.frame.type !== 'device_shutdown') return this.#drop('quiesced');
    try {
      this.#dispatch(decoded.frame);
    } catch (error) {
      this.#ports.logger.error('router.handler_threw', {
        type: decoded.frame.type,
        error: asError(error).name,
      });
    }
  }

  /** The answer of the person at the laptop to an open prompt. */
  answer(interactionId: string, answer: InteractionAnswer): Promise<LocalResult> {
    return this.#interactions.answer(interactionId, answer);
  }

  /** Tries again to close or settle what is shown as cleanup. Null: no such item here. */
  async retryCleanup(id: string): Promise<boolean | null> {
    const run = this.#runs.get(id.replace(/^turn:/, ''));
    if (id.startsWith('turn:') && run) return (await run.claim('abort', 'shutdown')).kind === 'settled';
    const ofFolder = await this.#folder.retryCleanup(id);
    if (ofFolder !== null) return ofFolder;
    const record = this.#executors.byId(id);
    if (!record) return null;
    return (await this.#executors.close(record, 'invalidated')).state === 'closed';
  }

  /** A person stops a step of a preparation. False: none of that id is under way. */
  stopPreparation(id: string): boolean {
    return this.#folder.stopPreparation(id);
  }

  /**
   * Before a person's word counts: a Turn that did not settle keeps its Executor at work, which is ended as far as that
   * is possible. True: that proved its end, and nothing is left to record.
   */
  async endUnsettled(id: string): Promise<boolean> {
    const run = id.startsWith('turn:') ? this.#runs.get(id.slice('turn:'.length)) : undefined;
    if (!run || run.release.state === 'open' || isInvalid(run.executor.state)) return false;
    if (await this.retryCleanup(id)) return true;
    if (!isInvalid(run.executor.state)) void this.#executors.close(run.executor, 'invalidated');
    return false;
  }

  /** A person records it as gone. False: no such item here, or nothing to force. */
  forceCleanup(id: string): boolean {
    if (this.#folder.forceCleanup(id)) return true;
    const run = this.#runs.get(id.replace(/^turn:/, ''));
    const record = id.startsWith('turn:') ? run?.executor : this.#executors.byId(id);
    if (!record || !this.#executors.force(record)) return false;
    for (const candidate of [...this.#runs.values()]) {
      if (candidate.executor !== record) continue;
      this.#runs.delete(candidate.id);
      this.#interactions.withdrawAll(candidate, 'The Turn was recorded as gone.');
      this.#ports.facts({ type: 'cleanup_ended', id: `turn:${candidate.id}`, how: 'forced' });
      this.#ports.facts({
        type: 'turn_ended',
        runId: candidate.id,
        outcome: 'unknown',
        code: null,
        detail: 'It was recorded as gone by a person. Its end was not proven.',
        usage: candidate.usage,
      });
    }
    return true;
  }

  /**
   * The first message on the connection after a planned suspension. True: it was the matching resume, and this router
   * goes on over `sender`. False: anything else, which is a permanent failure of the binding.
   */
  resumeOn(sender: Sender, data: Uint8Array | string): Promise<boolean> {
    this.#sender.switchTo(sender);
    return this.#suspension.resumeFirst(data);
  }

  /**
   * Ends everything (runtime-behaviour 2.22). One attempt at a time; after a failed one a new call retries only what
   * is left. Nothing is sent any more.
   */
  shutdown(): Promise<ShutdownResult> {
    this.#shutdown ??= this.#shutdownOnce().finally(() => (this.#shutdown = null));
    return this.#shutdown;
  }

  async #shutdownOnce(): Promise<ShutdownResult> {
    this.#closed = true;
    const runs = [...this.#runs.values()];
    const releases = runs.map((run) => run.claim('abort', 'shutdown'));
    this.#admissions.failOpen();
    // An Executor with a Run is closed by the Run's release.
    const closes = this.#executors.all
      .filter((record) => record.state.state !== 'running')
      .map((record) => this.#executors.close(record, 'shutdown'));
    const folder = this.#folder.shutdown();
    await Promise.allSettled([...releases, ...closes]);
    const blockers = [
      ...(await folder),
      ...[...this.#runs.keys()].map((id) => `turn:${id}`),
      ...this.#executors.all.filter((record) => record.state.state !== 'running').map((record) => record.id),
    ];
    return blockers.length === 0 ? { kind: 'settled' } : { kind: 'unsettled', blockers };
  }

  /** A body that is no valid one of its type. */
  #refuse(refusal: Refusal): void {
    const trace = parseTrace(refusal.trace) ? refusal.trace : undefined;
    if (this.#folder.refuse(refusal, trace)) return;
    if (!refuse(this.#sender, refusal)) this.#drop('invalid_payload');
  }

  #dispatch(frame: Frame<CoreFrameType>): void {
    const trace = parseTrace(frame.trace) ? frame.trace : undefined;
    switch (frame.type) {
      case 'execution_prepare':
        return this.#admissions.prepare(frame.id, frame.payload, trace, frame.text);
      case 'execution_start':
        return this.#admissions.start(frame.id, frame.payload, trace);
      case 'execution_release':
        return this.#admissions.release(frame.id, frame.payload, trace);
      case 'prompt_request': {
        const runId = frame.id === '' ? frame.payload.run_id : frame.id;
        if (runId === '' || frame.payload.agent_kind === '') return this.#drop('missing_id');
        return this.#direct.receive(runId, frame.payload, trace, frame.text);
      }
      case 'prompt_cancel': {
        const deliveryId = frame.payload.delivery_id;
        if (!deliveryId) this.#drop('cancel_without_delivery');
        return this.#cancellations.receive(this.#runs.get(frame.id), frame.id, deliveryId, trace);
      }
      case 'prompt_steer':
        return this.#steering.receive(this.#runs.get(frame.id), frame.id, frame.payload, trace);
      case 'function_result':
        if (frame.id === '' || frame.payload.call_id === '' || frame.payload.delivery_id === '') {
          return this.#drop('missing_id');
        }
        return this.#functions.receive(this.#runs.get(frame.id), frame.id, frame.payload, trace);
      case 'permission_decision':
        if (frame.id === '' || frame.payload.delivery_id === '') return this.#drop('missing_id');
        return this.#interactions.permissionDecision(frame.id, frame.payload, trace);
      case 'prompt_for_user_choice_decision':
        if (frame.id === '' || frame.payload.delivery_id === '') return this.#drop('missing_id');
        return this.#interactions.choiceDecision(frame.id, frame.payload, trace);
      case 'environment_quiesce':
        return this.#suspension.quiesce(frame.id, frame.payload);
      case 'environment_resume':
        return this.#suspension.resume(frame.id, frame.payload);
      case 'device_shutdown':
        return this.#deviceShutdown(frame.payload.reason);
      case 'workspace_read':
      case 'workspace_write':
      case 'workspace_export':
      case 'runtime_prepare':
        return this.#folder.receive(frame, trace);
      default:
        return assertNever(frame);
    }
  }

  /** The first of what is here now that forbids the operation. */
  #blockedBy(operation: Operation): Activity | null {
    return blockedBy(operation, (activity) => this.#isPresent(activity));
  }

  #isPresent(activity: Activity): boolean {
    switch (activity) {
      case 'run':
        return this.#runs.size > 0;
      case 'idle_executor':
        return this.#executors.usage.idle > 0;
      case 'busy_executor':
        return this.#executors.usage.active > 0;
      case 'admission':
        return this.#admissions.open.length > 0 || this.#folder.readOnly.owning > 0;
      case 'read':
      case 'write':
      case 'export':
      case 'runtime_prepare':
        return this.#folder.isPresent(activity);
      default:
        return assertNever(activity);
    }
  }

  /** Anything a quiesce has to wait for. An idle Executor of the bound Environment is none. */
  #busy(): boolean {
    const own = this.#ports.binding?.environmentId ?? null;
    const foreign = (record: ExecutorRecord): boolean =>
      record.state.state !== 'idle' || record.environmentId !== own;
    return this.#blockedBy('quiesce') !== null || this.#executors.all.some(foreign);
  }

  async #closeIdle(): Promise<boolean> {
    const results = await Promise.all(
      this.#executors.all.map((record) => this.#executors.close(record, 'suspend')),
    );
    return results.every((result) => result.state === 'closed');
  }

  /** Ends Runs and Executors; the connection and this router stay (wire 16, runtime-behaviour 1.11). */
  #deviceShutdown(reason: string | undefined): void {
    this.#ports.logger.warn('device_shutdown', { with_reason: reason !== undefined });
    for (const run of this.#runs.values()) void run.claim('abort', 'device_shutdown');
    this.#admissions.failOpen();
    for (const record of this.#executors.all) {
      record.retired = true;
      if (record.state.state !== 'running') void this.#executors.close(record, 'shutdown');
    }
  }

  /** What agents are allowed has changed: each is prepared anew for its next Turn, and none is broken off. */
  policyChanged(): void {
    for (const record of this.#executors.all) {
      if (record.policy === this.#ports.interactions.policy) continue;
      record.retired = true;
      if (record.state.state === 'idle') void this.#executors.close(record, 'invalidated');
    }
  }

  #createRun(init: RunInit): Run {
    const host: RunHost = {
      ports: this.#ports,
      sender: this.#sender,
      executors: this.#executors,
      closed: () => this.#closed,
      intercept: (run, event) => this.#interactions.pass(run, event),
      gateClosed: (run) =>
        this.#interactions.withdrawAll(
          run,
          'The Turn ended before it was answered. Nothing was allowed or denied.',
        ),
      commit: (run) => {
        if (this.#runs.get(run.id) === run) this.#runs.delete(run.id);
        this.#untold.add(run.id);
      },
      told: (run) => this.#untold.delete(run.id),
    };
    const run = new Run(host, init);
    this.#runs.set(run.id, run);
    return run;
  }

  #drop(reason: DropReason): void {
    this.#ports.facts({ type: 'dropped', reason });
  }
}
