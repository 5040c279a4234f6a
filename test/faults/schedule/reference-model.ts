import type { HistoryEvent } from '../../../src/conformance/history.ts';
import type { ScriptFrame } from '../../../src/conformance/scenario.ts';
import { isJsonObject } from '../../../src/protocol/presence.ts';
import type { RuntimeFact } from '../../../src/runtime/facts.ts';

/**
 * The contract as a small sequential model (wire 5 to 10, runtime-behaviour 2.4 to 2.17): what a frame of Core must be
 * answered with at once, and what the Runtime owns. It is written from the contract's tables and shares nothing with
 * the engine; what happens in its own time (native calls, deadlines) it takes from what Core, Harness and person see.
 */

/** The immediate answer: the frame's type, its id, and the members that tell answers apart. */
export interface Answer {
  readonly type: string;
  readonly id: string;
  readonly says: Readonly<Record<string, unknown>>;
}

type Phase = 'preparing' | 'ready' | 'starting' | 'started' | 'released' | 'expired' | 'failed';

interface Admission {
  readonly handle: string;
  readonly request: string;
  readonly print: string;
  readonly executor: ModelExecutor;
  readonly executorId: string;
  readonly deadline: number;
  phase: Phase;
  revision: number;
  run: string | null;
  startPrint: string | null;
  startPublished: boolean;
}

interface ModelExecutor {
  readonly session: string;
  readonly print: string;
  /** As counted in the history; 0 until the Harness was called. */
  number: number;
  native: 'preparing' | 'up' | 'gone';
  /** It will not serve again: closing, or not proven closed. */
  invalid: boolean;
  admission: Admission | null;
  run: string | null;
  nativeId: string | null;
}

interface ModelRun {
  readonly executor: ModelExecutor;
  readonly direct: boolean;
  published: boolean;
  gate: boolean;
  hasTurn: boolean;
  readonly inputs: Map<string, { print: string; ack: Answer['says'] }>;
  /** The input whose delivery is not through. */
  busy: string | null;
}

interface ModelPrompt {
  readonly run: string;
  readonly family: string;
  readonly asked: boolean;
  open: boolean;
}

const open = (admission: Admission): boolean =>
  admission.phase === 'preparing' || admission.phase === 'ready';

export const limits = { active: 4, idle: 16, total: 20, lifetime: 300_000, inputs: 256 } as const;

export class ReferenceModel {
  readonly #now: () => number;
  readonly #coreIsAsked: boolean;
  readonly #nativeIdOf: (run: string) => string | null;
  readonly admissions = new Map<string, Admission>();
  readonly #byRequest = new Map<string, Admission>();
  readonly executors = new Map<string, ModelExecutor>();
  readonly runs = new Map<string, ModelRun>();
  readonly prompts = new Map<string, ModelPrompt>();
  readonly #untold = new Set<string>();
  /** What Core's own decisions and results came to, by family and id. */
  readonly #applied = new Map<string, string>();
  readonly #deciding = new Map<string, string>();
  readonly #results = new Map<string, string>();
  /** Statuses that were published before: another publication of one changes nothing. */
  readonly #published = new Set<string>();
  /** Receipts that end the delivery of an input, as opposed to answers to a repeat. */
  readonly #lastReceipts = new WeakSet<ScriptFrame>();
  /** The publications of `started` that make the transfer known, as opposed to answers to a repeat. */
  readonly #transfers = new WeakSet<ScriptFrame>();
  closed = false;

  constructor(now: () => number, coreIsAsked: boolean, nativeIdOf: (run: string) => string | null) {
    this.#now = now;
    this.#coreIsAsked = coreIsAsked;
    this.#nativeIdOf = nativeIdOf;
  }

  // ---- what is owned

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

  // ---- what Core is answered at once

