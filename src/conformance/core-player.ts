import { delay, type Clock } from '../platform/clock.ts';
import { decodeFrame } from '../protocol/codec.ts';
import { prepareViolation, sharedConfigurationViolation } from '../protocol/execution-rules.ts';
import { WIRE_VERSION } from '../protocol/version.ts';
import { Bindings, describe } from './matching.ts';
import type { DialStep, OperatorStep, Scenario, ScriptFrame, Step, TurnCheck } from './scenario.ts';
import { bootstrapAt, ScriptedRuntime, type CoreAddress } from './scripted-runtime.ts';
import { ReplayEnd, SILENCE_MS, type ScenarioResult } from './verdict.ts';

/** Whoever can make Core act: a test's own Core, or a program that the user names. Null when it worked. */
export interface CoreControl {
  operate(step: OperatorStep): Promise<string | null>;
  /** Null where the record of the Turn cannot be seen. */
  turn: ((check: TurnCheck) => Promise<string | null>) | null;
  /** Null where time is Core's own. */
  advance: ((ms: number) => Promise<void>) | null;
}

export interface CoreSubject {
  readonly clock: Clock;
  readonly address: CoreAddress;
  readonly kind: string;
  readonly control: CoreControl | null;
  readonly patience: number;
  /** What a Core without control was seen not to do by itself; it is not waited for again. */
  readonly idle?: Set<OperatorStep['do']>;
}

const LONGEST_WAIT_MS = 2_000;

/** Replays the Core side of a scenario: the scripted Runtime speaks, the Core under test has to act. */
export async function playCore(scenario: Scenario, subject: CoreSubject): Promise<ScenarioResult> {
  const reason = unfit(scenario, subject);
  if (reason !== null) return { kind: 'not_run', reason };
  const replay = new CoreReplay(subject, scenario.setup.without);
  try {
    if (!scenario.steps.some((step) => 'dial' in step)) await replay.join();
    for (const [index, step] of scenario.steps.entries()) await replay.step(step, index);
    return await replay.end(scenario.steps.length);
  } catch (error) {
    if (error instanceof ReplayEnd) return error.result;
    throw error;
  } finally {
    replay.close();
  }
}

function unfit(scenario: Scenario, subject: CoreSubject): string | null {
  if (scenario.unreachable !== undefined) return scenario.unreachable;
  if (!scenario.sides.includes('core')) return 'has no Core side';
  if (!drives(scenario)) return 'nothing in it makes a Core act: it is replayed on our own gateway';
  if (subject.control?.advance) return null;
  const long = scenario.steps.find((step) => 'advance' in step && step.advance > LONGEST_WAIT_MS);
  return long && 'advance' in long ? `takes ${Math.round(long.advance / 1_000)} s` : null;
}

/** Whether a scenario shows how a Core acts, rather than how its gateway carries frames. */
export const drives = (scenario: Scenario): boolean =>
  scenario.steps.some(
    (step) => 'operator' in step || 'dial' in step || ('closed' in step && step.closed === 'core'),
  );

class CoreReplay {
  readonly #s: CoreSubject;
  readonly #without: readonly string[];
  readonly #bindings = new Bindings('core');
  readonly #notes = new Set<string>();
  #runtime: ScriptedRuntime | null = null;
  #at = 0;
  /** What nobody can make Core do: it does so by itself, or the scenario cannot go on. */
  #waitsFor: OperatorStep['do'] | null = null;

  constructor(subject: CoreSubject, without: readonly string[]) {
    this.#s = subject;
    this.#without = without;
  }

