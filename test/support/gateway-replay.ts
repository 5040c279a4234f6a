import { equal } from '../../src/conformance/matching.ts';
import type { Scenario, ScriptFrame, Step } from '../../src/conformance/scenario.ts';
import { contractCredential, contractDevice, ScriptedCore } from '../../src/conformance/scripted-core.ts';
import { ScriptedRuntime } from '../../src/conformance/scripted-runtime.ts';
import type { CoreConnection } from '../../src/core/connection.ts';
import type { ReceiptResult } from '../../src/core/receipts.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { decodeFrame, type Frame, type FrameContent } from '../../src/protocol/codec.ts';
import { isJsonObject } from '../../src/protocol/presence.ts';
import { definitionOf, type CoreFrameType } from '../../src/protocol/registry.ts';
import { canonicalPayload } from '../../src/protocol/schema-walk.ts';
import { settle } from './fake-clock.ts';

/**
 * Carries the frames of a scenario, as they stand, through the real gateway in both directions: what Core sends is
 * what arrives, and what the Runtime says reaches the one subscriber it is for. Returns what went wrong, or null.
 */
export class GatewayReplay {
  readonly #core: ScriptedCore;
  readonly #judgeRoutes: boolean;
  #runtime: ScriptedRuntime | null = null;
  #routes = new Routes();

  private constructor(core: ScriptedCore, judgeRoutes: boolean) {
    this.#core = core;
    this.#judgeRoutes = judgeRoutes;
  }

  static async play(scenario: Scenario): Promise<string | null> {
    const core = await ScriptedCore.listen({ clock: systemClock });
    const replay = new GatewayReplay(core, scenario.sides.includes('core'));
    try {
      await replay.#join(true);
      for (const [index, step] of scenario.steps.entries()) {
        const wrong = await replay.#step(step);
        if (wrong !== null) return `step ${index + 1}: ${wrong}`;
      }
      return null;
    } finally {
      replay.#runtime?.drop();
      await core.close();
    }
  }

  async #join(beats: boolean): Promise<void> {
    this.#routes = new Routes();
    const dialed = await ScriptedRuntime.dial(systemClock, this.#core.gateway.socketUrl, {
      deviceId: contractDevice,
      credential: contractCredential,
    });
    if (dialed.kind !== 'open') throw new Error(`the gateway refused the scripted Runtime: ${dialed.kind}`);
    this.#runtime = dialed.runtime;
    if (beats) dialed.runtime.heartbeat('contract');
    await dialed.runtime.roundTrip();
  }

  async #step(step: Step): Promise<string | null> {
    if ('core' in step) return this.#fromCore(step.core);
    if ('runtime' in step) return this.#fromRuntime(step.runtime, step.dropped);
    if ('drop' in step || ('closed' in step && step.closed === 'runtime')) {
      this.#runtime?.drop();
      const ended = await this.#core.next(2_000);
      return ended?.kind === 'closed' ? null : 'Core did not notice the loss';
    }
    if ('rejoin' in step || 'reconnect' in step) await this.#join('rejoin' in step);
    if ('heartbeat' in step) this.#runtime?.heartbeat('contract');
    return null;
  }

  async #fromCore(frame: ScriptFrame): Promise<string | null> {
    const { connection } = this.#core;
    if (!connection) return 'the connection is gone';
    this.#routes.before(connection, frame);
    const intended = decodeFrame(
      JSON.stringify({ type: frame.type, id: frame.id, payload: frame.payload }),
      'core-to-runtime',
    );
    // A frame that breaks the contract on purpose cannot be written by our encoders.
    if (intended.outcome !== 'frame' || !sendTyped(connection, intended.frame)) this.#core.send(frame);
    const got = await this.#runtime?.next(2_000);
    if (intended.outcome !== 'frame') return got ? null : `${frame.type} did not arrive`;
    if (got?.kind !== 'frame') return `${frame.type} did not arrive as a frame`;
    const arrived = decodeFrame(
      JSON.stringify({ type: got.frame.type, id: got.frame.id, payload: got.frame.payload }),
      'core-to-runtime',
    );
    return arrived.outcome === 'frame' &&
      arrived.frame.type === frame.type &&
      arrived.frame.id === frame.id &&
      equal(canonical(arrived.frame), canonical(intended.frame))
      ? null
      : `${frame.type} arrived as something else`;
  }

  async #fromRuntime(frame: ScriptFrame, dropped: string | undefined): Promise<string | null> {
    this.#runtime?.send(frame);
    const got = await this.#core.next(2_000);
    if (got?.kind === 'broken') return `Core read ${got.why}`;
    if (got?.kind !== 'frame') return `${frame.type} did not arrive`;
    if (
      got.frame.type !== frame.type ||
      got.frame.id !== frame.id ||
      !equal(got.frame.payload, frame.payload)
    )
      return `${frame.type} arrived as something else`;
    await settle();
    return this.#judgeRoutes ? this.#routes.after(frame, dropped !== undefined) : null;
  }
}