  answers(frame: ScriptFrame): readonly Answer[] | 'started' | null {
    if (this.closed) return [];
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
        return this.#steer(frame);
      case 'permission_decision':
      case 'prompt_for_user_choice_decision':
        return this.#decide(frame);
      case 'function_result':
        return this.#result(frame);
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
      const executor = this.#newExecutor(session, configurationPrint);
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
    if (this.#now() >= admission.deadline) return [{ ...statusOf(admission), says: { state: 'expired' } }];
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
    // Its done follows behind it.
    const refused: readonly Answer[] = [{ type: 'error', id: run, says: {} }];
    if (payload['agent_kind'] !== 'contract' || payload['tool_search'] === true) return refused;
    if (this.#taken(run)) return [];
    const key = String(payload['agent_state_key'] ?? '');
    const session = key === '' ? `run:${run}` : key.replace('agents-api-', '');
    const existing = this.#owned(session);
    const print = printOf(payload);
    if (existing && (!isIdle(existing) || existing.print !== print)) return refused;
    const { active, total } = this.usage;
    if (active >= limits.active || (!existing && total >= limits.total)) return refused;
    this.#newRun(run, existing ?? this.#newExecutor(session, print), true);
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
    return [];
  }

  #steer(frame: ScriptFrame): readonly Answer[] {
    const { payload, id } = frame;
    const inputId = String(payload['input_id']);
    const refuse = (code: string): readonly Answer[] => [
      acknowledged(id, { input_id: inputId, accepted: false, error_code: code }),
    ];
    if (inputId.trim() === '') return refuse('invalid_input');
    const run = this.runs.get(id);
    if (!run) return refuse('run_inactive');
    const print = JSON.stringify([payload['input'], payload['durable_receipt'] === true]);
    const known = run.inputs.get(inputId);
    if (known && known.print !== print) return refuse('input_conflict');
    const retryable = known?.ack['error_code'] === 'not_ready' || known?.ack['error_code'] === 'busy';
    if (known && !(retryable && run.gate)) return [acknowledged(id, known.ack)];
    if (!known && run.inputs.size >= limits.inputs) return refuse('input_limit');
    if (!run.gate) return refuse('run_inactive');
    const remember = (code: string): readonly Answer[] => {
      const says = { input_id: inputId, accepted: false, error_code: code };
      run.inputs.set(inputId, { print, ack: says });
      return [acknowledged(id, says)];
    };
    if (!run.published) return remember('not_ready');
    if (run.busy !== null) return remember('busy');
    run.inputs.set(inputId, { print, ack: { input_id: inputId, accepted: false, error_code: 'in_flight' } });
    run.busy = inputId;
    return [];
  }

  #decide(frame: ScriptFrame): readonly Answer[] {
    const { delivery_id: delivery, ...decision } = frame.payload;
    if (frame.id === '' || delivery === '') return [];
    const family = frame.type === 'permission_decision' ? 'permission' : 'user_choice';
    const refuse = (code: string): readonly Answer[] => [receipt(frame.id, delivery, code)];
    const print = JSON.stringify(decision);
    const before = this.#applied.get(`${family} ${frame.id}`);
    if (before !== undefined)
      return before === print ? [receipt(frame.id, delivery, null)] : refuse('decision_conflict');
    const prompt = this.prompts.get(frame.id);
    if (!prompt?.open || !prompt.asked || prompt.family !== family) return refuse('not_pending');
    if (!this.runs.get(prompt.run)?.published) return refuse('not_ready');
    const answers = decision['question_answers'];
    if (Array.isArray(answers) && answers.some((item) => isJsonObject(item) && item['question_id'] !== 'one'))
      return refuse('runtime_error');
    this.#deciding.set(`${frame.id} ${String(delivery)}`, print);
    return [];
  }

  #result(frame: ScriptFrame): readonly Answer[] {
    const { delivery_id: delivery, ...content } = frame.payload;
    if (frame.id === '' || delivery === '' || content['call_id'] === '') return [];
    const refuse = (code: string): readonly Answer[] => [receipt(frame.id, delivery, code)];
    const key = `${frame.id} ${String(content['call_id'])}`;
    const print = JSON.stringify(content);
    const before = this.#applied.get(`function ${key}`);
    if (before !== undefined)
      return before === print ? [receipt(frame.id, delivery, null)] : refuse('decision_conflict');
    const run = this.runs.get(frame.id);
    if (!run) return refuse('not_pending');
    if (!run.published || !run.gate) return refuse('not_ready');
    const underWay = this.#results.get(key);
    if (underWay !== undefined && underWay !== print) return refuse('decision_conflict');
    this.#results.set(key, print);
    return [];
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

