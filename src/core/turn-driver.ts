import type { Clock, Timer } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import { cancellationDeliveryId } from '../protocol/cancellation.ts';
import type { CapabilityDeclaration } from '../protocol/capabilities.ts';
import { ADMISSION_LIFETIME_MS, CORE_RETRY_MS, STEER_WRITTEN_MS } from '../protocol/limits.ts';
import type { MessageInput } from '../protocol/message-input.ts';
import { nativeSessionId, type UsagePayload } from '../protocol/run-output.ts';
import { sessionConfiguration } from './admission.ts';
import type { CoreConnection } from './connection.ts';
import type { SessionRecord, TurnRecord } from './core-state.ts';
import { InteractionDesk, type AnswerResult, type CoreDecision } from './interaction-desk.ts';
import type { PreparationSubscription } from './preparation-subscription.ts';
import type { RunFrame, RunSubscription } from './run-subscription.ts';
import { steeringStep, type SteeringEvent, type SteerInput } from './steering-state.ts';
import { turnStep, type TurnEffect, type TurnEvent, type TurnState } from './turn-state.ts';
import { TurnText } from './turn-text.ts';

export interface TurnDriverOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly connection: CoreConnection;
  /** As admitted; a later heartbeat adds nothing to it. */
  readonly capabilities: CapabilityDeclaration;
  readonly session: SessionRecord;
  readonly record: TurnRecord;
  readonly attempt: 1 | 2;
  /** Makes the claim durable before the start is sent. */
  readonly saveClaim: () => Promise<void>;
  /** The record or what is open changed. */
  readonly changed: () => void;
  readonly delta: (text: string) => void;
  /** The driver is through with the Turn: it ended, or it is queued again. */
  readonly over: (state: TurnState) => void;
  /** Nothing of it holds the Session any more: the next Turn may be prepared. */
  readonly free: () => void;
}

/** How long a preparation is watched: its lifetime and what a reply may take on top. */
const PREPARATION_WATCH_MS = ADMISSION_LIFETIME_MS + 30_000;
/** How long the answer to a release is waited for. */
const RELEASE_WATCH_MS = 10_000;

/** Carries out one Turn on one connection: feeds what it observes to `turnStep` and does what that says. */
export class TurnDriver {
  readonly #options: TurnDriverOptions;
  readonly #text = new TurnText();
  readonly #desk: InteractionDesk;
  #state: TurnState;
  #inputs: readonly SteerInput[] = [];
  #requestId = '';
  #preparation: PreparationSubscription | undefined;
  #run: RunSubscription | undefined;
  #watch: Timer | undefined;
  /** The newest handle seen for the request, and how far the admission is given back. */
  #handle = '';
  #giveBack: 'no' | 'when known' | 'asked' = 'no';
  readonly #writtenTimers = new Map<string, Timer>();

  constructor(options: TurnDriverOptions) {
    this.#options = options;
    this.#desk = new InteractionDesk(options.random);
    this.#state = { kind: 'queued', attempt: options.attempt };
  }

  get interactions() {
    return this.#desk.open;
  }

  /** Brings the text of the record up to date; done before it is read, not at every fragment. */
  syncText(): void {
    const { record } = this.#options;
    record.text = this.#text.toString();
    record.textTruncated = this.#text.truncated;
  }

  begin(): void {
    this.#dispatch({ type: 'claim' });
  }

  cancel(): void {
    this.#dispatch({ type: 'cancel' });
  }