/** Without the difference between a zero value that was written and one that was left out. */
const canonical = (frame: Frame): unknown =>
  canonicalPayload(definitionOf(frame.type).payload, frame.payload);

function sendTyped(connection: CoreConnection, frame: Frame<CoreFrameType>): boolean {
  try {
    const content = { id: frame.id, payload: frame.payload } as FrameContent<CoreFrameType>;
    return connection.send(frame.type, content) === 'queued';
  } catch {
    return false;
  }
}

/** Everything a Core would have subscribed to, and what reached it. */
class Routes {
  readonly #preparations = new Map<string, unknown[]>();
  readonly #runs = new Map<string, unknown[]>();
  readonly #interactions = new Map<string, string>();
  readonly #receipts = new Map<string, ReceiptResult[]>();

  before(connection: CoreConnection, frame: ScriptFrame): void {
    const { payload, id } = frame;
    if (frame.type === 'execution_prepare' && !this.#preparations.has(id)) {
      const seen: unknown[] = [];
      this.#preparations.set(id, seen);
      const subscription = connection.subscribePreparation(id);
      if (subscription) void pump(subscription, (event) => seen.push(event));
    }
    const runId =
      frame.type === 'execution_start' ? payload['run_id'] : frame.type === 'prompt_request' ? id : '';
    if (typeof runId === 'string' && runId !== '' && !this.#runs.has(runId)) {
      const seen: unknown[] = [];
      this.#runs.set(runId, seen);
      void pump(connection.subscribeRun(runId), (event) =>
        seen.push(isJsonObject(event) ? event['payload'] : event),
      );
    }
    const delivery = payload['delivery_id'];
    if (typeof delivery === 'string' && delivery !== '') {
      const seen: ReceiptResult[] = [];
      this.#receipts.set(delivery, seen);
      void connection.receipt(delivery, 60_000).then((result) => seen.push(result));
    }
  }

  /** Null when the frame reached whom it was for, and nobody else. */
  after(frame: ScriptFrame, dropped: boolean): string | null {
    const taken = this.#take(frame);
    if (dropped) return taken === null ? null : `${frame.type} should have been dropped`;
    if (taken === undefined) return null;
    return taken === null ? `${frame.type} reached nobody` : null;
  }

  /** What the subscriber got; null for nothing, undefined where nobody could have subscribed. */
  #take(frame: ScriptFrame): unknown {
    const { payload, id } = frame;
    if (frame.type === 'preparation_status') return takeFrom(this.#preparations.get(id));
    if (frame.type === 'interaction_decision_ack')
      return takeFrom(this.#receipts.get(String(payload['delivery_id'])));
    const opened = payload['request_id'];
    if (frame.type === 'permission_request' && typeof opened === 'string') this.#interactions.set(opened, id);
    const runId = frame.type === 'permission_cancel' ? this.#interactions.get(id) : id;
    return takeFrom(this.#runs.get(runId ?? ''));
  }
}

const takeFrom = (seen: unknown[] | undefined): unknown =>
  seen === undefined ? undefined : (seen.shift() ?? null);

async function pump(
  subscription: { next(): Promise<{ kind: 'event'; event: unknown } | { kind: 'end' }> },
  take: (event: unknown) => void,
): Promise<void> {
  for (;;) {
    const observation = await subscription.next();
    if (observation.kind === 'end') return;
    take(observation.event);
  }
}
