import type { HarnessEvent } from '../harness/adapter.ts';
import { breathe } from '../platform/clock.ts';
import type { Logger } from '../observe/logger.ts';
import type { DonePayload, ToolCallPayload, UsagePayload } from '../protocol/run-output.ts';
import type { FactListener } from './facts.ts';
import type { OutputQueue } from './output-queue.ts';
import type { RuntimeFrame, Sender } from './ports.ts';
import type { ReleaseCause, ReleaseMode } from './release-state.ts';

/** What is kept of a tool output that does not fit a frame. Bytes of text at each end. */
const keptOutput = 128 * 1024;
const splitAt = 512 * 1024;
/** Events forwarded before everything else gets a turn. */
const eventsPerTurn = 32;

/** `passed`: not one of them. `failed`: Core could not be asked, which ends the Run like any frame it did not get. */
export type Interception = 'passed' | 'taken' | 'failed';

interface OutputOptions {
  readonly runId: string;
  readonly trace: string | undefined;
  readonly sender: Sender;
  readonly facts: FactListener;
  readonly logger: Logger;
  readonly observeMessages: boolean;
  readonly observeTools: boolean;
  readonly observeSubagents: boolean;
  /** Prompts go through a table of their own. */
  intercept(event: HarnessEvent): Promise<Interception>;
  /** True once nothing may be sent any more: output is drained, not sent. */
  muted(): boolean;
  /** True once an abort was claimed: an end without `done` is then expected. */
  aborted(): boolean;
  claim(mode: ReleaseMode, cause: ReleaseCause): unknown;
}

/**
 * Forwards the output of one Run in emission order (runtime-behaviour 2.11). `done` is held. What breaks the contract
 * (a frame after `done`, an end without it) is not forwarded and ends the Run.
 */
export class RunOutput {
  readonly #o: OutputOptions;
  #sequence = 0;
  #violation: string | null = null;
  sendFailed = false;
  done: DonePayload | null = null;
  usage: UsagePayload | null = null;
  error: { readonly code: string | null; readonly text: string } | null = null;

  constructor(options: OutputOptions) {
    this.#o = options;
  }

  /** The adapter broke its contract or nobody heard it: the Executor must not be used again. */
  get failed(): boolean {
    return this.#violation !== null || this.sendFailed;
  }

  /** Records a failure of the Runtime's own making; it is told before `done`. */
  fail(text: string): void {
    this.#violation ??= text;
  }

  async consume(queue: OutputQueue): Promise<void> {
    for (let n = 1; ; n++) {
      const event = await queue.next();
      if (!event) break;
      // A flood of events is one long chain of promises: heartbeats and other Runs get their turn in between.
      if (n % eventsPerTurn === 0) await breathe();
      if (this.done) {
        this.#violate('The agent went on after it said it was done.');
        continue;
      }
      this.#o.facts({ type: 'output', runId: this.#o.runId, event });
      if (event.type === 'done') {
        this.done = event.payload;
        if (event.payload.usage) this.usage = event.payload.usage;
        this.#o.claim('natural', 'done');
        continue;
      }
      if (this.sendFailed || this.#violation !== null) continue;
      if (event.type === 'error') this.#noteError(event.payload.error, event.payload.code ?? null);
      if (event.type === 'usage') this.usage = event.payload;
      if (this.#o.muted()) continue;
      await this.#forward(event, queue);
    }
    if (queue.late > 0) this.#o.facts({ type: 'dropped', reason: 'late_output' });
    if (!this.done && !this.#o.aborted()) this.#violate('The agent stopped without saying that it was done.');
  }

  /** Sends the due `error` and the `done`. False when either could not be written. */
  async sendEnd(startError: string | null): Promise<boolean> {
    const text = this.#violation ?? startError;
    if (text !== null) {
      this.#noteError(text, null);
      if (!(await this.#send({ type: 'error', payload: { error: text } }))) return false;
    }
    return this.#send({ type: 'done', payload: this.done ?? { content: '' } });
  }

  #noteError(text: string, code: string | null): void {
    this.error = { code, text };
  }

  #violate(text: string): void {
    if (this.#violation === null) {
      this.#violation = text;
      this.#o.logger.warn('run.violation', { run: this.#o.runId });
      this.#o.claim('abort', 'violation');
    }
  }

  async #forward(event: HarnessEvent, queue: OutputQueue): Promise<void> {
    const intercepted = await this.#o.intercept(event);
    if (intercepted === 'failed') this.#sendFailed();
    if (intercepted !== 'passed') return;
    switch (event.type) {
      case 'delta': {
        let text = event.payload.delta;
        const item = event.payload.item_id;
        if (this.#o.sender.backedUp) {
          // One turn of the event loop for what follows, so that a flood leaves in few frames.
          await breathe();
          text += this.#merge(item, queue);
        }
        await this.#text(text, (part) => ({
          type: 'delta',
          payload: {
            delta: part,
            sequence: ++this.#sequence,
            ...(this.#o.observeMessages && item !== undefined ? { item_id: item } : {}),
          },
        }));
        return;
      }
      case 'thinking':
        await this.#text(event.payload.text, (part) => ({
          type: 'thinking',
          payload: { text: part, sequence: ++this.#sequence },
        }));
        return;
      case 'output_message':
        if (this.#o.observeMessages) await this.#stream({ type: 'output_message', payload: event.payload });
        return;
      case 'tool_call':
        await this.#toolCall(event.payload);
        return;
      case 'command_output':
        if (this.#o.observeTools) await this.#stream({ type: 'command_output', payload: event.payload });
        return;
      case 'subagent_identity':
      case 'subagent_lifecycle':
      case 'subagent_turn':
      case 'subagent_coordination':
        if (this.#o.observeSubagents) await this.#stream(event);
        return;
      case 'subagent_item':
        if (this.#o.observeSubagents) await this.#subagentItem(event);
        return;
      case 'usage':
        await this.#stream({ type: 'usage', payload: event.payload });
        return;
      case 'function_call':
        await this.#stream({ type: 'function_call', payload: event.payload });
        return;
      case 'error':
        await this.#stream({ type: 'error', payload: event.payload });
        return;
      case 'notice':
        if (event.fact) {
          this.#o.facts({
            type: 'evidence',
            runId: this.#o.runId,
            fact: event.fact,
            by: 'runtime',
            detail: event.text,
          });
        }
        return;
      case 'permission':
      case 'choice':
      case 'withdrawn':
      case 'done':
        return;
    }
  }