  /** False when the declaration it was admitted with has no active input, or the Turn takes none any more. */
  steer(text: string): boolean {
    const { durable_input_receipts, steering } = this.#options.capabilities;
    if (!durable_input_receipts || !steering) return false;
    if (this.#state.kind === 'cancelling' || this.#state.kind === 'ended') return false;
    this.#steering({ type: 'submit', text });
    return true;
  }

  answer(interactionId: string, decision: CoreDecision): Promise<AnswerResult> {
    return this.#desk.answer(this.#options.connection, interactionId, decision).then((result) => {
      this.#options.changed();
      return result;
    });
  }

  #dispatch(event: TurnEvent): void {
    const before = this.#state;
    if (before.kind === 'ended') return;
    const { state, effects } = turnStep(before, event, this.#options.record.runId);
    this.#state = state;
    this.#writeRecord();
    if (state.kind === 'running' && before.kind !== 'running') this.#steering({ type: 'poll' });
    for (const effect of effects) this.#perform(effect);
    if (state.kind === 'ended') this.#finish();
    else if (before !== state) this.#options.changed();
    const queuedAgain = state.kind === 'queued' && before.kind !== 'queued';
    if (queuedAgain) this.#watch?.cancel();
    if (state.kind !== 'ended' && !queuedAgain) return;
    this.#options.over(state);
    // An admission that is being given back still holds the Session's Executor.
    if (this.#giveBack === 'no') this.#options.free();
  }

  #perform(effect: TurnEffect): void {
    const { connection, record } = this.#options;
    switch (effect) {
      case 'prepare':
        this.#prepare();
        return;
      case 'save_claim':
        this.#options.saveClaim().then(
          () => this.#dispatch({ type: 'claim_saved' }),
          () => this.#dispatch({ type: 'claim_lost' }),
        );
        return;
      case 'start':
        this.#start();
        return;
      case 'release':
        this.#giveBack = 'when known';
        this.#release();
        return;
      case 'cancel':
        this.#cancel();
        return;
      case 'abort':
        connection.send('prompt_cancel', { id: record.runId });
        return;
      case 'retry_later':
        this.#preparation?.end('unsubscribed');
        return;
    }
  }

  #prepare(): void {
    const { clock, connection, session, capabilities, random } = this.#options;
    this.#requestId = random.uuid();
    this.#handle = '';
    const subscription = connection.subscribePreparation(this.#requestId);
    this.#preparation = subscription;
    const configuration = sessionConfiguration(session, capabilities);
    const payload = { session_id: session.sessionId, configuration };
    const sent = subscription && connection.send('execution_prepare', { id: this.#requestId, payload });
    if (!subscription || sent !== 'queued') {
      this.#dispatch({ type: 'not_sent', frame: 'execution_prepare' });
      return;
    }
    this.#watch?.cancel();
    this.#watch = clock.after(PREPARATION_WATCH_MS, () => subscription.end('unsubscribed'), {
      background: true,
    });
    void this.#watchPreparation(subscription);
  }

  async #watchPreparation(subscription: PreparationSubscription): Promise<void> {
    for (;;) {
      const observation = await subscription.next();
      if (subscription !== this.#preparation) return;
      if (observation.kind === 'end') {
        if (observation.end !== 'complete') this.#dispatch({ type: 'preparation_over' });
        this.#givenBack();
        return;
      }
      const status = observation.event;
      this.#handle = status.handle ?? this.#handle;
      // A Turn that was cancelled before its handle was known is given back as soon as it is.
      if (this.#state.kind !== 'ended') this.#dispatch({ type: 'status', status });
      else if (status.state === 'rejected') subscription.end('unsubscribed');
      else this.#release();
    }
  }

  #release(): void {
    if (this.#giveBack !== 'when known' || this.#handle === '') return;
    const { clock, connection } = this.#options;
    const subscription = this.#preparation;
    this.#giveBack = 'asked';
    const payload = { handle: this.#handle };
    connection.send('execution_release', { id: this.#requestId, payload });
    clock.after(RELEASE_WATCH_MS, () => subscription?.end('unsubscribed'), { background: true });
  }

  /** The admission is gone, or nothing more will be heard of it: the Session's next Turn may be prepared. */
  #givenBack(): void {
    if (this.#giveBack === 'no' || this.#state.kind !== 'ended') return;
    this.#giveBack = 'no';
    this.#options.free();
  }

  #start(): void {
    if (this.#state.kind !== 'starting') return;
    const { connection, record, clock } = this.#options;
    const { executorId, handle } = this.#state;
    const subscription = connection.subscribeRun(record.runId);
    this.#run = subscription;
    record.startedAt = clock.now();
    const payload = { executor_id: executorId, handle, run_id: record.runId, input: inputOf(record.prompt) };
    const sent = connection.send('execution_start', { id: this.#requestId, payload });
    if (sent !== 'queued') {
      this.#dispatch({ type: 'not_sent', frame: 'execution_start' });
      return;
    }
    void this.#watchRun(subscription);
  }

  async #watchRun(subscription: RunSubscription): Promise<void> {
    for (;;) {
      const observation = await subscription.next();
      if (subscription !== this.#run || this.#state.kind === 'ended') return;
      if (observation.kind === 'event') this.#observe(observation.event);
      else if (observation.end !== 'complete') this.#dispatch({ type: 'run_over' });
      if (observation.kind === 'end') return;
    }
  }

  #observe(frame: RunFrame): void {
    if (this.#desk.observe(frame)) this.#options.changed();
    switch (frame.type) {
      case 'delta':
        this.#text.add(frame.payload);
        this.#options.delta(frame.payload.delta);
        break;
      case 'output_message':
        this.#text.complete(frame.payload);
        break;
      case 'usage':
        this.#options.record.usage = frame.payload;
        break;
      case 'prompt_steer_ack':
        this.#steering({ type: 'ack', ack: frame.payload });
        return;
      case 'function_call':
        // The Session declares no functions, so every call is an undeclared one.
        this.#dispatch({ type: 'undeclared_call' });
        return;
      case 'error': {
        const { error, code, http_status } = frame.payload;
        this.#dispatch({ type: 'error', failure: { text: error, code, httpStatus: http_status } });
        return;
      }
      case 'done':
        this.#dispatch({ type: 'done', done: frame.payload });
        return;
      default:
        break;
    }
    this.#dispatch({ type: 'output' });
  }

  #cancel(): void {
    const { connection, record } = this.#options;
    const deliveryId = cancellationDeliveryId(record.runId);
    const receipt = connection.receipt(deliveryId);
    const sent = connection.send('prompt_cancel', { id: record.runId, payload: { delivery_id: deliveryId } });
    if (sent !== 'queued') {
      this.#dispatch({ type: 'not_sent', frame: 'prompt_cancel' });
      return;
    }
    void receipt.then((result) =>
      this.#dispatch(
        result.kind === 'receipt'
          ? { type: 'receipt', receipt: result.receipt }
          : { type: 'receipt_missing' },
      ),
    );
  }

  #steering(event: SteeringEvent): void {
    const { clock, connection, record } = this.#options;
    const { inputs, effects } = steeringStep(this.#inputs, event, this.#state.kind === 'running');
    this.#inputs = inputs;
    for (const [inputId, timer] of this.#writtenTimers) {
      if (inputs.some((input) => input.inputId === inputId && input.state === 'sent')) continue;
      timer.cancel();
      this.#writtenTimers.delete(inputId);
    }
    record.inputs = inputs.map(({ inputId, text, state, code }) => ({
      inputId,
      text,
      state,
      code: code ?? null,
    }));
    for (const effect of effects) {
      if (effect.type === 'retry_later') {
        clock.after(CORE_RETRY_MS, () => this.#steering({ type: 'poll' }), { background: true });
        continue;
      }
      const { inputId, text } = effect.input;
      this.#writtenTimers.set(
        inputId,
        clock.after(STEER_WRITTEN_MS, () => this.#steering({ type: 'written_timeout', inputId }), {
          background: true,
        }),
      );
      const payload = { input_id: inputId, input: inputOf(text), durable_receipt: true };
      if (connection.send('prompt_steer', { id: record.runId, payload }) !== 'queued')
        this.#steering({ type: 'send_failed', inputId });
    }
    this.#options.changed();
  }

  #finish(): void {
    this.#watch?.cancel();
    this.#steering({ type: 'over' });
    this.#desk.clear();
    this.#run?.end('unsubscribed');
    if (this.#giveBack === 'no') this.#preparation?.end('unsubscribed');
  }

  /** The record is what others see and what is stored. */
  #writeRecord(): void {
    const { record, session, clock } = this.#options;
    const state = this.#state;
    record.state = state.kind === 'claiming' ? 'starting' : state.kind;
    if (state.kind !== 'ended') return;
    this.syncText();
    record.outcome = state.outcome;
    record.errorCode = state.code ?? null;
    record.errorText = state.failure?.text ?? null;
    record.engineErrorCode = state.failure?.code ?? null;
    record.engineHttpStatus = state.failure?.httpStatus ?? null;
    record.endedAt = clock.now();
    const snapshot = state.snapshot;
    if (!snapshot) return;
    if (record.text === '') record.text = snapshot.content;
    if (snapshot.usage && !isEmptyUsage(snapshot.usage)) record.usage = snapshot.usage;
    session.nativeSessionId = nativeSessionId(snapshot) ?? session.nativeSessionId;
  }
}

const inputOf = (text: string): MessageInput => [{ content: [{ type: 'input_text', text }] }];

const isEmptyUsage = (usage: UsagePayload): boolean =>
  Object.values(usage).every((value) => value === undefined);
