import type {
  ChoiceAnswer,
  Executor,
  HarnessAdapter,
  HarnessEvent,
  HarnessTurn,
  PermissionAnswer,
  PrepareOutcome,
  PrepareRequest,
  Probe,
  Settlement,
  StartOutcome,
  SteerResult,
  SubmitResult,
  TurnOutput,
} from '../../../src/harness/adapter.ts';
import type { CloseResult } from '../../../src/ownership/owned.ts';
import type { History } from '../../../src/conformance/history.ts';
import {
  capabilityNames,
  composeCapabilities,
  declareCapabilities,
} from '../../../src/protocol/capabilities.ts';
import type { MessageInput } from '../../../src/protocol/message-input.ts';
import type { DonePayload } from '../../../src/protocol/run-output.ts';

export type Call = 'prepare' | 'start' | 'close' | 'cancel' | 'submit';

/** A native call that a schedule answers; `cooperate` is what a healthy Harness answers. */
export interface PendingCall {
  readonly call: Call;
  answer(how: number): void;
  cooperate(): void;
}

const unsupported = new Set([
  'tool_search',
  'workspace_authoring',
  'workspace_read_preparation',
  'workspace_output_export',
  'subagent_observations',
]);
const capabilities = declareCapabilities(capabilityNames.filter((name) => !unsupported.has(name)));
const boundCapabilities = composeCapabilities(capabilities, { boundFolder: true, canExport: false });
const unboundCapabilities = composeCapabilities(capabilities, { boundFolder: false, canExport: false });

/**
 * A Harness whose native side a schedule drives: calls of a held kind stay open until the schedule answers them, and
 * everything is written into the history. It keeps the adapter contract, except where the schedule breaks it on purpose.
 */
export class ScheduleHarness implements HarnessAdapter {
  readonly kind = 'contract';
  readonly name = 'Schedule';
  readonly history: History;
  readonly held: ReadonlySet<Call>;
  readonly pending: PendingCall[] = [];
  readonly turns: ScheduleTurn[] = [];
  readonly executors: ScheduleExecutor[] = [];
  /** Once true every call succeeds at once. */
  cooperating = false;

  constructor(history: History, held: ReadonlySet<Call>) {
    this.history = history;
    this.held = held;
  }

  probe(): Promise<Probe> {
    return Promise.resolve(this.offer());
  }
  /** As composed for a connection with a bound folder or without one. */
  offer(kind: 'bound' | 'unbound' = 'unbound'): Probe {
    const capabilities = kind === 'bound' ? boundCapabilities : unboundCapabilities;
    return { available: true, version: null, reason: null, capabilities };
  }

  prepare(request: PrepareRequest): Promise<PrepareOutcome> {
    const number = this.history.nextExecutor();
    const executor = new ScheduleExecutor(this, number, request.configuration.agent_session_id);
    this.executors.push(executor);
    this.history.add({ by: 'harness', does: 'prepares', executor: number, session: request.sessionId });
    const outcome = (result: 'ready' | 'leftover' | 'nothing'): PrepareOutcome => {
      this.history.add({ by: 'harness', does: 'has prepared', executor: number, result });
      if (result === 'ready') return { kind: 'ready', executor };
      return result === 'leftover'
        ? { kind: 'failed', message: 'no', resource: executor }
        : { kind: 'failed', message: 'no' };
    };
    return this.call('prepare', (how) =>
      outcome(how % 4 === 1 ? 'nothing' : how % 4 === 2 ? 'leftover' : 'ready'),
    );
  }

  /** Answers now, or when the schedule says so. `how` 0 is success. */
  call<T>(call: Call, answer: (how: number) => T): Promise<T> {
    if (this.cooperating || !this.held.has(call)) return Promise.resolve(answer(0));
    return new Promise((resolve) => {
      const pending: PendingCall = {
        call,
        answer: (how) => {
          this.#drop(pending);
          resolve(answer(how));
        },
        cooperate: () => pending.answer(0),
      };
      this.pending.push(pending);
    });
  }

  /** From now on the native side does what is asked of it, and what is open ends. */
  cooperate(): void {
    this.cooperating = true;
    for (const pending of [...this.pending]) pending.cooperate();
    for (const turn of this.turns) turn.cooperate();
  }

  #drop(pending: PendingCall): void {
    const at = this.pending.indexOf(pending);
    if (at >= 0) this.pending.splice(at, 1);
  }
}

export class ScheduleExecutor implements Executor {
  readonly nativeSessionId = null;
  readonly number: number;
  /** The native Session that its Turns name in their outcome. */
  readonly session: string;
  readonly broken: Promise<string>;
  readonly #harness: ScheduleHarness;
  #break: (reason: string) => void = () => undefined;
  closed = false;

