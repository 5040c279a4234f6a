import { delay, within } from '../platform/clock.ts';
import type { PromptSteerAckPayload, PromptSteerPayload, SteeringCode } from '../protocol/steering.ts';
import { steerInputIdViolation } from '../protocol/steering.ts';
import { asError } from '../observe/errors.ts';
import type { SteerResult } from '../harness/adapter.ts';
import { fingerprint } from './fingerprint.ts';
import { budgets, capacity } from './limits.ts';
import type { RuntimePorts, Sender } from './ports.ts';
import type { Run } from './run.ts';

interface Input {
  readonly fingerprint: string;
  /** The last acknowledgement; `in_flight` until the first one of its own. */
  ack: PromptSteerAckPayload;
}

interface RunInputs {
  readonly known: Map<string, Input>;
  busy: boolean;
}

/**
 * Active input (wire 7, runtime-behaviour 2.15): one at a time per Run, `written` and `accepted` kept apart, a repeat
 * answered from memory, an unknown outcome never retried. Memory lives as long as the Run.
 */
export class Steering {
  readonly #ports: RuntimePorts;
  readonly #sender: Sender;
  readonly #runs = new WeakMap<Run, RunInputs>();

  constructor(ports: RuntimePorts, sender: Sender) {
    this.#ports = ports;
    this.#sender = sender;
  }

  /** Admission in one synchronous step; delivery goes on by itself. */
  receive(run: Run | undefined, runId: string, payload: PromptSteerPayload, trace: string | undefined): void {
    const inputId = payload.input_id;
    const refuse = (code: SteeringCode, error?: string): void =>
      void this.#send(
        runId,
        { input_id: inputId, accepted: false, error_code: code, ...(error ? { error } : {}) },
        trace,
      );
    if (steerInputIdViolation(payload)) return refuse('invalid_input');
    if (!run) return refuse('run_inactive');
    const inputs = this.#inputs(run);
    const print = fingerprint({ input: payload.input, durable: payload.durable_receipt === true });
    const known = inputs.known.get(inputId);
    if (known && known.fingerprint !== print) return refuse('input_conflict');
    if (known && !(isRetryable(known.ack) && run.gateOpen)) {
      void this.#send(runId, known.ack, trace);
      return;
    }
    if (!known && inputs.known.size >= capacity.inputsPerRun) return refuse('input_limit');
    if (!run.gateOpen) return refuse('run_inactive');
    const entry: Input = known ?? { fingerprint: print, ack: pendingAck(inputId) };
    const remember = (code: SteeringCode, error?: string): void => {
      entry.ack = { input_id: inputId, accepted: false, error_code: code, ...(error ? { error } : {}) };
      inputs.known.set(inputId, entry);
      void run.join(this.#send(runId, entry.ack, trace));
    };
    if (!run.published) return remember('not_ready');
    const declared = run.executor.offered.probe.capabilities;
    if (payload.durable_receipt ? !declared.durable_input_receipts : !declared.steering)
      return refuse('unsupported');
    if (!run.turn?.steer) return refuse('unsupported');
    if (inputs.busy) return remember('busy', 'Another input of this Run waits for its receipt.');
    entry.ack = pendingAck(inputId);
    inputs.known.set(inputId, entry);
    inputs.busy = true;
    this.#ports.facts({ type: 'input', runId, inputId, input: payload.input });
    const delivery = payload.durable_receipt
      ? this.#deliver(run, payload, entry, trace)
      : this.#deliverPlain(run, payload, entry, trace);
    void run.join(delivery.finally(() => (inputs.busy = false)));
  }

