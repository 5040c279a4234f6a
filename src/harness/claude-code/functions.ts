import { within, type Clock } from '../../platform/clock.ts';
import type { FunctionTool } from '../../protocol/execution.ts';
import { parseInlineImage, type InputContent } from '../../protocol/message-input.ts';
import type { HarnessEvent, SubmitResult } from '../adapter.ts';
import type { ClaudeClient } from './client.ts';
import { mcpMessage, type ContentBlock, type ControlRequest } from './native-types.ts';

/** Name of the MCP server that stands for the functions of an Agent; its tools are `mcp__functions__<name>`. */
export const FUNCTION_SERVER = 'functions';
const PREFIX = `mcp__${FUNCTION_SERVER}__`;
/** From a written result until the program shows that the model's conversation has it (input-and-tools 5). */
const RECEIPT_LIMIT_MS = 10_000;

type Return = Extract<ContentBlock, { type: 'tool_result' }>;
type Result = { readonly success: boolean; readonly content: readonly InputContent[] };

/** One part of a result in MCP's form. */
type McpPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string };

/** `tools/list` of our server. Without tool search every function is in the model's list from the start. */
export function functionList(tools: readonly FunctionTool[]): readonly Record<string, unknown>[] {
  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: tool.parameters,
    ...(tool.defer_loading ? {} : { _meta: { 'anthropic/alwaysLoad': true } }),
  }));
}

/** Name of the function behind a tool of the program, or null. */
export const functionName = (tool: string): string | null =>
  tool.startsWith(PREFIX) ? tool.slice(PREFIX.length) : null;

interface Call {
  readonly requestId: string;
  readonly name: string;
  /** The request of the program it answers. */
  readonly rpcId: string | number;
  submitted: Result | null;
  receive: (proven: boolean) => void;
}

/**
 * Function calls of one Turn: what the program asks of our MCP server, and results with their proof. A result counts
 * as applied only when the program reports the tool result with this call's id, its error flag and its exact content;
 * that it was written or echoed is not enough.
 */
export class FunctionCalls {
  readonly #ports: { readonly client: ClaudeClient; readonly clock: Clock };
  readonly #declared: ReadonlySet<string>;
  readonly #calls = new Map<string, Call>();
  readonly #known = new Set<string>();

  constructor(
    ports: { readonly client: ClaudeClient; readonly clock: Clock },
    tools: readonly FunctionTool[],
  ) {
    this.#ports = ports;
    this.#declared = new Set(tools.map(({ name }) => name));
  }

  /** `tools/call`. Null: it was refused, before the host sees it. */
  called(request: ControlRequest): HarnessEvent | null {
    const parsed = mcpMessage.safeParse(request.request);
    const message = parsed.success ? parsed.data.message : null;
    const callId = message?.params?._meta?.['claudecode/toolUseId'];
    const name = message?.params?.name;
    if (message?.id === undefined || callId === undefined || name === undefined) {
      this.#ports.client.refuse(request.request_id, 'This app cannot do that.');
      return null;
    }
    if (!this.#declared.has(name) || this.#known.has(callId)) {
      this.#reply(request.request_id, message.id, {
        isError: true,
        content: [{ type: 'text', text: 'There is no such function, or this call was made before.' }],
      });
      return null;
    }
    this.#known.add(callId);
    this.#calls.set(callId, {
      requestId: request.request_id,
      rpcId: message.id,
      name,
      submitted: null,
      receive: () => undefined,
    });
    const args = message.params?.arguments ?? {};
    return { type: 'function_call', payload: { call_id: callId, name, arguments: args } };
  }

  /** `broken`: the result was written and its receipt did not come; the Turn must not go on. */
  async submit(callId: string, result: Result, broken: (reason: string) => void): Promise<SubmitResult> {
    const call = this.#calls.get(callId);
    if (!call || call.submitted) return 'not_pending';
    const parts = mcpParts(result);
    if (!parts) return 'failed';
    call.submitted = result;
    const receipt = new Promise<boolean>((resolve) => (call.receive = resolve));
    this.#reply(call.requestId, call.rpcId, { content: parts, ...(result.success ? {} : { isError: true }) });
    const waited = await within(this.#ports.clock, RECEIPT_LIMIT_MS, receipt);
    this.#calls.delete(callId);
    if (waited.kind === 'value' && waited.value) return 'applied';
    broken('Claude Code did not show that it has the result of a function.');
    return 'failed';
  }

  /** A tool result of the root: the proof of a submitted result, or that nobody waits for one any more. */
  returned(back: Return): { readonly success: boolean; readonly content: readonly InputContent[] } | null {
    const call = this.#calls.get(back.tool_use_id);
    if (!call) return null;
    if (!call.submitted) {
      this.#calls.delete(back.tool_use_id);
      return null;
    }
    const proven = isResult(back, call.submitted);
    call.receive(proven);
    return proven ? call.submitted : null;
  }

  /** The program took the call back. */
  withdrawn(requestId: string): void {
    for (const [id, call] of this.#calls) {
      if (call.requestId !== requestId) continue;
      this.#calls.delete(id);
      call.receive(false);
    }
  }

  /** Nothing can be answered any more. */
  close(): void {
    for (const call of this.#calls.values()) call.receive(false);
    this.#calls.clear();
  }

  /** Not awaited: the echo of an answer is read by the caller of this. */
  #reply(requestId: string, id: string | number, result: Record<string, unknown>): void {
    const response = { mcp_response: { jsonrpc: '2.0', id, result } };
    this.#ports.client.reply(requestId, response).catch(() => undefined);
  }
}

/** Null where the program could not take it as it is: an image in a failure, or one that is not inline PNG or JPEG. */
function mcpParts({ success, content }: Result): McpPart[] | null {
  const parts: McpPart[] = [];
  for (const part of content) {
    if (part.type === 'input_text') parts.push({ type: 'text', text: part.text });
    else {
      const image = success ? parseInlineImage(part.image_url) : undefined;
      if (!image) return null;
      parts.push({ type: 'image', data: image.data, mimeType: image.mediaType });
    }
  }
  return parts;
}

/** What the program says about where it put an image. It stands behind that image and is not part of the result. */
const IMAGE_NOTE = /^\[Image: source: /;

/** What the program writes where a result has no part. */
const NO_OUTPUT = /^\([A-Za-z0-9_-]+ completed with no output\)$/;

/**
 * Same error flag, same texts, an image at each image's place; its bytes may be encoded again. A failure comes back as
 * one text, its parts a line each.
 */
function isResult(back: Return, { success, content }: Result): boolean {
  if ((back.is_error === true) === success) return false;
  const texts = content.map((part) => (part.type === 'input_text' ? part.text : null));
  if (typeof back.content === 'string') {
    return back.content === texts.join('\n') || (texts.length === 0 && NO_OUTPUT.test(back.content));
  }
  const blocks = (back.content ?? []).filter(
    (block, index, all) =>
      !(
        all[index - 1]?.type === 'image' &&
        typeof block['text'] === 'string' &&
        IMAGE_NOTE.test(block['text'])
      ),
  );
  if (blocks.length !== texts.length) return false;
  return blocks.every((block, index) =>
    texts[index] === null ? block.type === 'image' : block.type === 'text' && block['text'] === texts[index],
  );
}
