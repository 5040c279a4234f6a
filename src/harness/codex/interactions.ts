import { asError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { within, type Clock } from '../../platform/clock.ts';
import type {
  ChoiceAnswer,
  HarnessEvent,
  NativeChoice,
  PermissionAnswer,
  SteerResult,
  SubmitResult,
} from '../adapter.ts';
import type { CodexClient } from './client.ts';
import {
  isMcpApproval,
  mapCommand,
  mapFileChange,
  mapMcpCall,
  mapPermissions,
  type MappedPermission,
} from './map-approvals.ts';
import { mapAsyncQuestion, mapElicitation, mapUserInput, type MappedChoice } from './map-questions.ts';
import type { AgentMessage, FileUpdate, RequestId, ServerRequest, ToolItem } from './native-types.ts';

export interface InteractionPorts {
  readonly client: CodexClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface InteractionInit {
  readonly workspace: string | null;
  openTool(id: string): ToolItem | null;
  /** Input of the person for the running Turn; resolves once it was written. */
  say(text: string): Promise<SteerResult['kind'] | 'written'>;
  /** Something for the person at the laptop. */
  notice(text: string): Promise<void>;
}

type Open =
  | { readonly kind: 'permission'; readonly id: RequestId; readonly reply: MappedPermission['reply'] }
  | { readonly kind: 'choice'; readonly id: RequestId; readonly mapped: MappedChoice }
  /** A question in a message; its answer is input and no reply. */
  | { readonly kind: 'message'; readonly reply: MappedChoice['reply'] };

/** Looking at the files that would change must not hold up everything behind it. */
const LOOK_LIMIT_MS = 2_000;

/** The permission requests and questions of one Turn that wait for an answer. Each is answered at most once. */
export class Interactions {
  readonly #ports: InteractionPorts;
  readonly #init: InteractionInit;
  readonly #open = new Map<string, Open>();

  constructor(ports: InteractionPorts, init: InteractionInit) {
    this.#ports = ports;
    this.#init = init;
  }

  /** The event for the person, or null when the request cannot be shown; then it has been refused already. */
  async asked(request: Exclude<ServerRequest, { method: 'item/tool/call' }>): Promise<HarnessEvent | null> {
    const { id } = request;
    const key = String(id);
    switch (request.method) {
      case 'item/commandExecution/requestApproval':
        return this.#permission(id, mapCommand(key, request.params));
      case 'item/permissions/requestApproval':
        return this.#permission(id, mapPermissions(key, request.params));
      case 'item/fileChange/requestApproval': {
        const item = this.#init.openTool(request.params.itemId);
        const changes: readonly FileUpdate[] = item?.type === 'fileChange' ? item.changes : [];
        const look = mapFileChange(key, request.params, changes, this.#init.workspace);
        const looked = await within(this.#ports.clock, LOOK_LIMIT_MS, look);
        if (looked.kind === 'value') return this.#permission(id, looked.value);
        return this.#permission(id, await mapFileChange(key, request.params, [], null));
      }
      case 'item/tool/requestUserInput':
        return this.#choice(id, mapUserInput(key, request.params));
      case 'mcpServer/elicitation/request': {
        if (isMcpApproval(request.params)) return this.#permission(id, mapMcpCall(key, request.params));
        const mapped = mapElicitation(key, request.params);
        if (mapped) return this.#choice(id, mapped);
        this.#ports.client.tell(id, { action: 'decline', content: null, _meta: null });
        const text = `The MCP server ${request.params.serverName} asked something that this app cannot show. It was told no.`;
        return { type: 'notice', text };
      }
    }
  }

  /** A question in a message of the model, if it is one. */
  askedInMessage(message: AgentMessage): readonly HarnessEvent[] {
    const mapped = mapAsyncQuestion(message);
    if (!mapped) return [];
    this.#open.set(mapped.choice.key, { kind: 'message', reply: mapped.reply });
    return [choiceEvent(mapped.choice)];
  }

  /** The program took it back. */
  withdrawn(id: RequestId): readonly HarnessEvent[] {
    const key = String(id);
    return this.#open.delete(key) ? [{ type: 'withdrawn', key }] : [];
  }

  /** The Turn is over: nothing can be answered any more. */
  withdrawAll(): readonly HarnessEvent[] {
    const keys = [...this.#open.keys()];
    this.#open.clear();
    return keys.map((key) => ({ type: 'withdrawn', key }));
  }

  async permission(key: string, answer: PermissionAnswer): Promise<SubmitResult> {
    const open = this.#open.get(key);
    if (open?.kind !== 'permission') return 'not_pending';
    // There is no native form for a changed input, and running the original instead would be something else.
    if (answer.kind === 'allow' && answer.updatedInput !== undefined) return 'failed';
    this.#open.delete(key);
    // The program has no word for a reason, so it goes to the model as input, before the refusal lets it go on.
    if (answer.kind === 'deny' && answer.message) await this.#explain(answer.message);
    return this.#submit(() => this.#ports.client.reply(open.id, open.reply(answer)));
  }

  async #explain(message: string): Promise<void> {
    const said = await this.#init.say(`The request was denied: ${message}`);
    if (said !== 'written') await this.#init.notice('Codex did not take your reason for the refusal.');
  }

  async choice(key: string, answer: ChoiceAnswer): Promise<SubmitResult> {
    const open = this.#open.get(key);
    if (!open || open.kind === 'permission') return 'not_pending';
    if (open.kind === 'message') return this.#answerMessage(key, open, answer);
    this.#open.delete(key);
    const { client } = this.#ports;
    const { id, mapped } = open;
    return this.#submit(() => {
      if (answer.kind === 'answers') return client.reply(id, mapped.reply(answer.answers));
      if (mapped.none !== undefined) return client.reply(id, mapped.none);
      const why = answer.kind === 'expired' ? 'Nobody answered in time.' : 'The person chose not to answer.';
      return client.decline(id, why);
    });
  }

  /** The model does not wait for such an answer, so no answer is nothing to say. */
  async #answerMessage(
    key: string,
    open: Extract<Open, { kind: 'message' }>,
    answer: ChoiceAnswer,
  ): Promise<SubmitResult> {
    this.#open.delete(key);
    const text = answer.kind === 'answers' ? open.reply(answer.answers) : '';
    if (typeof text !== 'string' || text === '') return 'applied';
    const said = await this.#init.say(text);
    if (said === 'written' || said === 'accepted') return 'applied';
    if (said === 'inactive') return 'not_pending';
    this.#open.set(key, open);
    return 'failed';
  }

  #permission(id: RequestId, mapped: MappedPermission): HarnessEvent {
    this.#open.set(String(id), { kind: 'permission', id, reply: mapped.reply });
    return { type: 'permission', request: mapped.permission };
  }

  #choice(id: RequestId, mapped: MappedChoice): HarnessEvent {
    this.#open.set(String(id), { kind: 'choice', id, mapped });
    return choiceEvent(mapped.choice);
  }

  async #submit(write: () => Promise<void>): Promise<SubmitResult> {
    try {
      await write();
      return 'applied';
    } catch (error) {
      // The pipe is broken, so the program is gone or going; there is nobody left to answer.
      this.#ports.logger.warn('codex.answer_not_written', { error: asError(error).name });
      return 'failed';
    }
  }
}

const choiceEvent = (request: NativeChoice): HarnessEvent => ({ type: 'choice', request });
