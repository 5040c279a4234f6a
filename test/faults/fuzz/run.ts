import { noSteps } from '../../support/no-preparation.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { checkHistory } from '../../../src/conformance/history-checker.ts';
import { History, historyText } from '../../../src/conformance/history.ts';
import type { ScriptFrame } from '../../../src/conformance/scenario.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { decodeEnvelope } from '../../../src/protocol/envelope.ts';
import { isJsonObject, type JsonObject } from '../../../src/protocol/presence.ts';
import { Router } from '../../../src/runtime/router.ts';
import { LocalWorkspace } from '../../../src/workspace/local-workspace.ts';
import { acceptedFrames, rejectedFrames } from '../../support/frame-fixtures.ts';
import { countingRandom } from '../../support/router-bed.ts';
import { Dice } from '../chaos/dice.ts';
import { ScheduleClock, flush } from '../schedule/clock.ts';
import { boundIds } from '../schedule/core-frames.ts';
import { ScheduleHarness } from '../schedule/harness.ts';
import { ScheduleSender } from '../schedule/sender.ts';
import { message, mutate } from './mutations.ts';
import { namedReply } from './replies.ts';

/** Frames that one connection gets before the next begins. */
const PER_CONNECTION = 400;

export interface FuzzResult {
  readonly frames: number;
  readonly replies: number;
  readonly types: ReadonlyMap<string, number>;
  /** Bytes of heap that the second half of the run added. */
  readonly growth: number;
}

const corpus: readonly JsonObject[] = [
  ...[...acceptedFrames().values()].flat(),
  ...[...rejectedFrames().values()].flat().map(({ frame }) => frame),
];

