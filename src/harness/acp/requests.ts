import { within, type Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type {
  ChoiceAnswer,
  HarnessEvent,
  NativePermission,
  PermissionAnswer,
  SubmitResult,
} from '../adapter.ts';
import type { Exchange } from './connection.ts';
import {
  cancelledOutcome,
  choiceResult,
  mapChoice,
  mapPermission,
  permissionOutcome,
} from './map-requests.ts';
import { merged } from './map-updates.ts';
import type { ElicitationRequest, PermissionRequest, ToolCall } from './protocol.ts';

interface Open {
  readonly kind: 'permission' | 'choice';
  /** Ends the agent's wait. */
  readonly answer: (answer: PermissionAnswer | ChoiceAnswer | null) => void;
  readonly written: Promise<boolean>;
}

/** Looking at the files that would change must not hold up everything behind it. */
const LOOK_LIMIT_MS = 2_000;

/** The permission requests and questions of one Turn that wait for an answer. Each is answered at most once. */
export class Requests {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #workspace: string | null;
  readonly #emit: (event: HarnessEvent) => Promise<void>;
  readonly #open = new Map<string, Open>();

  constructor(
    ports: { readonly clock: Clock; readonly random: Random },
    workspace: string | null,
    emit: (event: HarnessEvent) => Promise<void>,
  ) {
    this.#clock = ports.clock;
    this.#random = ports.random;
    this.#workspace = workspace;
    this.#emit = emit;
  }

  /** Resolves with the answer for the agent. */
  async permission(
    request: PermissionRequest,
    known: ToolCall | undefined,
    exchange: Exchange,
  ): Promise<Record<string, unknown>> {
    const key = this.#random.uuid();
    const call = known ? merged(known, request.toolCall) : request.toolCall;
    const answer = await this.#ask(key, 'permission', exchange, async () => {
      const looked = await within(this.#clock, LOOK_LIMIT_MS, mapPermission(key, call, this.#workspace));
      const shown: NativePermission =
        looked.kind === 'value' ? looked.value : await mapPermission(key, { ...call, content: null }, null);
      return { type: 'permission', request: shown };
    });
    return answer && isPermission(answer) ? permissionOutcome(request.options, answer) : cancelledOutcome;
  }

  async elicitation(request: ElicitationRequest, exchange: Exchange): Promise<Record<string, unknown>> {
    const key = this.#random.uuid();
    const choice = mapChoice(key, request);
    if (!choice) return { action: 'decline' };
    const answer = await this.#ask(key, 'choice', exchange, async () => ({
      type: 'choice',
      request: choice,
    }));
    return answer && !isPermission(answer) ? choiceResult(request, answer) : { action: 'cancel' };
  }

  answerPermission(key: string, answer: PermissionAnswer): Promise<SubmitResult> {
    return this.#answer(key, 'permission', answer);
  }
  answerChoice(key: string, answer: ChoiceAnswer): Promise<SubmitResult> {
    return this.#answer(key, 'choice', answer);
  }

  /** Nobody is asked any more; the agent gets its own form of "no answer". */
  withdrawAll(): readonly HarnessEvent[] {
    const open = [...this.#open];
    this.#open.clear();
    for (const [, { answer }] of open) answer(null);
    return open.map(([key]) => ({ type: 'withdrawn', key }));
  }

  async #ask(
    key: string,
    kind: Open['kind'],
    { signal, written }: Exchange,
    event: () => Promise<HarnessEvent>,
  ): Promise<PermissionAnswer | ChoiceAnswer | null> {
    const answered = new Promise<PermissionAnswer | ChoiceAnswer | null>((resolve) => {
      this.#open.set(key, { kind, answer: resolve, written });
    });
    const shown = await event();
    if (!this.#open.has(key)) return answered;
    await this.#emit(shown);
    const withdrawn = (): void => {
      const open = this.#open.get(key);
      if (!open || !this.#open.delete(key)) return;
      open.answer(null);
      void this.#emit({ type: 'withdrawn', key });
    };
    if (signal.aborted) withdrawn();
    else signal.addEventListener('abort', withdrawn, { once: true });
    return answered;
  }

  async #answer(
    key: string,
    kind: Open['kind'],
    answer: PermissionAnswer | ChoiceAnswer,
  ): Promise<SubmitResult> {
    const open = this.#open.get(key);
    if (open?.kind !== kind) return 'not_pending';
    this.#open.delete(key);
    open.answer(answer);
    // The protocol confirms no answer; that it left for the agent is all that can be known.
    return (await open.written) ? 'applied' : 'failed';
  }
}

const isPermission = (answer: PermissionAnswer | ChoiceAnswer): answer is PermissionAnswer =>
  answer.kind === 'allow' || answer.kind === 'deny' || answer.kind === 'expired';
