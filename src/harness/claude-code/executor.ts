import type { Logger } from '../../observe/logger.ts';
import type { CloseResult } from '../../ownership/owned.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { MessageInput } from '../../protocol/message-input.ts';
import type { Executor, StartOutcome, TurnOutput } from '../adapter.ts';
import type { ClientProcess } from '../process/line-client.ts';
import { ClaudeClient, type ClientListener } from './client.ts';
import { contradiction, type LaunchPlan } from './configuration.ts';
import { FUNCTION_SERVER, functionList } from './functions.ts';
import { hookAnswer } from './servers.ts';
import type { EventOptions } from './map-events.ts';
import { mapInput } from './map-input.ts';
import {
  mcpMessage,
  requiredCapabilities,
  type ControlRequest,
  type InitMessage,
  type NativeMessage,
} from './native-types.ts';
import { ClaudeTurn } from './turn.ts';

export interface ExecutorPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface ExecutorInit extends EventOptions {
  readonly plan: LaunchPlan;
  readonly workspace: string | null;
  /** Native Session id that this process was started with. */
  readonly sessionId: string;
}

/**
 * One Claude Code process with one conversation, over many Turns. Messages of the program go to the Turn that runs;
 * what comes while none runs is work that nobody asked for, and then this Executor is not used again.
 */
export class ClaudeExecutor implements Executor, ClientListener {
  readonly client: ClaudeClient;
  readonly broken: Promise<string>;
  readonly #ports: ExecutorPorts;
  readonly #init: ExecutorInit;
  #turn: ClaudeTurn | null = null;
  /** A conversation exists only once a message was taken; before, it cannot be resumed. */
  #conversation: boolean;
  #unusable: string | null = null;
  #closing = false;
  #refused = false;
  #break: (reason: string) => void = () => undefined;

