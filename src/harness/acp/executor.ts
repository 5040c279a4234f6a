import type { Logger } from '../../observe/logger.ts';
import type { CloseResult } from '../../ownership/owned.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { MessageInput } from '../../protocol/message-input.ts';
import type { Executor, StartOutcome, TurnOutput } from '../adapter.ts';
import type { ClientProcess } from '../process/line-client.ts';
import { AgentConnection, type AgentListener, type Exchange } from './connection.ts';
import { cancelledOutcome } from './map-requests.ts';
import { mapPrompt } from './map-prompt.ts';
import type { UpdateOptions } from './map-updates.ts';
import type { ElicitationRequest, PermissionRequest, SessionUpdate } from './protocol.ts';
import { AcpTurn } from './turn.ts';

export interface ExecutorPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface ExecutorInit extends UpdateOptions {
  readonly workspace: string | null;
  readonly images: boolean;
  readonly cancelAndContinue: boolean;
}

/** What is needed of the process beside its pipes. */
export interface CountedProcess extends ClientProcess {
  members(): Promise<readonly number[]>;
}

/**
 * One agent process with one session, over many Turns. Updates go to the Turn that runs. What comes while none runs is
 * passed over: an agent tells its modes and commands whenever it likes.
 */
export class AcpExecutor implements Executor, AgentListener {
  readonly connection: AgentConnection;
  readonly broken: Promise<string>;
  readonly #ports: ExecutorPorts;
  readonly #native: CountedProcess;
  readonly #init: ExecutorInit;
  #sessionId: string | null = null;
  /** Processes of the agent's own, before any Turn. */
  #own: ReadonlySet<number> = new Set();
  #turn: AcpTurn | null = null;
  #unusable: string | null = null;
  #closing = false;
  #break: (reason: string) => void = () => undefined;

  constructor(ports: ExecutorPorts, native: CountedProcess, init: ExecutorInit) {
    this.#ports = ports;
    this.#native = native;
    this.#init = init;
    this.broken = new Promise((resolve) => (this.#break = resolve));
    this.connection = new AgentConnection(ports, native, this);
    void this.connection.ended.then((reason) => this.#ended(reason));
  }

  get nativeSessionId(): string | null {
    return this.#sessionId;
  }

  /** The session is open and in its mode. */
  async opened(sessionId: string): Promise<void> {
    this.#sessionId = sessionId;
    this.#own = new Set(await this.#native.members());
  }

  async startTurn(runId: string, input: MessageInput, output: TurnOutput): Promise<StartOutcome> {
    if (this.#unusable !== null) return { kind: 'no_turn', message: this.#unusable };
    const sessionId = this.#sessionId;
    if (this.#closing || sessionId === null) return { kind: 'no_turn', message: 'The agent is being ended.' };
    if (this.#turn && !this.#turn.settled) return { kind: 'no_turn', message: 'The agent is still busy.' };
    const mapped = mapPrompt(input, this.#init.images);
    if (mapped.kind === 'refused') return { kind: 'no_turn', message: mapped.message };
    const turn = new AcpTurn(
      { ...this.#ports, connection: this.connection },
      {
        ...{ runId, sessionId, output, workspace: this.#init.workspace, images: this.#init.images },
        ...{ observeMessages: this.#init.observeMessages, observeTools: this.#init.observeTools },
        cancelAndContinue: this.#init.cancelAndContinue,
        isQuiet: async () => (await this.#native.members()).every((pid) => this.#own.has(pid)),
      },
    );
    this.#turn = turn;
    const problem = await turn.open(mapped.prompt);
    return problem === null ? { kind: 'turn', turn } : { kind: 'turn', turn, error: problem };
  }

  close(): Promise<CloseResult> {
    this.#closing = true;
    return this.connection.stop();
  }

  async update(sessionId: string, update: SessionUpdate): Promise<void> {
    if (sessionId === this.#sessionId) await this.#turn?.update(update);
  }

  permission(request: PermissionRequest, exchange: Exchange): Promise<Record<string, unknown>> {
    const turn = this.#running(request.sessionId);
    return turn ? turn.permission(request, exchange) : Promise.resolve(cancelledOutcome);
  }

  elicitation(request: ElicitationRequest, exchange: Exchange): Promise<Record<string, unknown>> {
    const turn = this.#running(request.sessionId ?? this.#sessionId);
    return turn ? turn.elicitation(request, exchange) : Promise.resolve({ action: 'cancel' });
  }

  #running(sessionId: string | null): AcpTurn | null {
    return sessionId === this.#sessionId && this.#turn && !this.#turn.settled ? this.#turn : null;
  }

  async #ended(reason: string): Promise<void> {
    this.#unusable = reason;
    if (!this.#closing) this.#break(reason);
    await this.#turn?.lost(reason);
  }
}
