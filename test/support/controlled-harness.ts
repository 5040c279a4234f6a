import type {
  ChoiceAnswer,
  Executor,
  HarnessAdapter,
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
} from '../../src/harness/adapter.ts';
import type { CloseResult } from '../../src/ownership/owned.ts';
import {
  capabilityNames,
  declareCapabilities,
  type CapabilityName,
} from '../../src/protocol/capabilities.ts';
import type { MessageInput } from '../../src/protocol/message-input.ts';
import type { DonePayload } from '../../src/protocol/run-output.ts';

/** A promise that a test settles by hand. */
export class Deferred<T> {
  resolve: (value: T) => void = () => undefined;
  reject: (error: Error) => void = () => undefined;
  readonly promise: Promise<T> = new Promise((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}

/**
 * A Harness whose every phase a test can hold open or fail. By default everything succeeds at once; put a Deferred or
 * a result into the matching slot to change that.
 */
export class ControlledHarness implements HarnessAdapter {
  readonly kind: string;
  readonly name = 'Controlled';
  capabilities = declareCapabilities(capabilityNames.filter((name) => !unsupportedByDefault.has(name)));
  available = true;
  readonly prepared: PrepareRequest[] = [];
  readonly executors: ControlledExecutor[] = [];
  /** Replaces the outcome of the next preparations. */
  onPrepare: (request: PrepareRequest, executor: ControlledExecutor) => Promise<PrepareOutcome> = (
    _request,
    executor,
  ) => Promise.resolve({ kind: 'ready', executor });
  /** Applied to each new Executor before it is used. */
  configure: (executor: ControlledExecutor) => void = () => undefined;

  constructor(kind = 'contract') {
    this.kind = kind;
  }
  probe(): Promise<Probe> {
    return Promise.resolve(this.offer());
  }
  offer(): Probe {
    return { available: this.available, version: '1.0.0', reason: null, capabilities: this.capabilities };
  }
  prepare(request: PrepareRequest): Promise<PrepareOutcome> {
    this.prepared.push(request);
    const executor = new ControlledExecutor();
    this.configure(executor);
    this.executors.push(executor);
    return this.onPrepare(request, executor);
  }
  get turns(): readonly ControlledTurn[] {
    return this.executors.flatMap((executor) => executor.turns);
  }
  get last(): ControlledTurn {
    const turn = this.turns[this.turns.length - 1];
    if (!turn) throw new Error('no Turn was started');
    return turn;
  }
}

const unsupportedByDefault = new Set<CapabilityName>([
  'tool_search',
  'workspace_authoring',
  'workspace_read_preparation',
  'workspace_output_export',
  'subagent_observations',
]);

export class ControlledExecutor implements Executor {
  nativeSessionId: string | null = null;
  readonly #broken = new Deferred<string>();
  readonly broken = this.#broken.promise;
  readonly turns: ControlledTurn[] = [];
  closes = 0;
  onClose: () => Promise<CloseResult> = () => Promise.resolve({ state: 'closed' });
  onStart: (turn: ControlledTurn) => Promise<StartOutcome> = (turn) =>
    Promise.resolve({ kind: 'turn', turn });
  onTurn: (turn: ControlledTurn) => void = () => undefined;

  startTurn(runId: string, input: MessageInput, output: TurnOutput): Promise<StartOutcome> {
    const turn = new ControlledTurn(runId, input, output);
    this.onTurn(turn);
    this.turns.push(turn);
    return this.onStart(turn);
  }
  close(): Promise<CloseResult> {
    this.closes++;
    return this.onClose();
  }
  break(reason: string): void {
    this.#broken.resolve(reason);
  }
}

export class ControlledTurn implements HarnessTurn {
  readonly runId: string;
  readonly input: MessageInput;
  readonly output: TurnOutput;
  readonly settled = new Deferred<Settlement>();
  readonly permissions: { key: string; answer: PermissionAnswer }[] = [];
  readonly choices: { key: string; answer: ChoiceAnswer }[] = [];
  readonly functions: string[] = [];
  readonly steered: { input: MessageInput; written: () => void; result: Deferred<SteerResult> }[] = [];
  snapshot: DonePayload = { content: '' };
  cancels = 0;
  onCancel: () => Promise<void> = () => Promise.resolve();
  onSubmit: () => Promise<SubmitResult> = () => Promise.resolve('applied');

  constructor(runId: string, input: MessageInput, output: TurnOutput) {
    this.runId = runId;
    this.input = input;
    this.output = output;
  }
  cancel(): Promise<void> {
    this.cancels++;
    return this.onCancel();
  }
  settlement(): Promise<Settlement> {
    return this.settled.promise;
  }
  outcome(): DonePayload {
    return this.snapshot;
  }
  steer(input: MessageInput, onWritten: () => void): Promise<SteerResult> {
    const result = new Deferred<SteerResult>();
    this.steered.push({ input, written: onWritten, result });
    return result.promise;
  }
  submitPermission(key: string, answer: PermissionAnswer): Promise<SubmitResult> {
    this.permissions.push({ key, answer });
    return this.onSubmit();
  }
  submitChoice(key: string, answer: ChoiceAnswer): Promise<SubmitResult> {
    this.choices.push({ key, answer });
    return this.onSubmit();
  }
  submitFunctionResult(callId: string): Promise<SubmitResult> {
    this.functions.push(callId);
    return this.onSubmit();
  }
  /** Native settlement, with the output closed first as the contract wants. */
  settle(settlement: Settlement = { kind: 'settled', reusable: true }): void {
    this.output.close();
    this.settled.resolve(settlement);
  }
  async finish(content = 'done'): Promise<void> {
    this.snapshot = { content };
    await this.output.emit({ type: 'done', payload: { content } });
    this.settle();
  }
}
