import type { HarnessEvent, HarnessTurn, Settlement, StartOutcome } from '../harness/adapter.ts';
import { asError } from '../observe/errors.ts';
import { within } from '../platform/clock.ts';
import type { MessageInput } from '../protocol/message-input.ts';
import type { DonePayload, UsagePayload } from '../protocol/run-output.ts';
import type { ExecutorRecord, Executors } from './executors.ts';
import { budgets } from './limits.ts';
import { OutputQueue } from './output-queue.ts';
import type { RuntimePorts, Sender } from './ports.ts';
import { release, type ReleaseCause, type ReleaseMode, type ReleaseState } from './release-state.ts';
import { RunOutput, type Interception } from './run-output.ts';

/** What the router lends to its Runs. */
export interface RunHost {
  readonly ports: RuntimePorts;
  readonly sender: Sender;
  readonly executors: Executors;
  /** True once the router shut down: nothing is sent any more. */
  closed(): boolean;
  /** A permission or a choice passes through, in its place in the order. */
  intercept(run: Run, event: HarnessEvent): Promise<Interception>;
  /** The gate of new operations closed: routes vanish, prompts are withdrawn. */
  gateClosed(run: Run): void;
  /** The Run is over and its Executor free: forget it. Called before `done` is sent. */
  commit(run: Run): void;
  /** Its end was sent, or nobody is there to hear it: the Run id may be used again. */
  told(run: Run): void;
}

export interface RunInit {
  readonly id: string;
  readonly sessionId: string;
  readonly executor: ExecutorRecord;
  readonly trace: string | undefined;
  readonly observeMessages: boolean;
  readonly observeTools: boolean;
  readonly observeSubagents: boolean;
  /** Close the native writer before `done`. */
  readonly closeOnCompletion: boolean;
  readonly direct: boolean;
}

/** What one attempt to settle came to; cancellation receipts wait for it. */
export type Attempt =
  | { readonly kind: 'settled'; readonly outcome: DonePayload | null; readonly delivered: boolean }
  | { readonly kind: 'failed'; readonly reason: string };

const emptyOutcome: DonePayload = { content: '' };

/**
 * One Run from its start to its settlement (runtime-behaviour 2.11, 2.12). It owns the Turn, forwards output in
 * order, holds `done` back until everything else has settled, and gives its Executor back before `done` is sent.
 */
export class Run {
  readonly id: string;
  readonly sessionId: string;
  readonly executor: ExecutorRecord;
  readonly trace: string | undefined;
  readonly direct: boolean;
  readonly queue = new OutputQueue();
  /** Operations that were admitted: their native call and their receipt. `done` waits for all of them. */
  readonly operations = new Set<Promise<unknown>>();
  readonly output: RunOutput;
  turn: HarnessTurn | null = null;
  /** `started` was delivered (or the direct Run's Turn exists): steering, results, decisions and reads are accepted. */
  published = false;
  release: ReleaseState = { state: 'open' };

