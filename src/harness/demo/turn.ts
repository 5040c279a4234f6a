import { delay, type Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import { hasImages, type MessageInput } from '../../protocol/message-input.ts';
import type { DonePayload } from '../../protocol/run-output.ts';
import type {
  ChoiceAnswer,
  HarnessEvent,
  HarnessTurn,
  NativeFileChange,
  PermissionAnswer,
  Settlement,
  SteerResult,
  SubmitResult,
  TurnOutput,
} from '../adapter.ts';
import { planChange, writeDemoFile } from './file.ts';
import {
  beforeChange,
  closing,
  DEMO_FILE,
  fileContent,
  noAnswers,
  opening,
  pieces,
  questions,
  steered,
  thanks,
  type Answers,
} from './script.ts';

export interface DemoTurnInit {
  readonly clock: Clock;
  readonly random: Random;
  readonly output: TurnOutput;
  readonly workspace: string | null;
  readonly sessionId: string;
  readonly observeMessages: boolean;
  readonly observeTools: boolean;
}

/** Between two pieces of text, milliseconds. */
const PACE_MS = 35;

/** Thrown inside the script to leave it; never seen outside. */
class Stopped extends Error {}

type Waiting =
  | { readonly kind: 'permission'; readonly key: string; readonly take: (answer: PermissionAnswer) => void }
  | { readonly kind: 'choice'; readonly key: string; readonly take: (answer: ChoiceAnswer) => void };

/**
 * One Turn of the demo: a fixed script that obeys the whole contract. It stops at every point where it waits, takes
 * active input at every such point, and settles reusable.
 */
export class DemoTurn implements HarnessTurn {
  readonly #init: DemoTurnInit;
  readonly #stop = new AbortController();
  readonly #stopped: Promise<void>;
  readonly #over: Promise<Settlement>;
  #waiting: Waiting | null = null;
  #steered: (() => void)[] = [];
  #wake: () => void = () => undefined;
  #text = '';
  #finished = false;
  #settled = false;

  constructor(init: DemoTurnInit) {
    this.#init = init;
    const { signal } = this.#stop;
    this.#stopped = new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    this.#over = this.#run();
  }

  /** True once output is closed. */
  get settled(): boolean {
    return this.#settled;
  }

  cancel(): Promise<void> {
    this.#stop.abort();
    return Promise.resolve();
  }

  settlement(): Promise<Settlement> {
    return this.#over;
  }

  outcome(): DonePayload {
    return {
      content: this.#text,
      metadata: { agent_session_id: this.#init.sessionId, agent_session_type: 'demo' },
    };
  }

  async steer(input: MessageInput, onWritten: () => void): Promise<SteerResult> {
    if (this.#finished || this.#stop.signal.aborted) return { kind: 'inactive' };
    if (hasImages(input)) return { kind: 'rejected' };
    const taken = new Promise<void>((resolve) => this.#steered.push(resolve));
    onWritten();
    this.#wake();
    const first = await Promise.race([taken.then(() => 'taken'), this.#over.then(() => 'over')]);
    return first === 'taken'
      ? { kind: 'accepted' }
      : { kind: 'unknown', reason: 'the Turn ended before the input was used' };
  }

  submitPermission(key: string, answer: PermissionAnswer): Promise<SubmitResult> {
    const waiting = this.#waiting;
    if (waiting?.kind !== 'permission' || waiting.key !== key) return Promise.resolve('not_pending');
    this.#waiting = null;
    waiting.take(answer);
    return Promise.resolve('applied');
  }

  submitChoice(key: string, answer: ChoiceAnswer): Promise<SubmitResult> {
    const waiting = this.#waiting;
    if (waiting?.kind !== 'choice' || waiting.key !== key) return Promise.resolve('not_pending');
    this.#waiting = null;
    waiting.take(answer);
    return Promise.resolve('applied');
  }

  async #run(): Promise<Settlement> {
    try {
      await this.#play();
    } catch (error) {
      if (!(error instanceof Stopped)) {
        await this.#emit({
          type: 'error',
          payload: { error: 'The demo failed. This is a fault of this app.' },
        });
      }
    }
    this.#finished = true;
    if (this.#waiting) await this.#emit({ type: 'withdrawn', key: this.#waiting.key });
    this.#waiting = null;
    await this.#emit({ type: 'done', payload: this.outcome() });
    this.#init.output.close();
    this.#settled = true;
    return { kind: 'settled', reusable: true };
  }

  async #play(): Promise<void> {
    await this.#say(opening);
    const answers = await this.#askQuestions();
    const { workspace } = this.#init;
    const before = answers.size === 0 ? noAnswers : thanks;
    if (workspace === null) return this.#say(before + closing.notAsked);
    await this.#say(before + beforeChange);
    const content = fileContent(answers);
    const planned = await planChange(workspace, content);
    if (planned.kind === 'refused') return this.#say(closing.failed(planned.reason));
    if (!(await this.#askPermission(planned.change))) return this.#say(closing.denied);
    const problem = await this.#write(workspace, content, planned.change);
    await this.#say(problem === null ? closing.written(DEMO_FILE) : closing.failed(problem));
  }

  async #askQuestions(): Promise<Answers> {
    const key = this.#init.random.uuid();
    const answer = new Promise<ChoiceAnswer>((take) => (this.#waiting = { kind: 'choice', key, take }));
    await this.#emit({ type: 'choice', request: { key, questions, toolUseId: null, expiresInMs: null } });
    const given = await this.#until(answer);
    return given.kind === 'answers' ? given.answers : new Map();
  }

  async #askPermission(change: NativeFileChange): Promise<boolean> {
    const key = this.#init.random.uuid();
    const answer = new Promise<PermissionAnswer>(
      (take) => (this.#waiting = { kind: 'permission', key, take }),
    );
    await this.#emit({
      type: 'permission',
      request: {
        key,
        tool: 'Write',
        title: `${change.kind === 'add' ? 'Create' : 'Change'} ${change.path}`,
        reason: 'To show how a change is asked for.',
        subject: { kind: 'file_change', changes: [change] },
        payload: { path: change.path, kind: change.kind },
        expiresInMs: null,
      },
    });
    return (await this.#until(answer)).kind === 'allow';
  }

  /** Between a permission and its effect nothing waits, so a cancel comes before or after the write, never inside. */
  async #write(workspace: string, content: string, change: NativeFileChange): Promise<string | null> {
    const id = this.#init.random.uuid();
    const { path, kind, diff } = change;
    const call = { id, name: 'Write' } as const;
    const seen = {
      kind: 'function',
      name: 'apply_patch',
      arguments: { changes: [{ path, kind, diff }] },
    } as const;
    const observed = (status: string): object =>
      this.#init.observeTools ? { observation: { ...seen, status } } : {};
    await this.#emit({
      type: 'tool_call',
      payload: { ...call, stage: 'before', args: { path }, ...observed('in_progress') },
    });
    const problem = await writeDemoFile(workspace, content);
    const result = problem === null ? { written: true } : { written: false, reason: problem };
    await this.#emit({
      type: 'tool_call',
      payload: { ...call, stage: 'after', result, ...observed(problem === null ? 'completed' : 'failed') },
    });
    return problem;
  }

  /** One message, streamed in small pieces at a human pace. */
  async #say(text: string): Promise<void> {
    const id = this.#init.random.uuid();
    let said = '';
    await this.#message({ id, status: 'in_progress' });
    try {
      for (const piece of pieces(text)) {
        await this.#until(delay(this.#init.clock, PACE_MS, this.#stop.signal));
        said += piece;
        this.#text = said;
        await this.#emit({
          type: 'delta',
          payload: { delta: piece, ...(this.#init.observeMessages ? { item_id: id } : {}) },
        });
      }
    } catch (error) {
      await this.#message({ id, status: 'incomplete' });
      throw error;
    }
    await this.#message({ id, status: 'completed', text: said });
  }

  async #message(payload: { id: string; status: string; text?: string }): Promise<void> {
    if (this.#init.observeMessages) await this.#emit({ type: 'output_message', payload });
  }

  /** Waits, takes active input meanwhile, and leaves the script when the Turn is cancelled. */
  async #until<T>(promise: Promise<T>): Promise<T> {
    for (;;) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      await this.#takeSteered();
      const first = await Promise.race([
        promise.then((value) => ({ value })),
        this.#stopped.then(() => null),
        woken.then(() => undefined),
      ]);
      if (first === null || this.#stop.signal.aborted) throw new Stopped();
      if (first !== undefined) return first.value;
    }
  }

  async #takeSteered(): Promise<void> {
    const taken = this.#steered;
    if (taken.length === 0 || this.#stop.signal.aborted) return;
    this.#steered = [];
    const id = this.#init.random.uuid();
    const text = steered(taken.length);
    await this.#message({ id, status: 'in_progress' });
    await this.#emit({
      type: 'delta',
      payload: { delta: text, ...(this.#init.observeMessages ? { item_id: id } : {}) },
    });
    await this.#message({ id, status: 'completed', text });
    for (const resolve of taken) resolve();
  }

  #emit(event: HarnessEvent): Promise<void> {
    return this.#init.output.emit(event);
  }
}
