import { asError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { within, type Clock } from '../../platform/clock.ts';
import type { ChoiceAnswer, HarnessEvent, PermissionAnswer, SubmitResult } from '../adapter.ts';
import type { ClaudeClient } from './client.ts';
import { functionName } from './functions.ts';
import { ASK_TOOL, choiceReply, mapChoice, mapPermission, permissionReply } from './map-approvals.ts';
import { canUseTool, type CanUseTool, type ControlRequest } from './native-types.ts';

type Open =
  | { readonly kind: 'permission'; readonly request: CanUseTool }
  | {
      readonly kind: 'choice';
      readonly request: CanUseTool;
      readonly questionTexts: ReadonlyMap<string, string>;
    };

/** Looking at the file that would change must not hold up everything behind it. */
const LOOK_LIMIT_MS = 2_000;

/** The permission requests and questions of one Turn that wait for an answer. Each is answered at most once. */
export class Approvals {
  readonly #ports: { readonly client: ClaudeClient; readonly clock: Clock; readonly logger: Logger };
  readonly #workspace: string | null;
  readonly #open = new Map<string, Open>();

  constructor(
    ports: { readonly client: ClaudeClient; readonly clock: Clock; readonly logger: Logger },
    workspace: string | null,
  ) {
    this.#ports = ports;
    this.#workspace = workspace;
  }

  /** The event for the person, or null when the request cannot be shown; then it has been refused already. */
  async asked(message: ControlRequest): Promise<HarnessEvent | null> {
    const parsed = canUseTool.safeParse(message.request);
    const key = message.request_id;
    if (!parsed.success) {
      this.#ports.client.refuse(key, 'This app cannot do that.');
      return null;
    }
    const request = parsed.data;
    if (functionName(request.tool_name) !== null) {
      // The Agent's own function: whoever offers it decides about it. Not awaited, its echo is read by our caller.
      this.#ports.client.reply(key, permissionReply(request, { kind: 'allow' })).catch(() => undefined);
      return null;
    }
    const asks = request.tool_name === ASK_TOOL ? mapChoice(key, request) : null;
    if (asks) {
      this.#open.set(key, { kind: 'choice', request, questionTexts: asks.questionTexts });
      return { type: 'choice', request: asks.choice };
    }
    this.#open.set(key, { kind: 'permission', request });
    const workspace = this.#workspace;
    const looked = await within(this.#ports.clock, LOOK_LIMIT_MS, mapPermission(key, request, { workspace }));
    if (looked.kind === 'value') return { type: 'permission', request: looked.value };
    return { type: 'permission', request: await mapPermission(key, request, null) };
  }

  /** The program took it back. */
  withdrawn(key: string): readonly HarnessEvent[] {
    return this.#open.delete(key) ? [{ type: 'withdrawn', key }] : [];
  }

  /** The Turn is over: nothing can be answered any more. */
  withdrawAll(): readonly HarnessEvent[] {
    const keys = [...this.#open.keys()];
    this.#open.clear();
    return keys.map((key) => ({ type: 'withdrawn', key }));
  }

  permission(key: string, answer: PermissionAnswer): Promise<SubmitResult> {
    const open = this.#open.get(key);
    if (open?.kind !== 'permission') return Promise.resolve('not_pending');
    return this.#answer(key, permissionReply(open.request, answer));
  }

  choice(key: string, answer: ChoiceAnswer): Promise<SubmitResult> {
    const open = this.#open.get(key);
    if (open?.kind !== 'choice') return Promise.resolve('not_pending');
    return this.#answer(key, choiceReply(open.request, open.questionTexts, answer));
  }

  async #answer(key: string, reply: Record<string, unknown>): Promise<SubmitResult> {
    this.#open.delete(key);
    try {
      await this.#ports.client.reply(key, reply);
      return 'applied';
    } catch (error) {
      // The pipe is broken, so the program is gone or going; there is nobody left to answer.
      this.#ports.logger.warn('claude.answer_not_written', { error: asError(error).name });
      return 'failed';
    }
  }
}
