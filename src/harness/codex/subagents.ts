import type { SubagentCoordinationPayload, SubagentItemPayload } from '../../protocol/subagents.ts';
import type { SubagentEvent } from '../adapter.ts';
import { isToolItem, ToolItems, type NameOf } from './map-tools.ts';
import { UsageMeter } from './map-usage.ts';
import type {
  CollabCall,
  Item,
  NativeTurn,
  Notification,
  SubAgentActivity,
  TokenBreakdown,
} from './native-types.ts';

/** Notifications that are about one turn of one conversation. */
export type TurnNotification = Extract<
  Notification,
  {
    method:
      'turn/started' | 'turn/completed' | 'item/started' | 'item/completed' | 'thread/tokenUsage/updated';
  }
>;

/** One operation on sub-agents, in whichever way the program tells it. */
type Call = Omit<CollabCall, 'type'> & { readonly name: string | null };

interface Child {
  readonly threadId: string;
  /** What it said before the call that made it was seen to have made it. */
  readonly early: TurnNotification[];
  identified: boolean;
  turn: ChildTurn | null;
  used: TokenBreakdown | null;
}

interface ChildTurn {
  readonly id: string;
  readonly startedAtMs: number;
  readonly tools: ToolItems;
  readonly usage: UsageMeter;
  readonly positions: Map<string, number>;
}

/** Of a conversation that nobody was seen to begin; enough for what overtakes its own beginning. */
const EARLY_LIMIT = 100;

const operations: Readonly<Record<string, SubagentCoordinationPayload['kind']>> = {
  spawnAgent: 'create_subagent_call',
  wait: 'wait_for_subagents_call',
  sendInput: 'send_subagent_input_call',
  sendMessage: 'send_subagent_input_call',
  followupTask: 'send_subagent_input_call',
  resumeAgent: 'resume_subagent_call',
  interruptAgent: 'interrupt_subagent_call',
  closeAgent: 'close_subagent_call',
};

/**
 * What the program shows of sub-agents, as observations (wire 15). Only native facts: a child is closed when the call
 * that closes it completed, never because its work or its process ended; a turn that was broken off has no spelling
 * that Core is known to read, so it stays in progress. Lives as long as the conversation: a child may go on in a later
 * Turn. `resumed`: children of before were told to Core then; they are known by the first call that names them.
 */
export class Subagents {
  readonly #rootId: string;
  readonly #resumed: boolean;
  readonly #nameOf: NameOf;
  readonly #children = new Map<string, Child>();

  constructor(root: { readonly threadId: string; readonly resumed: boolean; readonly nameOf: NameOf }) {
    this.#rootId = root.threadId;
    this.#resumed = root.resumed;
    this.#nameOf = root.nameOf;
  }

  accept(note: TurnNotification): readonly SubagentEvent[] {
    const { threadId } = note.params;
    if (threadId === this.#rootId) return this.#ofRoot(note);
    const child = this.#child(threadId);
    if (child.identified) return this.#ofChild(child, note);
    if (child.early.length < EARLY_LIMIT) child.early.push(note);
    return [];
  }

  #ofRoot(note: TurnNotification): readonly SubagentEvent[] {
    if (note.method !== 'item/started' && note.method !== 'item/completed') return [];
    const call = callOf(note);
    if (!call) return [];
    const known = this.#effects(note, call, 'before');
    const payload = this.#coordination(call, '');
    return [
      ...known,
      ...(payload ? [{ type: 'subagent_coordination' as const, payload }] : []),
      ...this.#effects(note, call, 'after'),
    ];
  }