  constructor(ports: ExecutorPorts, native: ClientProcess, init: ExecutorInit) {
    this.#ports = ports;
    this.#init = init;
    this.#conversation = init.plan.resume !== null;
    this.broken = new Promise((resolve) => (this.#break = resolve));
    this.client = new ClaudeClient(ports, native, this);
    void this.client.ended.then((reason) => this.#ended(reason));
  }

  /** The program ended its start with a result of its own instead of the asked-for conversation. */
  get refusedToResume(): boolean {
    return this.#init.plan.resume !== null && this.#refused;
  }

  get nativeSessionId(): string | null {
    return this.#conversation ? this.#init.sessionId : null;
  }

  async startTurn(runId: string, input: MessageInput, output: TurnOutput): Promise<StartOutcome> {
    if (this.#unusable !== null) return { kind: 'no_turn', message: this.#unusable };
    if (this.#closing) return { kind: 'no_turn', message: 'Claude Code is being ended.' };
    if (this.#turn && !this.#turn.settled) return { kind: 'no_turn', message: 'Claude Code is still busy.' };
    const mapped = mapInput(input, this.#ports.random, true);
    if (mapped.kind === 'refused') return { kind: 'no_turn', message: mapped.message };
    const turn = new ClaudeTurn(
      { ...this.#ports, client: this.client },
      {
        runId,
        output,
        workspace: this.#init.workspace,
        observeMessages: this.#init.observeMessages,
        observeTools: this.#init.observeTools,
        functions: this.#init.plan.functions,
        outputSchema: this.#init.plan.output,
        nativeSessionId: () => this.nativeSessionId,
      },
    );
    this.#turn = turn;
    const problem = await turn.open(mapped.messages);
    return problem === null ? { kind: 'turn', turn } : { kind: 'turn', turn, error: problem };
  }

  close(): Promise<CloseResult> {
    this.#closing = true;
    return this.client.stop();
  }

  async message(message: NativeMessage): Promise<void> {
    const turn = this.#turn && !this.#turn.settled ? this.#turn : null;
    if (message.type === 'conversation_reset' || !this.#isOurs(message)) {
      const reason = 'Claude Code switched to another conversation.';
      this.#unusable = reason;
      if (turn) turn.break(reason);
      else this.#break(reason);
    }
    if (!turn) {
      this.#refused ||= this.#turn === null && message.type === 'result' && message.is_error;
      return this.#unasked(message);
    }
    if (message.type === 'system' && message.subtype === 'init') this.#judge(message, turn);
    if (message.type === 'result' || (message.type === 'user' && message.isReplay)) this.#conversation = true;
    return turn.accept(message);
  }

  async request(request: ControlRequest): Promise<void> {
    const turn = this.#turn && !this.#turn.settled ? this.#turn : null;
    switch (request.request.subtype) {
      case 'can_use_tool':
        if (turn) return turn.asked(request);
        break;
      case 'mcp_message':
        return this.#serve(request, turn);
      case 'hook_callback':
        return this.#answer(request, hookAnswer(this.#init.plan.servers, request));
    }
    this.client.refuse(request.request_id, 'This app cannot do that.');
  }

  /** Our MCP server of functions, spoken to over the control channel. */
  async #serve(request: ControlRequest, turn: ClaudeTurn | null): Promise<void> {
    const parsed = mcpMessage.safeParse(request.request);
    const asked = parsed.success && parsed.data.server_name === FUNCTION_SERVER ? parsed.data.message : null;
    const result = (value: Record<string, unknown>): void =>
      this.#answer(request, { mcp_response: { jsonrpc: '2.0', id: asked?.id ?? 0, result: value } });
    switch (asked?.method) {
      case 'initialize': {
        const protocolVersion = asked.params?.protocolVersion ?? '2025-06-18';
        const serverInfo = { name: FUNCTION_SERVER, version: '1.0.0' };
        return result({ protocolVersion, capabilities: { tools: {} }, serverInfo });
      }
      case 'tools/list':
        return result({ tools: functionList(this.#init.plan.functions) });
      case 'tools/call':
        if (turn) return turn.called(request);
        break;
      case 'ping':
      case 'notifications/initialized':
      case 'notifications/cancelled':
        return result({});
      default:
        break;
    }
    this.client.refuse(request.request_id, 'This app cannot do that.');
  }

  /** Not awaited: the echo of an answer is read by the caller of this. */
  #answer(request: ControlRequest, response: Record<string, unknown>): void {
    this.client.reply(request.request_id, response).catch(() => undefined);
  }

  async withdrawn(requestId: string): Promise<void> {
    await this.#turn?.withdrawn(requestId);
  }

  #isOurs(message: NativeMessage): boolean {
    const id = 'session_id' in message ? message.session_id : null;
    return id === null || id === undefined || id === this.#init.sessionId;
  }

  /** Each native turn begins with the facts of its start. */
  #judge(init: InitMessage, turn: ClaudeTurn): void {
    const missing = requiredCapabilities.some((name) => !init.capabilities?.includes(name));
    const problem = missing
      ? 'This Claude Code cannot prove what it does with input. Update Claude Code.'
      : contradiction(this.#init.plan, { tools: init.tools, mode: init.permissionMode });
    if (problem === null) return;
    this.#ports.logger.warn('claude.start_contradicts', { missing });
    this.#unusable = problem;
    turn.break(problem);
  }

  /** Between Turns only news about old messages is expected. */
  async #unasked(message: NativeMessage): Promise<void> {
    const works =
      message.type === 'stream_event' ||
      message.type === 'assistant' ||
      (message.type === 'system' && message.subtype === 'init');
    if (!works || this.#unusable !== null || this.#closing) return;
    this.#unusable = 'Claude Code began work that nobody asked for.';
    this.#ports.logger.warn('claude.unasked_work');
    this.#break(this.#unusable);
    // Best effort; closing this Executor is what ends it for certain.
    this.client.control({ subtype: 'interrupt', cancel_queued: true }, 5_000).catch(() => undefined);
  }

  async #ended(reason: string): Promise<void> {
    this.#unusable = reason;
    if (!this.#closing) this.#break(reason);
    await this.#turn?.lost(reason);
  }
}