  async join(options: { silent: boolean } = { silent: false }): Promise<void> {
    const { address, clock, kind } = this.#s;
    const bootstrap = await bootstrapAt(address);
    if (bootstrap.kind === 'refused')
      this.#fail(`bootstrap was refused (${bootstrap.status} ${bootstrap.error})`);
    if (bootstrap.kind === 'failed') this.#notRun(`Core could not be reached (${bootstrap.why})`);
    if (bootstrap.deviceId !== address.deviceId) this.#fail('bootstrap answered for another device');
    if (bootstrap.version !== WIRE_VERSION) this.#fail(`bootstrap names the version ${bootstrap.version}`);
    const dialed = await ScriptedRuntime.dial(clock, bootstrap.socketUrl, address);
    if (dialed.kind !== 'open') this.#fail('the socket was refused');
    this.#runtime = dialed.runtime;
    if (!options.silent) this.#runtime.heartbeat(kind, this.#without);
  }

  close(): void {
    this.#runtime?.drop();
  }

  async step(step: Step, index: number): Promise<void> {
    this.#at = index + 1;
    const { control, clock } = this.#s;
    if ('core' in step) await this.#expect(step.core, step.optional === true);
    else if ('runtime' in step) this.#runtime?.send(this.#bindings.fill(step.runtime));
    else if ('runtime_text' in step) this.#runtime?.sendText(step.runtime_text);
    else if ('silent' in step) await (step.silent === 'core' ? this.#silence() : undefined);
    else if ('operator' in step) await this.#operate(step.operator);
    else if ('turn' in step) await this.#turn(step.turn);
    else if ('advance' in step) {
      await this.#runtime?.roundTrip();
      await (control?.advance ? control.advance(step.advance) : delay(clock, step.advance));
    } else if ('drop' in step) this.#runtime?.drop();
    else if ('closed' in step) await (step.closed === 'core' ? this.#closed() : this.#runtime?.drop());
    else if ('rejoin' in step) await this.join();
    else if ('reconnect' in step) await this.join({ silent: true });
    else if ('heartbeat' in step) this.#runtime?.heartbeat(this.#s.kind, this.#without);
    else if ('dial' in step) await this.#dial(step.dial);
    // What happens inside a Runtime (`settle`, `native`, `person`, `core_text`) is nothing to a Core.
  }

  async end(steps: number): Promise<ScenarioResult> {
    this.#at = steps;
    if (this.#runtime?.open) await this.#silence();
    return this.#notes.size > 0 ? { kind: 'held', note: [...this.#notes].join('; ') } : { kind: 'held' };
  }

  async #operate(step: OperatorStep): Promise<void> {
    await this.#runtime?.roundTrip();
    const { control } = this.#s;
    if (!control) {
      if (step.do === 'answered')
        return void this.#notes.add('what Core made of the receipt could not be seen');
      if (this.#s.idle?.has(step.do)) this.#notRun(unmoved(step.do));
      this.#waitsFor ??= step.do;
      return;
    }
    const wrong = await control.operate(step);
    if (wrong !== null) this.#fail(wrong);
  }

  async #turn(check: TurnCheck): Promise<void> {
    await this.#runtime?.roundTrip();
    const look = this.#s.control?.turn;
    if (!look) {
      this.#notes.add('what Core recorded could not be seen');
      return;
    }
    const wrong = await look(check);
    if (wrong !== null) this.#fail(wrong);
  }

  async #expect(expected: ScriptFrame, optional: boolean): Promise<void> {
    const got = await this.#next(optional ? SILENCE_MS : this.#s.patience);
    if (!got) {
      if (optional) return;
      if (this.#waitsFor !== null) {
        this.#s.idle?.add(this.#waitsFor);
        this.#notRun(unmoved(this.#waitsFor));
      }
      this.#fail(`expected ${describe(expected)}, got nothing within ${this.#s.patience} ms`);
    }
    this.#waitsFor = null;
    const difference = this.#bindings.match(withoutContent(expected, got), got);
    if (difference !== null) this.#fail(difference);
    const broken = brokenPrepare(got, this.#s.kind);
    if (broken !== null) this.#fail(broken);
  }

  async #next(ms: number): Promise<ScriptFrame | null> {
    const incoming = await this.#runtime?.next(ms);
    if (!incoming) return null;
    if (incoming.kind === 'closed') this.#fail(`Core closed the connection (${incoming.code})`);
    if (incoming.kind === 'broken') this.#fail(`Core sent ${incoming.why}`);
    return incoming.frame;
  }

  async #silence(): Promise<void> {
    await this.#runtime?.roundTrip();
    const got = await this.#next(SILENCE_MS);
    if (got) this.#fail(`expected silence, got ${describe(got)}`);
  }

