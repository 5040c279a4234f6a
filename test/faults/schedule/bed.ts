import { checkHistory } from '../../../src/conformance/history-checker.ts';
import { History, historyText, type HistoryEvent } from '../../../src/conformance/history.ts';
import { contains } from '../../../src/conformance/matching.ts';
import type { ScriptFrame } from '../../../src/conformance/scenario.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import type { RuntimeFact } from '../../../src/runtime/facts.ts';
import type { InteractionAnswer } from '../../../src/runtime/interactions.ts';
import { Router } from '../../../src/runtime/router.ts';
import type { SuspensionMemory } from '../../../src/runtime/suspension.ts';
import { countingRandom } from '../../support/router-bed.ts';
import { flush, ScheduleClock } from './clock.ts';
import { boundIds, CoreFrames, type ShownPrompt } from './core-frames.ts';
import { ScheduleHarness, type ScheduleTurn } from './harness.ts';
import type { Operation, Schedule } from './operations.ts';
import type { Answer } from './model-state.ts';
import { ReferenceModel } from './reference-model.ts';
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
  /** A shutdown is under way. */
  #shuttingDown = false;
  #lost = false;
  #gone = false;
  #taking = false;
  #immediate: ScriptFrame[] = [];
  #observed = 0;
  readonly #frames: CoreFrames;
  readonly #prompts: ShownPrompt[] = [];
  /** Set while the Runtime is parked by a planned suspension. */
  #suspended: string | null = null;
  readonly #memory: SuspensionMemory = { resumed: null };
  /** What a callback saw go wrong; thrown at the next look. */
  #wrong: string | null = null;
  /** Promises the Runtime gave away; each has to end. */
  #promised = 0;
  #kept = 0;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#frames = new CoreFrames(schedule.bound);
    this.#harness = new ScheduleHarness(this.#history, new Set(schedule.held));
    const first = this.#connect();
    this.#sender = first.sender;
    this.#router = first.router;
    this.#model = first.model;
  }

  /** Output that waits for others gives them one turn of the event loop. */
  get #turns(): number {
    return this.#sender.backedUp ? 2 : 1;
  }

  async play(): Promise<void> {
    for (const operation of this.#schedule.operations) {
      this.#apply(operation);
      if (operation.op === 'advance')
        await this.#clock.advance(operation.ms, () => this.#look(operation.op), this.#turns);
      await flush(this.#turns);
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

  #connect(): { sender: ScheduleSender; router: Router; model: ReferenceModel } {
    const on = ++this.#on;
    const { answeredBy, policy, timeoutMs, bound } = this.#schedule;
    const model = new ReferenceModel({
      now: () => this.#clock.monotonic(),
      coreIsAsked: answeredBy !== 'local',
      bound: bound ? boundIds : null,
      resumed: this.#memory.resumed?.suspendId ?? null,
      nativeIdOf: (run) => this.#nativeIdOf(run),
    });
    const sender = this.#newSender(on, model);
    this.#history.add({ by: 'link', does: 'opens', on });
    const router = new Router(
      {
        clock: this.#clock,
        random: this.#random,
        logger: silentLogger,
        binding: bound ? { ...boundIds, workspace: '/w', recordedDirectory: '/w' } : null,
        harness: (kind) =>
          kind === 'contract'
            ? { adapter: this.#harness, probe: this.#harness.offer(bound ? 'bound' : 'unbound') }
            : null,
        stateDir: () => Promise.resolve('/state'),
        interactions: { policy, answeredBy, timeoutMs },
        executorIdleMs: 60 * 60_000,
        paused: () => false,
        facts: (fact) => this.#fact(model, fact),
        suspension: {
          memory: this.#memory,
          hooks: {
            armed: ({ suspendId }) => {
              // The link closes the socket and keeps the router.
              this.#suspended = suspendId;
              this.#sender.lose();
            },
            failed: () => this.#lose(),
          },
        },
      },
      sender,
    );
    return { sender, router, model };
  }

  #newSender(on: number, model: ReferenceModel): ScheduleSender {
    return new ScheduleSender(this.#clock, {
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
    const turn = this.#harness.turns.find((candidate) => candidate.runId === run && candidate.began);
    return turn?.executor.session ?? null;
  }

  #apply(operation: Operation): void {
    const frames = this.#frames;
    const model = this.#model;
    switch (operation.op) {
      case 'prepare':
        return this.#say(frames.prepare(operation.session, operation.variant, operation.again));
      case 'start': {
        const start = frames.start(model, operation.pick, operation.variant);
        return start ? this.#say(start) : undefined;
      }
      case 'release':
        return this.#say(frames.release(model, operation.pick, operation.variant));
      case 'cancel':
        return this.#say(frames.cancel(model, operation.pick, operation.delivery));
      case 'steer':
        return this.#say(frames.steer(model, operation.pick, operation.input, operation.variant));
      case 'decide':
        return this.#say(frames.decide(this.#prompt(operation.pick), operation.variant));
      case 'result': {
        const turn = this.#turn(operation.pick);
        const calls = [...(turn?.calls ?? [])];
        return this.#say(frames.result(turn?.runId, calls, operation.call, operation.variant));
      }
      case 'direct':
        return this.#say(frames.direct(model, operation.session, operation.variant));
      case 'quiesce':
        return this.#say(frames.quiesce(operation.variant));
      case 'resume':
        return this.#resume(operation.variant);
      case 'device_shutdown':
        return this.#say({ type: 'device_shutdown', id: '', payload: {} });
      case 'native': {
        const { pending } = this.#harness;
        return pending[operation.pick % Math.max(1, pending.length)]?.answer(operation.how);
      }
      case 'emit':
        return this.#turn(operation.pick)?.emit(operation.which, frames.nextText());
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
    const prompt = this.#prompt(pick);
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
    if (this.#shuttingDown) return;
    this.#shuttingDown = true;
    this.#model.closed = true;
    const on = this.#on;
    this.#promised++;
    void this.#router.shutdown().then((result) => {
      this.#kept++;
      this.#shuttingDown = false;
      if (result.kind !== 'settled') return;
      this.#gone = true;
      this.#history.add({ by: 'link', does: 'settles', on });
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
    this.#suspended = null;
  }

  /** The first frame on the connection after a planned suspension, or an ordinary one. */
  #resume(variant: number): void {
    const frame = this.#frames.resume(this.#suspended, variant);
    const suspended = this.#suspended;
    if (suspended === null || this.#lost) return this.#say(frame);
    const next = this.#newSender(this.#on, this.#model);
    this.#sender = next;
    this.#history.add({ by: 'core', does: 'says', on: this.#on, frame });
    this.#promised++;
    void this.#router.resumeOn(next, JSON.stringify(frame)).then((opened) => {
      this.#kept++;
      const expected = frame.payload['suspend_id'] === suspended;
      if (opened !== expected) this.#wrong ??= `resumes exactly what was suspended: ${String(opened)}`;
      this.#suspended = null;
      if (opened) this.#model.resume(suspended);
      else this.#lose();
    });
  }

  #say(frame: ScriptFrame): void {
    // A parked Runtime has no connection to say anything on.
    if (this.#suspended !== null) return;
    this.#seeHarness(this.#model);
    const expected = this.#model.answers(frame);
    if (!this.#lost) this.#history.add({ by: 'core', does: 'says', on: this.#on, frame });
    this.#observed = this.#history.events.length;
    this.#taking = true;
    this.#immediate = [];
    const { type, id, payload } = frame;
    this.#router.receive(JSON.stringify({ type, ...(id === '' ? {} : { id }), payload }));
    this.#taking = false;
    this.#compare(frame, expected);
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
    if (this.#wrong !== null) throw new BrokenInvariant(this.#wrong);
    this.#seeHarness(this.#model);
    const moment: Moment = {
      router: this.#router,
      model: this.#model,
      over: this.#gone,
      undisturbed: this.#harness.turns
        .filter(({ began, over, cancelled }) => began && !over && !cancelled)
        .map(({ runId }) => runId),
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
    await flush(this.#turns);
    this.#look('cooperate');
    this.#lose();
    for (let attempt = 0; attempt < 5 && !this.#gone; attempt++) {
      await this.#clock.advance(60_000, () => undefined);
      await flush(this.#turns);
      if (!this.#gone) this.#shutdown();
    }
    await this.#clock.advance(2 * 3_600_000, () => undefined);
    await flush(this.#turns);
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

  /** The newest ones are the likely open ones. */
  #prompt(pick: number): ShownPrompt | undefined {
    return this.#prompts[this.#prompts.length - 1 - (pick % Math.max(1, this.#prompts.length))];
  }

  #turn(pick: number): ScheduleTurn | undefined {
    const open = this.#harness.turns.filter(({ over }) => !over);
    return open[pick % Math.max(1, open.length)];
  }
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
