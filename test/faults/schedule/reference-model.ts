import type { HistoryEvent } from '../../../src/conformance/history.ts';
import type { ScriptFrame } from '../../../src/conformance/scenario.ts';
import { isJsonObject } from '../../../src/protocol/presence.ts';
import type { RuntimeFact } from '../../../src/runtime/facts.ts';
import {
  isIdle,
  limits,
  open,
  printOf,
  receipt,
  rejected,
  statusOf,
  suspension,
  type Admission,
  type Answer,
  type ModelExecutor,
  type ModelRun,
  type Phase,
} from './model-state.ts';
import { ReceiptModel } from './receipt-model.ts';

/**
 * The contract as a small sequential model (wire 5 to 10, runtime-behaviour 2.4 to 2.17): what a frame of Core must be
 * answered with at once, and what the Runtime owns. It is written from the contract's tables and shares nothing with
 * the engine; what happens in its own time (native calls, deadlines) it takes from what Core, Harness and person see.
 */

export interface ModelOptions {
  now(): number;
  /** Prompts are sent to Core. */
  readonly coreIsAsked: boolean;
  readonly bound: { readonly environmentId: string; readonly sessionId: string } | null;
  /** The suspension that was last resumed, on whatever connection. */
  readonly resumed: string | null;
  nativeIdOf(run: string): string | null;
}

export class ReferenceModel {
  readonly #o: ModelOptions;
  readonly admissions = new Map<string, Admission>();
  readonly #byRequest = new Map<string, Admission>();
  readonly executors = new Map<string, ModelExecutor>();
  readonly runs = new Map<string, ModelRun>();
  readonly #untold = new Set<string>();
  readonly #receipts = new ReceiptModel();
  /** Statuses that were published before: another publication of one changes nothing. */
  readonly #published = new Set<string>();
  /** The publications of `started` that make the transfer known, as opposed to answers to a repeat. */
  readonly #transfers = new WeakSet<ScriptFrame>();
  closed = false;

  /** The attempt that fenced admission, from the quiesce on. */
  #fenced: string | null = null;
  #resumed: string | null;

  constructor(options: ModelOptions) {
    this.#o = options;
    this.#resumed = options.resumed;
  }

  get usage(): { active: number; idle: number; total: number } {
    const owned = [...this.executors.values()].filter((executor) => executor.native !== 'gone');
    const idle = owned.filter(isIdle).length;
    return { active: owned.length - idle, idle, total: owned.length };
  }

  /** Executors that serve or are promised to Core, as opposed to those that are being closed. */
  get working(): number {
    return [...this.executors.values()].filter(
      (executor) => executor.native !== 'gone' && !executor.invalid && !isIdle(executor),
    ).length;
  }

