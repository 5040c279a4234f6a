import { isDeepStrictEqual } from 'node:util';

import type { HarnessEvent } from '../adapter.ts';
import type { OutputSchema } from '../output-schema.ts';
import type {
  AssistantMessage,
  NativeMessage,
  ResultMessage,
  StreamMessage,
  UserMessage,
} from './native-types.ts';
import { ToolCalls, type FunctionReturns } from './map-tools.ts';
import { UsageMeter } from './map-usage.ts';

export interface EventOptions {
  readonly observeMessages: boolean;
  readonly observeTools: boolean;
}

/** A message of the model while it is being written. */
interface Draft {
  readonly id: string;
  readonly blocks: Map<number, string>;
  block: number;
  announced: boolean;
  stopReason: string | null;
}

/** Model of records that the program wrote itself: error texts and the output of its own commands. */
const SYNTHETIC = '<synthetic>';

/**
 * Translates what the program reports about the root of one Turn into our events, in order. It remembers only what
 * later records need: the message being written, the tool calls without a result, and the usage.
 */
export class EventMapper {
  readonly usage = new UsageMeter();
  readonly #options: EventOptions;
  readonly #tools: ToolCalls;
  #draft: Draft | null = null;
  /** Ids of messages whose stream began. */
  readonly #streamed = new Set<string>();
  #text = '';
  #errorClass: string | null = null;
  /** The structured answer of the last native turn, as its result told it. */
  #structured: unknown = undefined;
  #answer: { readonly id: string; readonly text: string } | null = null;

  constructor(options: EventOptions, functions: FunctionReturns) {
    this.#options = options;
    this.#tools = new ToolCalls(options.observeTools, functions);
  }

  /** Text of the last message that had any, also of one that was cut off. */
  get text(): string {
    return this.#text;
  }
  /** Class of the last assistant record of the native turn, if it was an error record. */
  get errorClass(): string | null {
    return this.#errorClass;
  }

  accept(message: NativeMessage): readonly HarnessEvent[] {
    switch (message.type) {
      case 'stream_event':
        return message.parent_tool_use_id ? [] : this.#stream(message.event);
      case 'assistant':
        return message.parent_tool_use_id ? [] : this.#assistant(message);
      case 'user':
        return message.parent_tool_use_id || message.isReplay ? [] : this.#user(message);
      default:
        return [];
    }
  }

