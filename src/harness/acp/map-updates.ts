import type { Random } from '../../platform/random.ts';
import { isJsonObject } from '../../protocol/presence.ts';
import type { ToolCallPayload, ToolObservation } from '../../protocol/run-output.ts';
import type { HarnessEvent } from '../adapter.ts';
import type { SessionUpdate, ToolCall } from './protocol.ts';

export interface UpdateOptions {
  readonly observeMessages: boolean;
  readonly observeTools: boolean;
}

interface Message {
  /** The agent's id, where it gives one. */
  readonly native: string | null;
  readonly id: string;
  text: string;
  /** It was longer than what is kept. */
  cut: boolean;
}

/** Text of one message that is kept for its end, UTF-16 units; a frame holds 4 MiB. */
const TEXT_LIMIT = 1024 * 1024;
/** Text of one tool result that is passed on, UTF-16 units. */
const RESULT_LIMIT = 1024 * 1024;

/** Tool calls of a Turn that are told apart. */
const CALLS_KNOWN = 1_000;

/**
 * Session updates of one Turn as our events, in order. The protocol does not say when a message is complete: it is
 * when another message or a tool begins, or when the agent ends its answer of its own accord.
 */
export class UpdateMapper {
  readonly #options: UpdateOptions;
  readonly #random: Random;
  readonly #calls = new Map<string, { call: ToolCall; told: boolean; over: boolean }>();
  #message: Message | null = null;
  #text = '';
  #plan = '';

  constructor(options: UpdateOptions, random: Random) {
    this.#options = options;
    this.#random = random;
  }

  /** Text of the last message. */
  get text(): string {
    return this.#text;
  }

  /** What is known of a tool call; a permission request may tell only a part. */
  call(id: string): ToolCall | undefined {
    return this.#calls.get(id)?.call;
  }

  accept(update: SessionUpdate): readonly HarnessEvent[] {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return update.content.type === 'text'
          ? this.#write(update.messageId ?? null, update.content.text)
          : [];
      case 'agent_thought_chunk':
        return update.content.type === 'text'
          ? [...this.#complete(), { type: 'thinking', payload: { text: update.content.text } }]
          : [];
      case 'tool_call':
      case 'tool_call_update':
        return this.#tool(update);
      case 'plan':
        return this.#planned(update.entries);
      case 'current_mode_update':
      case 'other':
        return [];
    }
  }

