import { asError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { within, type Clock } from '../../platform/clock.ts';
import type { InputContent } from '../../protocol/message-input.ts';
import type { HarnessEvent, SubmitResult } from '../adapter.ts';
import type { CodexClient } from './client.ts';
import { joinName } from './map-functions.ts';
import type { ContentItem, DynamicCall, RequestId, ToolItem } from './native-types.ts';

type DynamicItem = Extract<ToolItem, { type: 'dynamicToolCall' }>;

export interface FunctionPorts {
  readonly client: CodexClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface FunctionResult {
  readonly success: boolean;
  readonly content: readonly InputContent[];
}

/** How long the program may take to show that it has taken a result (input-and-tools 5). */
const RECEIPT_LIMIT_MS = 10_000;

/**
 * Calls of the Agent's functions in one Turn. A result is applied when the program shows the finished call with exactly
 * this result; that it was written says nothing.
 */
export class FunctionCalls {
  readonly #ports: FunctionPorts;
  readonly #declared: ReadonlyMap<string, string>;
  readonly #open = new Map<string, RequestId>();
  readonly #receipts = new Map<string, (item: DynamicItem | null) => void>();

  constructor(ports: FunctionPorts, declared: ReadonlyMap<string, string>) {
    this.#ports = ports;
    this.#declared = declared;
  }

  /** The event for Core; none for a call that is not one of the Agent's functions, which is refused. */
  called(id: RequestId, call: DynamicCall): readonly HarnessEvent[] {
    const name = this.#declared.get(joinName(call.tool, call.namespace ?? null));
    if (name === undefined || this.#open.has(call.callId) || this.#receipts.has(call.callId)) {
      const text = 'This is not a function of this Agent.';
      this.#ports.client.tell(id, { success: false, contentItems: [{ type: 'inputText', text }] });
      return [];
    }
    this.#open.set(call.callId, id);
    return [
      { type: 'function_call', payload: { call_id: call.callId, name, arguments: call.arguments ?? null } },
    ];
  }

  completed(item: DynamicItem): void {
    this.#open.delete(item.id);
    this.#receipts.get(item.id)?.(item);
  }

  /** Nothing is answered any more. */
  close(): void {
    this.#open.clear();
    for (const resolve of this.#receipts.values()) resolve(null);
  }

  /** `lost`: written, and the program did not show what became of it. */
  async submit(callId: string, result: FunctionResult): Promise<SubmitResult | 'lost'> {
    const id = this.#open.get(callId);
    if (id === undefined) return 'not_pending';
    this.#open.delete(callId);
    const contentItems = result.content.map(nativePart);
    const receipt = new Promise<DynamicItem | null>((resolve) => this.#receipts.set(callId, resolve));
    try {
      await this.#ports.client.send(id, { success: result.success, contentItems });
      const shown = await within(this.#ports.clock, RECEIPT_LIMIT_MS, receipt);
      if (shown.kind === 'timeout' || shown.value === null) return 'lost';
      return isSame(shown.value, result.success, contentItems) ? 'applied' : 'lost';
    } catch (error) {
      this.#ports.logger.warn('codex.result_not_written', { error: asError(error).name });
      return 'lost';
    } finally {
      this.#receipts.delete(callId);
    }
  }
}

const nativePart = (part: InputContent): ContentItem =>
  part.type === 'input_text'
    ? { type: 'inputText', text: part.text }
    : { type: 'inputImage', imageUrl: part.image_url };

function isSame(item: DynamicItem, success: boolean, content: readonly ContentItem[]): boolean {
  return item.success === success && JSON.stringify(item.contentItems ?? []) === JSON.stringify(content);
}
