import { checkHistory } from '../../../src/conformance/history-checker.ts';
import { History, historyText } from '../../../src/conformance/history.ts';
import type { CoreConnection } from '../../../src/core/connection.ts';
import { LocalCore, type SessionAccess } from '../../../src/core/local-core.ts';
import type { TurnRecord } from '../../../src/core/core-state.ts';
import { delay, systemClock, type Clock } from '../../../src/platform/clock.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { decodeEnvelope } from '../../../src/protocol/envelope.ts';
import { isJsonObject } from '../../../src/protocol/presence.ts';
import { MemoryStorage } from '../../support/core-bed.ts';
import { Dice } from './dice.ts';
import { ChaosProxy, type Weather } from './proxy.ts';
import { ChaosRuntime } from './runtime.ts';
import { scaledClock } from './scaled-clock.ts';

/** How much faster time runs for both ends. */
const FACTOR = 40;
/** Real milliseconds: the storm, and how long everything may take to come to rest after it. */
const STORM_MS = 600;
const REST_MS = 10_000;

export interface ChaosResult {
  readonly turns: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly connections: number;
  readonly events: number;
}

/**
 * One generated run: a real Runtime and a real local Core with a misbehaving network between them. What both ends and
 * the Harness saw is judged by the history checker, and afterwards the two have to work together again.
 */
export async function runChaos(seed: number): Promise<ChaosResult> {
  const bed = await ChaosBed.open(seed);
  try {
    await bed.storm();
    await bed.rest();
    return bed.judge();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`chaos seed ${seed}: ${why}\n${historyText(bed.history.events)}`);
  } finally {
    await bed.close();
  }
}

class ChaosBed {
  readonly history = new History();
  readonly #dice: Dice;
  readonly #clock: Clock;
  readonly #core: LocalCore;
  readonly #access: SessionAccess;
  readonly #proxy: ChaosProxy;
  readonly #runtime: ChaosRuntime;
  readonly #connections: Map<CoreConnection, number>;
  #texts = 0;
  #storming = true;
  #over = false;

  private constructor(
    dice: Dice,
    clock: Clock,
    core: LocalCore,
    access: SessionAccess,
    proxy: ChaosProxy,
    port: number,
    connections: Map<CoreConnection, number>,
    history: History,
  ) {
    this.#dice = dice;
    this.#clock = clock;
    this.#core = core;
    this.#access = access;
    this.#proxy = proxy;
    this.#connections = connections;
    this.history = history;
    this.#runtime = new ChaosRuntime({ clock, history, coreUrl: core.coreUrl, access, proxyPort: port });
  }

  static async open(seed: number): Promise<ChaosBed> {
    const dice = new Dice(seed);
    const clock = scaledClock(FACTOR);
    const history = new History();
    const connections = new Map<CoreConnection, number>();
    const core = await LocalCore.create({
      clock,
      random: systemRandom,
      storage: new MemoryStorage(),
      heartbeatSeconds: 5,
      observer: {
        received: (received, connection) => {
          if (received.outcome !== 'frame')
            throw new Error(`Core could not read a frame (${received.outcome})`);
          const { frame } = received;
          if (frame.type === 'heartbeat') {
            connections.set(connection, Number(frame.payload.daemon_version ?? 0));
            return;
          }
          const body = decodeEnvelope(frame.text)?.payload;
          const payload = isJsonObject(body) ? body : {};
          const on = connections.get(connection) ?? 0;
          history.add({ by: 'core', does: 'hears', on, frame: { type: frame.type, id: frame.id, payload } });
        },
        ended: (_end, connection) => {
          const on = connections.get(connection);
          if (on !== undefined) history.add({ by: 'link', does: 'loses', on });
        },
      },
    });
    await core.listen();
    const access = await core.createSession({ harness: 'contract', workspaceDirectory: null });
    const proxy = new ChaosProxy(dice, Number(new URL(core.coreUrl).port));
    const port = await proxy.listen();
    return new ChaosBed(dice, clock, core, access, proxy, port, connections, history);
  }