  constructor(harness: ScheduleHarness, number: number, continues: string | undefined) {
    this.#harness = harness;
    this.number = number;
    this.session = continues ?? `native-${number}`;
    this.broken = new Promise((resolve) => (this.#break = resolve));
  }

  break(): void {
    this.#break('its program ended');
  }

  startTurn(runId: string, input: MessageInput, output: TurnOutput): Promise<StartOutcome> {
    const { history } = this.#harness;
    history.add({ by: 'harness', does: 'starts', executor: this.number, run: runId });
    const turn = new ScheduleTurn(this.#harness, this, runId, input, output);
    // It may speak before its start has returned.
    this.#harness.turns.push(turn);
    return this.#harness.call('start', (how) => {
      const began = how % 4 !== 1 && !this.closed;
      history.add({ by: 'harness', does: 'has started', executor: this.number, run: runId, turn: began });
      if (!began) {
        turn.refused();
        return { kind: 'no_turn', message: 'no' };
      }
      turn.began = true;
      if (this.#harness.cooperating) turn.cooperate();
      return how % 4 === 2 ? { kind: 'turn', turn, error: 'it began and broke' } : { kind: 'turn', turn };
    });
  }

  close(): Promise<CloseResult> {
    const { history } = this.#harness;
    history.add({ by: 'harness', does: 'closes', executor: this.number });
    const result = (confirmed: boolean): CloseResult => {
      this.closed ||= confirmed;
      history.add({ by: 'harness', does: 'has closed', executor: this.number, confirmed: this.closed });
      if (!this.closed) return { state: 'unconfirmed', reason: 'a process is still there' };
      for (const turn of this.#harness.turns) if (turn.executor === this && turn.began) turn.end();
      return { state: 'closed' };
    };
    if (this.closed) return Promise.resolve(result(true));
    return this.#harness.call('close', (how) => result(how % 3 !== 1));
  }
}

interface NativeInput {
  readonly text: string;
  readonly written: () => void;
  readonly answer: (result: SteerResult) => void;
}

export class ScheduleTurn implements HarnessTurn {
  readonly runId: string;
  readonly executor: ScheduleExecutor;
  readonly input: MessageInput;
  readonly #harness: ScheduleHarness;
  readonly #output: TurnOutput;
  readonly inputs: NativeInput[] = [];
  /** Native prompts that were raised and not answered, by their keys. */
  readonly prompts = new Set<string>();
  readonly calls = new Set<string>();
  #settlement: Promise<Settlement>;
  #settle: (settlement: Settlement) => void = () => undefined;
  #raised = 0;
  began = false;
  cancelled = false;
  saidDone = false;
  over = false;

  constructor(
    harness: ScheduleHarness,
    executor: ScheduleExecutor,
    runId: string,
    input: MessageInput,
    output: TurnOutput,
  ) {
    this.#harness = harness;
    this.executor = executor;
    this.runId = runId;
    this.input = input;
    this.#output = output;
    this.#settlement = this.#nextSettlement();
  }

  #nextSettlement(): Promise<Settlement> {
    return new Promise((resolve) => (this.#settle = resolve));
  }

  cancel(): Promise<void> {
    this.cancelled = true;
    this.#harness.history.add({ by: 'harness', does: 'is cancelled', run: this.runId });
    if (this.#harness.cooperating) this.end();
    return this.#harness
      .call('cancel', (how) => how % 3 !== 1)
      .then((taken) => (taken ? undefined : Promise.reject(new Error('it refuses'))));
  }
  settlement(): Promise<Settlement> {
    return this.#settlement;
  }
  outcome(): DonePayload {
    return { content: 'so far', metadata: { agent_session_id: this.executor.session } };
  }

  steer(input: MessageInput, onWritten: () => void): Promise<SteerResult> {
    const part = input[0]?.content[0];
    const text = part?.type === 'input_text' ? part.text : '';
    const run = this.runId;
    const { history } = this.#harness;
    history.add({ by: 'harness', does: 'takes input', run, text });
    return new Promise((resolve) => {
      let written = false;
      const native: NativeInput = {
        text,
        written: () => {
          if (written) return;
          written = true;
          history.add({ by: 'harness', does: 'has written', run, text });
          onWritten();
        },
        answer: (result) => {
          this.inputs.splice(this.inputs.indexOf(native), 1);
          history.add({ by: 'harness', does: 'answers input', run, text, result: result.kind });
          resolve(result);
        },
      };
      this.inputs.push(native);
      if (this.over) native.answer({ kind: 'inactive' });
    });
  }

  submitPermission(key: string, answer: PermissionAnswer): Promise<SubmitResult> {
    return this.#decide(key, answer.kind);
  }
  submitChoice(key: string, answer: ChoiceAnswer): Promise<SubmitResult> {
    return this.#decide(key, answer.kind);
  }
  #decide(key: string, answer: string): Promise<SubmitResult> {
    const { history } = this.#harness;
    const run = this.runId;
    history.add({ by: 'harness', does: 'takes decision', run, key, answer });
    return this.#harness.call('submit', (how) => {
      const result = this.prompts.has(key) && !this.over ? submitResult(how) : 'not_pending';
      if (result === 'applied') this.prompts.delete(key);
      history.add({ by: 'harness', does: 'answers decision', run, key, answer, result });
      return result;
    });
  }
  submitFunctionResult(call: string): Promise<SubmitResult> {
    const { history } = this.#harness;
    const run = this.runId;
    history.add({ by: 'harness', does: 'takes result', run, call });
    return this.#harness.call('submit', (how) => {
      const result = this.calls.has(call) && !this.over ? submitResult(how) : 'not_pending';
      if (result === 'applied') this.calls.delete(call);
      history.add({ by: 'harness', does: 'answers result', run, call, result });
      return result;
    });
  }