  answers(frame: ScriptFrame): readonly Answer[] {
    if (this.closed || (this.#fenced !== null && frame.type !== 'device_shutdown')) return [];
    switch (frame.type) {
      case 'execution_prepare':
        return this.#prepare(frame);
      case 'execution_start':
        return this.#start(frame);
      case 'execution_release':
        return this.#release(frame);
      case 'prompt_request':
        return this.#direct(frame);
      case 'prompt_cancel':
        return this.#cancel(frame);
      case 'prompt_steer':
        return this.#receipts.steer(frame, this.runs);
      case 'permission_decision':
      case 'prompt_for_user_choice_decision':
        return this.#receipts.decide(frame, this.runs);
      case 'function_result':
        return this.#receipts.result(frame, this.runs);
      case 'environment_quiesce':
        return this.#quiesce(frame);
      case 'environment_resume':
        return this.#resume(frame);
      case 'device_shutdown':
        return this.#deviceShutdown();
      default:
        return [];
    }
  }

  #prepare(frame: ScriptFrame): readonly Answer[] {
    const reject = (code: string): readonly Answer[] => [rejected(frame.id, 'execution_prepare', code)];
    const { payload, id } = frame;
    const configuration = isJsonObject(payload['configuration']) ? payload['configuration'] : {};
    const session = String(payload['session_id']);
    if ('surprise' in payload || id.trim() === '') return reject('invalid_request');
    const valid =
      configuration['strict_resume'] === true && configuration['agent_state_key'] === `agents-api-${session}`;
    if (!valid) return reject('invalid_configuration');
    if (configuration['agent_kind'] !== 'contract') return reject('resource_unavailable');
    if (this.#foreign(configuration)) return reject('invalid_configuration');
    if (configuration['tool_search'] === true) return reject('unsupported_configuration');
    this.#prune();
    const print = JSON.stringify(payload);
    const known = this.#byRequest.get(id);
    if (known) return known.print === print ? [statusOf(known)] : reject('request_conflict');
    if (this.admissions.size >= 64) return reject('preparation_capacity');
    if (this.usage.active >= limits.active) return reject('preparation_capacity');
    const existing = this.#owned(session);
    const configurationPrint = printOf(configuration);
    if (!existing) {
      if (this.usage.total >= limits.total) return reject('executor_capacity');
      const executor = this.#newExecutor(session, configuration);
      return [this.#grant(id, print, executor, 'preparing')];
    }
    if (existing.print !== configurationPrint) return reject('configuration_conflict');
    if (existing.invalid) return reject('executor_cleanup_unconfirmed');
    if (!isIdle(existing)) return reject('resource_unavailable');
    const wanted = configuration['agent_session_id'];
    if (wanted !== undefined && wanted !== existing.nativeId) return reject('native_session_conflict');
    if (configuration['require_existing_native_session'] === true && existing.nativeId === null)
      return reject('history_unavailable');
    return [this.#grant(id, print, existing, 'ready')];
  }

  /** A new admission; its handle is only known from the status that is published. */
  #grant(request: string, print: string, executor: ModelExecutor, phase: 'preparing' | 'ready'): Answer {
    this.#granting = { request, print, executor, phase };
    const reused = phase === 'ready' ? { reused: true } : {};
    return { type: 'preparation_status', id: request, says: { state: phase, revision: 1, ...reused } };
  }
  #granting: {
    request: string;
    print: string;
    executor: ModelExecutor;
    phase: 'preparing' | 'ready';
  } | null = null;

  #start(frame: ScriptFrame): readonly Answer[] {
    const reject = (code: string): readonly Answer[] => [rejected(frame.id, 'execution_start', code)];
    const { payload, id } = frame;
    const run = String(payload['run_id']);
    const input = payload['input'];
    if (!Array.isArray(input) || input.length === 0 || run.trim() === '') return reject('invalid_start');
    const admission = this.admissions.get(String(payload['handle']));
    if (!admission || admission.request !== id) return reject('unknown_preparation');
    if (admission.executorId !== payload['executor_id']) return reject('unknown_executor');
    const print = JSON.stringify(payload);
    if (admission.phase === 'starting' || admission.phase === 'started') {
      if (admission.startPrint !== print) return reject('start_conflict');
      return admission.startPublished ? [statusOf(admission)] : [];
    }
    if (admission.phase !== 'ready') return reject('preparation_not_ready');
    if (this.#o.now() >= admission.deadline) return [{ ...statusOf(admission), says: { state: 'expired' } }];
    if (this.#taken(run)) return reject('run_conflict');
    admission.phase = 'starting';
    admission.revision++;
    admission.run = run;
    admission.startPrint = print;
    admission.executor.admission = null;
    this.#newRun(run, admission.executor, false);
    return [statusOf(admission)];
  }

  #release(frame: ScriptFrame): readonly Answer[] {
    const handle = frame.payload['handle'];
    if (handle === '') return [rejected(frame.id, 'execution_release', 'invalid_release')];
    const admission = this.admissions.get(String(handle));
    if (!admission || admission.request !== frame.id)
      return [rejected(frame.id, 'execution_release', 'unknown_preparation')];
    if (open(admission)) this.#abandon(admission, 'released');
    return [statusOf(admission)];
  }

  #direct(frame: ScriptFrame): readonly Answer[] {
    const run = frame.id === '' ? String(frame.payload['run_id']) : frame.id;
    const { payload } = frame;
    if (run === '' || payload['agent_kind'] === '') return [];
    if (this.#taken(run)) return [];
    // Its done follows behind it.
    const refused: readonly Answer[] = [{ type: 'error', id: run, says: {} }];
    if (payload['agent_kind'] !== 'contract' || this.#foreign(payload)) return refused;
    if (payload['tool_search'] === true) return refused;
    const key = String(payload['agent_state_key'] ?? '');
    const session = key === '' ? `run:${run}` : key.replace('agents-api-', '');
    const existing = this.#owned(session);
    const print = printOf(payload);
    if (existing && (!isIdle(existing) || existing.print !== print)) return refused;
    const { active, total } = this.usage;
    if (active >= limits.active || (!existing && total >= limits.total)) return refused;
    this.#newRun(run, existing ?? this.#newExecutor(session, payload), true);
    return [];
  }

  /** What comes of the cancellation of a known Run is told in its own time. */
  #cancel(frame: ScriptFrame): readonly Answer[] {
    if ('surprise' in frame.payload) return [];
    const delivery = frame.payload['delivery_id'];
    const run = this.runs.get(frame.id);
    const refuse = (code: string): readonly Answer[] =>
      delivery === undefined ? [] : [receipt(frame.id, delivery, code)];
    if (!run) return refuse('run_inactive');
    if (run.direct && !run.hasTurn) return refuse('not_ready');
    run.cancelled = true;
    return [];
  }

  #quiesce(frame: ScriptFrame): readonly Answer[] {
    const refuse = (code: string): readonly Answer[] => [suspension('environment_quiesced', frame, code)];
    const { environment_id: environment, suspend_id: suspendId } = frame.payload;
    if (suspendId === '' || environment !== this.#o.bound?.environmentId) return refuse('invalid_request');
    const open_ = [...this.admissions.values()].some(open);
    const owned = [...this.executors.values()].filter(({ native }) => native !== 'gone');
    if (this.runs.size > 0 || open_ || !owned.every(isIdle)) return refuse('resource_busy');
    this.#fenced = String(suspendId);
    return [];
  }

  #resume(frame: ScriptFrame): readonly Answer[] {
    const { environment_id: environment, suspend_id: suspendId, rollback } = frame.payload;
    const known =
      environment === this.#o.bound?.environmentId && (rollback === true || suspendId === this.#resumed);
    return [suspension('environment_resumed', frame, known ? null : 'not_suspended')];
  }

  /** The attempt that suspended it was resumed on a new connection. */
  resume(suspendId: string): void {
    this.#fenced = null;
    this.#resumed = suspendId;
  }

  /** It names another Session than the bound one. */
  #foreign(configuration: Readonly<Record<string, unknown>>): boolean {
    const { bound } = this.#o;
    return bound !== null && configuration['agent_state_key'] !== `agents-api-${bound.sessionId}`;
  }