  readonly #host: RunHost;
  readonly #init: RunInit;
  #start: Promise<StartOutcome> | null = null;
  #startError: string | null = null;
  #inputSubmitted = false;
  #attempt: Promise<Attempt> | null = null;
  #abortAsked: () => void = () => undefined;
  #abortRequested: Promise<void> = new Promise((resolve) => (this.#abortAsked = resolve));
  #decided: () => void = () => undefined;
  /** Resolves when it was published, or when it is over and never will be. */
  readonly publishedOrOver: Promise<void> = new Promise((resolve) => (this.#decided = resolve));
  readonly #consumed: Promise<void>;

  constructor(host: RunHost, init: RunInit) {
    this.#host = host;
    this.#init = init;
    this.id = init.id;
    this.sessionId = init.sessionId;
    this.executor = init.executor;
    this.trace = init.trace;
    this.direct = init.direct;
    this.output = new RunOutput({
      runId: init.id,
      trace: init.trace,
      sender: host.sender,
      facts: host.ports.facts,
      logger: host.ports.logger,
      observeMessages: init.observeMessages,
      observeTools: init.observeTools,
      observeSubagents: init.observeSubagents,
      intercept: (event) => host.intercept(this, event),
      muted: () => host.closed(),
      aborted: () => this.cancelled || (this.#start === null && this.turn === null),
      claim: (mode, cause) => this.claim(mode, cause),
    });
    this.#consumed = this.output.consume(this.queue);
  }

  get gateOpen(): boolean {
    return this.release.state === 'open' && !this.#host.closed();
  }
  get cancelled(): boolean {
    return this.release.state !== 'open' && this.release.mode === 'abort';
  }
  get usage(): UsagePayload | null {
    return this.output.usage;
  }

  /** Starts natively, once. A throw promises nothing: it counts as a Turn whose effect is unknown. */
  async begin(input: MessageInput): Promise<StartOutcome> {
    const native = this.executor.native;
    if (!native) return { kind: 'no_turn', message: 'the Executor is gone' };
    this.#start = native.startTurn(this.id, input, this.queue).catch((error: unknown): StartOutcome => {
      this.#host.ports.logger.error('run.start_threw', { run: this.id, error: asError(error).name });
      return {
        kind: 'turn',
        turn: unknownTurn,
        error: 'Starting the Turn failed. What it did is not known.',
      };
    });
    const outcome = await this.#start;
    if (outcome.kind === 'turn') {
      this.turn = outcome.turn;
      this.#inputSubmitted = true;
      if (outcome.error !== undefined) this.#startError = outcome.error;
    } else {
      this.queue.close();
    }
    return outcome;
  }

  publish(): void {
    this.published = true;
    this.#decided();
    this.#host.ports.facts({ type: 'turn_state', runId: this.id, state: 'running' });
  }

  /** Registers an admitted operation, so that the end of the Run waits for its receipt. */
  join<T>(operation: Promise<T>): Promise<T> {
    this.operations.add(operation);
    void operation.finally(() => this.operations.delete(operation)).catch(() => undefined);
    return operation;
  }

  /** Claims or upgrades the release; returns the attempt that settles it. */
  claim(mode: ReleaseMode, cause: ReleaseCause): Promise<Attempt> {
    const stepped = release(this.release, { type: 'claim', mode, cause });
    if (stepped) {
      const first = this.release.state === 'open';
      this.release = stepped.next;
      if (mode === 'abort') this.#abortAsked();
      if (first) {
        this.#decided();
        this.#host.gateClosed(this);
        this.#host.ports.facts({
          type: 'turn_state',
          runId: this.id,
          state: mode === 'abort' ? 'cancelling' : 'settling',
        });
      }
      if (stepped.effect === 'begin') this.#attempt = this.#settle();
    }
    return this.#attempt ?? Promise.resolve({ kind: 'failed', reason: 'nothing to settle' });
  }

  async #settle(): Promise<Attempt> {
    let result: Attempt;
    try {
      result = await this.#settleOnce();
    } catch (error) {
      this.#host.ports.logger.error('run.settle_threw', { run: this.id, error: asError(error).name });
      result = { kind: 'failed', reason: 'settling failed' };
    }
    if (result.kind === 'failed') {
      const stepped = release(this.release, { type: 'attempt_failed', reason: result.reason });
      if (stepped) this.release = stepped.next;
      this.#host.ports.logger.warn('run.unsettled', { run: this.id });
      this.#host.ports.facts({
        type: 'cleanup',
        id: `turn:${this.id}`,
        kind: 'turn',
        sessionId: this.sessionId,
        runId: this.id,
        state: 'unconfirmed',
        attempts: this.release.state === 'failed' ? this.release.attempt : 1,
        reason: result.reason,
      });
    }
    return result;
  }

  async #settleOnce(): Promise<Attempt> {
    const { clock, facts } = this.#host.ports;
    const attempt = this.release.state === 'settling' ? this.release.attempt : 1;
    if (attempt > 1) {
      facts({
        type: 'cleanup',
        id: `turn:${this.id}`,
        kind: 'turn',
        sessionId: this.sessionId,
        runId: this.id,
        state: 'retrying',
        attempts: attempt,
        reason: 'trying again',
      });
    }
    const started = await this.#joinStart();
    if (started) return started;

    let mustClose = this.#startError !== null || !this.turn;
    const settlement = this.turn ? await this.#settleTurn(this.turn) : null;
    if (settlement?.kind === 'failed') {
      // Only a natural end, a repeated attempt or our own abort may fall back to ending the native program: Core's
      // first cancellation keeps the target, so that the next one can try it again.
      if (this.#cause() === 'cancel' && attempt === 1) return { kind: 'failed', reason: settlement.reason };
      this.output.fail('The agent did not confirm the end of this Turn. Its process was ended.');
      mustClose = true;
    } else if (settlement && !settlement.reusable) mustClose = true;

    const outcome = this.turn ? this.turn.outcome() : emptyOutcome;
    if (mustClose && this.turn) await this.#closeExecutor();
    this.queue.close();
    await this.#consumed;
    mustClose ||= this.output.failed || this.#init.closeOnCompletion;
    const unclosed = await this.#closeIfDue(mustClose);
    if (unclosed !== null) return { kind: 'failed', reason: unclosed };
    await Promise.allSettled([...this.operations]);
    // Meanwhile the router may have shut down, or the device been told to end its work.
    const late = await this.#closeIfDue(false);
    if (late !== null) return { kind: 'failed', reason: late };
    return this.#finish(outcome, attempt, clock.now());
  }

  /** Waits for a native start under way. Before a Turn exists, closing the Executor is the only way to stop it. */
  async #joinStart(): Promise<Attempt | null> {
    if (!this.#start || this.turn) return null;
    const { clock } = this.#host.ports;
    const returned = this.#start.then(() => 'returned' as const);
    const first = await Promise.race([returned, this.#abortRequested.then(() => 'abort' as const)]);
    if (first === 'returned') return null;
    const pending = await within(clock, 0, returned);
    if (pending.kind === 'value') return null;
    const closed = await this.#closeExecutor();
    if (closed !== null) return { kind: 'failed', reason: closed };
    const after = await within(clock, budgets.nativeClose, returned);
    return after.kind === 'value' ? null : { kind: 'failed', reason: 'the native start has not returned' };
  }

  async #settleTurn(turn: HarnessTurn): Promise<Settlement> {
    const { clock } = this.#host.ports;
    const settled = turn.settlement().catch((error: unknown): Settlement => ({
      kind: 'failed',
      reason: `settlement failed (${asError(error).name})`,
    }));
    if (this.release.state === 'settling' && this.release.mode === 'natural') {
      const natural = await Promise.race([
        within(clock, budgets.naturalSettlement, settled),
        this.#abortRequested.then(() => 'abort' as const),
      ]);
      if (natural !== 'abort') {
        return natural.kind === 'value'
          ? natural.value
          : { kind: 'failed', reason: 'it said it was done but did not settle within 10 s' };
      }
    }
    const cancelFailed = new Promise<Settlement>((resolve) => {
      turn.cancel().catch((error: unknown) => {
        resolve({ kind: 'failed', reason: `the agent refused to stop (${asError(error).name})` });
      });
    });
    const outcome = await within(clock, budgets.abortSettlement, Promise.race([settled, cancelFailed]));
    return outcome.kind === 'value'
      ? outcome.value
      : { kind: 'failed', reason: 'it did not confirm its end within 30 s' };
  }

  /** Closes an Executor that may not serve another Turn. Null when that is done or not needed, else why not. */
  async #closeIfDue(mustClose: boolean): Promise<string | null> {
    const due = mustClose || this.executor.retired || this.#host.closed();
    return due || this.executor.state.state !== 'running' ? this.#closeExecutor() : null;
  }

  /** Null when closed, else why not. */
  async #closeExecutor(): Promise<string | null> {
    const result = await this.#host.executors.close(this.executor, this.#closeReason());
    return result.state === 'closed' ? null : result.reason;
  }

  #closeReason(): 'shutdown' | 'completed' | 'invalidated' {
    if (this.#host.closed()) return 'shutdown';
    return this.#init.closeOnCompletion && !this.cancelled ? 'completed' : 'invalidated';
  }

  #cause(): ReleaseCause | null {
    return this.release.state === 'open' ? null : this.release.cause;
  }

  async #finish(outcome: DonePayload, attempt: number, at: number): Promise<Attempt> {
    const { facts, logger } = this.#host.ports;
    const nativeId = outcome.metadata?.agent_session_id ?? this.output.done?.metadata?.agent_session_id;
    if (typeof nativeId === 'string' && nativeId !== '') this.executor.nativeSessionId = nativeId;
    if (this.executor.state.state === 'running') this.#host.executors.rest(this.executor);
    this.#host.commit(this);
    if (attempt > 1) facts({ type: 'cleanup_ended', id: `turn:${this.id}`, how: 'confirmed' });
    facts({ type: 'evidence', runId: this.id, fact: 'settled', by: 'runtime', detail: null });
    const delivered = await this.#sendEnd();
    this.#host.told(this);
    const stepped = release(this.release, { type: 'settled' });
    if (stepped) this.release = stepped.next;
    facts({
      type: 'turn_ended',
      runId: this.id,
      ...this.#verdict(),
      usage: this.output.usage ?? outcome.usage ?? null,
    });
    logger.info('run.settled', { run: this.id, cause: this.#cause(), delivered, at });
    return { kind: 'settled', outcome: this.#inputSubmitted ? outcome : emptyOutcome, delivered };
  }

  /** `error` (if one is due) and the held `done`. Nothing for a Run that never had a Turn, or that nobody hears. */
  async #sendEnd(): Promise<boolean> {
    if (this.#host.closed() || this.output.sendFailed) return false;
    if (!this.#inputSubmitted && !this.direct) return true;
    const sent = await this.output.sendEnd(this.#startError);
    if (sent) {
      this.#host.ports.facts({
        type: 'evidence',
        runId: this.id,
        fact: 'done_sent',
        by: 'runtime',
        detail: null,
      });
    }
    return sent;
  }

  #verdict(): {
    outcome: 'completed' | 'failed' | 'cancelled' | 'unknown';
    code: string | null;
    detail: string | null;
  } {
    const { error } = this.output;
    const cause = this.#cause();
    // A `done` that came because this end was asked for is no completion.
    const done = this.output.done && cause === 'done';
    if (done && !error && !this.cancelled) return { outcome: 'completed', code: null, detail: null };
    if (cause === 'cancel' || cause === 'device_shutdown') {
      return {
        outcome: 'cancelled',
        code: null,
        detail: cause === 'cancel' ? null : 'Core asked this app to end its work.',
      };
    }
    if (error) return { outcome: 'failed', code: error.code, detail: error.text };
    if (done) return { outcome: 'completed', code: null, detail: null };
    return {
      outcome: 'unknown',
      code: null,
      detail:
        'The connection ended before the end of this Turn was observed. It will not run again by itself.',
    };
  }
}

/** Stands for a Turn that nobody holds: only the end of its Executor settles it. */
const unknownTurn: HarnessTurn = {
  cancel: () => Promise.resolve(),
  settlement: () => Promise.resolve({ kind: 'settled', reusable: false, reason: 'the start failed' }),
  outcome: () => emptyOutcome,
};