  /** Anything it may say, by number. */
  emit(which: number, n: number): void {
    if (this.over) return;
    switch (which % 8) {
      case 0:
      case 1:
        return this.#say({ type: 'delta', payload: { delta: `<${n}>` } }, `<${n}>`);
      case 2:
        return this.#say({ type: 'thinking', payload: { text: 'hm' } });
      case 3: {
        const key = `k${++this.#raised}`;
        this.prompts.add(key);
        return this.#say({ type: 'permission', request: permission(key) }, key);
      }
      case 4: {
        const key = `q${++this.#raised}`;
        this.prompts.add(key);
        const questions = [{ id: 'one', question: 'Which?', options: [{ label: 'A' }] }];
        return this.#say(
          { type: 'choice', request: { key, questions, toolUseId: null, expiresInMs: null } },
          key,
        );
      }
      case 5: {
        const call_id = `c${++this.#raised}`;
        this.calls.add(call_id);
        return this.#say(
          { type: 'function_call', payload: { call_id, name: 'order', arguments: {} } },
          call_id,
        );
      }
      case 6: {
        const key = [...this.prompts][0];
        if (key === undefined) return;
        this.prompts.delete(key);
        return this.#say({ type: 'withdrawn', key }, key);
      }
      default:
        return this.#say({ type: 'error', payload: { error: 'upstream' } });
    }
  }

  /** Emitted once by a healthy Turn; a schedule may repeat it. */
  sayDone(): void {
    if (this.over) return;
    this.saidDone = true;
    this.#say({ type: 'done', payload: { content: 'Hello' } });
  }

  closeOutput(): void {
    this.#output.close();
  }

  settle(how: number): void {
    if (this.over || !this.began) return;
    const { history } = this.#harness;
    if (how % 4 === 3) {
      history.add({ by: 'harness', does: 'settles', run: this.runId, settled: false, reusable: false });
      this.#settle({ kind: 'failed', reason: 'no proof' });
      this.#settlement = this.#nextSettlement();
      return;
    }
    this.#output.close();
    this.#end(
      how % 4 === 2
        ? { kind: 'settled', reusable: false, reason: 'of no use' }
        : { kind: 'settled', reusable: true },
    );
  }

  /** Ends by itself: its output is closed and it has settled. */
  end(): void {
    if (this.over) return;
    this.#output.close();
    this.#end({ kind: 'settled', reusable: true });
  }

  /** The start promised that nothing was taken: it has no Turn and no output. */
  refused(): void {
    this.over = true;
  }

  cooperate(): void {
    // While its start is open there is nothing to settle yet.
    if (this.began) this.end();
    for (const input of [...this.inputs]) input.answer({ kind: 'unknown', reason: 'the Turn is over' });
  }

  #end(settlement: { readonly kind: 'settled' } & Settlement): void {
    this.over = true;
    const { reusable } = settlement;
    this.#harness.history.add({ by: 'harness', does: 'settles', run: this.runId, settled: true, reusable });
    this.#settle(settlement);
  }

  #say(event: HarnessEvent, text = ''): void {
    this.#harness.history.add({ by: 'harness', does: 'emits', run: this.runId, event: event.type, text });
    void this.#output.emit(event);
  }
}

const submitResult = (how: number): SubmitResult =>
  how % 5 === 1 ? 'failed' : how % 5 === 2 ? 'not_pending' : 'applied';

const permission = (key: string) => ({
  key,
  tool: 'Bash',
  title: key,
  reason: null,
  subject: { kind: 'command' as const, command: key, cwd: null },
  payload: { command: key },
  expiresInMs: null,
});
