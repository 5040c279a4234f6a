import { Link, type ConnectionRouter } from '../../../src/connection/link.ts';
import type { History } from '../../../src/conformance/history.ts';
import { bootstrap } from '../../../src/enrol/bootstrap.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { decodeEnvelope } from '../../../src/protocol/envelope.ts';
import { isJsonObject } from '../../../src/protocol/presence.ts';
import type { SessionAccess } from '../../../src/core/local-core.ts';
import type { InteractionAnswer } from '../../../src/runtime/interactions.ts';
import { Router } from '../../../src/runtime/router.ts';
import { ScheduleHarness } from '../schedule/harness.ts';

/** The real link and router, dialing through the proxy, with everything that they see in the history. */
export class ChaosRuntime {
  readonly harness: ScheduleHarness;
  readonly link: Link;
  readonly #history: History;
  readonly #clock: Clock;
  #router: Router | null = null;
  #on = 0;
  readonly prompts: string[] = [];

  constructor(options: {
    clock: Clock;
    history: History;
    coreUrl: string;
    access: SessionAccess;
    proxyPort: number;
  }) {
    const { clock, history, coreUrl, access, proxyPort } = options;
    this.#history = history;
    this.#clock = clock;
    this.harness = new ScheduleHarness(history, new Set(['close']));
    this.link = new Link({
      clock,
      random: systemRandom,
      logger: silentLogger,
      userAgent: 'chaos-test',
      deviceId: access.deviceId,
      credential: () => Promise.resolve({ kind: 'ok', secret: access.credential }),
      bootstrap: async (credential, deviceId, signal) => {
        const answer = await bootstrap({
          coreUrl: throughProxy(coreUrl, proxyPort),
          deviceId,
          credential,
          userAgent: 'chaos-test',
          clock,
          expectedUrl: null,
          signal,
        });
        if (answer.kind === 'ok') answer.url.port = String(proxyPort);
        return answer;
      },
      createRouter: (sender, hooks) => this.#connect(sender, hooks),
      heartbeat: () => ({
        ts: Math.floor(clock.now() / 1_000),
        active_requests: this.#router?.activeRuns ?? 0,
        // Tells Core's end of the record which connection this is.
        daemon_version: String(this.#on),
        supported_agent_kinds: [
          { kind: 'contract', available: true, capabilities: this.harness.offer().capabilities },
        ],
      }),
      onChange: () => undefined,
    });
  }

  /** The person answers the newest prompt, whatever became of it. */
  answer(allow: boolean): void {
    const interaction = this.prompts[this.prompts.length - 1];
    if (interaction === undefined || !this.#router) return;
    const answer: InteractionAnswer = {
      kind: 'permission',
      scope: 'once',
      answer: allow ? { kind: 'allow' } : { kind: 'deny', message: null },
    };
    void this.#router.answer(interaction, answer).then((result) => {
      const told = result.kind === 'refused' ? result.why : result.kind;
      this.#history.add({ by: 'person', does: 'answers', interaction, with: answer.answer.kind, told });
    });
  }

  #connect(sender: Parameters<LinkCreate>[0], hooks: Parameters<LinkCreate>[1]): ConnectionRouter {
    const on = ++this.#on;
    this.#history.add({ by: 'link', does: 'opens', on });
    const router = new Router(
      {
        clock: this.#clock,
        random: systemRandom,
        logger: silentLogger,
        binding: null,
        harness: (kind) =>
          kind === 'contract' ? { adapter: this.harness, probe: this.harness.offer() } : null,
        stateDir: () => Promise.resolve('/state'),
        interactions: { policy: 'ask', answeredBy: 'both', timeoutMs: null },
        executorIdleMs: 60 * 60_000,
        paused: () => false,
        facts: (fact) => {
          if (fact.type !== 'interaction_opened') return;
          this.prompts.push(fact.id);
          const { id: interaction, runId: run } = fact;
          this.#history.add({ by: 'person', does: 'sees', interaction, run, key: fact.request.native.key });
        },
        suspension: {
          memory: { resumed: null },
          hooks: { armed: () => hooks.suspended(), failed: () => hooks.drop() },
        },
      },
      sender,
    );
    this.#router = router;
    return {
      receive: (data) => {
        const envelope = decodeEnvelope(data);
        if (envelope) {
          const payload = isJsonObject(envelope.payload) ? envelope.payload : {};
          const frame = { type: envelope.type, id: envelope.id, payload };
          this.#history.add({ by: 'core', does: 'says', on, frame });
        }
        router.receive(data);
      },
      resumeOn: (next, data) => router.resumeOn(next, data),
      shutdown: async () => {
        const result = await router.shutdown();
        if (result.kind === 'settled') this.#history.add({ by: 'link', does: 'settles', on });
        return result;
      },
    };
  }
}

type LinkCreate = ConstructorParameters<typeof Link>[0]['createRouter'];

function throughProxy(coreUrl: string, port: number): string {
  const url = new URL(coreUrl);
  url.port = String(port);
  return url.href;
}
