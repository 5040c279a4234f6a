import type {
  ChoiceAnswer,
  Executor,
  HarnessAdapter,
  HarnessEvent,
  HarnessTurn,
  PermissionAnswer,
  PrepareOutcome,
  PrepareRequest,
  Probe,
  Settlement,
  StartOutcome,
  SteerResult,
  SubmitResult,
  TurnOutput,
} from '../../src/harness/adapter.ts';
import type { History } from '../../src/conformance/history.ts';
import type { CloseResult } from '../../src/ownership/owned.ts';
import type { InputContent, MessageInput } from '../../src/protocol/message-input.ts';

/** Writes every call of an adapter and what it came to into a history; it changes nothing else. */
export class RecordedHarness implements HarnessAdapter {
  readonly kind: string;
  readonly name: string;
  readonly #inner: HarnessAdapter;
  readonly #history: History;

  constructor(inner: HarnessAdapter, history: History) {
    this.kind = inner.kind;
    this.name = inner.name;
    this.#inner = inner;
    this.#history = history;
  }

  probe(): Promise<Probe> {
    return this.#inner.probe();
  }

  async prepare(request: PrepareRequest, signal: AbortSignal): Promise<PrepareOutcome> {
    const history = this.#history;
    const number = history.nextExecutor();
    history.add({ by: 'harness', does: 'prepares', executor: number, session: request.sessionId });
    const outcome = await this.#inner.prepare(request, signal);
    const failed = outcome.kind === 'failed' ? (outcome.resource ? 'leftover' : 'nothing') : 'ready';
    history.add({ by: 'harness', does: 'has prepared', executor: number, result: failed });
    if (outcome.kind === 'ready')
      return { kind: 'ready', executor: new RecordedExecutor(outcome.executor, number, history) };
    const { resource } = outcome;
    if (!resource) return outcome;
    return { ...outcome, resource: { close: () => recordClose(history, number, () => resource.close()) } };
  }
}

async function recordClose(
  history: History,
  executor: number,
  close: () => Promise<CloseResult>,
): Promise<CloseResult> {
  history.add({ by: 'harness', does: 'closes', executor });
  const result = await close();
  history.add({ by: 'harness', does: 'has closed', executor, confirmed: result.state === 'closed' });
  return result;
}

class RecordedExecutor implements Executor {
  readonly #inner: Executor;
  readonly #number: number;
  readonly #history: History;

  constructor(inner: Executor, number: number, history: History) {
    this.#inner = inner;
    this.#number = number;
    this.#history = history;
  }

  get nativeSessionId(): string | null {
    return this.#inner.nativeSessionId;
  }
  get broken(): Promise<string> {
    return this.#inner.broken;
  }
  close(): Promise<CloseResult> {
    return recordClose(this.#history, this.#number, () => this.#inner.close());
  }

  async startTurn(run: string, input: MessageInput, output: TurnOutput): Promise<StartOutcome> {
    const history = this.#history;
    const executor = this.#number;
    history.add({ by: 'harness', does: 'starts', executor, run });
    const recorded: TurnOutput = {
      emit: (event) => {
        history.add({ by: 'harness', does: 'emits', run, event: event.type, text: textOf(event) });
        return output.emit(event);
      },
      close: () => output.close(),
    };
    const outcome = await this.#inner.startTurn(run, input, recorded);
    history.add({ by: 'harness', does: 'has started', executor, run, turn: outcome.kind === 'turn' });
    if (outcome.kind === 'no_turn') return outcome;
    return { ...outcome, turn: recordedTurn(outcome.turn, run, history) };
  }
}

const textOf = (event: HarnessEvent): string => {
  if (event.type === 'delta') return event.payload.delta;
  if (event.type === 'permission' || event.type === 'choice') return event.request.key;
  return event.type === 'withdrawn' ? event.key : '';
};

function recordedTurn(inner: HarnessTurn, run: string, history: History): HarnessTurn {
  const decide = async (
    key: string,
    answer: string,
    submit: () => Promise<SubmitResult>,
  ): Promise<SubmitResult> => {
    history.add({ by: 'harness', does: 'takes decision', run, key, answer });
    const result = await submit();
    history.add({ by: 'harness', does: 'answers decision', run, key, answer, result });
    return result;
  };
  // Only what the Turn has: a missing operation is a statement of its adapter.
  const { steer, submitPermission, submitChoice, submitFunctionResult } = inner;
  return {
    cancel: () => {
      history.add({ by: 'harness', does: 'is cancelled', run });
      return inner.cancel();
    },
    settlement: async (): Promise<Settlement> => {
      const settlement = await inner.settlement();
      const settled = settlement.kind === 'settled';
      const reusable = settled && settlement.reusable;
      history.add({ by: 'harness', does: 'settles', run, settled, reusable });
      return settlement;
    },
    outcome: () => inner.outcome(),
    ...(steer
      ? {
          steer: async (input: MessageInput, onWritten: () => void): Promise<SteerResult> => {
            const part = input[0]?.content[0];
            const text = part?.type === 'input_text' ? part.text : '';
            history.add({ by: 'harness', does: 'takes input', run, text });
            const result = await steer.call(inner, input, () => {
              history.add({ by: 'harness', does: 'has written', run, text });
              onWritten();
            });
            history.add({ by: 'harness', does: 'answers input', run, text, result: result.kind });
            return result;
          },
        }
      : {}),
    ...(submitPermission
      ? {
          submitPermission: (key: string, answer: PermissionAnswer) =>
            decide(key, answer.kind, () => submitPermission.call(inner, key, answer)),
        }
      : {}),
    ...(submitChoice
      ? {
          submitChoice: (key: string, answer: ChoiceAnswer) =>
            decide(key, answer.kind, () => submitChoice.call(inner, key, answer)),
        }
      : {}),
    ...(submitFunctionResult
      ? {
          submitFunctionResult: async (
            call: string,
            result: { readonly success: boolean; readonly content: readonly InputContent[] },
          ): Promise<SubmitResult> => {
            history.add({ by: 'harness', does: 'takes result', run, call });
            const answer = await submitFunctionResult.call(inner, call, result);
            history.add({ by: 'harness', does: 'answers result', run, call, result: answer });
            return answer;
          },
        }
      : {}),
  };
}
