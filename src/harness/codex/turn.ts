import { asError, rejected, RuntimeError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { within, type Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { InputContent, MessageInput } from '../../protocol/message-input.ts';
import type { DonePayload, ErrorPayload } from '../../protocol/run-output.ts';
import type {
  ChoiceAnswer,
  HarnessEvent,
  HarnessTurn,
  PermissionAnswer,
  Settlement,
  SteerResult,
  SubagentEvent,
  SubmitResult,
  TurnOutput,
} from '../adapter.ts';
import { Changes, OrderedOutput } from '../turn-flow.ts';
import type { CodexClient } from './client.ts';
import { FunctionCalls } from './functions.ts';
import { Interactions } from './interactions.ts';
import { endLeftovers, type Children, type CommandProcesses } from './leftovers.ts';
import { EventMapper, type EventOptions } from './map-events.ts';
import { mapFailure } from './map-failures.ts';
import { mapInput, text, type NativeInput } from './map-input.ts';
import { turnStartResult, type NativeTurn, type Notification, type ServerRequest } from './native-types.ts';
import { isOf, starting, stepTurn, type TurnEvent, type TurnState } from './turn-state.ts';

export interface TurnPorts {
  readonly client: CodexClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly commands: CommandProcesses;
}

export interface TurnInit extends EventOptions {
  readonly runId: string;
  readonly output: TurnOutput;
  readonly workspace: string | null;
  readonly threadId: string;
  readonly functions: ReadonlyMap<string, string>;
  readonly children: Children;
  /** Further members of the native start. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The native conversation, once there is one that can be continued. */
  nativeSessionId(): string | null;
}

/** `refused`: the program took nothing and the output was not used. */
export type Opened =
  | { readonly kind: 'open' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown'; readonly reason: string };

/** The program answers a start and an input at once. */
const WRITE_LIMIT_MS = 10_000;
const INTERRUPT_LIMIT_MS = 5_000;
/** From an answered interrupt to the end of everything. */
const ABORT_LIMIT_MS = 9_000;
/** From the end of the commands to the program's own word about each. */
const LAST_WORDS_MS = 1_500;

/**
 * One Turn on one native turn. The native end alone is not the end: commands and sub-agents may go on, so they are
 * ended and seen to be gone before the last frames (`leftovers.ts`). Everything it emits goes to the output it was given.
 */
export class CodexTurn implements HarnessTurn {
  readonly #ports: TurnPorts;
  readonly #init: TurnInit;
  readonly #events: EventMapper;
  readonly #interactions: Interactions;
  readonly #functions: FunctionCalls;
  #state: TurnState = starting;
  #cancelling = false;
  #interrupt: Promise<void> | null = null;
  #fault: string | null = null;
  #finished = false;
  #settled: Settlement | null = null;
  /** Our inputs that the program has shown to have read. */
  readonly #read = new Set<string>();
  readonly #changes = new Changes();
  readonly #output: OrderedOutput;

  constructor(ports: TurnPorts, init: TurnInit) {
    this.#ports = ports;
    this.#init = init;
    this.#output = new OrderedOutput(init.output, (error) => {
      this.#warn('codex.output_refused', error);
    });
    this.#events = new EventMapper(init);
    this.#functions = new FunctionCalls(ports, init.functions);
    this.#interactions = new Interactions(ports, {
      workspace: init.workspace,
      openTool: (id) => this.#events.openTool(id),
      say: (said) => this.#say([text(said)]),
      notice: (told) => this.notice(told),
    });
  }

  /** True once output is closed and nothing of this Turn can happen any more. */
  get settled(): boolean {
    return this.#settled !== null;
  }
  /** The program has not named it yet. */
  get starting(): boolean {
    return this.#state.phase === 'starting';
  }
  owns(turnId: string): boolean {
    return isOf(this.#state, turnId);
  }

  /** Writes the opening input. */
  async open(input: readonly NativeInput[]): Promise<Opened> {
    const { threadId, options } = this.#init;
    try {
      const answer = await this.#ports.client.ask(
        'turn/start',
        { threadId, input, clientUserMessageId: this.#ports.random.uuid(), ...options },
        WRITE_LIMIT_MS,
      );
      // A turn that was named was begun, whatever the answer says.
      if (answer.kind === 'refused' && this.#state.phase === 'starting') return { kind: 'refused' };
      const started = answer.kind === 'result' ? turnStartResult.safeParse(answer.result) : null;
      if (started?.success) this.#step({ type: 'named', turnId: started.data.turn.id });
      return this.#state.phase === 'starting'
        ? { kind: 'unknown', reason: 'Codex did not say which Turn it began' }
        : { kind: 'open' };
    } catch (error) {
      this.#warn('codex.input_not_written', error);
      return { kind: 'unknown', reason: 'Codex did not take the input in time' };
    }
  }

  /** A message of the program that belongs to this Turn. Resolves when its events found room in the output. */
  async accept(note: Notification): Promise<void> {
    if (this.#finished) return;
    switch (note.method) {
      case 'turn/started':
        return this.#step({ type: 'named', turnId: note.params.turn.id });
      case 'turn/completed':
        return this.#completed(note.params.turn);
      case 'error':
        if (!note.params.willRetry) return;
        return this.#emit([{ type: 'notice', text: retryText(note.params.error.message) }]);
      case 'item/completed': {
        const { item } = note.params;
        if (item.type === 'userMessage' && item.clientId) this.#read.add(item.clientId);
        await this.#emit(this.#events.accept(note));
        if (item.type === 'dynamicToolCall') this.#functions.completed(item);
        if (item.type === 'agentMessage') await this.#emit(this.#interactions.askedInMessage(item));
        return this.#changes.tell();
      }
      default:
        return this.#emit(this.#events.accept(note));
    }
  }

  async asked(request: ServerRequest): Promise<void> {
    if (request.method === 'item/tool/call')
      return this.#emit(this.#functions.called(request.id, request.params));
    const event = await this.#interactions.asked(request);
    if (event) await this.#emit([event]);
    if (this.#finished) this.#interactions.withdrawAll();
  }

  async withdrawn(id: string | number): Promise<void> {
    await this.#emit(this.#interactions.withdrawn(id));
  }

  /** What sub-agents were seen to do for this Turn. */
  observed(events: readonly SubagentEvent[]): Promise<void> {
    return this.#emit(events);
  }

  async notice(text: string): Promise<void> {
    await this.#emit([{ type: 'notice', text }]);
  }

  /** The program is gone. What it did before stays as observed; how its work ended is not known. */
  async lost(reason: string): Promise<void> {
    this.#fault ??= reason;
    this.#step({ type: 'lost', reason });
    await this.#finish();
  }

  cancel(): Promise<void> {
    if (this.#state.phase === 'ending' || this.#state.phase === 'over') return Promise.resolve();
    this.#cancelling = true;
    this.#interrupt ??= this.#sendInterrupt().finally(() => {
      this.#interrupt = null;
      this.#changes.tell();
    });
    return this.#interrupt;
  }

  async settlement(): Promise<Settlement> {
    while (this.#settled === null) {
      const limited = this.#cancelling && !this.#interrupt;
      if (!limited) await this.#changes.next();
      else if (!(await this.#changes.within(this.#ports.clock, ABORT_LIMIT_MS, () => this.#settled !== null)))
        return { kind: 'failed', reason: 'Codex did not confirm the end of this Turn' };
    }
    return this.#settled;
  }

  outcome(): DonePayload {
    const usage = this.#events.usage.snapshot();
    const sessionId = this.#init.nativeSessionId();
    return {
      content: this.#events.text,
      ...(usage ? { usage } : {}),
      ...(sessionId === null
        ? {}
        : { metadata: { agent_session_id: sessionId, agent_session_type: 'codex_thread' } }),
    };
  }

  async steer(input: MessageInput, onWritten: () => void): Promise<SteerResult> {
    const mapped = mapInput(input);
    if (mapped.kind === 'refused') return { kind: 'rejected' };
    const id = this.#ports.random.uuid();
    const written = await this.#write(mapped.input, id);
    if (written.kind !== 'written') return written;
    onWritten();
    await this.#until(() => this.#read.has(id));
    return this.#read.has(id)
      ? { kind: 'accepted' }
      : { kind: 'unknown', reason: 'the Turn ended before the input was read' };
  }

  submitPermission(key: string, answer: PermissionAnswer): Promise<SubmitResult> {
    return this.#interactions.permission(key, answer);
  }

  submitChoice(key: string, answer: ChoiceAnswer): Promise<SubmitResult> {
    return this.#interactions.choice(key, answer);
  }

  async submitFunctionResult(
    callId: string,
    result: { readonly success: boolean; readonly content: readonly InputContent[] },
  ): Promise<SubmitResult> {
    const submitted = await this.#functions.submit(callId, result);
    if (submitted !== 'lost') return submitted;
    // Whether the model goes on with the result is not known, so it must not go on at all.
    this.#fault ??= 'Codex did not show what became of a function result';
    this.cancel().catch(() => undefined);
    return 'failed';
  }

  async #say(input: readonly NativeInput[]): Promise<SteerResult['kind'] | 'written'> {
    return (await this.#write(input, this.#ports.random.uuid())).kind;
  }

  /** The answer to a steer says that it was taken for this very turn, not that the model has read it. */
  async #write(
    input: readonly NativeInput[],
    id: string,
  ): Promise<Exclude<SteerResult, { kind: 'accepted' }> | { readonly kind: 'written' }> {
    const state = this.#state;
    if (state.phase === 'starting') return { kind: 'not_ready' };
    if (state.phase !== 'running' || this.#cancelling) return { kind: 'inactive' };
    try {
      const answer = await this.#ports.client.ask(
        'turn/steer',
        { threadId: this.#init.threadId, expectedTurnId: state.turnId, clientUserMessageId: id, input },
        WRITE_LIMIT_MS,
      );
      if (answer.kind === 'result') return { kind: 'written' };
      return { kind: isOver(this.#state) ? 'inactive' : 'rejected' };
    } catch (error) {
      this.#warn('codex.input_not_written', error);
      return { kind: 'unknown', reason: 'Codex did not say whether it took the input' };
    }
  }

  async #sendInterrupt(): Promise<void> {
    const { client, clock } = this.#ports;
    const named = this.#until(() => this.#state.phase !== 'starting');
    if ((await within(clock, INTERRUPT_LIMIT_MS, named)).kind === 'timeout')
      throw rejected('harness_failed', 'Codex has not named this Turn, so it cannot be cancelled.');
    const state = this.#state;
    if (state.phase !== 'running') return;
    const { threadId } = this.#init;
    const answer = client.ask('turn/interrupt', { threadId, turnId: state.turnId }, INTERRUPT_LIMIT_MS);
    // Some versions answer only after the end, or never; the end itself is the better answer.
    const first = await Promise.race([answer, this.#until(() => isOver(this.#state)).then(() => null)]);
    answer.catch(() => undefined);
    if (first?.kind === 'refused' && !isOver(this.#state))
      this.#ports.logger.warn('codex.interrupt_refused', { run: this.#init.runId });
  }

  /** Not awaited by its caller: it asks the program, whose answers the caller reads. */
  #completed(end: NativeTurn): void {
    const before = this.#state;
    this.#step({ type: 'completed', end });
    if (this.#state.phase === 'ending' && before.phase !== 'ending') void this.#clean();
  }

  async #clean(): Promise<void> {
    await this.#emit(this.#interactions.withdrawAll());
    const { threadId, children } = this.#init;
    const { commands, problem } = await endLeftovers(this.#ports, threadId, children);
    const quiet = this.#until(() => !this.#events.tools.commandsAreOpen);
    if (commands) await within(this.#ports.clock, LAST_WORDS_MS, quiet);
    this.#step({ type: 'cleaned', problem });
    await this.#finish();
  }

  /** The last frames: what stays open is closed, then the error if there is one, then `done`. */
  async #finish(): Promise<void> {
    if (this.#finished) return;
    this.#finished = true;
    this.#functions.close();
    this.#changes.tell();
    const last: HarnessEvent[] = [...this.#interactions.withdrawAll(), ...this.#events.close()];
    const error = this.#failure();
    if (error) last.push({ type: 'error', payload: error });
    await this.#output.send([...last, { type: 'done', payload: this.outcome() }]);
    this.#output.close();
    const problem = this.#fault ?? (this.#state.phase === 'over' ? this.#state.problem : null);
    this.#settled =
      problem === null
        ? { kind: 'settled', reusable: true }
        : { kind: 'settled', reusable: false, reason: problem };
    this.#changes.tell();
  }

  #failure(): ErrorPayload | null {
    if (this.#fault !== null) return { error: this.#fault };
    const end = this.#state.phase === 'over' ? this.#state.end : null;
    if (end?.status === 'failed') return mapFailure(end.error ?? null);
    if (end?.status === 'interrupted')
      return this.#cancelling ? null : { error: 'Codex broke this Turn off.' };
    const wrongForm = end !== null && this.#init.fits !== undefined && !this.#events.fitting;
    return wrongForm && !this.#cancelling
      ? { error: 'The answer does not have the form that was asked for.' }
      : null;
  }

  /** Nothing follows the last frames. */
  #emit(events: readonly HarnessEvent[]): Promise<void> {
    return this.#finished || events.length === 0 ? Promise.resolve() : this.#output.send(events);
  }

  #step(event: TurnEvent): void {
    this.#state = stepTurn(this.#state, event);
    this.#changes.tell();
  }

  #warn(event: string, error: unknown): void {
    const code = error instanceof RuntimeError ? error.code : null;
    this.#ports.logger.warn(event, { run: this.#init.runId, error: asError(error).name, code });
  }

  /** Resolves when `reached`, or when the Turn finished first. */
  async #until(reached: () => boolean): Promise<void> {
    while (!reached() && !this.#finished) await this.#changes.next();
  }
}

const isOver = (state: TurnState): boolean => state.phase === 'ending' || state.phase === 'over';

const NOTICE_LIMIT = 200;

/** The program's own word about a retry, for the person at the laptop alone. */
function retryText(message: string): string {
  const line = message.split('\n', 1)[0] ?? '';
  const short = line.length > NOTICE_LIMIT ? `${line.slice(0, NOTICE_LIMIT)} …` : line;
  return `The model service did not answer. Codex tries again: ${short}`;
}
