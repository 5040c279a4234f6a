import { delay, type Clock } from '../platform/clock.ts';
import { capabilityNames } from '../protocol/capabilities.ts';
import { descriptorOf } from '../protocol/heartbeat.ts';
import { WIRE_VERSION } from '../protocol/version.ts';
import { Bindings, contains, describe } from './matching.ts';
import { adapt, type Profile } from './profile.ts';
import type { DialStep, NativeStep, PersonStep, Scenario, ScriptFrame, Step } from './scenario.ts';
import { contractDevice, type ScriptedCore } from './scripted-core.ts';
import { ReplayEnd, SILENCE_MS, type ScenarioResult } from './verdict.ts';

/** What a test has in its hands when the Runtime is its own. Each call says what went wrong, or null. */
export interface RuntimeControl {
  native(step: NativeStep): Promise<string | null>;
  settle(step: Extract<Step, { settle: unknown }>['settle']): Promise<string | null>;
  person(step: PersonStep, interactionId: string): Promise<string | null>;
  advance(ms: number): Promise<void>;
}

export interface RuntimeSubject {
  readonly clock: Clock;
  readonly core: ScriptedCore;
  readonly profile: Profile;
  /** Null for a foreign Runtime: its Harness and its clock are its own. */
  readonly control: RuntimeControl | null;
  /** How long the next frame may take, milliseconds. */
  readonly patience: number;
  /** Starts the Runtime; what it dials is there already. */
  start(): Promise<void>;
}

/** Frames that a Harness of its own may send at any time during a Run. */
const harnessOutput: ReadonlySet<string> = new Set([
  'delta',
  'thinking',
  'output_message',
  'tool_call',
  'command_output',
  'usage',
  'permission_request',
  'permission_cancel',
  'prompt_for_user_choice',
  'error',
  'subagent_identity',
  'subagent_lifecycle',
  'subagent_turn',
  'subagent_item',
  'subagent_coordination',
]);

/** Families that a Runtime serves or refuses by their own code. */
const families = [
  { name: 'workspace_read', result: 'workspace_read_result', unsupported: 'read_unsupported' },
  { name: 'workspace_write', result: 'workspace_write_result', unsupported: 'write_unsupported' },
  {
    name: 'runtime_prepare',
    result: 'runtime_prepare_result',
    unsupported: 'runtime_preparation_unsupported',
  },
] as const;

/** A Runtime that lost its connection, or was suspended, is back within this time. */
const RETURN_MS = 45_000;
const REAL_DIAL_MS = 10;

/** A longer wait of a real clock is not worth a replay. */
const LONGEST_WAIT_MS = 2_000;

/** Replays the Runtime side of a scenario: the scripted Core speaks, the Runtime under test has to answer. */
export async function playRuntime(scenario: Scenario, subject: RuntimeSubject): Promise<ScenarioResult> {
  const reason = await unfit(scenario, subject);
  if (reason !== null) return { kind: 'not_run', reason };
  const replay = new RuntimeReplay(subject, scenario.requires);
  try {
    replay.judgeDials();
    for (const [index, step] of scenario.steps.entries()) await replay.step(step, index);
    return await replay.end(scenario.steps.length);
  } catch (error) {
    if (error instanceof ReplayEnd) return error.result;
    throw error;
  }
}

/** Why a scenario cannot be played on this Runtime; null when it can. Waits for the first heartbeat. */
async function unfit(scenario: Scenario, subject: RuntimeSubject): Promise<string | null> {
  if (scenario.unreachable !== undefined) return scenario.unreachable;
  if (!scenario.sides.includes('runtime')) return 'has no Runtime side';
  if (!subject.control) {
    const needs = needsControl(scenario);
    if (needs !== null) return needs;
  }
  const dial = scenario.steps.find((step) => 'dial' in step);
  if (dial) subject.core.refuseWith(dial.dial.refused);
  await subject.start();
  if (dial) return null;
  if (!(await subject.core.ready(subject.patience)))
    return 'the Runtime did not connect and say what it offers';
  return unmetRequirement(scenario, subject);
}

function unmetRequirement(scenario: Scenario, subject: RuntimeSubject): string | null {
  const heartbeat = subject.core.heartbeat;
  const descriptor = heartbeat ? descriptorOf(heartbeat, subject.profile.kind) : undefined;
  if (!descriptor) return `the Runtime does not offer the kind ${subject.profile.kind}`;
  for (const needed of scenario.requires) {
    if (needed === 'bound' && !subject.profile.bound) return 'needs a bound folder';
    if (needed === 'seeded' && !subject.profile.bound) return 'needs a bound folder';
    if (needed === 'unbound' && subject.profile.bound) return 'needs more than the one bound Session';
    const capability = capabilityNames.find((name) => name === needed);
    if (capability && !descriptor.capabilities[capability]) return `the kind does not declare ${needed}`;
  }
  return null;
}

