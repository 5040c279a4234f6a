import type { InputContent } from '../../protocol/message-input.ts';
import type { ToolCallPayload, ToolObservation } from '../../protocol/run-output.ts';
import type { HarnessEvent } from '../adapter.ts';
import type { ContentItem, ToolItem } from './native-types.ts';

/** Text of one tool result that is passed on, UTF-16 units; a frame holds 4 MiB together with everything else. */
const RESULT_LIMIT = 1024 * 1024;

type Seen = Omit<ToolObservation, 'status'>;

/** Declared names of functions by the name the program knows them under. */
export type NameOf = (tool: string, namespace: string | null) => string;

/** Tool items of the root of one Turn as tool calls with their engine-neutral observation (input-and-tools 6). */
export class ToolItems {
  readonly #observe: boolean;
  readonly #nameOf: NameOf;
  readonly #open = new Map<string, ToolItem>();

  constructor(observe: boolean, nameOf: NameOf) {
    this.#observe = observe;
    this.#nameOf = nameOf;
  }

  started(item: ToolItem): readonly HarnessEvent[] {
    if (this.#open.has(item.id)) return [];
    this.#open.set(item.id, item);
    return [this.#event(item, 'before', 'in_progress')];
  }

  completed(item: ToolItem): readonly HarnessEvent[] {
    const began = this.#open.has(item.id) ? [] : this.started(item);
    this.#open.delete(item.id);
    return [...began, this.#event(item, 'after', statusOf(item))];
  }

  /** Text of a running command. It only goes between the start and the end of a command that was told. */
  output(id: string, delta: string): readonly HarnessEvent[] {
    if (!this.#observe || delta === '' || !this.commandIsOpen(id)) return [];
    return [{ type: 'command_output', payload: { id, delta } }];
  }

  /** The change as the program sees it now; the last word before a permission is asked for it. */
  patched(id: string, changes: Extract<ToolItem, { type: 'fileChange' }>['changes']): void {
    const item = this.#open.get(id);
    if (item?.type === 'fileChange') this.#open.set(id, { ...item, changes });
  }

  open(id: string): ToolItem | null {
    return this.#open.get(id) ?? null;
  }

  commandIsOpen(id: string): boolean {
    return this.#open.get(id)?.type === 'commandExecution';
  }
  get commandsAreOpen(): boolean {
    return [...this.#open.values()].some((item) => item.type === 'commandExecution');
  }

  /** Calls that never ended. What they did or still do outside is not known. */
  close(): readonly HarnessEvent[] {
    const events = [...this.#open.values()].map((item) => this.#event(item, 'after', 'incomplete'));
    this.#open.clear();
    return events;
  }

  #event(item: ToolItem, stage: 'before' | 'after', status: ToolObservation['status']): HarnessEvent {
    const ended = stage === 'after' && status !== 'incomplete';
    const seen = this.#observe ? observation(item, this.#nameOf, ended) : null;
    const payload: ToolCallPayload = {
      id: item.id,
      name: nameOf(item, this.#nameOf),
      stage,
      ...(stage === 'before' ? { args: argumentsOf(item) } : {}),
      ...(ended ? { result: resultOf(item) } : {}),
      ...(seen ? { observation: { ...seen, status } } : {}),
    };
    return { type: 'tool_call', payload };
  }
}

export const isToolItem = (item: { readonly type: string }): item is ToolItem =>
  ['commandExecution', 'fileChange', 'mcpToolCall', 'dynamicToolCall', 'webSearch'].includes(item.type);

function statusOf(item: ToolItem): ToolObservation['status'] {
  if (item.type === 'webSearch') return 'completed';
  if (item.type === 'dynamicToolCall' && item.success === false) return 'failed';
  if (item.status === 'completed') return 'completed';
  return item.status === 'failed' || item.status === 'declined' ? 'failed' : 'incomplete';
}

function nameOf(item: ToolItem, functionName: NameOf): string {
  switch (item.type) {
    case 'commandExecution':
      return 'Bash';
    case 'fileChange':
      return 'Edit';
    case 'mcpToolCall':
      return `mcp__${item.server}__${item.tool}`;
    case 'dynamicToolCall':
      return functionName(item.tool, item.namespace ?? null);
    case 'webSearch':
      return 'WebSearch';
  }
}

function argumentsOf(item: ToolItem): Record<string, unknown> {
  switch (item.type) {
    case 'commandExecution':
      return { command: item.command, ...(item.cwd ? { cwd: item.cwd } : {}) };
    case 'fileChange':
      return { changes: shownChanges(item) };
    case 'mcpToolCall':
    case 'dynamicToolCall':
      return asObject(item.arguments) ?? { arguments: item.arguments ?? null };
    case 'webSearch':
      return { query: item.query };
  }
}

function resultOf(item: ToolItem): Record<string, unknown> {
  switch (item.type) {
    case 'commandExecution':
      return {
        output: cut(item.aggregatedOutput ?? ''),
        exit_code: item.exitCode ?? null,
        status: item.status,
      };
    case 'fileChange':
      return { status: item.status };
    case 'mcpToolCall':
      return item.error ? { error: bounded(item.error) } : { result: bounded(item.result ?? null) };
    case 'dynamicToolCall':
      return { success: item.success ?? null };
    case 'webSearch':
      return item.action ? { action: item.action } : {};
  }
}

function observation(item: ToolItem, functionName: NameOf, ended: boolean): Seen | null {
  switch (item.type) {
    case 'commandExecution':
      if (item.command === '') return null;
      return {
        kind: 'command',
        command: item.command,
        ...(item.cwd ? { cwd: item.cwd } : {}),
        ...(ended ? { output: cut(item.aggregatedOutput ?? '') } : {}),
        ...(ended && typeof item.exitCode === 'number' ? { exit_code: item.exitCode } : {}),
        ...(ended && typeof item.durationMs === 'number' ? { duration_ms: Math.trunc(item.durationMs) } : {}),
      };
    case 'fileChange':
      return { kind: 'function', name: 'apply_patch', arguments: { changes: shownChanges(item) } };
    case 'mcpToolCall':
      if (item.server === '' || item.tool === '') return null;
      return {
        kind: 'mcp',
        server: item.server,
        name: item.tool,
        arguments: item.arguments ?? {},
        ...(ended ? { output: bounded(item.result ?? null), error: bounded(item.error ?? null) } : {}),
      };
    case 'dynamicToolCall':
      return {
        kind: 'function',
        name: functionName(item.tool, item.namespace ?? null),
        arguments: item.arguments ?? {},
        ...(ended ? { content: (item.contentItems ?? []).map(toInputContent) } : {}),
      };
    case 'webSearch':
      return ended ? { kind: 'web_search', action: webAction(item) } : { kind: 'web_search' };
  }
}

const actionTypes: Readonly<Record<string, string>> = {
  search: 'search',
  openPage: 'open_page',
  findInPage: 'find_in_page',
};

function webAction(item: Extract<ToolItem, { type: 'webSearch' }>): NonNullable<ToolObservation['action']> {
  const action = item.action;
  const type = (action && actionTypes[action.type]) ?? 'other';
  const query = action?.query ?? (type === 'search' && item.query !== '' ? item.query : null);
  return {
    type,
    ...(query ? { query } : {}),
    ...(action?.queries ? { queries: action.queries } : {}),
    ...(action?.url ? { url: action.url } : {}),
    ...(action?.pattern ? { pattern: action.pattern } : {}),
  };
}

export const toInputContent = (part: ContentItem): InputContent =>
  part.type === 'inputText'
    ? { type: 'input_text', text: part.text }
    : { type: 'input_image', image_url: part.imageUrl };

const shownChanges = (item: Extract<ToolItem, { type: 'fileChange' }>): unknown =>
  item.changes.map((change) => ({ ...change, diff: cut(change.diff) }));

const cut = (text: string): string =>
  text.length > RESULT_LIMIT
    ? `${text.slice(0, RESULT_LIMIT)}\n[cut: ${text.length - RESULT_LIMIT} more]`
    : text;

/** JSON of a foreign tool as it is, or a note when it is too large for a frame. */
const bounded = (value: unknown): unknown =>
  JSON.stringify(value ?? null).length > RESULT_LIMIT ? { omitted: 'too large' } : value;

function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}