  async #closed(): Promise<void> {
    const incoming = await this.#runtime?.next(this.#s.patience);
    if (incoming?.kind !== 'closed') this.#fail('expected Core to close the connection');
  }

  async #dial(step: DialStep): Promise<void> {
    const { address, clock } = this.#s;
    const bootstrap = await bootstrapAt(address);
    if (bootstrap.kind !== 'ok') this.#notRun('Core could not be reached');
    for (const as of step.with) {
      const version = as.version?.replace('<version>', WIRE_VERSION);
      const dialed = await ScriptedRuntime.dial(clock, bootstrap.socketUrl, {
        ...(as.device === '' ? {} : { deviceId: as.device ?? address.deviceId }),
        credential: as.credential === undefined ? address.credential : as.credential,
        ...(version === undefined ? {} : { version }),
      });
      if (dialed.kind === 'open') {
        dialed.runtime.drop();
        this.#fail(`admitted a socket dialed with ${JSON.stringify(as)}`);
      }
      const { status, error } = step.refused;
      if (dialed.kind === 'failed') this.#fail(`${JSON.stringify(as)}: ${dialed.why} instead of ${status}`);
      if (dialed.status !== status || dialed.error !== error)
        this.#fail(`${JSON.stringify(as)}: ${dialed.status} ${dialed.error} instead of ${status} ${error}`);
    }
  }

  #fail(why: string): never {
    throw new ReplayEnd({ kind: 'failed', step: this.#at, why });
  }
  #notRun(reason: string): never {
    throw new ReplayEnd({ kind: 'not_run', reason });
  }
}

const needs: Readonly<Record<OperatorStep['do'], string>> = {
  submit: 'starts a Turn',
  cancel: 'cancels its Turn',
  steer: 'adds input to its Turn',
  answer: 'answers an interaction',
  answered: 'shows what an answer came to',
};
const unmoved = (what: OperatorStep['do']): string =>
  `needs a Core that ${needs[what]}, by itself or by a command`;

/** What is Core's own choice is judged by rules, not by equality: the configuration and the words of the person. */
function withoutContent(expected: ScriptFrame, got: ScriptFrame): ScriptFrame {
  const free = { execution_prepare: 'configuration', execution_start: 'input', prompt_steer: 'input' };
  const member = Object.entries(free).find(([type]) => type === expected.type)?.[1];
  if (member === undefined || !(member in expected.payload)) return expected;
  return { ...expected, payload: { ...expected.payload, [member]: got.payload[member] } };
}

/** The rules that every `execution_prepare` of a Core keeps (wire 5.1). */
function brokenPrepare(frame: ScriptFrame, kind: string): string | null {
  if (frame.type !== 'execution_prepare') return null;
  const decoded = decodeFrame(
    JSON.stringify({ type: frame.type, id: frame.id, payload: frame.payload }),
    'core-to-runtime',
  );
  if (decoded.outcome !== 'frame' || decoded.frame.type !== 'execution_prepare')
    return 'an invalid execution_prepare';
  const { payload } = decoded.frame;
  if (payload.configuration.agent_kind !== kind)
    return `prepares the kind ${payload.configuration.agent_kind}`;
  const broken = prepareViolation(payload) ?? sharedConfigurationViolation(payload.configuration);
  return broken ? `breaks a rule of execution_prepare at ${broken.path.join('/')}` : null;
}