function needsControl(scenario: Scenario): string | null {
  if (scenario.setup.without.length > 0) return 'needs a kind that does not declare a capability';
  if (scenario.setup.policy ?? scenario.setup.answered_by) return 'needs other settings of the Runtime';
  for (const step of scenario.steps) {
    if ('native' in step && !isReplaceable(step.native)) return 'needs control of the Harness';
    if ('person' in step) return 'needs an answer at the Runtime';
    if ('advance' in step && step.advance > LONGEST_WAIT_MS)
      return `takes ${Math.round(step.advance / 1_000)} s`;
  }
  return null;
}

/** Steps that a foreign Harness does by itself, or that Core can bring about. */
function isReplaceable(step: NativeStep): boolean {
  switch (step.do) {
    case 'expect':
      return true;
    case 'emit':
      return step.or_wait === true;
    case 'finish':
      return step.or_cancel !== undefined;
    default:
      return false;
  }
}

class RuntimeReplay {
  readonly #s: RuntimeSubject;
  readonly #bindings = new Bindings('runtime');
  readonly #notes = new Set<string>();
  readonly #requires: readonly string[];
  #at = 0;

  constructor(subject: RuntimeSubject, requires: readonly string[]) {
    this.#s = subject;
    this.#requires = requires;
  }

  async step(step: Step, index: number): Promise<void> {
    this.#at = index + 1;
    const { core, control } = this.#s;
    // What was said before comes before what happens next.
    if (!('core' in step || 'runtime' in step)) await core.roundTrip();
    if ('core' in step) {
      if (!core.send(adapt(this.#bindings.fill(step.core), this.#s.profile)))
        this.#fail(`${step.core.type} could not be sent: the connection is closed`);
    } else if ('core_text' in step) core.sendText(step.core_text);
    else if ('runtime' in step) await this.#expect(step.runtime, step.foreign);
    else if ('silent' in step) await (step.silent === 'runtime' ? this.#silence() : undefined);
    else if ('settle' in step) await this.#settle(step.settle);
    else if ('native' in step) await this.#native(step.native);
    else if ('person' in step) {
      const id = this.#bindings.get('interaction', step.person.interaction);
      this.#check((await control?.person(step.person, String(id ?? step.person.interaction))) ?? null);
    } else if ('advance' in step) {
      if (control) await control.advance(step.advance);
      else await delay(this.#s.clock, step.advance);
    } else if ('drop' in step) core.drop();
    else if ('closed' in step) await this.#closed();
    else if ('rejoin' in step) await this.#rejoin();
    else if ('reconnect' in step) await this.#reconnect();
    else if ('heartbeat' in step) {
      if (!(await core.ready(this.#s.patience))) this.#fail('no valid heartbeat came');
    } else if ('dial' in step) await this.#dial(step.dial);
    // `operator`, `turn` and `runtime_text` belong to the Core side.
  }

  /** Nothing may follow what the scenario lists. */
  async end(steps: number): Promise<ScenarioResult> {
    this.#at = steps;
    if (this.#s.core.connection) await this.#silence();
    return this.#notes.size > 0 ? { kind: 'held', note: [...this.#notes].join('; ') } : { kind: 'held' };
  }

  async #expect(
    expected: ScriptFrame,
    foreign: Readonly<Record<string, unknown>> | undefined,
  ): Promise<void> {
    const got = await this.#next(this.#s.patience, expected.type);
    if (!got && !this.#s.control && harnessOutput.has(expected.type))
      this.#notRun(`the Harness sent no ${expected.type} by itself`);
    if (!got) this.#fail(`expected ${describe(expected)}, got nothing within ${this.#s.patience} ms`);
    if (foreign && !this.#s.control) {
      const difference = this.#bindings.matchGenerated(expected, got);
      if (difference !== null) this.#fail(difference);
      if (!contains(foreign, got.payload)) {
        if (expected.type === 'interaction_decision_ack' && got.payload['error_code'] === 'run_inactive')
          this.#notRun('the Turn ended by itself before the scenario came to it');
        this.#fail(
          `${expected.type}: expected ${JSON.stringify(foreign)}, got ${JSON.stringify(got.payload)}`,
        );
      }
      return;
    }
    const difference = this.#bindings.match(adapt(expected, this.#s.profile), got);
    if (difference === null) return;
    this.#whetherServed(got);
    this.#fail(difference);
  }

  /** No heartbeat says whether these families are served; their own refusal does. */
  #whetherServed(got: ScriptFrame): void {
    const family = families.find(({ result }) => result === got.type);
    if (!family) return;
    const refused = got.payload['error_code'] === family.unsupported;
    if (refused && this.#requires.includes(`serves ${family.name}`))
      this.#notRun(`the Runtime does not serve ${family.name}`);
    if (!refused && this.#requires.includes(`does not serve ${family.name}`))
      this.#notRun(`the Runtime serves ${family.name}`);
  }

  /** The next frame of the Runtime; what a foreign Harness adds of its own is passed over. */
  async #next(ms: number, awaited: string | null): Promise<ScriptFrame | null> {
    for (;;) {
      const incoming = await this.#s.core.next(ms);
      if (!incoming) return null;
      if (incoming.kind === 'closed') this.#fail(`the connection ended (${incoming.end})`);
      if (incoming.kind === 'broken') this.#fail(`the Runtime sent ${incoming.why}`);
      if (this.#s.control) return incoming.frame;
      if (harnessOutput.has(incoming.frame.type) && incoming.frame.type !== awaited) continue;
      // A Harness of its own may be through with its Turn before the scenario comes to it.
      if (incoming.frame.type === 'done' && awaited !== 'done') {
        if (awaited === null) continue;
        this.#notRun('the Turn ended by itself before the scenario came to it');
      }
      return incoming.frame;
    }
  }

  async #silence(): Promise<void> {
    const got = await this.#next(SILENCE_MS, null);
    if (got) this.#fail(`expected silence, got ${describe(got)}`);
  }

  async #native(step: NativeStep): Promise<void> {
    const { control, core } = this.#s;
    if (control) return this.#check(await control.native(step));
    if (step.do === 'finish' && step.or_cancel !== undefined)
      core.send({ type: 'prompt_cancel', id: step.or_cancel, payload: {} });
  }

  async #settle(step: Extract<Step, { settle: unknown }>['settle']): Promise<void> {
    if (!this.#s.control) {
      this.#notes.add('when the native work settled could not be seen');
      return;
    }
    if (this.#s.core.connection) await this.#silence();
    this.#check(await this.#s.control.settle(step));
  }

  async #closed(): Promise<void> {
    const incoming = await this.#s.core.next(this.#s.patience);
    if (!incoming) this.#fail('expected the connection to be closed');
    if (incoming.kind === 'frame')
      this.#fail(`expected the connection to be closed, got ${describe(incoming.frame)}`);
  }

  async #rejoin(): Promise<void> {
    await this.#comeBack();
    if (!(await this.#s.core.ready(this.#s.patience))) this.#fail('the Runtime did not say what it offers');
  }

  async #reconnect(): Promise<void> {
    await this.#comeBack();
    await this.#silence();
    if (this.#s.core.heartbeat) this.#fail('the Runtime sent a heartbeat before it was resumed');
  }

  /** A second after a loss, half a minute after a suspension; under control the time is moved on. */
  async #comeBack(): Promise<void> {
    const { core, control } = this.#s;
    for (let waited = 0; control && waited < 120 && !core.connection; waited++) {
      await control.advance(1_000);
      // The socket itself opens in real time, and must have it before the next second of the Runtime's.
      await core.joined(REAL_DIAL_MS);
    }
    if (!core.connection && (control !== null || !(await core.joined(RETURN_MS))))
      this.#fail('the Runtime did not come back');
  }

  /** Every attempt is refused; whether it is tried again says whether the refusal was taken as permanent. */
  async #dial(step: DialStep): Promise<void> {
    const { core, control, patience } = this.#s;
    if (core.dials.length === 0 && !(await core.dialed(patience))) this.#fail('the Runtime did not dial');
    const window = step.permanent
      ? control
        ? 4 * SILENCE_MS
        : LONGEST_WAIT_MS
      : control
        ? patience
        : RETURN_MS;
    const again = core.dialed(window);
    if (control) for (let s = 0; s < 40; s++) await control.advance(1_000);
    if ((await again) === step.permanent)
      this.#fail(step.permanent ? 'dialed again after a permanent refusal' : 'did not dial again');
    this.judgeDials();
  }

  /** However a socket was opened: the version, the device, and the credential in its one place. */
  judgeDials(): void {
    for (const seen of this.#s.core.dials) {
      if (seen.version !== WIRE_VERSION) this.#fail(`dialed with the version ${String(seen.version)}`);
      if (seen.deviceId !== contractDevice) this.#fail('dialed without its device id');
      if (!seen.bearer) this.#fail('dialed without its credential in the Authorization header');
      if (seen.credentialInUrl) this.#fail('put its credential into the URL');
    }
  }

  #check(wrong: string | null): void {
    if (wrong !== null) this.#fail(wrong);
  }
  #fail(why: string): never {
    throw new ReplayEnd({ kind: 'failed', step: this.#at, why });
  }
  #notRun(reason: string): never {
    throw new ReplayEnd({ kind: 'not_run', reason });
  }
}
