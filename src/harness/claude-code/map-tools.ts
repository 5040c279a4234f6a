import type { ToolCallPayload, ToolObservation } from '../../protocol/run-output.ts';
import type { InputContent } from '../../protocol/message-input.ts';
import type { HarnessEvent } from '../adapter.ts';
import { functionName } from './functions.ts';
import type { ContentBlock } from './native-types.ts';

type Call = Extract<ContentBlock, { type: 'tool_use' }>;
type Return = Extract<ContentBlock, { type: 'tool_result' }>;

/** The program's own tool for an answer in a fixed form. It is no action and is not shown as one. */
const ANSWER_TOOL = 'StructuredOutput';

/** Knows which tool results are those of functions: what was submitted, or null. */
export interface FunctionReturns {
  returned(back: Return): { readonly content: readonly InputContent[] } | null;
}

/** Text of one tool result that is passed on, UTF-16 units; a frame holds 4 MiB together with everything else. */
const RESULT_LIMIT = 1024 * 1024;

/**
 * Tool calls of the root of one Turn. Commands and MCP tools have an engine-neutral observation; the program's own
 * file tools have none (input-and-tools 6). It never reports an exit code, a folder or a duration, so none is given.
 */
export class ToolCalls {
  readonly #observe: boolean;
  readonly #functions: FunctionReturns;
  #answer: { readonly id: string; readonly input: unknown } | null = null;
  readonly #open = new Map<string, Call>();
  #interrupting = false;

  constructor(observe: boolean, functions: FunctionReturns) {
    this.#observe = observe;
    this.#functions = functions;
  }

  /** The structured answer that the program took, once. */
  takenAnswer(): { readonly id: string; readonly input: unknown } | null {
    const answer = this.#answer;
    this.#answer = null;
    return answer;
  }

  interrupting(): void {
    this.#interrupting = true;
  }

  called(call: Call): readonly HarnessEvent[] {
    this.#open.set(call.id, call);
    if (call.name === ANSWER_TOOL) return [];
    const seen = this.#observation(call);
    const args = asObject(call.input);
    return [
      toolCall({
        id: call.id,
        name: call.name,
        stage: 'before',
        ...(args ? { args } : {}),
        ...(seen ? { observation: { ...seen, status: 'in_progress' } } : {}),
      }),
    ];
  }

  returned(back: Return, native: unknown): readonly HarnessEvent[] {
    const call = this.#open.get(back.tool_use_id);
    if (!call) return [];
    this.#open.delete(back.tool_use_id);
    const failed = back.is_error === true;
    if (call.name === ANSWER_TOOL) {
      this.#answer = failed ? null : { id: call.id, input: call.input };
      return [];
    }
    const submitted = this.#functions.returned(back);
    const text = textOf(back);
    const interrupted = asObject(native)?.['interrupted'] === true || (failed && this.#interrupting);
    const status = interrupted ? 'incomplete' : failed ? 'failed' : 'completed';
    const seen = this.#observation(call);
    return [
      toolCall({
        id: call.id,
        name: call.name,
        stage: 'after',
        result: { content: cut(text), is_error: failed },
        ...(seen ? { observation: { ...seen, status, ...outcome(seen, status, cut(text), submitted) } } : {}),
      }),
    ];
  }

  /** Calls that never returned. What they did or still do outside is not known. */
  close(): readonly HarnessEvent[] {
    const open = [...this.#open.values()].filter((call) => call.name !== ANSWER_TOOL);
    const events = open.map((call) => {
      const seen = this.#observation(call);
      return toolCall({
        id: call.id,
        name: call.name,
        stage: 'after',
        ...(seen ? { observation: { ...seen, status: 'incomplete' } } : {}),
      });
    });
    this.#open.clear();
    return events;
  }

  #observation(call: Call): Omit<ToolObservation, 'status'> | null {
    if (!this.#observe) return null;
    const input = asObject(call.input);
    if (call.name === 'Bash') {
      const command = input?.['command'];
      return typeof command === 'string' && command !== '' ? { kind: 'command', command } : null;
    }
    const called = functionName(call.name);
    if (called !== null) return { kind: 'function', name: called, arguments: call.input ?? {} };
    const mcp = splitMcpName(call.name);
    return mcp ? { kind: 'mcp', server: mcp.server, name: mcp.tool, arguments: call.input ?? {} } : null;
  }
}

const toolCall = (payload: ToolCallPayload): HarnessEvent => ({ type: 'tool_call', payload });

/** A cut-off call's text is the program's own word about the interruption, not output. */
function outcome(
  seen: Omit<ToolObservation, 'status'>,
  status: string,
  text: string,
  submitted: { readonly content: readonly InputContent[] } | null,
): Pick<ToolObservation, 'output' | 'error' | 'content'> {
  if (status === 'incomplete') return {};
  if (seen.kind === 'function') return submitted ? { content: [...submitted.content] } : {};
  if (seen.kind === 'command') return { output: text };
  return status === 'failed' ? { output: null, error: text } : { output: text, error: null };
}

/** `mcp__<server>__<tool>` in its parts. A server's name may itself hold two underscores; the program cannot tell either. */
export function splitMcpName(name: string): { readonly server: string; readonly tool: string } | null {
  const match = /^mcp__(.+?)__(.+)$/.exec(name);
  const [, server, tool] = match ?? [];
  return server !== undefined && tool !== undefined ? { server, tool } : null;
}

function textOf(back: Return): string {
  if (typeof back.content === 'string') return back.content;
  return (back.content ?? [])
    .map((part) => {
      const text = part['text'];
      return part.type === 'text' && typeof text === 'string' ? text : `[${part.type}]`;
    })
    .join('\n');
}

const cut = (text: string): string =>
  text.length > RESULT_LIMIT
    ? `${text.slice(0, RESULT_LIMIT)}\n[cut: ${text.length - RESULT_LIMIT} more]`
    : text;

function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}
