import type { HarnessEvent, SubmitResult } from '../../src/harness/adapter.ts';
import type { RuntimeControl } from '../../src/conformance/player.ts';
import type { NativeStep, PersonStep, Step } from '../../src/conformance/scenario.ts';
import type { InteractionAnswer, LocalResult } from '../../src/runtime/interactions.ts';
import {
  Deferred,
  type ControlledExecutor,
  type ControlledHarness,
  type ControlledTurn,
} from './controlled-harness.ts';
import { settle, type FakeClock } from './fake-clock.ts';

type Call = 'prepare' | 'start' | 'close' | 'submit' | 'cancel';

/** Carries out the native, personal and temporal steps of a scenario on a Runtime in this process. */
export class ContractControl implements RuntimeControl {
  readonly #harness: ControlledHarness;
  readonly #clock: FakeClock;
  readonly #answer: (id: string, answer: InteractionAnswer) => Promise<LocalResult>;
  readonly #held = new Set<Call>();
  readonly #failing = new Map<Call, string>();
  readonly #open = new Map<Call, Deferred<void>[]>();
  readonly #lacking = new Set<string>();

  constructor(
    harness: ControlledHarness,
    clock: FakeClock,
    answer: (id: string, answer: InteractionAnswer) => Promise<LocalResult>,
  ) {
    this.#harness = harness;
    this.#clock = clock;
    this.#answer = answer;
    harness.configure = (executor) => this.#configure(executor);
    harness.onPrepare = async (_request, executor) => {
      await this.#pass('prepare');
      return this.#failing.has('prepare')
        ? { kind: 'failed', message: 'it could not be set up', resource: executor }
        : { kind: 'ready', executor };
    };
  }

  async native(step: NativeStep): Promise<string | null> {
    await settle();
    const wrong = this.#do(step);
    await settle();
    return wrong;
  }

  async settle(step: Extract<Step, { settle: unknown }>['settle']): Promise<string | null> {
    const turn = this.#harness.last;
    if (step.outcome) turn.snapshot = { content: '', ...step.outcome };
    if (step.failed !== undefined) turn.settle({ kind: 'failed', reason: step.failed });
    else if (step.reusable) turn.settle();
    else turn.settle({ kind: 'settled', reusable: false, reason: 'it is of no more use' });
    await settle();
    return null;
  }

  async person(step: PersonStep, interactionId: string): Promise<string | null> {
    await settle();
    const result = await this.#answer(interactionId, step.answer as unknown as InteractionAnswer);
    await settle();
    const got = result.kind === 'refused' ? result.why : result.kind;
    return got === step.gets ? null : `the person was told ${got}`;
  }

  async advance(ms: number): Promise<void> {
    await settle();
    await this.#clock.advance(ms);
  }

  #do(step: NativeStep): string | null {
    switch (step.do) {
      case 'hold':
        this.#held.add(step.what);
        return null;
      case 'return':
        this.#held.delete(step.what);
        for (const call of this.#open.get(step.what)?.splice(0) ?? []) call.resolve();
        return null;
      case 'fail':
        this.#failing.set(step.what, step.how ?? '');
        return null;
      case 'works':
        this.#failing.delete(step.what);
        return null;
      case 'lacks':
        this.#lacking.add(step.operation);
        return null;
      case 'emit':
        void this.#harness.last.output.emit(step.event as unknown as HarnessEvent);
        return null;
      case 'finish': {
        const outcome = { content: '', ...step.outcome };
        const turn = this.#harness.last;
        turn.snapshot = outcome;
        void turn.output.emit({ type: 'done', payload: outcome });
        turn.settle();
        return null;
      }
      case 'steer':
        return this.#steer(step.is);
      case 'expect':
        return this.#counts(step);
    }
  }

  #steer(is: Extract<NativeStep, { do: 'steer' }>['is']): string | null {
    const { steered } = this.#harness.last;
    const newest = steered[steered.length - 1];
    if (!newest) return 'no active input reached the Harness';
    if (is === 'written') newest.written();
    else if (is === 'unknown') newest.result.resolve({ kind: 'unknown', reason: 'the pipe broke' });
    else newest.result.resolve({ kind: is });
    return null;
  }

  #counts(expected: Extract<NativeStep, { do: 'expect' }>): string | null {
    const { executors, turns, prepared } = this.#harness;
    const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
    const counts = {
      prepares: prepared.length,
      starts: turns.length,
      cancels: sum(turns.map((turn) => turn.cancels)),
      closes: sum(executors.map((executor) => executor.closes)),
      inputs: sum(turns.map((turn) => turn.steered.length)),
      decisions: sum(turns.map((turn) => turn.permissions.length + turn.choices.length)),
      results: sum(turns.map((turn) => turn.functions.length)),
    };
    for (const [name, count] of Object.entries(counts)) {
      const wanted = expected[name as keyof typeof counts];
      if (wanted !== undefined && wanted !== count) return `the Harness saw ${count} ${name}, not ${wanted}`;
    }
    return null;
  }

  #configure(executor: ControlledExecutor): void {
    executor.onStart = async (turn) => {
      await this.#pass('start');
      const failing = this.#failing.get('start');
      if (failing === undefined) return { kind: 'turn', turn };
      if (failing === 'turn_with_error') return { kind: 'turn', turn, error: 'it began and broke' };
      return { kind: 'no_turn', message: 'it took nothing' };
    };
    executor.onClose = async () => {
      await this.#pass('close');
      return this.#failing.has('close')
        ? { state: 'unconfirmed', reason: 'a process is still there' }
        : { state: 'closed' };
    };
    executor.onTurn = (turn) => this.#configureTurn(turn);
  }

  #configureTurn(turn: ControlledTurn): void {
    for (const operation of this.#lacking) Object.defineProperty(turn, operation, { value: undefined });
    turn.onCancel = () =>
      this.#failing.has('cancel') ? Promise.reject(new Error('it refuses')) : Promise.resolve();
    turn.onSubmit = async (): Promise<SubmitResult> => {
      await this.#pass('submit');
      const failing = this.#failing.get('submit');
      if (failing === 'not_pending' || failing === 'unsupported') return failing;
      return failing === undefined ? 'applied' : 'failed';
    };
  }

  /** Waits while calls of this kind are held. */
  async #pass(call: Call): Promise<void> {
    if (!this.#held.has(call)) return;
    this.#held.delete(call);
    const open = new Deferred<void>();
    this.#open.set(call, [...(this.#open.get(call) ?? []), open]);
    await open.promise;
  }
}
