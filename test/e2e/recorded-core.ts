import { History } from '../../src/conformance/history.ts';
import type { ScriptFrame } from '../../src/conformance/scenario.ts';
import type { CoreConnection, Received } from '../../src/core/connection.ts';
import { Gateway } from '../../src/core/gateway.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { decodeEnvelope } from '../../src/protocol/envelope.ts';
import { isJsonObject } from '../../src/protocol/presence.ts';
import { environmentId, sessionId } from '../support/enrol-bed.ts';

/** Core of a packaged app, outside of it: machines enrol with it, it says what a test wants, and it records both ways. */
export class RecordedCore {
  readonly history = new History();
  readonly gateway: Gateway;
  #on = 0;
  #connection: CoreConnection | null = null;
  #waiting: {
    readonly wanted: (frame: ScriptFrame) => boolean;
    readonly done: (frame: ScriptFrame) => void;
  }[] = [];
  /** Frames that nobody waited for yet. */
  #early: ScriptFrame[] = [];
  #connected: () => void = () => undefined;

  private constructor() {
    this.gateway = new Gateway({
      clock: systemClock,
      heartbeatSeconds: 1,
      enrolment: { random: systemRandom, build: '2026.11.1' },
      observer: {
        connected: (connection) => {
          this.#connection = connection;
          this.history.add({ by: 'link', does: 'opens', on: ++this.#on });
        },
        heartbeat: () => this.#connected(),
        received: (received) => this.#hear(received),
        ended: (_end, connection) => {
          if (this.#connection !== connection) return;
          this.#connection = null;
          this.history.add({ by: 'link', does: 'loses', on: this.#on });
        },
      },
    });
  }

  static async start(): Promise<RecordedCore> {
    const core = new RecordedCore();
    await core.gateway.listen();
    return core;
  }

  /** An endpoint and a grant for this folder, as an operator hands them out. */
  invite(workspaceDirectory: string): { readonly endpoint: string; readonly grant: string } {
    const { authority } = this.gateway;
    if (!authority) throw new Error('This Core takes no machines.');
    authority.offer({ environmentId, sessionId, workspaceDirectory });
    return {
      endpoint: `${this.gateway.coreUrl}/agent-daemon/installation`,
      grant: authority.grant(environmentId),
    };
  }

  /** Resolves with the next heartbeat: there is a connection and what it offers is known. */
  heartbeat(): Promise<void> {
    return new Promise((resolve) => (this.#connected = resolve));
  }

  say(type: string, id: string, payload: Record<string, unknown>): void {
    this.history.add({ by: 'core', does: 'says', on: this.#on, frame: { type, id, payload } });
    if (this.#connection?.sendText(JSON.stringify({ type, id, payload })) !== 'queued')
      throw new Error(`${type} could not be sent`);
  }

  /** The first frame of this kind that was not taken yet. */
  next(type: string, id: string, has: Record<string, unknown> = {}): Promise<ScriptFrame> {
    const wanted = (frame: ScriptFrame): boolean =>
      frame.type === type &&
      (id === '' || frame.id === id) &&
      Object.entries(has).every(([name, value]) => frame.payload[name] === value);
    const at = this.#early.findIndex(wanted);
    const [early] = at < 0 ? [] : this.#early.splice(at, 1);
    if (early) return Promise.resolve(early);
    return new Promise((done) => this.#waiting.push({ wanted, done }));
  }

  /** Prepares and starts a Turn of the demo in the bound folder. */
  async startTurn(run: string): Promise<void> {
    this.say('execution_prepare', `prepare-${run}`, {
      session_id: sessionId,
      configuration: {
        ...{ agent_kind: 'demo', conversation_id: '', run_id: '', strict_resume: true },
        agent_state_key: `agents-api-${sessionId}`,
        local_environment: {
          id: environmentId,
          workspace_directory: '/workspace',
          capability_sources: null,
        },
      },
    });
    const { payload } = await this.next('preparation_status', `prepare-${run}`, { state: 'ready' });
    this.say('execution_start', `prepare-${run}`, {
      executor_id: payload['executor_id'],
      handle: payload['handle'],
      run_id: run,
      input: [{ content: [{ type: 'input_text', text: 'Show me' }] }],
    });
    await this.next('preparation_status', `prepare-${run}`, { state: 'started' });
  }

  /** Loses the connection without a word. */
  drop(): void {
    this.#connection?.drop();
  }

  /** The text that Core was sent of a Run. */
  textOf(run: string): string {
    return this.history.events
      .flatMap((event) =>
        event.does === 'hears' && event.frame.type === 'delta' && event.frame.id === run
          ? [String(event.frame.payload['delta'])]
          : [],
      )
      .join('');
  }

  close(): Promise<void> {
    return this.gateway.close();
  }

  #hear(received: Received): void {
    if (received.outcome !== 'frame')
      throw new Error(`the app sent what Core cannot read: ${received.outcome}`);
    if (received.frame.type === 'heartbeat') return;
    // As it was written, not as it reads.
    const body = decodeEnvelope(received.frame.text)?.payload;
    const frame = {
      type: received.frame.type,
      id: received.frame.id,
      payload: isJsonObject(body) ? body : {},
    };
    this.history.add({ by: 'core', does: 'hears', on: this.#on, frame });
    const waiter = this.#waiting.find(({ wanted }) => wanted(frame));
    if (!waiter) return void this.#early.push(frame);
    this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
    waiter.done(frame);
  }
}