  // ---- what is seen to happen

  /** A frame that the Runtime sends, before its fate is known. `immediate`: while a frame of Core was taken. */
  attempted(frame: ScriptFrame, immediate: boolean): void {
    if (frame.type === 'preparation_status') this.#status(frame);
    if (frame.payload['state'] === 'started' && !immediate) this.#transfers.add(frame);
    if (frame.type === 'prompt_steer_ack' && !immediate) {
      const known = this.runs.get(frame.id)?.inputs.get(String(frame.payload['input_id']));
      if (known) known.ack = frame.payload;
      if (frame.payload['written'] !== true) this.#lastReceipts.add(frame);
    }
    if (frame.type === 'interaction_decision_ack' && !immediate) this.#receipt(frame);
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
        deadline: this.#now() + limits.lifetime,
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

  #receipt(frame: ScriptFrame): void {
    const key = `${frame.id} ${String(frame.payload['delivery_id'])}`;
    const print = this.#deciding.get(key);
    const prompt = this.prompts.get(frame.id);
    if (print === undefined || !prompt) return;
    this.#deciding.delete(key);
    if (frame.payload['applied'] === true) this.#applied.set(`${prompt.family} ${frame.id}`, print);
  }

  /** The fate of a frame. A status that could not be told abandons its admission. */
  settled(frame: ScriptFrame, written: boolean): void {
    if (frame.type === 'prompt_steer_ack') {
      const run = this.runs.get(frame.id);
      if (run && this.#lastReceipts.has(frame) && run.busy === frame.payload['input_id']) run.busy = null;
    }
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
      case 'answers result': {
        const key = `${event.run} ${event.call}`;
        const print = this.#results.get(key);
        this.#results.delete(key);
        if (print !== undefined && event.result === 'applied') this.#applied.set(`function ${key}`, print);
        return;
      }
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
        this.prompts.set(fact.id, {
          run: fact.runId,
          family: fact.request.kind,
          asked: this.#coreIsAsked,
          open: true,
        });
        return;
      case 'interaction_ended': {
        const prompt = this.prompts.get(fact.id);
        if (prompt) prompt.open = false;
        return;
      }
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
    run.executor.nativeId = this.#nativeIdOf(id) ?? run.executor.nativeId;
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

  #newExecutor(session: string, print: string): ModelExecutor {
    const executor: ModelExecutor = {
      session,
      print,
      number: 0,
      native: 'preparing',
      invalid: false,
      admission: null,
      run: null,
      nativeId: null,
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
      if (open(admission) || running || admission.deadline > this.#now()) continue;
      this.admissions.delete(admission.handle);
      if (this.#byRequest.get(admission.request) === admission) this.#byRequest.delete(admission.request);
    }
  }
}

const isIdle = (executor: ModelExecutor): boolean =>
  executor.native === 'up' && !executor.invalid && executor.admission === null && executor.run === null;

/** What decides reuse among the configurations that a schedule sends. */
const printOf = (configuration: Readonly<Record<string, unknown>>): string =>
  String(configuration['observe_messages'] === true);

const rejected = (id: string, operation: string, code: string): Answer => ({
  type: 'preparation_status',
  id,
  says: { state: 'rejected', revision: 0, error_code: code, operation },
});

const statusOf = (admission: Admission): Answer => ({
  type: 'preparation_status',
  id: admission.request,
  says: { handle: admission.handle, state: admission.phase, revision: admission.revision },
});

const acknowledged = (id: string, says: Answer['says']): Answer => ({ type: 'prompt_steer_ack', id, says });

const receipt = (id: string, delivery: unknown, code: string | null): Answer => ({
  type: 'interaction_decision_ack',
  id,
  says: { delivery_id: delivery, applied: code === null, ...(code === null ? {} : { error_code: code }) },
});
