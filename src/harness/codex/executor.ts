import type { Logger } from '../../observe/logger.ts';
import { asError } from '../../observe/errors.ts';
import type { CloseResult } from '../../ownership/owned.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { MessageInput } from '../../protocol/message-input.ts';
import type { Executor, StartOutcome, TurnOutput } from '../adapter.ts';
import type { ClientProcess } from '../process/line-client.ts';
import { CodexClient, type ClientListener } from './client.ts';
import type { LaunchPlan } from './configuration.ts';
import { declaredName } from './map-functions.ts';
import { Children, type CommandProcesses } from './leftovers.ts';
import { mapInput } from './map-input.ts';
import type { Notification, ServerRequest, TokenBreakdown } from './native-types.ts';
import { Subagents, type TurnNotification } from './subagents.ts';
import { CodexTurn } from './turn.ts';

export interface ExecutorPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface ExecutorInit {
  readonly plan: LaunchPlan;
  readonly workspace: string | null;
  readonly observeMessages: boolean;
  readonly observeTools: boolean;
  readonly observeSubagents: boolean;
  readonly commands: CommandProcesses;
  /** Keeps what is needed to continue the conversation; awaited before its first input. */
  remember(threadId: string): Promise<void>;
}

/** The conversation that the program opened for this Executor. */
interface Conversation {
  readonly threadId: string;
  readonly model: string;
  /** It has taken input, now or earlier; one that has not cannot be continued. */
  hasInput: boolean;
  /** Its usage so far, as far as it was told. */
  used: TokenBreakdown | null;
}

/**
 * One app server with one conversation, over many Turns. What the program says goes to the Turn that runs; a Turn that
 * nobody asked for makes this Executor unusable.
 */
export class CodexExecutor implements Executor, ClientListener {
  readonly client: CodexClient;
  readonly broken: Promise<string>;
  readonly #ports: ExecutorPorts;
  readonly #init: ExecutorInit;
  readonly #children = new Children();
  readonly #failedServers = new Set<string>();
  #notices: string[] = [];
  #conversation: Conversation | null = null;
  #subagents: Subagents | null = null;
  #turn: CodexTurn | null = null;
  #unusable: string | null = null;
  #closing = false;
  #break: (reason: string) => void = () => undefined;

  constructor(ports: ExecutorPorts, native: ClientProcess, init: ExecutorInit) {
    this.#ports = ports;
    this.#init = init;
    this.broken = new Promise((resolve) => (this.#break = resolve));
    this.client = new CodexClient(ports, native, this);
    void this.client.ended.then((reason) => this.#ended(reason));
  }

  get nativeSessionId(): string | null {
    return this.#conversation?.hasInput ? this.#conversation.threadId : null;
  }

  /** The conversation that Turns run in from now on. */
  bind(thread: { readonly id: string; readonly model: string; readonly resumed: boolean }): void {
    this.#conversation = {
      threadId: thread.id,
      model: thread.model,
      hasInput: thread.resumed,
      used: null,
    };
    const { plan, observeSubagents } = this.#init;
    if (observeSubagents)
      this.#subagents = new Subagents({
        threadId: thread.id,
        resumed: thread.resumed,
        nameOf: declaredName(plan.functions),
      });
  }