/** Hands mutated frames to a Router with live work and judges every reply. */
export async function runFuzz(options: { seed: number; frames: number }): Promise<FuzzResult> {
  const dice = new Dice(options.seed);
  const folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
  writeFileSync(join(folder, 'README.md'), 'hello workspace\n');
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', onUnhandled);
  const types = new Map<string, number>();
  let replies = 0;
  let frames = 0;
  let halfway = 0;
  try {
    for (let connection = 0; frames < options.frames; connection++) {
      const bed = new FuzzBed(dice, connection % 2 === 0 ? null : folder);
      const seen = await bed.play(Math.min(PER_CONNECTION, options.frames - frames));
      frames += seen.frames;
      for (const [type, count] of seen.replies) {
        replies += count;
        types.set(type, (types.get(type) ?? 0) + count);
      }
      if (unhandled.length > 0)
        throw new Error(`fuzz seed ${options.seed}: unhandled: ${String(unhandled[0])}`);
      if (halfway === 0 && frames >= options.frames / 2) halfway = heapAfterCollection();
    }
  } catch (error) {
    throw new Error(`fuzz seed ${options.seed}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    process.off('unhandledRejection', onUnhandled);
    rmSync(folder, { recursive: true, force: true });
  }
  return { frames, replies, types, growth: heapAfterCollection() - halfway };
}

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') (collect as () => void)();
  return process.memoryUsage().heapUsed;
}

class FuzzBed {
  readonly #dice: Dice;
  readonly #clock = new ScheduleClock();
  readonly #history = new History();
  readonly #harness = new ScheduleHarness(this.#history, new Set());
  readonly #router: Router;
  readonly #bound: boolean;
  readonly #replies = new Map<string, number>();
  readonly #recent: string[] = [];
  /** Ids that mean something at the moment, so that mutated frames meet live work. */
  readonly #live: { handle: string; executor: string; request: string }[] = [];
  readonly #runs: string[] = [];
  readonly #prompts: string[] = [];
  #wrong: string | null = null;
  #n = 0;

  constructor(dice: Dice, folder: string | null) {
    this.#dice = dice;
    this.#bound = folder !== null;
    const on = 1;
    this.#history.add({ by: 'link', does: 'opens', on });
    const sender = new ScheduleSender(this.#clock, {
      attempted: () => undefined,
      heard: (frame) => this.#hear(frame),
      gaveUp: () => undefined,
    });
    this.#router = new Router(
      {
        clock: this.#clock,
        random: countingRandom(),
        logger: silentLogger,
        binding: folder === null ? null : { ...boundIds, workspace: folder, recordedDirectory: folder },
        harness: (kind) =>
          kind === 'contract' || kind === 'codex'
            ? { adapter: this.#harness, probe: this.#harness.offer(this.#bound ? 'bound' : 'unbound') }
            : null,
        stateDir: () => Promise.resolve('/state'),
        interactions: { policy: 'ask', answeredBy: 'both', timeoutMs: null },
        executorIdleMs: 60 * 60_000,
        paused: () => false,
        facts: (fact) => {
          if (fact.type !== 'interaction_opened') return;
          const { id: interaction, runId: run } = fact;
          this.#prompts.push(interaction);
          this.#history.add({ by: 'person', does: 'sees', interaction, run, key: fact.request.native.key });
        },
        workspace:
          folder === null
            ? null
            : new LocalWorkspace({
                root: folder,
                stateDir: join(folder, '.state'),
                logger: silentLogger,
                // Nothing that a frame names is ever run.
                createSteps: () => noSteps,
              }),
        suspension: {
          memory: { resumed: null },
          hooks: { armed: () => undefined, failed: () => undefined },
        },
      },
      sender,
    );
  }

  async play(count: number): Promise<{ frames: number; replies: ReadonlyMap<string, number> }> {
    for (let frame = 0; frame < count; frame++) {
      if (frame % 40 === 0) await this.#keepAlive();
      this.#one();
      if (frame % 4 === 0) await flush();
      if (this.#wrong !== null) throw new Error(`${this.#wrong}\nafter ${this.#recent.join('\n')}`);
    }
    await this.#end();
    return { frames: count, replies: this.#replies };
  }

  /** Admissions, Runs, prompts and calls for the frames to hit; now and then time passes. */
  async #keepAlive(): Promise<void> {
    const n = ++this.#n;
    const session = this.#bound ? boundIds.sessionId : `s${n % 6}`;
    this.#say({ type: 'execution_prepare', id: `p${n}`, payload: preparation(session, this.#bound) });
    await flush();
    const ready = this.#live[this.#live.length - 1];
    if (ready?.request === `p${n}`) {
      const payload = {
        executor_id: ready.executor,
        handle: ready.handle,
        run_id: `r${n}`,
        input: [{ content: [{ type: 'input_text', text: 'hello' }] }],
      };
      this.#runs.push(`r${n}`);
      this.#say({ type: 'execution_start', id: ready.request, payload });
      await flush();
    }
    for (const turn of this.#harness.turns.filter(({ over }) => !over).slice(-2)) {
      turn.emit(this.#dice.under(8), n);
      if (this.#dice.chance(0.3)) turn.inputs[0]?.answer({ kind: 'accepted' });
    }
    for (const turn of this.#harness.turns) {
      if (turn.over || !(turn.cancelled || this.#dice.chance(0.15))) continue;
      if (!turn.saidDone) turn.sayDone();
      turn.settle(0);
    }
    if (this.#dice.chance(0.1)) await this.#clock.advance(60_000, () => undefined);
    await flush();
  }

  #one(): void {
    const dice = this.#dice;
    const frame = this.#aim(dice.pick(corpus) ?? {});
    const mutated = mutate(frame, dice, dice.pick(corpus) ?? {});
    const sent = message(mutated, dice);
    this.#note(sent);
    try {
      this.#router.receive(sent);
    } catch (error) {
      this.#wrong ??= `receive threw ${String(error)}`;
    }
  }

  /** A frame of the corpus with some ids of what is alive here. */
  #aim(frame: JsonObject): JsonObject {
    const dice = this.#dice;
    const payload = isJsonObject(frame['payload']) ? { ...frame['payload'] } : frame['payload'];
    const aimed: JsonObject = { ...frame, ...(payload === undefined ? {} : { payload }) };
    const live = dice.pick(this.#live);
    const run = dice.pick(this.#runs.slice(-3));
    const prompt = dice.pick(this.#prompts.slice(-3));
    const type = String(frame['type']);
    if (dice.chance(0.7)) {
      if (/^(prompt_cancel|prompt_steer|function_result)$/.test(type) && run) aimed['id'] = run;
      if (/_decision$/.test(type) && prompt) aimed['id'] = prompt;
      if (/^execution_(start|release)$/.test(type) && live) aimed['id'] = live.request;
      if (isJsonObject(payload) && live) {
        if ('handle' in payload) payload['handle'] = live.handle;
        if ('executor_id' in payload) payload['executor_id'] = live.executor;
      }
      if (isJsonObject(payload) && 'environment_id' in payload)
        payload['environment_id'] = boundIds.environmentId;
      if (isJsonObject(payload) && 'session_id' in payload && this.#bound)
        payload['session_id'] = boundIds.sessionId;
    }
    // A suspension would end the connection, which is not what is looked for here.
    if (type === 'environment_quiesce' && dice.chance(0.95)) aimed['type'] = 'environment_resume';
    return aimed;
  }

  #say(frame: ScriptFrame): void {
    const text = JSON.stringify(frame);
    this.#note(text);
    this.#router.receive(text);
  }

  /** What was said, as far as it can be read at all. */
  #note(sent: string | Uint8Array): void {
    const envelope = decodeEnvelope(sent);
    this.#recent.push(typeof sent === 'string' ? sent.slice(0, 600) : `bytes of ${sent.length}`);
    if (this.#recent.length > 8) this.#recent.shift();
    if (!envelope) return;
    const payload = isJsonObject(envelope.payload) ? envelope.payload : {};
    this.#history.add({
      by: 'core',
      does: 'says',
      on: 1,
      frame: { type: envelope.type, id: envelope.id, payload },
    });
  }

  #hear(frame: ScriptFrame): void {
    this.#replies.set(frame.type, (this.#replies.get(frame.type) ?? 0) + 1);
    this.#history.add({ by: 'core', does: 'hears', on: 1, frame });
    const wrong = namedReply(frame);
    if (wrong !== null) this.#wrong ??= wrong;
    const { handle, executor_id: executor, state } = frame.payload;
    if (state === 'ready' && typeof handle === 'string' && typeof executor === 'string')
      this.#live.push({ handle, executor, request: frame.id });
  }

  async #end(): Promise<void> {
    this.#harness.cooperate();
    await flush();
    let settled = false;
    for (let attempt = 0; attempt < 20 && !settled; attempt++) {
      const over = this.#router.shutdown().then((result) => (settled = result.kind === 'settled'));
      await this.#clock.advance(200_000, () => undefined);
      // Files of transfers take real time.
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 20))]);
    }
    if (!settled) throw new Error('the connection did not settle after it');
    const broken = checkHistory(this.#history.events);
    if (broken.length === 0) return;
    const why = broken.map((rule) => `${rule.rule}: ${rule.why}`).join('\n');
    throw new Error(`${why}\n${historyText(this.#history.events).slice(-20_000)}`);
  }
}

function preparation(session: string, bound: boolean): JsonObject {
  const environment = bound
    ? {
        local_environment: {
          id: boundIds.environmentId,
          workspace_directory: '/workspace',
          capability_sources: null,
        },
      }
    : { disable_execution_environment: true };
  return {
    session_id: session,
    configuration: {
      agent_kind: 'contract',
      conversation_id: '',
      run_id: '',
      agent_state_key: `agents-api-${session}`,
      strict_resume: true,
      ...environment,
    },
  };
}