  /** `whole`: the agent ended its answer itself. What is open otherwise stays incomplete. */
  close(whole: boolean): readonly HarnessEvent[] {
    const events: HarnessEvent[] = [...(whole ? this.#complete() : this.#cutOff())];
    for (const known of this.#calls.values()) {
      if (known.over || !known.told) continue;
      known.over = true;
      events.push(this.#after(known.call, 'incomplete'));
    }
    return events;
  }

  #write(native: string | null, text: string): readonly HarnessEvent[] {
    const events: HarnessEvent[] = [];
    if (this.#message && native !== null && this.#message.native !== native) events.push(...this.#complete());
    if (!this.#message) {
      this.#message = { native, id: native ?? `msg_${this.#random.hex(8)}`, text: '', cut: false };
      if (this.#options.observeMessages) {
        const { id } = this.#message;
        events.push({ type: 'output_message', payload: { id, status: 'in_progress' } });
      }
    }
    const message = this.#message;
    // The stream has it all; what is kept beside it must not grow with an agent that does not stop.
    if (message.text.length + text.length > TEXT_LIMIT) message.cut = true;
    else message.text += text;
    this.#text = message.cut ? `${message.text}\n[cut]` : message.text;
    const item = this.#options.observeMessages ? { item_id: message.id } : {};
    return [...events, { type: 'delta', payload: { ...item, delta: text } }];
  }

  #complete(): readonly HarnessEvent[] {
    const message = this.#message;
    this.#message = null;
    if (!message || !this.#options.observeMessages) return [];
    const { id, text, cut: isCut } = message;
    return [{ type: 'output_message', payload: { id, status: 'completed', ...(isCut ? {} : { text }) } }];
  }

  #cutOff(): readonly HarnessEvent[] {
    const message = this.#message;
    this.#message = null;
    if (!message || !this.#options.observeMessages) return [];
    return [{ type: 'output_message', payload: { id: message.id, status: 'incomplete' } }];
  }

  #tool(update: ToolCall): readonly HarnessEvent[] {
    const known = this.#calls.get(update.toolCallId);
    const call = known ? merged(known.call, update) : update;
    const state = known ?? { call, told: false, over: false };
    const events: HarnessEvent[] = known ? [] : [...this.#makeRoom()];
    this.#calls.set(update.toolCallId, state);
    if (!state.over) state.call = call;
    // Some agents name a call first and tell what it does a moment later; both are one beginning.
    const ready = call.status !== 'pending' || isWhole(call);
    if (!state.told && ready) {
      state.told = true;
      events.push(...this.#complete(), this.#before(call));
    }
    if (state.told && !state.over && (call.status === 'completed' || call.status === 'failed')) {
      state.over = true;
      events.push(this.#after(call, call.status));
      // Only that it is over is still needed: a late word must not begin it again.
      state.call = { toolCallId: call.toolCallId };
    }
    return events;
  }

  /** An agent that begins calls without end must not fill memory: the oldest is not followed any more. */
  #makeRoom(): readonly HarnessEvent[] {
    if (this.#calls.size < CALLS_KNOWN) return [];
    const [oldest] = this.#calls;
    if (!oldest) return [];
    const [id, state] = oldest;
    this.#calls.delete(id);
    return state.told && !state.over ? [this.#after(state.call, 'incomplete')] : [];
  }

  #before(call: ToolCall): HarnessEvent {
    const seen = this.#observation(call);
    const args = isJsonObject(call.rawInput) ? { args: call.rawInput } : {};
    return toolCall({
      ...{ id: call.toolCallId, name: nameOf(call), stage: 'before', ...args },
      ...(seen ? { observation: { ...seen, status: 'in_progress' } } : {}),
    });
  }

  #after(call: ToolCall, status: 'completed' | 'failed' | 'incomplete'): HarnessEvent {
    const seen = this.#observation(call);
    const text = cut(textOf(call));
    const result =
      status === 'incomplete' ? {} : { result: { content: text, is_error: status === 'failed' } };
    return toolCall({
      ...{ id: call.toolCallId, name: nameOf(call), stage: 'after', ...result },
      ...(seen
        ? { observation: { ...seen, status, ...(status === 'incomplete' ? {} : { output: text }) } }
        : {}),
    });
  }

  /** A command is the one kind of tool whose meaning the protocol tells; for others there is only the raw call. */
  #observation(call: ToolCall): Omit<ToolObservation, 'status'> | null {
    const command = this.#options.observeTools && call.kind === 'execute' ? commandOf(call) : null;
    return command === null ? null : { kind: 'command', command };
  }

  #planned(entries: readonly { readonly content: string; readonly status?: string | null | undefined }[]) {
    const marks: Readonly<Record<string, string>> = { completed: '✓', in_progress: '→' };
    const text = entries.map(({ content, status }) => `${marks[status ?? ''] ?? '·'} ${content}`).join('\n');
    if (text === this.#plan || text === '') return [];
    this.#plan = text;
    return [{ type: 'notice' as const, text: `Plan:\n${cut(text)}` }];
  }
}

/** Whether a call that has not begun says what it is to do. The input of a command may be told in parts. */
function isWhole(call: ToolCall): boolean {
  if (call.kind === 'execute') return commandOf(call) !== null;
  return call.rawInput !== undefined && call.rawInput !== null;
}

const toolCall = (payload: ToolCallPayload): HarnessEvent => ({ type: 'tool_call', payload });

/** Later words win; what they leave out stays. */
export function merged(before: ToolCall, after: ToolCall): ToolCall {
  return {
    toolCallId: before.toolCallId,
    title: after.title ?? before.title,
    kind: after.kind ?? before.kind,
    status: after.status ?? before.status,
    content: after.content ?? before.content,
    locations: after.locations ?? before.locations,
    rawInput: after.rawInput ?? before.rawInput,
    rawOutput: after.rawOutput ?? before.rawOutput,
  };
}

export const nameOf = (call: ToolCall): string => call.title || call.kind || 'tool';

/** The command of an `execute` call, where its input tells it. */
export function commandOf(call: ToolCall): string | null {
  if (!isJsonObject(call.rawInput)) return null;
  const command = call.rawInput['command'] ?? call.rawInput['cmd'];
  if (typeof command === 'string' && command !== '') return command;
  if (Array.isArray(command) && command.every((part) => typeof part === 'string')) return command.join(' ');
  return null;
}

function textOf(call: ToolCall): string {
  const parts = (call.content ?? []).flatMap((part) => {
    if (part.type === 'content') return part.content.type === 'text' ? [part.content.text] : [];
    return part.type === 'diff' ? [`[changed ${part.path}]`] : [];
  });
  if (parts.length > 0) return parts.join('\n');
  if (typeof call.rawOutput === 'string') return call.rawOutput;
  return call.rawOutput === undefined || call.rawOutput === null ? '' : JSON.stringify(call.rawOutput);
}

const cut = (text: string): string =>
  text.length > RESULT_LIMIT
    ? `${text.slice(0, RESULT_LIMIT)}\n[cut: ${text.length - RESULT_LIMIT} more]`
    : text;