  /** What follows in the queue of the same message. It leaves the queue here, so it is observed here. */
  #merge(item: string | undefined, queue: OutputQueue): string {
    const more = queue.takeDeltas(item);
    if (more !== '') {
      const event: HarnessEvent = { type: 'delta', payload: { delta: more, item_id: item } };
      this.#o.facts({ type: 'output', runId: this.#o.runId, event });
    }
    return more;
  }

  async #text(text: string, frame: (part: string) => RuntimeFrame): Promise<void> {
    for (let at = 0; at === 0 || at < text.length;) {
      // Never between the two halves of a surrogate pair.
      let end = Math.min(text.length, at + splitAt);
      if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
      if (!(await this.#stream(frame(text.slice(at, end))))) return;
      at = Math.max(end, at + 1);
    }
  }

  async #toolCall(payload: ToolCallPayload): Promise<void> {
    const { observation, ...bare } = payload;
    const frame: ToolCallPayload = this.#o.observeTools ? payload : bare;
    void observation;
    const result = await this.#o.sender.stream(this.#stamp({ type: 'tool_call', payload: frame }));
    if (result === 'failed') this.#sendFailed();
    if (result !== 'too_large') return;
    const short = shorten(frame);
    this.#tell('An output was too large for one frame. Core was sent its beginning and its end.');
    if (!(await this.#stream({ type: 'tool_call', payload: short }))) return;
  }

  /** A snapshot has no shorter form that is still one: what does not fit is left out, and the person is told. */
  async #subagentItem(event: Extract<HarnessEvent, { type: 'subagent_item' }>): Promise<void> {
    const result = await this.#o.sender.stream(this.#stamp(event));
    if (result === 'failed') this.#sendFailed();
    if (result !== 'too_large') return;
    this.#tell('What a sub-agent did was too large for one frame. Core was not sent it.');
  }

  #tell(text: string): void {
    this.#o.facts({ type: 'output', runId: this.#o.runId, event: { type: 'notice', text } });
  }

  async #stream(frame: RuntimeFrame): Promise<boolean> {
    const result = await this.#o.sender.stream(this.#stamp(frame));
    if (result === 'entered') return true;
    if (result === 'too_large') {
      this.#violate('The agent wrote something larger than a frame can carry. The Turn was ended.');
      return false;
    }
    this.#sendFailed();
    return false;
  }

  async #send(frame: RuntimeFrame): Promise<boolean> {
    const result = await this.#o.sender.send(this.#stamp(frame), null);
    if (result === 'too_large' && frame.type === 'done') {
      // The text was streamed already; the rest of the end matters more than its copy.
      return this.#send({ type: 'done', payload: { ...frame.payload, content: '' } });
    }
    return result === 'written';
  }

  #sendFailed(): void {
    if (this.sendFailed) return;
    this.sendFailed = true;
    this.#o.claim('abort', 'send_failed');
  }

  #stamp(frame: RuntimeFrame): RuntimeFrame {
    // The type and the payload are those of one frame, which member by member the compiler does not see.
    return {
      type: frame.type,
      id: this.#o.runId,
      payload: frame.payload,
      trace: this.#o.trace,
    } as RuntimeFrame;
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** A tool call whose result and observed output are cut to a beginning and an end. */
function shorten(payload: ToolCallPayload): ToolCallPayload {
  const { result, observation, ...rest } = payload;
  void result;
  if (!observation) return rest;
  const { output, ...facts } = observation;
  return {
    ...rest,
    observation: typeof output === 'string' ? { ...facts, output: cut(output) } : facts,
  };
}

function cut(text: string): string {
  if (text.length <= 2 * keptOutput) return text;
  const left = text.length - 2 * keptOutput;
  return `${text.slice(0, keptOutput)}\n[${left} characters left out]\n${text.slice(-keptOutput)}`;
}