  /** Weather, people, Harness and Core act at the same time. */
  async storm(): Promise<void> {
    this.#runtime.link.start();
    void this.#playHarness();
    const actors = [this.#playWeather(), this.#playCore(), this.#playPerson()];
    await delay(systemClock, STORM_MS);
    this.#storming = false;
    await Promise.all(actors);
  }

  /** Fair weather again: every Turn ends, the link serves, and one more Turn goes through. */
  async rest(): Promise<void> {
    this.#proxy.set({ kind: 'fair' });
    await this.#until('every Turn to end', () => this.#turns.every((turn) => turn.state === 'ended'));
    await this.#until('the link to serve', () => this.#runtime.link.state.state === 'serving');
    const last = await this.#submit();
    await this.#until('one more Turn to complete', () => {
      const turn = this.#core.turn(last);
      if (turn?.state === 'ended' && turn.outcome !== 'completed' && turn.outcome !== 'failed')
        throw new Error(
          `the Turn after the storm ended as ${String(turn.outcome)} ${String(turn.errorCode)}`,
        );
      return turn?.state === 'ended';
    });
    this.#over = true;
    this.#runtime.harness.cooperate();
    const stopped = this.#runtime.link.stop().then(() => true);
    if (!(await Promise.race([stopped, delay(systemClock, REST_MS).then(() => false)])))
      throw new Error('the Runtime did not settle');
  }

  judge(): ChaosResult {
    const broken = checkHistory(this.history.events);
    const wrong = broken.map(({ rule, why }) => `${rule}: ${why}`);
    for (const turn of this.#turns) wrong.push(...this.#judgeTurn(turn));
    const live = this.#runtime.harness.executors.filter((executor) => !executor.closed).length;
    if (live > 0) wrong.push(`${live} Executors are left`);
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    const outcomes: Record<string, number> = {};
    for (const turn of this.#turns) {
      const what = `${String(turn.outcome)} ${turn.errorCode ?? ''}`.trim();
      outcomes[what] = (outcomes[what] ?? 0) + 1;
    }
    return {
      turns: this.#turns.length,
      outcomes,
      connections: new Set(this.#connections.values()).size,
      events: this.history.events.length,
    };
  }

  async close(): Promise<void> {
    this.#over = true;
    this.#storming = false;
    this.#runtime.link.dispose();
    this.#runtime.harness.cooperate();
    await this.#proxy.close();
    await this.#core.close();
  }

  get #turns(): readonly TurnRecord[] {
    return this.#core.turns();
  }

  /** What Core recorded of a Turn has to be what happened. */
  #judgeTurn(turn: TurnRecord): string[] {
    const events = this.history.events;
    const starts = events.filter((event) => event.does === 'starts' && event.run === turn.runId).length;
    const wrong: string[] = [];
    if (starts > 1) wrong.push(`the Turn ${turn.runId} was submitted ${starts} times`);
    const settled = events.some(
      (event) =>
        event.does === 'settles' && event.by === 'harness' && event.run === turn.runId && event.settled,
    );
    const said = events
      .filter((event) => event.does === 'emits' && event.run === turn.runId && event.event === 'delta')
      .map((event) => (event.does === 'emits' ? event.text : ''))
      .join('');
    if (turn.outcome === 'completed') {
      if (!settled) wrong.push(`the Turn ${turn.runId} completed at Core and never settled`);
      if (turn.text !== said && !(said === '' && turn.text === 'Hello'))
        wrong.push(`the Turn ${turn.runId} reads "${turn.text}", it said "${said}"`);
    }
    if (turn.outcome === 'cancelled' && turn.errorCode === null && starts > 0 && !settled)
      wrong.push(`the Turn ${turn.runId} was cancelled at Core and never settled`);
    return wrong;
  }

  async #playWeather(): Promise<void> {
    while (this.#storming) {
      const weather = this.#nextWeather();
      this.#proxy.set(weather);
      await delay(systemClock, this.#dice.between(10, weather.kind === 'half_open' ? 200 : 80));
      if (this.#dice.chance(0.25)) this.#proxy.resetAll();
      else if (this.#dice.chance(0.1)) this.#proxy.endAll();
    }
  }

  #nextWeather(): Weather {
    const dice = this.#dice;
    switch (dice.under(7)) {
      case 0:
        return { kind: 'split' };
      case 1:
        return { kind: 'closed' };
      case 2:
        return { kind: 'half_open', direction: dice.pick(['up', 'down', 'both'] as const) ?? 'both' };
      case 3:
      case 4:
        return { kind: 'slow', upTo: dice.between(1, 25) };
      default:
        return { kind: 'fair' };
    }
  }

  async #playCore(): Promise<void> {
    while (this.#storming) {
      await delay(systemClock, this.#dice.between(2, 25));
      const open = this.#turns.filter((turn) => turn.state !== 'ended');
      const turn = this.#dice.pick(open);
      if (!turn || (open.length < 3 && this.#dice.chance(0.4))) await this.#submit();
      else if (this.#dice.chance(0.25)) this.#core.cancel(turn.runId);
      else if (this.#dice.chance(0.5)) this.#core.steer(turn.runId, `input ${++this.#texts}`);
      else {
        const asked = this.#core.interactions()[0];
        if (asked?.kind === 'permission')
          void this.#core.answer(asked.interactionId, {
            kind: 'permission',
            approved: this.#dice.chance(0.5),
          });
      }
    }
  }

  async #playPerson(): Promise<void> {
    while (this.#storming) {
      await delay(systemClock, this.#dice.between(10, 60));
      this.#runtime.answer(this.#dice.chance(0.5));
    }
  }

  /** A Harness that works: it says things, asks things, takes input, ends by itself and when it is told to. */
  async #playHarness(): Promise<void> {
    const { harness } = this.#runtime;
    while (!this.#over) {
      await delay(systemClock, this.#dice.between(1, 8));
      // Closing takes its time, and what a lost connection owned does not always close at the first attempt.
      const failing = this.#runtime.link.state.state === 'settling' && this.#dice.chance(0.5);
      if (this.#dice.chance(0.5)) harness.pending[0]?.answer(failing ? 1 : 0);
      const turn = this.#dice.pick(harness.turns.filter(({ over, began }) => began && !over));
      if (!turn) continue;
      const input = turn.inputs[0];
      if (input) {
        input.written();
        if (this.#dice.chance(0.7)) input.answer({ kind: 'accepted' });
      } else if (turn.cancelled || turn.saidDone || this.#dice.chance(0.12)) {
        if (!turn.cancelled && !turn.saidDone) turn.sayDone();
        turn.settle(this.#dice.chance(0.1) ? 2 : 0);
      } else turn.emit(this.#dice.pick([0, 0, 0, 1, 2, 3, 6]) ?? 0, ++this.#texts);
    }
  }

  async #submit(): Promise<string> {
    const submitted = await this.#core.submit({ prompt: 'hello', sessionId: this.#access.sessionId });
    if (submitted.kind !== 'queued') throw new Error(`Core refused a Turn: ${submitted.reason}`);
    return submitted.runId;
  }

  async #until(what: string, done: () => boolean): Promise<void> {
    for (let waited = 0; waited < REST_MS; waited += 10) {
      if (done()) return;
      await delay(systemClock, 10);
    }
    const open = this.#turns.filter((turn) => turn.state !== 'ended').map((turn) => turn.state);
    throw new Error(
      `waited in vain for ${what}: link ${this.#runtime.link.state.state}, Turns ${open.join(' ')}`,
    );
  }
}
