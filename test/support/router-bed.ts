import { silentLogger } from '../../src/observe/logger.ts';
import type { Random } from '../../src/platform/random.ts';
import { decodeFrame, encodeFrame } from '../../src/protocol/codec.ts';
import type { CoreFrameType, FramePayload } from '../../src/protocol/registry.ts';
import type { RuntimeFact } from '../../src/runtime/facts.ts';
import type {
  Binding,
  InteractionSettings,
  RuntimeFrame,
  SendResult,
  Sender,
} from '../../src/runtime/ports.ts';
import { Router } from '../../src/runtime/router.ts';
import type { WorkspaceService } from '../../src/workspace/workspace-service.ts';
import { ControlledHarness } from './controlled-harness.ts';
import { FakeClock, settle } from './fake-clock.ts';

/** Counts up, so that ids are told apart and runs repeat exactly. */
export function countingRandom(): Random {
  let n = 0;
  const next = (): string => String(++n).padStart(12, '0');
  return {
    uuid: () => `00000000-0000-4000-8000-${next()}`,
    hex: (bytes) => next().padStart(bytes * 2, '0'),
    fraction: () => 0.5,
  };
}

export interface SentFrame {
  readonly type: string;
  readonly id: string;
  readonly payload: unknown;
}

/** A Router with a controlled Harness, a clock that stands still and a sender that records what left. */
export class RouterBed {
  readonly clock = new FakeClock();
  readonly harness = new ControlledHarness();
  readonly sent: SentFrame[] = [];
  readonly facts: RuntimeFact[] = [];
  /** A person may change them while it runs. */
  readonly interactions: { -readonly [K in keyof InteractionSettings]: InteractionSettings[K] } = {
    policy: 'ask',
    answeredBy: 'both',
    timeoutMs: null,
  };
  readonly router: Router;
  paused = false;
  /** Suspension ids the link was told to park with, or `failed`. */
  readonly suspended: string[] = [];
  /** Decides what becomes of each frame; the default writes it. */
  onSend: (frame: RuntimeFrame) => Promise<SendResult> | SendResult = () => 'written';
  backedUp = false;

  constructor(
    options: {
      binding?: Binding;
      interactions?: Partial<InteractionSettings>;
      workspace?: WorkspaceService;
    } = {},
  ) {
    Object.assign(this.interactions, options.interactions);
    const sender: Sender = {
      send: (frame) => this.#send(frame),
      stream: async (frame) => {
        const result = await this.#send(frame);
        return result === 'written' ? 'entered' : result;
      },
      get backedUp() {
        return bed.backedUp;
      },
    };
    const bed = this;
    this.router = new Router(
      {
        clock: this.clock,
        random: countingRandom(),
        logger: silentLogger,
        binding: options.binding ?? null,
        harness: (kind) =>
          kind === this.harness.kind ? { adapter: this.harness, probe: this.harness.offer() } : null,
        stateDir: (sessionId) => Promise.resolve(`/state/${sessionId}`),
        interactions: this.interactions,
        executorIdleMs: 60 * 60_000,
        paused: () => this.paused,
        workspace: options.workspace ?? null,
        facts: (fact) => this.facts.push(fact),
        suspension: {
          memory: { resumed: null },
          hooks: {
            armed: (identity) => this.suspended.push(identity.suspendId),
            failed: () => this.suspended.push('failed'),
          },
        },
      },
      sender,
    );
  }

  /** One frame of Core, encoded and handed over as bytes. */
  async core<T extends CoreFrameType>(type: T, id: string, payload: FramePayload<T>): Promise<void> {
    this.router.receive(encodeFrame(type, { id, payload }).text);
    await settle();
  }
  async raw(text: string): Promise<void> {
    this.router.receive(text);
    await settle();
  }
  /** Frames since the last call, as a scenario would compare them. */
  take(): SentFrame[] {
    return this.sent.splice(0);
  }

  async prepare(
    request = 'prepare',
    session = 'session',
    extra: Record<string, unknown> = {},
  ): Promise<void> {
    await this.raw(
      JSON.stringify({
        type: 'execution_prepare',
        id: request,
        payload: {
          session_id: session,
          configuration: {
            agent_kind: 'contract',
            conversation_id: '',
            run_id: '',
            agent_state_key: `agents-api-${session}`,
            strict_resume: true,
            disable_execution_environment: true,
            ...extra,
          },
        },
      }),
    );
  }

  /** Prepares and starts a Run; returns once `started` left. */
  async startRun(
    run = 'run',
    request = 'prepare',
    session = 'session',
    extra: Record<string, unknown> = {},
  ): Promise<void> {
    await this.prepare(request, session, extra);
    const ready = this.sent.find((frame) => frame.id === request && isState(frame, 'ready'));
    if (!ready) throw new Error('not ready');
    const { executor_id, handle } = ready.payload as { executor_id: string; handle: string };
    await this.core('execution_start', request, {
      executor_id,
      handle,
      run_id: run,
      input: [{ content: [{ type: 'input_text', text: 'hello' }] }],
    });
  }

  async #send(frame: RuntimeFrame): Promise<SendResult> {
    const encoded = encodeFrame(frame.type, frame);
    const decoded = decodeFrame(encoded.text, 'runtime-to-core');
    if (decoded.outcome !== 'frame') throw new Error(`sent a frame Core cannot read: ${frame.type}`);
    const result = await this.onSend(frame);
    if (result === 'written') {
      const parsed: unknown = JSON.parse(encoded.text);
      const { payload } = parsed as { payload?: unknown };
      this.sent.push({ type: frame.type, id: frame.id ?? '', payload: payload ?? null });
    }
    return result;
  }
}

function isState(frame: SentFrame, state: string): boolean {
  const { payload } = frame;
  return typeof payload === 'object' && payload !== null && 'state' in payload && payload.state === state;
}