  /** Durable: `written` when the native write is complete, then the final receipt whenever the Harness consumed it. */
  async #deliver(
    run: Run,
    payload: PromptSteerPayload,
    entry: Input,
    trace: string | undefined,
  ): Promise<void> {
    const { clock, facts } = this.#ports;
    let written: (() => void) | null = null;
    let writeOver = false;
    const whenWritten = new Promise<'written'>((resolve) => (written = () => resolve('written')));
    const native = this.#steer(run, payload, () => {
      // The timer may have fired already; then the report changes nothing.
      if (!writeOver) written?.();
    });
    const first = await within(clock, budgets.steerWrite, Promise.race([whenWritten, native]));
    writeOver = true;
    if (first.kind === 'timeout') {
      return this.#finish(
        run,
        payload.input_id,
        entry,
        { kind: 'unknown', reason: 'write timed out' },
        trace,
      );
    }
    if (first.value !== 'written') return this.#finish(run, payload.input_id, entry, first.value, trace);
    entry.ack = { input_id: payload.input_id, accepted: false, written: true };
    facts({ type: 'input_state', runId: run.id, inputId: payload.input_id, state: 'written', detail: null });
    const sent = await this.#send(run.id, entry.ack, trace);
    if (sent !== 'written') {
      return this.#finish(
        run,
        payload.input_id,
        entry,
        { kind: 'unknown', reason: 'receipt not delivered' },
        trace,
      );
    }
    const result = await Promise.race([native, this.#runOver(run)]);
    return this.#finish(run, payload.input_id, entry, result, trace);
  }

  async #deliverPlain(
    run: Run,
    payload: PromptSteerPayload,
    entry: Input,
    trace: string | undefined,
  ): Promise<void> {
    const result = await within(
      this.#ports.clock,
      budgets.steerWrite,
      this.#steer(run, payload, () => undefined),
    );
    const outcome: SteerResult =
      result.kind === 'value' ? result.value : { kind: 'unknown', reason: 'timed out' };
    return this.#finish(run, payload.input_id, entry, outcome, trace);
  }

  async #steer(run: Run, payload: PromptSteerPayload, onWritten: () => void): Promise<SteerResult> {
    try {
      return (await run.turn?.steer?.(payload.input, onWritten)) ?? { kind: 'unsupported' };
    } catch (error) {
      return { kind: 'unknown', reason: asError(error).name };
    }
  }

  /** After native settlement an input still without its receipt has 15 s left; then its outcome is unknown. */
  async #runOver(run: Run): Promise<SteerResult> {
    await run.turn?.settlement();
    await delay(this.#ports.clock, budgets.steerBeforeDone);
    return { kind: 'unknown', reason: 'the Turn ended before the input was consumed' };
  }

  async #finish(
    run: Run,
    inputId: string,
    entry: Input,
    result: SteerResult,
    trace: string | undefined,
  ): Promise<void> {
    entry.ack =
      result.kind === 'accepted'
        ? { input_id: inputId, accepted: true }
        : { input_id: inputId, accepted: false, error_code: steeringCode(result.kind) };
    this.#ports.facts({
      type: 'input_state',
      runId: run.id,
      inputId,
      state: result.kind === 'accepted' ? 'accepted' : result.kind === 'unknown' ? 'unknown' : 'rejected',
      detail: result.kind === 'unknown' ? result.reason : null,
    });
    await this.#send(run.id, entry.ack, trace);
  }

  #inputs(run: Run): RunInputs {
    const known = this.#runs.get(run);
    if (known) return known;
    const fresh: RunInputs = { known: new Map(), busy: false };
    this.#runs.set(run, fresh);
    return fresh;
  }

  #send(runId: string, ack: PromptSteerAckPayload, trace: string | undefined) {
    return this.#sender.send(
      { type: 'prompt_steer_ack', id: runId, payload: ack, trace },
      budgets.receiptSend,
    );
  }
}

const pendingAck = (inputId: string): PromptSteerAckPayload => ({
  input_id: inputId,
  accepted: false,
  error_code: 'in_flight',
});

const isRetryable = (ack: PromptSteerAckPayload): boolean =>
  ack.error_code === 'not_ready' || ack.error_code === 'busy';

function steeringCode(kind: Exclude<SteerResult['kind'], 'accepted'>): SteeringCode {
  switch (kind) {
    case 'not_ready':
      return 'not_ready';
    case 'inactive':
      return 'run_inactive';
    case 'rejected':
      return 'rejected';
    case 'unsupported':
      return 'contract_violation';
    case 'unknown':
      return 'outcome_unknown';
  }
}
