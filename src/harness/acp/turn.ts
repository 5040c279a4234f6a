import { asError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { within, type Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { MessageInput } from '../../protocol/message-input.ts';
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
import { Changes, OrderedOutput } from '../turn-flow.ts';
import type { AgentAnswer, AgentConnection, Exchange } from './connection.ts';
import { mapPrompt } from './map-prompt.ts';
import { UpdateMapper, type UpdateOptions } from './map-updates.ts';
import {
  SIGN_IN_NEEDED,
  promptResponse,
  type ElicitationRequest,
  type PermissionRequest,
  type SessionUpdate,
} from './protocol.ts';
import { Requests } from './requests.ts';

export interface TurnPorts {
  readonly connection: AgentConnection;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface TurnInit extends UpdateOptions {
  readonly runId: string;
  readonly sessionId: string;
  readonly output: TurnOutput;
  readonly workspace: string | null;
  readonly images: boolean;
  /** More input goes in by ending the running prompt (harnesses' own choice, off by default). */
  readonly cancelAndContinue: boolean;
  /** True when no process of the agent's runs that did not run when it was prepared. */
  isQuiet(): Promise<boolean>;
}

/** From a cancel to the answer of the running prompt. */
const CANCEL_LIMIT_MS = 8_000;
/** A native write that takes longer is reported as unknown (seed, "Active input receipts"). */
const WRITE_LIMIT_MS = 10_000;

interface NextPrompt {
  readonly prompt: readonly Record<string, unknown>[];
  readonly written: () => void;
  readonly accepted: () => void;
}

/**
 * One Turn: one prompt of the agent's session, or several where more input ends the running one. The protocol's only
 * proof of an end is the answer to the prompt; after a cancel it says nothing about commands, so processes are counted.
 */
export class AcpTurn implements HarnessTurn {
  readonly #ports: TurnPorts;
  readonly #init: TurnInit;
  readonly #updates: UpdateMapper;
  readonly #requests: Requests;
  #next: NextPrompt | null = null;
  #accepted: () => void = () => undefined;
  #cancelling = false;
  /** A prompt was cancelled, so its commands may go on. */
  #cut = false;
  #fault: string | null = null;
  #finished = false;
  #settled: Settlement | null = null;
  readonly #changes = new Changes();
  readonly #output: OrderedOutput;

  constructor(ports: TurnPorts, init: TurnInit) {
    this.#ports = ports;
    this.#init = init;
    this.#output = new OrderedOutput(init.output, (error) => {
      ports.logger.error('acp.output_refused', { run: init.runId, error: asError(error).name });
    });
    this.#updates = new UpdateMapper(init, ports.random);
    this.#requests = new Requests(ports, init.workspace, (event) => this.#emit([event]));
  }

  get settled(): boolean {
    return this.#settled !== null;
  }

  /** Submits the prompt. Null when it was written, else why that is not certain. */
  async open(prompt: readonly Record<string, unknown>[]): Promise<string | null> {
    const written = new Promise<string | null>((resolve) => {
      void this.#run({ prompt, written: () => resolve(null), accepted: () => undefined }).then(() =>
        resolve('the agent ended before it took the input'),
      );
    });
    const waited = await within(this.#ports.clock, WRITE_LIMIT_MS, written);
    return waited.kind === 'value' ? waited.value : 'the agent did not take the input in time';
  }

  /** Resolves when the events found room in the output. */
  async update(update: SessionUpdate): Promise<void> {
    if (this.#finished) return;
    this.#accepted();
    await this.#emit(this.#updates.accept(update));
  }

  permission(request: PermissionRequest, exchange: Exchange): Promise<Record<string, unknown>> {
    const known = this.#updates.call(request.toolCall.toolCallId);
    return this.#requests.permission(request, known, exchange);
  }

  elicitation(request: ElicitationRequest, exchange: Exchange): Promise<Record<string, unknown>> {
    return this.#requests.elicitation(request, exchange);
  }

  /** The agent is gone. What it did before stays as observed; how its work ended is not known. */
  async lost(reason: string): Promise<void> {
    this.#fault ??= reason;
    await this.#finish();
  }

  async cancel(): Promise<void> {
    if (this.#finished) return;
    this.#cancelling = true;
    this.#next = null;
    this.#changes.tell();
    await this.#interrupt();
  }

  async settlement(): Promise<Settlement> {
    while (this.#settled === null) {
      if (!this.#cancelling) await this.#changes.next();
      else if (
        !(await this.#changes.within(this.#ports.clock, CANCEL_LIMIT_MS, () => this.#settled !== null))
      )
        return { kind: 'failed', reason: 'The agent did not confirm the end of this Turn' };
    }
    return this.#settled;
  }

  outcome(): DonePayload {
    return {
      content: this.#updates.text,
      metadata: { agent_session_id: this.#init.sessionId, agent_session_type: 'acp_session' },
    };
  }

  async steer(input: MessageInput, onWritten: () => void): Promise<SteerResult> {
    if (!this.#init.cancelAndContinue) return { kind: 'unsupported' };
    if (this.#finished || this.#cancelling || this.#next) return { kind: 'inactive' };
    const mapped = mapPrompt(input, this.#init.images);
    if (mapped.kind === 'refused') return { kind: 'rejected' };
    let isWritten = false;
    const accepted = new Promise<'accepted'>((resolve) => {
      this.#next = {
        prompt: mapped.prompt,
        written: () => {
          isWritten = true;
          onWritten();
        },
        accepted: () => resolve('accepted'),
      };
    });
    const mine = this.#next;
    await this.#interrupt().catch(() => undefined);
    const over = this.#changes.until(() => this.#finished).then(() => 'over' as const);
    const limit = within(
      this.#ports.clock,
      CANCEL_LIMIT_MS,
      this.#changes.until(() => isWritten || this.#finished),
    );
    if ((await limit).kind === 'timeout' && this.#next === mine) {
      // Not submitted, and now it never will be.
      this.#next = null;
      return { kind: 'rejected' };
    }
    if ((await Promise.race([accepted, over])) === 'accepted') return { kind: 'accepted' };
    return isWritten
      ? { kind: 'unknown', reason: 'the Turn ended before the agent showed that it took the input' }
      : { kind: 'inactive' };
  }

  submitPermission(key: string, answer: PermissionAnswer): Promise<SubmitResult> {
    return this.#requests.answerPermission(key, answer);
  }

  submitChoice(key: string, answer: ChoiceAnswer): Promise<SubmitResult> {
    return this.#requests.answerChoice(key, answer);
  }

  async #interrupt(): Promise<void> {
    this.#cut = true;
    // Not awaited: a reader that takes nothing must not keep the cancel from the agent.
    void this.#emit(this.#requests.withdrawAll());
    await this.#ports.connection.notify('session/cancel', { sessionId: this.#init.sessionId });
  }

  /** Prompts one after the other, until nothing more is to be said. */
  async #run(first: NextPrompt): Promise<void> {
    let answer: AgentAnswer | null = null;
    for (let prompt: NextPrompt | null = first; prompt;) {
      const { accepted } = prompt;
      this.#accepted = accepted;
      this.#next = null;
      answer = await this.#prompt(prompt);
      if (answer?.kind === 'answer') accepted();
      prompt = answer === null || this.#cancelling || this.#finished ? null : this.#next;
      if (prompt) await this.#emit(this.#updates.close(false));
    }
    await this.#finish(answer);
  }

  /** Null: the agent is gone. */
  async #prompt({ prompt, written }: NextPrompt): Promise<AgentAnswer | null> {
    const params = { sessionId: this.#init.sessionId, prompt };
    try {
      return await this.#ports.connection.request('session/prompt', params, null, () => {
        written();
        this.#changes.tell();
      });
    } catch (error) {
      this.#ports.logger.warn('acp.prompt_failed', { run: this.#init.runId, error: asError(error).name });
      this.#fault ??= 'The agent ended in the middle of its work.';
      return null;
    }
  }

  /** The last frames: what stays open is closed, then the error if there is one, then `done`. */
  async #finish(answer: AgentAnswer | null = null): Promise<void> {
    if (this.#finished) return;
    this.#finished = true;
    const error = this.#errorOf(answer);
    const whole = error === null && !this.#cancelling;
    const last: HarnessEvent[] = [...this.#requests.withdrawAll(), ...this.#updates.close(whole)];
    if (error) last.push({ type: 'error', payload: error });
    this.#changes.tell();
    await this.#output.send([...last, { type: 'done', payload: this.outcome() }]);
    this.#output.close();
    this.#settled = await this.#judge();
    this.#changes.tell();
  }

  async #judge(): Promise<Settlement> {
    if (this.#fault !== null) return { kind: 'settled', reusable: false, reason: this.#fault };
    // An agent may leave a command of a cancelled prompt running; then only the end of the agent ends it.
    if (!this.#cut || (await this.#init.isQuiet().catch(() => false)))
      return { kind: 'settled', reusable: true };
    return { kind: 'settled', reusable: false, reason: 'a command of the stopped Turn may still run' };
  }

  #errorOf(answer: AgentAnswer | null): ErrorPayload | null {
    if (this.#fault !== null) return { error: this.#fault };
    if (answer === null) return this.#cancelling ? null : { error: 'The agent gave no answer.' };
    if (answer.kind === 'refused') {
      const code = answer.code === SIGN_IN_NEEDED ? ({ code: 'authentication_error' } as const) : {};
      return this.#cancelling ? null : { error: answer.message || 'The agent failed.', ...code };
    }
    const parsed = promptResponse.safeParse(answer.value);
    const reason = parsed.success ? parsed.data.stopReason : '';
    if (reason === 'end_turn' || (this.#cancelling && reason === 'cancelled')) return null;
    return { error: stopReasons[reason] ?? 'The agent stopped for a reason that is not known.' };
  }

  /** Nothing follows the last frames. */
  #emit(events: readonly HarnessEvent[]): Promise<void> {
    return this.#finished ? Promise.resolve() : this.#output.send(events);
  }
}

const stopReasons: Readonly<Record<string, string>> = {
  cancelled: 'The agent stopped before it was done.',
  max_tokens: 'The agent reached the limit of its answer.',
  max_turn_requests: 'The agent reached its limit of requests in one Turn.',
  refusal: 'The agent refused to go on.',
};