  async startTurn(runId: string, input: MessageInput, output: TurnOutput): Promise<StartOutcome> {
    const no = (message: string): StartOutcome => ({ kind: 'no_turn', message });
    const conversation = this.#conversation;
    if (this.#unusable !== null) return no(this.#unusable);
    if (this.#closing || !conversation) return no('Codex is being ended.');
    // A start while a native turn runs would become input of that turn.
    if (this.#turn && !this.#turn.settled) return no('Codex is still busy.');
    const mapped = mapInput(input);
    if (mapped.kind === 'refused') return no(mapped.message);
    const turn = this.#newTurn(runId, output, conversation);
    this.#turn = turn;
    try {
      if (!conversation.hasInput) await this.#init.remember(conversation.threadId);
    } catch (error) {
      this.#ports.logger.error('codex.record_not_written', { error: asError(error).name });
      this.#turn = null;
      return no('The conversation could not be noted down. Check the disk and try again.');
    }
    const opened = await turn.open(mapped.input);
    if (opened.kind === 'refused') {
      this.#turn = null;
      return no('Codex refused this input.');
    }
    for (const notice of this.#notices.splice(0)) await turn.notice(notice);
    return opened.kind === 'open' ? { kind: 'turn', turn } : { kind: 'turn', turn, error: opened.reason };
  }

  close(): Promise<CloseResult> {
    this.#closing = true;
    return this.client.stop();
  }

  async notified(note: Notification): Promise<void> {
    switch (note.method) {
      case 'serverRequest/resolved':
        return this.#turn?.withdrawn(note.params.requestId);
      case 'mcpServer/startupStatus/updated':
        return note.params.status === 'failed' ? this.#serverFailed(note.params.name) : undefined;
      case 'warning':
        return this.#warned(note.params.message);
      case 'thread/started':
        return;
      default:
        return note.params.threadId === this.#conversation?.threadId
          ? this.#ofRoot(note)
          : this.#ofChild(note);
    }
  }

  async asked(request: ServerRequest): Promise<void> {
    const turn = this.#running;
    const { threadId, turnId } = request.params;
    const ofRoot = threadId === this.#conversation?.threadId;
    const ofTurn = turn && (ofRoot ? turnId === null || turnId === undefined || turn.owns(turnId) : true);
    // A sub-agent asks for the Turn it works in; its functions are not the Agent's.
    if (ofTurn && (ofRoot || request.method !== 'item/tool/call')) return turn.asked(request);
    this.client.refuse(request.id);
  }

  get #running(): CodexTurn | null {
    return this.#turn && !this.#turn.settled ? this.#turn : null;
  }

  #newTurn(runId: string, output: TurnOutput, conversation: Conversation): CodexTurn {
    const { plan, workspace, observeMessages, observeTools } = this.#init;
    const schema = plan.outputSchema;
    return new CodexTurn(
      { ...this.#ports, client: this.client, commands: this.#init.commands },
      {
        runId,
        output,
        workspace,
        observeMessages,
        observeTools,
        threadId: conversation.threadId,
        functions: plan.functions,
        nameOf: declaredName(plan.functions),
        children: this.#children,
        usedBefore: conversation.used,
        model: conversation.model,
        fits: schema ? (text) => fits(schema.accepts, text) : undefined,
        options: {
          ...(schema ? { outputSchema: schema.json } : {}),
          ...(plan.noEnvironment ? { environments: [] } : {}),
        },
        nativeSessionId: () => this.nativeSessionId,
      },
    );
  }

  async #ofRoot(note: RoutedNotification): Promise<void> {
    const conversation = this.#conversation;
    const turn = this.#running;
    const turnId = turnIdOf(note);
    if (note.method === 'turn/started' && conversation) {
      if (!turn?.starting && !turn?.owns(turnId)) return this.#unasked();
      conversation.hasInput = true;
    }
    const ours = turn && (turn.starting ? note.method === 'turn/started' : turn.owns(turnId));
    if (ours) {
      await turn.accept(note);
      await this.#observe(note);
    }
    // After the Turn had it, so that it never counts as used before itself.
    if (note.method === 'thread/tokenUsage/updated' && conversation)
      conversation.used = note.params.tokenUsage.total;
  }

  async #ofChild(note: RoutedNotification): Promise<void> {
    if (note.method === 'turn/started') {
      this.#children.began(note.params.threadId, note.params.turn.id);
      if (!this.#running) this.#unasked();
    }
    await this.#observe(note);
    // What a sub-agent did is told before the Turn may end because it has ended.
    if (note.method === 'turn/completed') this.#children.ended(note.params.threadId, note.params.turn.id);
  }

  async #observe(note: RoutedNotification): Promise<void> {
    if (isTurnNotification(note)) await this.#running?.observed(this.#subagents?.accept(note) ?? []);
  }

  #unasked(): void {
    if (this.#unusable !== null || this.#closing) return;
    this.#unusable = 'Codex began work that nobody asked for.';
    this.#ports.logger.warn('codex.unasked_work');
    this.#break(this.#unusable);
  }

  /** It may fail before the first Turn, during one or after it. */
  async #serverFailed(name: string): Promise<void> {
    if (this.#failedServers.has(name) || !Object.hasOwn(this.#init.plan.servers, name)) return;
    this.#failedServers.add(name);
    const notice = `The MCP server ${name} could not be started. Codex works without it.`;
    if (this.#running) await this.#running.notice(notice);
    else this.#notices.push(notice);
  }

  async #warned(message: string): Promise<void> {
    const line = message.split('\n', 1)[0] ?? '';
    await this.#running?.notice(`Codex: ${line.slice(0, 300)}`);
  }

  async #ended(reason: string): Promise<void> {
    this.#unusable = reason;
    if (!this.#closing) this.#break(reason);
    await this.#turn?.lost(reason);
  }
}

type RoutedNotification = Exclude<
  Notification,
  {
    method: 'serverRequest/resolved' | 'mcpServer/startupStatus/updated' | 'warning' | 'thread/started';
  }
>;

const isTurnNotification = (note: RoutedNotification): note is TurnNotification =>
  ['turn/started', 'turn/completed', 'item/started', 'item/completed', 'thread/tokenUsage/updated'].includes(
    note.method,
  );

const turnIdOf = (note: RoutedNotification): string =>
  note.method === 'turn/started' || note.method === 'turn/completed'
    ? note.params.turn.id
    : note.params.turnId;

function fits(accepts: (value: unknown) => boolean, text: string): boolean {
  try {
    return accepts(JSON.parse(text));
  } catch {
    return false;
  }
}
