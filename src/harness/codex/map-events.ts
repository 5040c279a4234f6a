import type { OutputMessagePayload } from '../../protocol/run-output.ts';
import type { HarnessEvent } from '../adapter.ts';
import { isToolItem, ToolItems, type NameOf } from './map-tools.ts';
import { UsageMeter } from './map-usage.ts';
import type { AgentMessage, Item, Notification, TokenBreakdown, ToolItem } from './native-types.ts';

export interface EventOptions {
  readonly observeMessages: boolean;
  readonly observeTools: boolean;
  readonly nameOf: NameOf;
  /** Usage of the conversation before this Turn; null when it is not known. */
  readonly usedBefore: TokenBreakdown | null;
  readonly model: string | null;
  /** Whether a whole answer has the asked-for form; undefined where none was asked for. */
  readonly fits?: ((text: string) => boolean) | undefined;
}

/** A message of the model while it is being written. */
interface Draft {
  readonly id: string;
  readonly phase: string | null;
  text: string;
}

/**
 * Translates what the program reports about the root of one Turn into our events, in order. It remembers only what
 * later records need: the messages being written, the tool calls without an end, and the usage.
 */
export class EventMapper {
  readonly usage: UsageMeter;
  readonly tools: ToolItems;
  readonly #options: EventOptions;
  readonly #drafts = new Map<string, Draft>();
  #text = '';
  #fitting = false;

  constructor(options: EventOptions) {
    this.#options = options;
    this.usage = new UsageMeter(options.usedBefore, options.model);
    this.tools = new ToolItems(options.observeTools, options.nameOf);
  }

  /** Text of the last message, also of one that was cut off. */
  get text(): string {
    return this.#text;
  }
  /** The last answer had the asked-for form. */
  get fitting(): boolean {
    return this.#fitting;
  }

  accept(note: Notification): readonly HarnessEvent[] {
    switch (note.method) {
      case 'item/started':
        return this.#started(note.params.item);
      case 'item/completed':
        return this.#completed(note.params.item);
      case 'item/agentMessage/delta':
        return this.#write(note.params.itemId, note.params.delta);
      case 'item/reasoning/summaryTextDelta':
      case 'item/reasoning/textDelta':
        return note.params.delta === '' ? [] : [{ type: 'thinking', payload: { text: note.params.delta } }];
      case 'item/reasoning/summaryPartAdded':
        return note.params.summaryIndex > 0 ? [{ type: 'thinking', payload: { text: '\n\n' } }] : [];
      case 'item/commandExecution/outputDelta':
        return this.tools.output(note.params.itemId, note.params.delta);
      case 'item/commandExecution/terminalInteraction':
        return note.params.stdin === '' ? [] : [{ type: 'notice', text: typed(note.params.stdin) }];
      case 'item/fileChange/patchUpdated':
        this.tools.patched(note.params.itemId, note.params.changes);
        return [];
      case 'thread/tokenUsage/updated': {
        this.usage.updated(note.params.tokenUsage.total, note.params.tokenUsage.last);
        const usage = this.usage.snapshot();
        return usage ? [{ type: 'usage', payload: usage }] : [];
      }
      case 'model/rerouted':
        return [{ type: 'notice', text: `Codex goes on with another model: ${note.params.toModel}.` }];
      default:
        return [];
    }
  }

  /** The Turn ends here: open messages and tool calls will not be completed any more. */
  close(): readonly HarnessEvent[] {
    return [...this.#cutOff(), ...this.tools.close()];
  }

  /** The item whose change a permission is asked for. */
  openTool(id: string): ToolItem | null {
    return this.tools.open(id);
  }

  #started(item: Item): readonly HarnessEvent[] {
    if (item.type === 'agentMessage') return this.#announce(item);
    if (item.type === 'contextCompaction')
      return [{ type: 'notice', text: 'Codex shortened the conversation to make room.' }];
    return isToolItem(item) ? this.tools.started(item) : [];
  }

  #completed(item: Item): readonly HarnessEvent[] {
    if (item.type === 'agentMessage') return this.#finish(item);
    return isToolItem(item) ? this.tools.completed(item) : [];
  }

  /** A message that begins says that an unfinished one before it was cut off: by our input, or by a retry. */
  #announce(message: AgentMessage): readonly HarnessEvent[] {
    if (this.#drafts.has(message.id)) return [];
    const cut = this.#cutOff();
    this.#drafts.set(message.id, { id: message.id, phase: message.phase ?? null, text: '' });
    if (!this.#options.observeMessages) return cut;
    return [...cut, announcement(message.id, 'in_progress', message.phase ?? null)];
  }

  #write(id: string, delta: string): readonly HarnessEvent[] {
    const draft = this.#drafts.get(id);
    if (!draft || delta === '') return [];
    draft.text += delta;
    this.#text = draft.text;
    const about = this.#options.observeMessages ? { item_id: id } : {};
    return [{ type: 'delta', payload: { ...about, delta } }];
  }

  /** The completed text is the whole one; what was not streamed of it is said now. */
  #finish(message: AgentMessage): readonly HarnessEvent[] {
    const began = this.#announce(message);
    const draft = this.#drafts.get(message.id);
    const rest = draft && message.text.startsWith(draft.text) ? message.text.slice(draft.text.length) : '';
    const written = this.#write(message.id, rest);
    this.#drafts.delete(message.id);
    this.#text = message.text;
    const events = [...began, ...written];
    const phase = this.#phaseOf(message);
    if (phase === 'unfit') {
      return this.#options.observeMessages
        ? [...events, announcement(message.id, 'incomplete', null)]
        : events;
    }
    if (!this.#options.observeMessages) return events;
    const end = announcement(message.id, 'completed', phase);
    return [...events, { ...end, payload: { ...end.payload, text: message.text } }];
  }

  /** With an asked-for form the answer is the message that has it; one without it is never called complete. */
  #phaseOf(message: AgentMessage): string | null | 'unfit' {
    const { fits } = this.#options;
    if (!fits || message.phase === 'commentary' || message.delivery) return message.phase ?? null;
    this.#fitting = fits(message.text);
    return this.#fitting ? 'final_answer' : 'unfit';
  }

  /** A message that will not be finished keeps its text and is never called complete. */
  #cutOff(): readonly HarnessEvent[] {
    const open = [...this.#drafts.values()];
    this.#drafts.clear();
    return this.#options.observeMessages
      ? open.map((draft) => announcement(draft.id, 'incomplete', null))
      : [];
  }
}

function announcement(
  id: string,
  status: OutputMessagePayload['status'],
  phase: string | null,
): Extract<HarnessEvent, { type: 'output_message' }> {
  const known = phase === 'commentary' || phase === 'final_answer' ? { phase } : {};
  return { type: 'output_message', payload: { id, status, ...known } };
}

const TYPED_LIMIT = 200;

/** The person allowed a command and not what is typed into it later. */
function typed(stdin: string): string {
  const short = stdin.length > TYPED_LIMIT ? `${stdin.slice(0, TYPED_LIMIT)} …` : stdin;
  return `The agent typed into a running command: ${short.trimEnd()}`;
}