  /** A native turn ended: what it left open is closed, its usage is settled. */
  result(result: ResultMessage): readonly HarnessEvent[] {
    const events = this.#cutOff();
    if (!result.is_error && result.result) this.#text = result.result;
    this.#structured = result.is_error ? undefined : result.structured_output;
    this.usage.settle(result);
    this.#errorClass = null;
    return [...events, ...this.#usageEvent()];
  }

  /**
   * Whether the native turn gave an answer of the form that was asked for: the program took the model's call of its
   * internal tool, its result repeats that call, and our own check accepts it.
   */
  answered(schema: OutputSchema | null): boolean {
    this.#answer = null;
    if (!schema) return true;
    const taken = this.#tools.takenAnswer();
    if (!taken || !isDeepStrictEqual(taken.input, this.#structured) || !schema.accepts(taken.input))
      return false;
    this.#answer = { id: taken.id, text: JSON.stringify(taken.input) };
    this.#text = this.#answer.text;
    return true;
  }

  /** The structured answer as a message of its own. */
  answer(): readonly HarnessEvent[] {
    if (!this.#answer) return [];
    const { id, text } = this.#answer;
    return [{ type: 'output_message', payload: { id, status: 'completed', phase: 'final_answer', text } }];
  }

  /** The Turn ends here: open messages and tool calls will not be completed any more. */
  close(): readonly HarnessEvent[] {
    return [...this.#cutOff(), ...this.#tools.close()];
  }

  /** From now on a tool result that is an error may be the interruption and not the tool's own word. */
  interrupting(): void {
    this.#tools.interrupting();
  }

  #stream(event: StreamMessage['event']): readonly HarnessEvent[] {
    const draft = this.#draft;
    switch (event.type) {
      case 'message_start': {
        const cut = this.#cutOff();
        this.#begin(event.message.id);
        this.usage.began(event.message.id, event.message.model ?? null, event.message.usage ?? null);
        return cut;
      }
      case 'content_block_start':
        if (!draft) return [];
        draft.block = event.index;
        return event.content_block.type === 'text' ? this.#announce(draft) : [];
      case 'content_block_delta':
        if (event.delta.type === 'thinking_delta')
          return [{ type: 'thinking', payload: { text: event.delta.thinking } }];
        return draft && event.delta.type === 'text_delta'
          ? this.#write(draft, event.index, event.delta.text)
          : [];
      case 'message_delta':
        if (!draft) return [];
        draft.stopReason = event.delta?.stop_reason ?? draft.stopReason;
        this.usage.progressed(draft.id, event.usage ?? null);
        return this.#usageEvent();
      case 'message_stop':
        // The program closes a stream that broke in the same way, but without a reason to stop.
        return draft ? (draft.stopReason === null ? this.#cutOff() : this.#complete(draft)) : [];
      default:
        return [];
    }
  }

  #assistant(message: AssistantMessage): readonly HarnessEvent[] {
    this.#errorClass = message.error ?? null;
    const { id, model, content } = message.message;
    const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
    const events: HarnessEvent[] = [];
    if (model === SYNTHETIC) {
      if (message.local_command_source && text !== '') events.push(...this.#whole(id, text));
      return events;
    }
    if (message.aborted && this.#draft?.id === id) this.#draft.stopReason = null;
    else if (this.#draft?.id === id && text !== '') this.#draft.blocks.set(this.#draft.block, text);
    else if (!this.#streamed.has(id) && text !== '') events.push(...this.#whole(id, text));
    if (this.#draft?.id === id) this.#text = joined(this.#draft) || this.#text;
    for (const block of content) if (block.type === 'tool_use') events.push(...this.#tools.called(block));
    return events;
  }

  #user(message: UserMessage): readonly HarnessEvent[] {
    return message.message.content.flatMap((block) =>
      block.type === 'tool_result' ? this.#tools.returned(block, message.tool_use_result) : [],
    );
  }

  #begin(id: string): Draft {
    this.#streamed.add(id);
    this.#draft = { id, blocks: new Map(), block: 0, announced: false, stopReason: null };
    return this.#draft;
  }

  /** A message that came in one piece: the program could not stream it, or one of its own commands answered. */
  #whole(id: string, text: string): readonly HarnessEvent[] {
    const cut = this.#cutOff();
    const draft = this.#begin(id);
    return [...cut, ...this.#announce(draft), ...this.#write(draft, 0, text), ...this.#complete(draft)];
  }

  #announce(draft: Draft): readonly HarnessEvent[] {
    if (draft.announced) return [];
    draft.announced = true;
    if (!this.#options.observeMessages) return [];
    return [{ type: 'output_message', payload: { id: draft.id, status: 'in_progress' } }];
  }

  #write(draft: Draft, index: number, text: string): readonly HarnessEvent[] {
    const announced = this.#announce(draft);
    draft.blocks.set(index, (draft.blocks.get(index) ?? '') + text);
    this.#text = joined(draft);
    const item = this.#options.observeMessages ? { item_id: draft.id } : {};
    return [...announced, { type: 'delta', payload: { ...item, delta: text } }];
  }

  #complete(draft: Draft): readonly HarnessEvent[] {
    this.#draft = null;
    if (!draft.announced || !this.#options.observeMessages) return [];
    return [{ type: 'output_message', payload: { id: draft.id, status: 'completed', text: joined(draft) } }];
  }

  /** A message that will not be finished keeps its text and is never called complete. */
  #cutOff(): readonly HarnessEvent[] {
    const draft = this.#draft;
    this.#draft = null;
    if (!draft?.announced || !this.#options.observeMessages) return [];
    return [{ type: 'output_message', payload: { id: draft.id, status: 'incomplete' } }];
  }

  #usageEvent(): readonly HarnessEvent[] {
    const usage = this.usage.snapshot();
    return usage ? [{ type: 'usage', payload: usage }] : [];
  }
}

const joined = (draft: Draft): string =>
  [...draft.blocks]
    .sort(([a], [b]) => a - b)
    .map(([, text]) => text)
    .join('');