  #ofChild(child: Child, note: TurnNotification): readonly SubagentEvent[] {
    switch (note.method) {
      case 'turn/started':
        return this.#began(child, note.params.turn);
      case 'turn/completed':
        return this.#ended(child, note.params.turn);
      case 'thread/tokenUsage/updated':
        if (child.turn?.id === note.params.turnId)
          child.turn.usage.updated(note.params.tokenUsage.total, note.params.tokenUsage.last);
        child.used = note.params.tokenUsage.total;
        return [];
      case 'item/started':
      case 'item/completed': {
        const { item, turnId } = note.params;
        if (child.turn?.id !== turnId) return [];
        const completed = note.method === 'item/completed';
        const call = callOf(note);
        if (!call) return this.#items(child, child.turn, item, completed);
        const known = this.#effects(note, call, 'before');
        const payload = this.#coordination(call, child.threadId);
        const own = payload ? [this.#item(child, child.turn, call.id, 'subagent_coordination', payload)] : [];
        return [...known, ...own, ...this.#effects(note, call, 'after')];
      }
    }
  }

  #began(child: Child, turn: NativeTurn): readonly SubagentEvent[] {
    if (typeof turn.startedAt !== 'number' || child.turn?.id === turn.id) return [];
    child.turn = {
      id: turn.id,
      startedAtMs: turn.startedAt * 1_000,
      tools: new ToolItems(true, this.#nameOf),
      usage: new UsageMeter(child.used, null),
      positions: new Map(),
    };
    return [this.#turn(child, child.turn, null)];
  }

  #ended(child: Child, end: NativeTurn): readonly SubagentEvent[] {
    const { turn } = child;
    if (turn?.id !== end.id) return [];
    child.turn = null;
    const open = turn.tools.close().flatMap((event) => this.#tool(child, turn, event));
    if (end.status !== 'completed' || typeof end.completedAt !== 'number') return open;
    return [...open, this.#turn(child, turn, Math.max(turn.startedAtMs, end.completedAt * 1_000))];
  }

  #turn(child: Child, turn: ChildTurn, completedAtMs: number | null): SubagentEvent {
    return {
      type: 'subagent_turn',
      payload: {
        native_id: child.threadId,
        turn_id: turn.id,
        status: completedAtMs === null ? 'in_progress' : 'completed',
        created_at_ms: turn.startedAtMs,
        started_at_ms: turn.startedAtMs,
        completed_at_ms: completedAtMs,
        usage: completedAtMs === null ? null : turn.usage.snapshot(),
      },
    };
  }

  #items(child: Child, turn: ChildTurn, item: Item, completed: boolean): readonly SubagentEvent[] {
    if (isToolItem(item)) {
      const events = completed ? turn.tools.completed(item) : turn.tools.started(item);
      return events.flatMap((event) => this.#tool(child, turn, event));
    }
    // A place in the order is taken where an item begins; it is told when it is whole.
    if (item.type !== 'other' && item.type !== 'contextCompaction') positionOf(turn, item.id);
    if (!completed) return [];
    switch (item.type) {
      case 'agentMessage':
        return [
          this.#item(child, turn, item.id, 'output_message', {
            id: item.id,
            status: 'completed',
            text: item.text,
          }),
        ];
      case 'reasoning': {
        const summary = (item.summary ?? []).map((text) => ({ type: 'summary_text', text }));
        return [this.#item(child, turn, item.id, 'reasoning', { status: 'completed', summary })];
      }
      case 'userMessage': {
        const content = (item.content ?? []).flatMap((part) =>
          part.type === 'text' && typeof part.text === 'string'
            ? [{ type: 'input_text', text: part.text }]
            : [],
        );
        return content.length > 0 ? [this.#item(child, turn, item.id, 'message', { content })] : [];
      }
      default:
        return [];
    }
  }

  #tool(child: Child, turn: ChildTurn, event: ReturnType<ToolItems['close']>[number]): SubagentEvent[] {
    if (event.type !== 'tool_call' || !event.payload.observation) return [];
    return [this.#item(child, turn, event.payload.id, 'tool_call', event.payload)];
  }

  #item(
    child: Child,
    turn: ChildTurn,
    id: string,
    kind: SubagentItemPayload['kind'],
    payload: SubagentItemPayload['payload'],
  ): SubagentEvent {
    return {
      type: 'subagent_item',
      payload: {
        native_id: child.threadId,
        turn_id: turn.id,
        item_id: id,
        position: positionOf(turn, id),
        kind,
        payload,
      },
    };
  }

  /** Null for an operation that the contract has no word for, or that names its receivers in a way it does not allow. */
  #coordination(call: Call, actor: string): SubagentCoordinationPayload | null {
    const kind = operations[call.tool];
    if (kind === undefined) return null;
    const status = statuses[call.status] ?? 'incomplete';
    const receivers = call.receiverThreadIds.map((id) => (id === this.#rootId ? '' : id));
    const anyNumber = kind === 'wait_for_subagents_call' || kind === 'create_subagent_call';
    if (!anyNumber && receivers.length !== 1) return null;
    const stranger = (id: string): boolean => id !== '' && !this.#children.get(id)?.identified;
    if (status !== 'failed' && receivers.some(stranger)) return null;
    return {
      id: call.id,
      kind,
      status,
      actor_id: actor,
      recipients: receivers.length > 0 ? receivers : null,
      text: call.prompt || null,
      model: call.model || null,
      reasoning_effort: call.reasoningEffort || null,
    };
  }

  /** `before` the call is told: who it made known; `after`: what it did to them, and what they said too early. */
  #effects(note: ItemNotification, call: Call, when: 'before' | 'after'): readonly SubagentEvent[] {
    const done = note.method === 'item/completed' && call.status === 'completed';
    if (when === 'before') {
      if (call.tool === 'spawnAgent')
        return done ? call.receiverThreadIds.flatMap((id) => this.#identify(id, note.params, call)) : [];
      if (this.#resumed)
        for (const id of call.receiverThreadIds) if (id !== this.#rootId) this.#child(id).identified = true;
      return [];
    }
    const effect = effects[call.tool];
    const at = note.method === 'item/completed' ? note.params.completedAtMs : null;
    const told =
      done && effect !== undefined && typeof at === 'number'
        ? call.receiverThreadIds
            .filter((id) => this.#children.get(id)?.identified)
            .map((id): SubagentEvent => ({
              type: 'subagent_lifecycle',
              payload: { native_id: id, effect_id: call.id, status: effect, occurred_at_ms: at },
            }))
        : [];
    return [...told, ...call.receiverThreadIds.flatMap((id) => this.#catchUp(id))];
  }

  #identify(
    id: string,
    parent: { readonly threadId: string; readonly turnId: string },
    call: Call,
  ): readonly SubagentEvent[] {
    const createdAt = createdAtOf(id);
    const child = this.#child(id);
    if (child.identified || createdAt === null) return [];
    child.identified = true;
    return [
      {
        type: 'subagent_identity',
        payload: {
          native_id: id,
          parent_native_id: parent.threadId,
          native_created_at: createdAt,
          parent_turn_id: parent.turnId,
          source_item_id: call.id,
          name: call.name,
          instructions: call.prompt || null,
        },
      },
    ];
  }

  #catchUp(id: string): readonly SubagentEvent[] {
    const child = this.#children.get(id);
    return child?.identified ? child.early.splice(0).flatMap((note) => this.#ofChild(child, note)) : [];
  }

  #child(threadId: string): Child {
    const known = this.#children.get(threadId);
    if (known) return known;
    const child: Child = { threadId, early: [], identified: false, turn: null, used: null };
    this.#children.set(threadId, child);
    return child;
  }
}

type ItemNotification = Extract<TurnNotification, { method: 'item/started' | 'item/completed' }>;

function callOf(note: ItemNotification): Call | null {
  const { item } = note.params;
  if (item.type === 'collabAgentToolCall') return { ...item, name: null };
  // It is told twice with the same words.
  if (item.type !== 'subAgentActivity' || note.method !== 'item/completed') return null;
  const tool = activities[item.kind];
  if (tool === undefined) return null;
  const { id, model, reasoningEffort, agentThreadId } = item;
  const told = { prompt: null, model, reasoningEffort, name: nameOf(item) };
  return { id, tool, status: 'completed', receiverThreadIds: [agentThreadId], ...told };
}

const nameOf = ({ agentPath }: SubAgentActivity): string | null => agentPath.split('/').at(-1) || null;

/** Its other word, that one has completed, is of a turn, and the turn says it itself. */
const activities: Readonly<Record<string, string>> = {
  started: 'spawnAgent',
  interacted: 'sendInput',
  interrupted: 'interruptAgent',
};

const statuses: Readonly<Record<string, string>> = {
  inProgress: 'in_progress',
  completed: 'completed',
  failed: 'failed',
};
const effects: Readonly<Record<string, 'active' | 'closed'>> = {
  resumeAgent: 'active',
  closeAgent: 'closed',
};

function positionOf(turn: ChildTurn, id: string): number {
  const position = turn.positions.get(id) ?? turn.positions.size;
  turn.positions.set(id, position);
  return position;
}

/** Unix seconds. The program names its conversations by UUIDs of version 7, which begin with their time. */
function createdAtOf(threadId: string): number | null {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(threadId);
  return match ? Math.floor(Number.parseInt(`${match[1]}${match[2]}`, 16) / 1_000) : null;
}
