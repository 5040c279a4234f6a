import { asError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { within, type Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { InputContent, MessageInput } from '../../protocol/message-input.ts';
import type { FunctionTool } from '../../protocol/execution.ts';
import type { DonePayload, ErrorPayload } from '../../protocol/run-output.ts';
import type {
  ChoiceAnswer,
  HarnessEvent,
  HarnessTurn,
  PermissionAnswer,
  Settlement,
  SteerResult,
  SubmitResult,
  TurnOutput,
} from '../adapter.ts';
import { Approvals } from './approvals.ts';
import type { OutputSchema } from '../output-schema.ts';
import { Changes, OrderedOutput } from '../turn-flow.ts';
import type { ClaudeClient } from './client.ts';
import { FunctionCalls } from './functions.ts';
import { EventMapper, type EventOptions } from './map-events.ts';
import { mapFailure } from './map-failures.ts';
import { mapInput, MESSAGES_PER_TURN, type NativeUserMessage } from './map-input.ts';
import {
  interruptResponse,
  type ControlRequest,
  type NativeMessage,
  type ResultMessage,
} from './native-types.ts';
import {
  anyCancelled,
  haveBeenRead,
  haveBeenTaken,
  inputsOver,
  noInputs,
  stepInputs,
  type InputEvent,
} from './turn-inputs.ts';

export interface TurnPorts {
  readonly client: ClaudeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface TurnInit extends EventOptions {
  readonly runId: string;
  readonly output: TurnOutput;
  readonly workspace: string | null;
  readonly functions: readonly FunctionTool[];
  readonly outputSchema: OutputSchema | null;
  /** The native conversation, once the program has shown that it has one. */
  nativeSessionId(): string | null;
}

/** The answer to an interrupt comes at once; a program that is silent for this long is stuck. */
const INTERRUPT_LIMIT_MS = 5_000;
/** From an answered interrupt to the end of the native turn. */
const ABORT_LIMIT_MS = 8_000;
/** A native write that takes longer is reported as unknown (seed, "Active input receipts"). */
const WRITE_LIMIT_MS = 10_000;

/**
 * One Turn. It may write several messages and span several native turns; it is over when all its messages are
 * accounted for (`turn-inputs.ts`). Everything it emits goes to the output it was given.
 */
export class ClaudeTurn implements HarnessTurn {
  readonly #ports: TurnPorts;
  readonly #init: TurnInit;
  readonly #events: EventMapper;
  readonly #approvals: Approvals;
  readonly #functions: FunctionCalls;
  #inputs = noInputs;
  #written = 0;
  #cancelling = false;
  /** An interrupt that has not been answered. It could hit a later Turn, so nothing settles before. */
  #interrupt: Promise<void> | null = null;
  #failure: ErrorPayload | null = null;
  #fault: string | null = null;
  #finished = false;
  #settled: Settlement | null = null;
  readonly #changes = new Changes();
  readonly #output: OrderedOutput;

  constructor(ports: TurnPorts, init: TurnInit) {
    this.#ports = ports;
    this.#init = init;
    this.#output = new OrderedOutput(init.output, (error) => {
      ports.logger.error('claude.output_refused', { run: init.runId, error: asError(error).name });
    });
    this.#functions = new FunctionCalls(ports, init.functions);
    this.#events = new EventMapper(init, this.#functions);
    this.#approvals = new Approvals(ports, init.workspace);
  }

  /** True once output is closed and nothing of this Turn can happen any more. */
  get settled(): boolean {
    return this.#settled !== null;
  }

  /** Writes the opening input. Null when it was written, else why it is not certain. */
  async open(messages: readonly NativeUserMessage[]): Promise<string | null> {
    return this.#write(messages);
  }

  /** A message of the program that belongs to this Turn. Resolves when its events found room in the output. */
  async accept(message: NativeMessage): Promise<void> {
    if (this.#finished) return;
    switch (message.type) {
      case 'command_lifecycle':
        this.#step({ type: 'lifecycle', uuid: message.command_uuid, state: message.state });
        break;
      case 'result':
        await this.#result(message);
        break;
      case 'system':
        await this.#emit(noticesOf(message));
        break;
      default:
        await this.#emit(this.#events.accept(message));
    }
    if (inputsOver(this.#inputs)) await this.#finish();
  }

  async asked(request: ControlRequest): Promise<void> {
    const event = await this.#approvals.asked(request);
    if (event) await this.#emit([event]);
    if (this.#finished) this.#approvals.withdrawAll();
  }

  /** The program calls a function. */
  async called(request: ControlRequest): Promise<void> {
    const event = this.#functions.called(request);
    if (event) await this.#emit([event]);
  }

  async withdrawn(key: string): Promise<void> {
    this.#functions.withdrawn(key);
    await this.#emit(this.#approvals.withdrawn(key));
  }

  /** The start-up facts contradict what was asked for, or the conversation changed: stop and do not go on. */
  break(reason: string): void {
    if (this.#finished || this.#fault !== null) return;
    this.#fault = reason;
    // Not awaited: the answer to the interrupt is read by the caller of this.
    this.cancel().catch(() => undefined);
  }

  /** The program is gone. What it did before stays as observed; how its work ended is not known. */
  async lost(reason: string): Promise<void> {
    this.#fault = this.#fault ?? reason;
    if (!this.#finished) await this.#finish();
    this.#settle();
  }

  cancel(): Promise<void> {
    if (this.#finished && !this.#interrupt) return Promise.resolve();
    this.#cancelling = true;
    this.#changes.tell();
    this.#interrupt ??= this.#sendInterrupt().finally(() => {
      this.#interrupt = null;
      if (this.#finished) this.#settle();
      this.#changes.tell();
    });
    return this.#interrupt;
  }

  async settlement(): Promise<Settlement> {
    while (this.#settled === null) {
      const limit = this.#cancelling && !this.#interrupt ? ABORT_LIMIT_MS : null;
      const change = this.#changes.next();
      if (limit === null) await change;
      else if (!(await this.#changes.within(this.#ports.clock, limit, () => this.#settled !== null)))
        return { kind: 'failed', reason: 'Claude Code did not confirm the end of this Turn' };
    }
    return this.#settled;
  }

  outcome(): DonePayload {
    const usage = this.#events.usage.snapshot();
    const sessionId = this.#init.nativeSessionId();
    return {
      content: this.#events.text,
      ...(usage ? { usage } : {}),
      ...(sessionId === null
        ? {}
        : { metadata: { agent_session_id: sessionId, agent_session_type: 'claude_session' } }),
    };
  }

  async steer(input: MessageInput, onWritten: () => void): Promise<SteerResult> {
    if (this.#finished || this.#cancelling || this.#fault !== null) return { kind: 'inactive' };
    const mapped = mapInput(input, this.#ports.random, false);
    if (mapped.kind === 'refused' || this.#written + mapped.messages.length > MESSAGES_PER_TURN)
      return { kind: 'rejected' };
    const uuids = mapped.messages.map((message) => message.uuid);
    const problem = await this.#write(mapped.messages);
    if (problem !== null) return { kind: 'unknown', reason: problem };
    if (!(await this.#until(() => haveBeenRead(this.#inputs, uuids))))
      return { kind: 'unknown', reason: 'the Turn ended before the input was read' };
    if (!anyCancelled(this.#inputs, uuids)) onWritten();
    await this.#until(() => haveBeenTaken(this.#inputs, uuids) || anyCancelled(this.#inputs, uuids));
    return haveBeenTaken(this.#inputs, uuids)
      ? { kind: 'accepted' }
      : { kind: 'unknown', reason: 'the Turn ended before the input was used' };
  }

  submitPermission(key: string, answer: PermissionAnswer): Promise<SubmitResult> {
    return this.#approvals.permission(key, answer);
  }

  submitChoice(key: string, answer: ChoiceAnswer): Promise<SubmitResult> {
    return this.#approvals.choice(key, answer);
  }

  submitFunctionResult(
    callId: string,
    result: { readonly success: boolean; readonly content: readonly InputContent[] },
  ): Promise<SubmitResult> {
    return this.#functions.submit(callId, result, (reason) => this.break(reason));
  }

  async #write(messages: readonly NativeUserMessage[]): Promise<string | null> {
    this.#written += messages.length;
    this.#step({ type: 'written', uuids: messages.map((message) => message.uuid) });
    try {
      const written = await within(this.#ports.clock, WRITE_LIMIT_MS, this.#ports.client.send(...messages));
      return written.kind === 'value' ? null : 'Claude Code did not take the input in time';
    } catch (error) {
      this.#ports.logger.warn('claude.input_not_written', {
        run: this.#init.runId,
        error: asError(error).name,
      });
      return 'the input could not be written to Claude Code';
    }
  }

  async #sendInterrupt(): Promise<void> {
    this.#events.interrupting();
    const answer = await this.#ports.client.control(
      { subtype: 'interrupt', cancel_queued: true },
      INTERRUPT_LIMIT_MS,
    );
    const receipt = interruptResponse.safeParse(answer);
    if (!receipt.success || receipt.data.still_queued.some((uuid) => this.#inputs.has(uuid))) {
      this.#fault ??= 'Claude Code kept input that it would still run';
    }
    if (receipt.success) this.#step({ type: 'cancelled', uuids: receipt.data.cancelled });
    if (!this.#finished && inputsOver(this.#inputs)) await this.#finish();
  }

  async #result(result: ResultMessage): Promise<void> {
    const ours = result.user_message_uuids?.some((uuid) => this.#inputs.has(uuid)) ?? true;
    if (!ours) return;
    const aborted = result.terminal_reason?.startsWith('aborted_') ?? false;
    const failure = result.is_error && !(aborted && this.#cancelling);
    const payload = failure ? mapFailure(result, this.#events.errorClass) : null;
    await this.#emit(this.#events.result(result));
    this.#failure = payload ?? (this.#events.answered(this.#init.outputSchema) ? null : UNFORMED);
    this.#step({ type: 'result', uuids: result.user_message_uuids ?? null });
  }

  /** The last frames: what stays open is closed, then the error if there is one, then `done`. */
  async #finish(): Promise<void> {
    if (this.#finished) return;
    this.#finished = true;
    this.#changes.tell();
    this.#functions.close();
    const error = this.#fault === null ? this.#failure : { error: this.#fault };
    const last: HarnessEvent[] = [...this.#approvals.withdrawAll(), ...this.#events.close()];
    if (!error && !this.#cancelling) last.push(...this.#events.answer());
    if (error) last.push({ type: 'error', payload: error });
    await this.#output.send([...last, { type: 'done', payload: this.outcome() }]);
    this.#output.close();
    if (!this.#interrupt) this.#settle();
  }

  #settle(): void {
    this.#settled ??=
      this.#fault === null
        ? { kind: 'settled', reusable: true }
        : { kind: 'settled', reusable: false, reason: this.#fault };
    this.#changes.tell();
  }

  /** Nothing follows the last frames. */
  #emit(events: readonly HarnessEvent[]): Promise<void> {
    return this.#finished ? Promise.resolve() : this.#output.send(events);
  }

  #step(event: InputEvent): void {
    this.#inputs = stepInputs(this.#inputs, event);
    this.#changes.tell();
  }

  /** True when `reached`; false when the Turn finished first. */
  async #until(reached: () => boolean): Promise<boolean> {
    while (!reached()) {
      if (this.#finished) return false;
      await this.#changes.next();
    }
    return true;
  }
}

/** The native turn ended well and the model still gave nothing of the form. */
const UNFORMED: ErrorPayload = { error: 'Claude Code gave no answer of the form that was asked for.' };

/** What only the person at the laptop should know. */
function noticesOf(message: Extract<NativeMessage, { type: 'system' }>): readonly HarnessEvent[] {
  if (message.subtype === 'compact_boundary')
    return [{ type: 'notice', text: 'Claude Code shortened the conversation to make room.' }];
  if (message.subtype !== 'api_retry') return [];
  const attempt = message.attempt ?? 1;
  const of = message.max_retries ? ` of ${message.max_retries}` : '';
  const status = message.error_status ? ` (HTTP ${message.error_status})` : '';
  return [
    { type: 'notice', text: `The model service did not answer${status}. Trying again: ${attempt}${of}.` },
  ];
}
