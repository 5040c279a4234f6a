import { expect } from 'vitest';

import { LocalCore, type SessionAccess } from '../../src/core/local-core.ts';
import type { CoreStorage, TurnRecord } from '../../src/core/core-state.ts';
import type { Random } from '../../src/platform/random.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { descriptor, RawRuntime, type ReceivedFrame } from './raw-runtime.ts';

/** Storage in memory that can be made to fail. Keeps what a disk would keep: JSON. */
export class MemoryStorage implements CoreStorage {
  text: string | undefined;
  failing = false;
  saves = 0;
  load(): Promise<unknown> {
    return Promise.resolve(this.text === undefined ? undefined : JSON.parse(this.text));
  }
  save(state: unknown): Promise<void> {
    if (this.failing) return Promise.reject(new Error('no room'));
    this.saves++;
    this.text = JSON.stringify(state);
    return Promise.resolve();
  }
}

/** Canonical UUIDs in order, so that a test can be read. */
export const countingRandom = (): Random => {
  let count = 0;
  const next = (): string => String(++count).padStart(12, '0');
  return {
    uuid: () => `00000000-0000-4000-8000-${next()}`,
    hex: (bytes) =>
      next()
        .repeat(bytes)
        .slice(0, bytes * 2),
    fraction: () => 0.5,
  };
};

/** A local Core and one scripted Runtime on its socket. */
export class CoreBed {
  readonly clock = new FakeClock();
  readonly storage: MemoryStorage;
  readonly core: LocalCore;
  readonly access: SessionAccess;
  runtime: RawRuntime;

  private constructor(
    storage: MemoryStorage,
    clock: FakeClock,
    core: LocalCore,
    access: SessionAccess,
    runtime: RawRuntime,
  ) {
    this.storage = storage;
    this.clock = clock;
    this.core = core;
    this.access = access;
    this.runtime = runtime;
  }

  static async open(
    options: { without?: readonly string[]; workspace?: string | null } = {},
  ): Promise<CoreBed> {
    const storage = new MemoryStorage();
    const clock = new FakeClock();
    const core = await LocalCore.create({ clock, random: countingRandom(), storage });
    await core.listen();
    const workspaceDirectory = options.workspace === undefined ? '/home/user/project' : options.workspace;
    const access = await core.createSession({ harness: 'contract', workspaceDirectory });
    const runtime = await dial(core, access);
    runtime.heartbeat([descriptor('contract', { without: options.without ?? [] })]);
    await runtime.roundTrip();
    return new CoreBed(storage, clock, core, access, runtime);
  }

  async close(): Promise<void> {
    await this.core.close();
  }

  async reconnect(): Promise<void> {
    this.runtime = await dial(this.core, this.access);
    this.runtime.heartbeat([descriptor('contract')]);
    await this.runtime.roundTrip();
  }

  async submit(prompt = 'hello'): Promise<string> {
    const submitted = await this.core.submit({ prompt, sessionId: this.access.sessionId });
    if (submitted.kind !== 'queued') throw new Error(submitted.reason);
    return submitted.runId;
  }

  turn(runId: string): TurnRecord {
    const turn = this.core.turn(runId);
    if (!turn) throw new Error('no such Turn');
    return turn;
  }

  /** The next frame, which must be of `type`. */
  async expect(type: string): Promise<ReceivedFrame> {
    const frame = await this.runtime.next();
    expect(frame.type).toBe(type);
    return frame;
  }

  async status(id: string | undefined, payload: Record<string, unknown>): Promise<void> {
    this.runtime.send({ type: 'preparation_status', id, payload });
    await this.settled();
  }

  /** Sends a frame of the Run and waits until Core has read it. */
  async say(runId: string, type: string, payload: Record<string, unknown>): Promise<void> {
    this.runtime.send({ type, id: runId, payload });
    await this.settled();
  }

  /** Everything sent so far was read and worked on. */
  async settled(): Promise<void> {
    await this.runtime.roundTrip();
    await settle();
  }

  /** Takes the Turn's preparation and answers it with `ready`. */
  async prepared(members: Record<string, unknown> = {}): Promise<ReceivedFrame> {
    const prepare = await this.expect('execution_prepare');
    await this.status(prepare.id, {
      executor_id: 'executor',
      handle: 'handle',
      revision: 1,
      state: 'preparing',
      expires_at: 1,
    });
    await this.status(prepare.id, {
      executor_id: 'executor',
      handle: 'handle',
      revision: 2,
      state: 'ready',
      expires_at: 1,
      ...members,
    });
    return prepare;
  }

  /** Takes the whole way to a started Run. */
  async started(runId: string): Promise<{ prepare: ReceivedFrame; start: ReceivedFrame }> {
    const prepare = await this.prepared();
    const start = await this.expect('execution_start');
    const common = { executor_id: 'executor', handle: 'handle', run_id: runId, expires_at: 1 };
    await this.status(prepare.id, { ...common, revision: 3, state: 'starting' });
    await this.status(prepare.id, { ...common, revision: 4, state: 'started' });
    return { prepare, start };
  }

  /** Submits a Turn and takes it to `running`. */
  async running(prompt = 'hello'): Promise<string> {
    const runId = await this.submit(prompt);
    await this.started(runId);
    expect(this.turn(runId).state).toBe('running');
    return runId;
  }
}

export const dial = (core: LocalCore, access: SessionAccess): Promise<RawRuntime> =>
  RawRuntime.connect({
    url: core.gateway.socketUrl,
    deviceId: access.deviceId,
    credential: access.credential,
  });