  #deviceShutdown(): readonly Answer[] {
    for (const admission of this.admissions.values()) {
      if (open(admission)) this.#abandon(admission, 'failed');
      else if (admission.phase === 'starting') this.#moved(admission, 'failed');
    }
    for (const executor of this.executors.values())
      if (executor.run === null || executor.native === 'preparing') executor.invalid = true;
    return [];
  }

  /** A frame that the Runtime sends, before its fate is known. `immediate`: while a frame of Core was taken. */
  attempted(frame: ScriptFrame, immediate: boolean): void {
    if (frame.type === 'preparation_status') this.#status(frame);
    if (frame.payload['state'] === 'started' && !immediate) this.#transfers.add(frame);
    if (!immediate) this.#receipts.attempted(frame, this.runs);
  }

  #status(frame: ScriptFrame): void {
    const { payload } = frame;
    const handle = payload['handle'];
    const state = String(payload['state']);
    if (typeof handle !== 'string') return;
    if (this.#granting?.request === frame.id && !this.admissions.has(handle)) {
      const { request, print, executor, phase } = this.#granting;
      this.#granting = null;
      const admission: Admission = {
        handle,
        request,
        print,
        executor,
        executorId: String(payload['executor_id']),
        deadline: this.#o.now() + limits.lifetime,
        phase,
        revision: 1,
        run: null,
        startPrint: null,
        startPublished: false,
      };
      executor.admission = admission;
      this.admissions.set(handle, admission);
      this.#byRequest.set(request, admission);
      return;
    }
    const admission = this.admissions.get(handle);
    if (!admission) return;
    if (state === 'rejected') return;
    const revision = Number(payload['revision']);
    if (revision <= admission.revision) return;
    admission.revision = revision;
    if (state === 'expired' && open(admission)) this.#abandon(admission, 'expired', revision);
    else if (state === 'failed') {
      admission.executor.admission = null;
      admission.phase = 'failed';
    } else if (state === 'ready') admission.phase = 'ready';
    else if (state === 'started') admission.phase = 'started';
  }

  /** The fate of a frame. A status that could not be told abandons its admission. */
  settled(frame: ScriptFrame, written: boolean): void {
    this.#receipts.settled(frame, this.runs);
    if (frame.type !== 'preparation_status') return;
    const admission = this.admissions.get(String(frame.payload['handle']));
    const state = String(frame.payload['state']);
    const key = `${String(frame.payload['handle'])} ${String(frame.payload['revision'])}`;
    const again = this.#published.has(key);
    this.#published.add(key);
    if (admission && this.#transfers.has(frame)) admission.startPublished = true;
    if (!admission || again) return;
    // A start that could not be told, or that was cancelled before it went on, is not made.
    const run = this.runs.get(String(frame.payload['run_id']));
    if (state === 'starting' && admission.phase === 'starting' && (!written || run?.gate !== true))
      this.#moved(admission, 'failed');
    if (!written && (state === 'preparing' || state === 'ready') && open(admission)) {
      this.#abandon(admission, 'failed');
    }
  }

  observe(event: HistoryEvent): void {
    switch (event.does) {
      case 'prepares': {
        const executor = this.executors.get(event.session);
        if (executor && executor.number === 0) executor.number = event.executor;
        return;
      }
      case 'has prepared': {
        const executor = this.#byNumber(event.executor);
        if (!executor) return;
        if (event.result === 'nothing') executor.native = 'gone';
        else executor.native = 'up';
        if (event.result !== 'ready') executor.invalid = true;
        return;
      }
      case 'closes': {
        const executor = this.#byNumber(event.executor);
        if (executor) executor.invalid = true;
        return;
      }
      case 'has closed': {
        const executor = this.#byNumber(event.executor);
        if (executor && event.confirmed) executor.native = 'gone';
        return;
      }
      case 'has started': {
        const run = this.runs.get(event.run);
        if (run) run.hasTurn = event.turn;
        for (const admission of this.admissions.values())
          if (admission.run === event.run && admission.phase === 'starting')
            this.#moved(admission, event.turn ? 'started' : 'failed');
        return;
      }
      case 'answers result':
        return this.#receipts.answered(event.run, event.call, event.result);
      default:
        return;
    }
  }

  /** What the person is shown. */
  shown(fact: RuntimeFact): void {
    switch (fact.type) {
      case 'turn_state': {
        const run = this.runs.get(fact.runId);
        if (!run) return;
        if (fact.state === 'running') run.published = true;
        else run.gate = false;
        return;
      }
      case 'evidence':
        if (fact.fact === 'settled') this.#endRun(fact.runId);
        return;
      case 'turn_ended':
        this.#untold.delete(fact.runId);
        return;
      case 'interaction_opened':
        return this.#receipts.opened(fact.id, fact.runId, fact.request.kind, this.#o.coreIsAsked);
      case 'interaction_ended':
        return this.#receipts.ended(fact.id);
      default:
        return;
    }
  }

  forced(number: number): void {
    const executor = this.#byNumber(number);
    if (!executor) return;
    executor.native = 'gone';
    executor.run = null;
    // Whatever it still does counts nowhere.
    executor.number = -1;
    for (const [id, run] of this.runs) if (run.executor === executor) this.runs.delete(id);
  }

  #endRun(id: string): void {
    const run = this.runs.get(id);
    if (!run) return;
    this.runs.delete(id);
    this.#untold.add(id);
    run.executor.run = null;
    run.executor.nativeId = this.#o.nativeIdOf(id) ?? run.executor.nativeId;
  }

  #abandon(
    admission: Admission,
    phase: 'released' | 'expired' | 'failed',
    revision = admission.revision + 1,
  ): void {
    admission.phase = phase;
    admission.revision = revision;
    const { executor } = admission;
    if (executor.admission === admission) executor.admission = null;
    if (executor.native === 'preparing') executor.invalid = true;
  }

  #moved(admission: Admission, phase: Phase): void {
    admission.phase = phase;
    admission.revision++;
  }

  /** A Run id is in use until its end was told. */
  #taken(run: string): boolean {
    return this.runs.has(run) || this.#untold.has(run);
  }

  #newExecutor(session: string, configuration: Readonly<Record<string, unknown>>): ModelExecutor {
    const continues = configuration['agent_session_id'];
    const executor: ModelExecutor = {
      session,
      print: printOf(configuration),
      number: 0,
      native: 'preparing',
      invalid: false,
      admission: null,
      run: null,
      nativeId: typeof continues === 'string' ? continues : null,
    };
    this.executors.set(session, executor);
    return executor;
  }

  #newRun(id: string, executor: ModelExecutor, direct: boolean): void {
    executor.run = id;
    this.runs.set(id, {
      executor,
      direct,
      published: false,
      gate: true,
      hasTurn: false,
      cancelled: false,
      inputs: new Map(),
      busy: null,
    });
  }

  #owned(session: string): ModelExecutor | undefined {
    const executor = this.executors.get(session);
    return executor?.native === 'gone' ? undefined : executor;
  }

  #byNumber(number: number): ModelExecutor | undefined {
    return [...this.executors.values()].find((executor) => executor.number === number);
  }

  /** Settled records past their deadline are forgotten before each preparation. */
  #prune(): void {
    for (const admission of this.admissions.values()) {
      const begun = admission.phase === 'starting' || admission.phase === 'started';
      const running = begun && admission.executor.run === admission.run;
      if (open(admission) || running || admission.deadline > this.#o.now()) continue;
      this.admissions.delete(admission.handle);
      if (this.#byRequest.get(admission.request) === admission) this.#byRequest.delete(admission.request);
    }
  }
}
