import type { CoreControl, CoreSubject } from '../../src/conformance/core-player.ts';
import { contains } from '../../src/conformance/matching.ts';
import type { OperatorStep, TurnCheck } from '../../src/conformance/scenario.ts';
import { LocalCore, type SessionAccess } from '../../src/core/local-core.ts';
import type { AnswerResult, CoreDecision } from '../../src/core/interaction-desk.ts';
import { delay, systemClock, type Clock } from '../../src/platform/clock.ts';
import { countingRandom, MemoryStorage } from './core-bed.ts';
import { FakeClock, settle } from './fake-clock.ts';

/** A local Core on a clock that stands still, with one Session, and whoever acts at it. */
export class LocalCoreControl implements CoreControl {
  readonly core: LocalCore;
  readonly #clock: Clock;
  readonly #access: SessionAccess;
  #runId = '';
  #answer: Promise<AnswerResult> | null = null;

  private constructor(core: LocalCore, clock: Clock, access: SessionAccess) {
    this.core = core;
    this.#clock = clock;
    this.#access = access;
  }

  static async open(options: { clock?: Clock } = {}): Promise<LocalCoreControl> {
    const clock = options.clock ?? new FakeClock();
    const core = await LocalCore.create({ clock, random: countingRandom(), storage: new MemoryStorage() });
    await core.listen();
    const access = await core.createSession({ harness: 'contract', workspaceDirectory: null });
    return new LocalCoreControl(core, clock, access);
  }

  get subject(): CoreSubject {
    return {
      clock: systemClock,
      address: {
        url: this.core.coreUrl,
        deviceId: this.#access.deviceId,
        credential: this.#access.credential,
      },
      kind: 'contract',
      control: this,
      patience: 2_000,
    };
  }

  async operate(step: OperatorStep): Promise<string | null> {
    await settle();
    const wrong = await this.#do(step);
    await settle();
    return wrong;
  }

  /** What the socket brings takes real time to reach Core. */
  readonly turn = async (check: TurnCheck): Promise<string | null> => {
    for (let looks = 0; ; looks++) {
      await settle();
      const wrong = this.#judge(check);
      if (wrong === null || looks === 100) return wrong;
      await delay(systemClock, 10);
    }
  };

  readonly advance = async (ms: number): Promise<void> => {
    await (this.#clock instanceof FakeClock ? this.#clock.advance(ms) : delay(this.#clock, ms));
  };

  #judge(check: TurnCheck): string | null {
    const turn = this.core.turn(this.#runId);
    if (!turn) return 'Core has no such Turn';
    const seen = {
      state: turn.state,
      outcome: turn.outcome,
      code: turn.errorCode,
      text: turn.text,
      inputs: turn.inputs.map((input) => input.state),
    };
    return contains(check, seen)
      ? null
      : `Core recorded ${JSON.stringify(seen)}, not ${JSON.stringify(check)}`;
  }

  async #do(step: OperatorStep): Promise<string | null> {
    switch (step.do) {
      case 'submit': {
        const { sessionId } = this.#access;
        const submitted = await this.core.submit({ prompt: step.prompt, sessionId });
        if (submitted.kind !== 'queued') return `Core refused the Turn: ${submitted.reason}`;
        this.#runId = submitted.runId;
        return null;
      }
      case 'cancel':
        return this.core.cancel(this.#runId) ? null : 'Core has nothing to cancel';
      case 'steer':
        return this.core.steer(this.#runId, step.text) ? null : 'Core took no active input';
      case 'answer':
        this.#answer = this.core.answer(step.interaction, decisionOf(step.decision));
        return null;
      case 'answered': {
        const result = await this.#answer;
        return contains(step.gets, result) ? null : `the answer came to ${JSON.stringify(result)}`;
      }
    }
  }
}

function decisionOf(decision: Readonly<Record<string, unknown>>): CoreDecision {
  if (decision['kind'] !== 'answers') return decision as unknown as CoreDecision;
  return {
    kind: 'answers',
    answers: new Map(Object.entries(decision['answers'] as Record<string, string[]>)),
  };
}
