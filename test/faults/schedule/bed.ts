import { checkHistory } from '../../../src/conformance/history-checker.ts';
import { History, historyText, type HistoryEvent } from '../../../src/conformance/history.ts';
import { contains } from '../../../src/conformance/matching.ts';
import type { ScriptFrame } from '../../../src/conformance/scenario.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import type { RuntimeFact } from '../../../src/runtime/facts.ts';
import type { InteractionAnswer } from '../../../src/runtime/interactions.ts';
import { Router } from '../../../src/runtime/router.ts';
import { countingRandom } from '../../support/router-bed.ts';
import { flush, ScheduleClock } from './clock.ts';
import { ScheduleHarness, type ScheduleTurn } from './harness.ts';
import type { Operation, Schedule } from './operations.ts';
import { ReferenceModel, type Answer } from './reference-model.ts';
import { ScheduleSender } from './sender.ts';
import { liveInvariants, type Moment } from './invariants.ts';

export class BrokenInvariant extends Error {}

/** Plays one schedule against a Router, compares it with the reference model at every step, and judges it at the end. */
export class ScheduleBed {
  readonly #schedule: Schedule;
  readonly #clock = new ScheduleClock();
  readonly #random = countingRandom();
  readonly #history = new History();
  readonly #harness: ScheduleHarness;
  #on = 0;
  #sender: ScheduleSender;
  #router: Router;
  #model: ReferenceModel;
  #settled: Promise<boolean> | null = null;
  #lost = false;
  #gone = false;
  #taking = false;
  #immediate: ScriptFrame[] = [];
  #observed = 0;
  #requests = 0;
  #runs = 0;
  #texts = 0;
  readonly #requestPayloads = new Map<string, Record<string, unknown>>();
  readonly #starts: ScriptFrame[] = [];
  readonly #runIds: string[] = [];
  readonly #steers: ScriptFrame[] = [];
  readonly #prompts: { id: string; family: 'permission' | 'user_choice' }[] = [];
  /** Promises the Runtime gave away; each has to end. */
  #promised = 0;
  #kept = 0;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#harness = new ScheduleHarness(this.#history, new Set(schedule.held));
    const first = this.#connect();
    this.#sender = first.sender;
    this.#router = first.router;
    this.#model = first.model;
  }

  async play(): Promise<void> {
    for (const operation of this.#schedule.operations) {
      this.#apply(operation);
      if (operation.op === 'advance') await this.#clock.advance(operation.ms, () => this.#look(operation.op));
      await flush();
      this.#look(operation.op);
    }
    await this.#end();
  }

  get history(): readonly HistoryEvent[] {
    return this.#history.events;
  }
  get text(): string {
    return historyText(this.#history.events);
  }

  // ---- the world

  #connect(): { sender: ScheduleSender; router: Router; model: ReferenceModel } {
    const on = ++this.#on;
    const model = new ReferenceModel(
      () => this.#clock.monotonic(),
      this.#schedule.answeredBy !== 'local',
      (run) => this.#nativeIdOf(run),
    );
    const sender = new ScheduleSender(this.#clock, {
      attempted: (frame) => {
        this.#seeHarness(model);
        this.#history.add({ by: 'link', does: 'takes', on, frame });
        if (this.#taking) this.#immediate.push(frame);
        model.attempted(frame, this.#taking);
      },
      heard: (frame) => {
        this.#seeHarness(model);
        this.#history.add({ by: 'core', does: 'hears', on, frame });
        model.settled(frame, true);
      },
      gaveUp: (frame) => {
        this.#seeHarness(model);
        this.#history.add({ by: 'link', does: 'gives up', on, frame });
        model.settled(frame, false);
      },
    });
    this.#history.add({ by: 'link', does: 'opens', on });
    const { answeredBy, policy, timeoutMs } = this.#schedule;
    const router = new Router(
      {
        clock: this.#clock,
        random: this.#random,
        logger: silentLogger,
        binding: null,
        harness: (kind) =>
          kind === 'contract' ? { adapter: this.#harness, probe: this.#harness.offer() } : null,
        stateDir: () => Promise.resolve('/state'),
        interactions: { policy, answeredBy, timeoutMs },
        executorIdleMs: 60 * 60_000,
        paused: () => false,
        facts: (fact) => this.#fact(model, fact),
        suspension: { memory: { resumed: null }, hooks: { armed: () => undefined, failed: () => undefined } },
      },
      sender,
    );
    return { sender, router, model };
  }

  #fact(model: ReferenceModel, fact: RuntimeFact): void {
    this.#seeHarness(model);
    model.shown(fact);
    if (fact.type !== 'interaction_opened') return;
    const { id, runId: run, request } = fact;
    this.#prompts.push({ id, family: request.kind });
    this.#history.add({ by: 'person', does: 'sees', interaction: id, run, key: request.native.key });
  }

  /** The model sees the Harness in the order of events, before anything that follows from it. */
  #seeHarness(model: ReferenceModel): void {
    const { events } = this.#history;
    for (; this.#observed < events.length; this.#observed++) {
      const event = events[this.#observed];
      if (event) model.observe(event);
    }
  }

  #nativeIdOf(run: string): string | null {
    const turn = this.#harness.turns.find((candidate) => candidate.runId === run);
    return turn ? `native-${turn.executor.number}` : null;
  }

  // ---- operations

  #apply(operation: Operation): void {
    switch (operation.op) {
      case 'prepare':
        return this.#prepare(operation.session, operation.variant, operation.again);
      case 'start':
        return this.#start(operation.pick, operation.variant);
      case 'release':
        return this.#release(operation.pick, operation.variant);
      case 'cancel': {
        const delivery = operation.delivery === 0 ? {} : { delivery_id: `cancel-${operation.delivery}` };
        return this.#say({ type: 'prompt_cancel', id: this.#run(operation.pick), payload: delivery });
      }
      case 'steer':
        return this.#steer(operation.pick, operation.input, operation.variant);
      case 'decide':
        return this.#decide(operation.pick, operation.variant);
      case 'result':
        return this.#result(operation.pick, operation.call, operation.variant);
      case 'direct':
        return this.#direct(operation.session, operation.variant);
      case 'device_shutdown':
        return this.#say({ type: 'device_shutdown', id: '', payload: {} });
      case 'native': {
        const { pending } = this.#harness;
        return pending[operation.pick % Math.max(1, pending.length)]?.answer(operation.how);
      }
      case 'emit':
        return this.#turn(operation.pick)?.emit(operation.which, ++this.#texts);
      case 'done':
        return this.#turn(operation.pick)?.sayDone();
      case 'settle':
        return this.#turn(operation.pick)?.settle(operation.how);
      case 'close_output':
        return this.#turn(operation.pick)?.closeOutput();
      case 'input':
        return this.#input(operation.pick, operation.how);
      case 'break':
        return this.#harness.executors[operation.pick % Math.max(1, this.#harness.executors.length)]?.break();
      case 'advance':
        return;
      case 'jump':
        return this.#clock.jumpWall(operation.ms);
      case 'fail_sends':
        this.#sender.failing = operation.count;
        return;
      case 'block_sends':
        this.#sender.blocked = true;
        return;
      case 'unblock_sends':
        return this.#sender.release();
      case 'backed_up':
        this.#sender.backedUp = operation.on;
        return;
      case 'too_large':
        this.#sender.tooLarge = true;
        return;
      case 'answer':
        return this.#answer(operation.pick, operation.variant);
      case 'cleanup':
        return this.#cleanup(operation.pick, operation.force);
      case 'lose':
        return this.#lose();
      case 'reconnect':
        return this.#reconnect();
    }
  }

  #prepare(session: number, variant: number, again: boolean): void {
    const id = again && this.#requests > 0 ? `p${1 + (variant % this.#requests)}` : `p${++this.#requests}`;
    const known = this.#requestPayloads.get(id);
    const payload = known && variant % 4 !== 3 ? known : preparation(`s${session}`, variant);
    if (!known) this.#requestPayloads.set(id, payload);
    this.#say({ type: 'execution_prepare', id: variant === 15 && !again ? ' ' : id, payload });
  }

  #start(pick: number, variant: number): void {
    const admissions = [...this.#model.admissions.values()];
    const waiting = admissions.filter(({ phase }) => phase === 'ready');
    const from = variant < 11 && waiting.length > 0 ? waiting : admissions;
    const admission = from[pick % Math.max(1, from.length)];
    if (!admission) return;
    const repeated = this.#starts[pick % Math.max(1, this.#starts.length)];
    if (variant === 15 && repeated) return this.#say(repeated);
    // No Core gives an ended Run's id to another; an active one is refused.
    const active = [...this.#model.runs.keys()][0];
    const run = variant === 14 && active !== undefined ? active : `r${++this.#runs}`;
    const frame: ScriptFrame = {
      type: 'execution_start',
      id: variant === 13 ? 'p-other' : admission.request,
      payload: {
        executor_id: variant === 12 ? 'executor-other' : admission.executorId,
        handle: admission.handle,
        run_id: run,
        input: variant === 11 ? [] : says('hello'),
      },
    };
    this.#runIds.push(run);
    this.#starts.push(frame);
    this.#say(frame);
  }

  #release(pick: number, variant: number): void {
    const admissions = [...this.#model.admissions.values()];
    const admission = admissions[pick % Math.max(1, admissions.length)];
    const handle = variant === 15 ? '' : variant === 14 ? 'nobody' : (admission?.handle ?? 'nobody');
    const id = variant === 13 ? 'p-other' : (admission?.request ?? 'p0');
    this.#say({ type: 'execution_release', id, payload: { handle } });
  }

  #steer(pick: number, input: number, variant: number): void {
    const run = this.#run(pick);
    const before = this.#steers.filter(({ id }) => id === run);
    const repeated = before[input % Math.max(1, before.length)];
    if (repeated && variant > 9) {
      const changed =
        variant === 15 ? { input: says('changed') } : variant === 14 ? { durable_receipt: false } : {};
      return this.#say({ ...repeated, payload: { ...repeated.payload, ...changed } });
    }
    const id = variant === 9 ? ' ' : `i${++this.#texts}`;
    const frame: ScriptFrame = {
      type: 'prompt_steer',
      id: run,
      payload: { input_id: id, input: says(`input ${this.#texts}`), durable_receipt: variant !== 8 },
    };
    this.#steers.push(frame);
    this.#say(frame);
  }

  #decide(pick: number, variant: number): void {
    // The newest prompts are the likely open ones.
    const prompt = this.#prompts[this.#prompts.length - 1 - (pick % Math.max(1, this.#prompts.length))];
    const id = variant === 15 ? 'nobody' : (prompt?.id ?? 'nobody');
    const permission = (prompt?.family === 'permission') !== (variant === 14);
    const delivery_id = `decision-${++this.#texts}`;
    const answer = [{ question_id: variant === 13 ? 'other' : 'one', answers: ['A'] }];
    this.#say(
      permission
        ? { type: 'permission_decision', id, payload: { delivery_id, approved: variant % 2 === 0 } }
        : {
            type: 'prompt_for_user_choice_decision',
            id,
            payload:
              variant % 3 === 2
                ? { delivery_id, cancelled: true }
                : { delivery_id, question_answers: answer },
          },
    );
  }

  #result(pick: number, call: number, variant: number): void {
    const turn = this.#turn(pick);
    const calls = [...(turn?.calls ?? [])];
    const call_id = variant > 12 ? 'nobody' : (calls[call % Math.max(1, calls.length)] ?? `c${call + 1}`);
    const id = turn?.runId ?? this.#run(pick);
    const content = [{ type: 'input_text', text: variant % 4 === 3 ? 'other' : 'shipped' }];
    const payload = { delivery_id: `function-${++this.#texts}`, call_id, success: true, content };
    this.#say({ type: 'function_result', id, payload });
  }

  #direct(session: number, variant: number): void {
    const active = [...this.#model.runs.keys()][0];
    const run = variant === 15 && active !== undefined ? active : `r${++this.#runs}`;
    const { configuration } = preparation(`s${session}`, variant % 2);
    const key = variant > 7 ? {} : { agent_state_key: `agents-api-s${session}` };
    const { agent_state_key: _key, ...rest } = configuration;
    const release = variant % 3 === 0 ? { release_on_completion: true } : {};
    this.#runIds.push(run);
    this.#say({
      type: 'prompt_request',
      id: run,
      payload: { ...rest, ...key, ...release, run_id: run, input: says('hello') },
    });
  }

  #input(pick: number, how: number): void {
    const turns = this.#harness.turns.filter(({ inputs }) => inputs.length > 0);
    const input = turns[pick % Math.max(1, turns.length)]?.inputs[0];
    if (!input) return;
    if (how < 3) return input.written();
    const kinds = ['accepted', 'not_ready', 'rejected', 'inactive'] as const;
    const kind = kinds[how - 3];
    if (kind === 'accepted') input.written();
    if (kind) input.answer({ kind });
  }

  #answer(pick: number, variant: number): void {
    const prompt = this.#prompts[this.#prompts.length - 1 - (pick % Math.max(1, this.#prompts.length))];
    if (!prompt) return;
    const answer = localAnswer(prompt.family, variant);
    this.#promised++;
    void this.#router.answer(prompt.id, answer).then((result) => {
      this.#kept++;
      const told = result.kind === 'refused' ? result.why : result.kind;
      this.#history.add({
        by: 'person',
        does: 'answers',
        interaction: prompt.id,
        with: answer.answer.kind,
        told,
      });
    });
  }

  #cleanup(pick: number, force: boolean): void {
    const executors = [...this.#model.executors.values()].filter(
      ({ invalid, native }) => invalid && native !== 'gone',
    );
    const executor = executors[pick % Math.max(1, executors.length)];
    const admission = [...this.#model.admissions.values()].find(
      (candidate) => candidate.executor === executor,
    );
    if (!executor || !admission) return;
    if (!force) {
      this.#promised++;
      void this.#router.retryCleanup(admission.executorId).then(() => this.#kept++);
      return;
    }
    if (!this.#router.forceCleanup(admission.executorId)) return;
    this.#history.add({ by: 'person', does: 'forces', executor: executor.number });
    this.#model.forced(executor.number);
  }

  #lose(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#sender.lose();
    this.#history.add({ by: 'link', does: 'loses', on: this.#on });
    this.#shutdown();
  }

  /** As the link does: one attempt after the other until nothing is left. */
  #shutdown(): void {
    this.#model.closed = true;
    const on = this.#on;
    this.#promised++;
    this.#settled = this.#router.shutdown().then((result) => {
      this.#kept++;
      if (result.kind === 'settled') {
        this.#gone = true;
        this.#history.add({ by: 'link', does: 'settles', on });
      }
      return result.kind === 'settled';
    });
  }

  #reconnect(): void {
    if (!this.#lost) return;
    if (!this.#gone) return this.#shutdown();
    const next = this.#connect();
    this.#sender = next.sender;
    this.#router = next.router;
    this.#model = next.model;
    this.#lost = false;
    this.#gone = false;
    this.#settled = null;
  }

  // ---- what is looked at

  #say(frame: ScriptFrame): void {
    this.#seeHarness(this.#model);
    const expected = this.#model.answers(frame);
    if (!this.#lost) this.#history.add({ by: 'core', does: 'says', on: this.#on, frame });
    this.#observed = this.#history.events.length;
    this.#taking = true;
    this.#immediate = [];
    const { type, id, payload } = frame;
    this.#router.receive(JSON.stringify({ type, ...(id === '' ? {} : { id }), payload }));
    this.#taking = false;
    if (expected !== null && expected !== 'started') this.#compare(frame, expected);
  }

  #compare(frame: ScriptFrame, expected: readonly Answer[]): void {
    // A withdrawal may go with anything that ends a Run.
    const got = this.#immediate.filter(({ type }) => type !== 'permission_cancel');
    const same =
      got.length === expected.length &&
      expected.every((answer, at) => {
        const one = got[at];
        return one?.type === answer.type && one.id === answer.id && contains(answer.says, one.payload);
      });
    if (!same)
      throw new BrokenInvariant(
        `answers as the contract says: ${frame.type} ${frame.id} must be answered with ${JSON.stringify(expected)}, not ${JSON.stringify(got)}`,
      );
  }

  #look(after: string): void {
    this.#seeHarness(this.#model);
    const moment: Moment = {
      router: this.#router,
      model: this.#model,
      over: this.#gone,
      liveNative: this.#harness.executors.filter((executor) => !executor.closed).length,
    };
    for (const invariant of liveInvariants) {
      const wrong = invariant.judge(moment);
      if (wrong !== null) throw new BrokenInvariant(`${invariant.name}: ${wrong} (after ${after})`);
    }
  }

  /** The native side does what it is asked from here on; then nothing may be left. */
  async #end(): Promise<void> {
    this.#sender.release();
    this.#harness.cooperate();
    await flush();
    this.#look('cooperate');
    this.#lose();
    for (let attempt = 0; attempt < 5 && !this.#gone; attempt++) {
      await this.#clock.advance(60_000, () => undefined);
      await flush();
      if (!this.#gone && (await this.#settled) === false) this.#shutdown();
    }
    await this.#clock.advance(2 * 3_600_000, () => undefined);
    await flush();
    if (!this.#gone) throw new BrokenInvariant('the shutdown settles: a cooperating Harness was not enough');
    this.#look('shutdown');
    if (this.#kept !== this.#promised)
      throw new BrokenInvariant(`no promise is left: ${this.#promised - this.#kept} never ended`);
    if (this.#clock.pending > 0)
      throw new BrokenInvariant(`no timer is left: ${this.#clock.pending} would still fire`);
    const broken = checkHistory(this.#history.events);
    if (broken.length > 0)
      throw new BrokenInvariant(broken.map(({ rule, why }) => `${rule}: ${why}`).join('\n'));
  }

  // ---- picking

  #run(pick: number): string {
    const active = [...this.#model.runs.keys()];
    const ids = pick < 6 && active.length > 0 ? active : this.#runIds;
    return ids[pick % Math.max(1, ids.length)] ?? 'nobody';
  }

  #turn(pick: number): ScheduleTurn | undefined {
    const open = this.#harness.turns.filter(({ over }) => !over);
    return open[pick % Math.max(1, open.length)];
  }
}

const says = (text: string) => [{ content: [{ type: 'input_text', text }] }];

function preparation(session: string, variant: number) {
  const configuration: Record<string, unknown> = {
    agent_kind: variant === 14 ? 'nobody' : 'contract',
    conversation_id: '',
    run_id: '',
    agent_state_key: variant === 13 ? 'agents-api-other' : `agents-api-${session}`,
    strict_resume: variant !== 12,
    disable_execution_environment: true,
    ...(variant === 11 ? { tool_search: true } : {}),
    ...(variant === 10 ? { agent_session_id: 'native-other' } : {}),
    ...(variant === 9 ? { require_existing_native_session: true } : {}),
    ...(variant === 8 ? { observe_messages: true } : {}),
    ...(variant === 7 ? { release_on_completion: true } : {}),
    ...(variant === 6 ? { agent_session_id: 'native-1' } : {}),
  };
  return { session_id: session, configuration };
}

function localAnswer(family: 'permission' | 'user_choice', variant: number): InteractionAnswer {
  if (family === 'user_choice')
    return variant % 3 === 0
      ? { kind: 'choice', answer: { kind: 'cancelled', reason: null } }
      : { kind: 'choice', answer: { kind: 'answers', answers: new Map([['one', ['A']]]) } };
  const scope = variant % 4 === 0 ? 'turn' : 'once';
  return variant % 2 === 0
    ? { kind: 'permission', scope, answer: { kind: 'allow' } }
    : { kind: 'permission', scope: 'once', answer: { kind: 'deny', message: null } };
}
