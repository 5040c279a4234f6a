import type { Executor, InteractionPolicy, PrepareRequest } from '../harness/adapter.ts';
import { asError, RuntimeError } from '../observe/errors.ts';
import type { CloseResult } from '../ownership/owned.ts';
import { unconfirmed } from '../ownership/owned.ts';
import { within, type Timer } from '../platform/clock.ts';
import { canActivate, canCreate, mustEvict, usage, type Usage } from './capacity.ts';
import {
  isInvalid,
  step,
  type CloseReason,
  type ExecutorEvent,
  type ExecutorState,
} from './executor-state.ts';
import { budgets } from './limits.ts';
import { prepareEnvironment } from './prepared-environment.ts';
import type { OfferedHarness, RuntimePorts } from './ports.ts';
import { WorkspaceError } from '../workspace/workspace-error.ts';

/** What a preparation came to. `failed`: the native resource, if any, was closed or is kept as unconfirmed. */
export type Prepared = { readonly kind: 'ready' } | { readonly kind: 'failed'; readonly closed: boolean };

/** One owned Executor with the facts that decide its reuse. */
export class ExecutorRecord {
  readonly id: string;
  readonly sessionId: string;
  readonly stateKey: string;
  readonly environmentId: string | null;
  readonly fingerprint: string;
  /** The declaration in force at admission; a later heartbeat adds nothing to it. */
  readonly offered: OfferedHarness;
  /** It was prepared under this one and keeps it. */
  readonly policy: InteractionPolicy;
  state: ExecutorState;
  native: Executor | null = null;
  nativeSessionId: string | null = null;
  /** A resource without an Executor: a failed preparation whose close was not confirmed. */
  leftover: { close(): Promise<CloseResult> } | null = null;
  /** Resolves (with success) when the adapter's preparation returned, before anything is closed. */
  returned: Promise<boolean> = Promise.resolve(true);
  /** Resolves when the preparation is over, including the close of a failed one. */
  preparation: Promise<Prepared> = Promise.resolve({ kind: 'ready' });
  /** No Turn after the present one: it is closed as soon as its Run is over (`device_shutdown`, another policy). */
  retired = false;
  readonly abort = new AbortController();
  closing: Promise<CloseResult> | null = null;
  /** A native close that outlived its budget; asked again before another is started. */
  pendingClose: Promise<CloseResult> | null = null;
  idleTimer: Timer | null = null;

  constructor(init: {
    id: string;
    sessionId: string;
    stateKey: string;
    environmentId: string | null;
    fingerprint: string;
    offered: OfferedHarness;
    policy: InteractionPolicy;
    state: ExecutorState;
  }) {
    this.id = init.id;
    this.sessionId = init.sessionId;
    this.stateKey = init.stateKey;
    this.environmentId = init.environmentId;
    this.fingerprint = init.fingerprint;
    this.offered = init.offered;
    this.policy = init.policy;
    this.state = init.state;
  }
}

/** What an adapter is asked for, without what the Runtime finds on this machine. */
type ExecutorRequest = Omit<PrepareRequest, 'stateDir' | 'prepared'>;

/**
 * Every Executor of one connection (runtime-behaviour 2.8, 2.9): one per Session, counted until its end is proven.
 * A close that is not confirmed keeps the record, its place and the exact native object for the next attempt.
 */
export class Executors {
  readonly #ports: RuntimePorts;
  readonly #records = new Map<string, ExecutorRecord>();
  #lease = 0;

  constructor(ports: RuntimePorts) {
    this.#ports = ports;
  }

  bySession(sessionId: string): ExecutorRecord | undefined {
    return this.#records.get(sessionId);
  }
  byStateKey(stateKey: string): ExecutorRecord | undefined {
    return [...this.#records.values()].find((record) => record.stateKey === stateKey);
  }
  byId(id: string): ExecutorRecord | undefined {
    return [...this.#records.values()].find((record) => record.id === id);
  }
  get all(): readonly ExecutorRecord[] {
    return [...this.#records.values()];
  }
  get usage(): Usage {
    return usage([...this.#records.values()].map((record) => record.state));
  }
  get canActivate(): boolean {
    return canActivate(this.usage);
  }
  get canCreate(): boolean {
    return canCreate(this.usage);
  }

  /** Registers a new Executor and starts its native preparation. The caller has checked every rule. */
  create(
    init: {
      sessionId: string;
      stateKey: string;
      environmentId: string | null;
      fingerprint: string;
      offered: OfferedHarness;
    },
    by: string,
    request: ExecutorRequest,
  ): ExecutorRecord {
    const record = new ExecutorRecord({
      ...init,
      id: this.#ports.random.uuid(),
      policy: request.policy,
      state: { state: 'preparing', by },
    });
    this.#records.set(record.sessionId, record);
    record.returned = this.#prepare(record, request);
    record.preparation = record.returned.then(async (ok) => {
      if (ok) return { kind: 'ready' };
      const result = await this.close(record, 'preparation_failed');
      return { kind: 'failed', closed: result.state === 'closed' };
    });
    return record;
  }

  /** Applies an event; false when it does not fit the state any more. */
  apply(record: ExecutorRecord, event: ExecutorEvent): boolean {
    const next = step(record.state, event);
    if (!next) return false;
    record.state = next;
    if (record.idleTimer && next.state !== 'idle') {
      record.idleTimer.cancel();
      record.idleTimer = null;
    }
    if (next.state === 'gone' && this.#records.get(record.sessionId) === record) {
      this.#records.delete(record.sessionId);
    }
    return true;
  }

  /** A healthy Executor rests until it is used again, evicted as the least recently used, or its hour is over. */
  rest(record: ExecutorRecord): void {
    if (record.retired) {
      void this.close(record, 'invalidated');
      return;
    }
    const lease = ++this.#lease;
    if (!this.apply(record, { type: 'rest', lease, at: this.#ports.clock.monotonic() })) return;
    record.idleTimer = this.#ports.clock.after(
      this.#ports.executorIdleMs,
      () => {
        if (record.state.state === 'idle' && record.state.lease === lease)
          void this.close(record, 'idle_expired');
      },
      { background: true },
    );
    if (!mustEvict(this.usage)) return;
    const oldest = this.all
      .filter((candidate) => candidate.state.state === 'idle')
      .sort((a, b) => restedAs(a) - restedAs(b))[0];
    if (oldest) void this.close(oldest, 'idle_capacity');
  }

  /** One attempt at a time; further callers share it. Never throws. */
  close(record: ExecutorRecord, reason: CloseReason): Promise<CloseResult> {
    if (record.state.state === 'gone') return Promise.resolve({ state: 'closed' });
    if (record.closing) return record.closing;
    this.apply(record, { type: 'close', reason });
    const attempt = this.#close(record).finally(() => (record.closing = null));
    record.closing = attempt;
    return attempt;
  }

  /** A person's word instead of proof. The native object is let go. */
  force(record: ExecutorRecord): boolean {
    if (!this.apply(record, { type: 'force' })) return false;
    this.#ports.logger.warn('executor.forced', { executor: record.id });
    this.#ports.facts({ type: 'cleanup_ended', id: record.id, how: 'forced' });
    return true;
  }

  async #prepare(record: ExecutorRecord, request: ExecutorRequest): Promise<boolean> {
    const started = this.#ports.clock.monotonic();
    let ok = false;
    let why: string | null = null;
    try {
      const stateDir = await this.#ports.stateDir(record.sessionId);
      const workspace = this.#ports.workspace ?? null;
      const prepared = await prepareEnvironment(request.configuration, workspace);
      const outcome = await record.offered.adapter.prepare(
        { ...request, stateDir, prepared },
        record.abort.signal,
      );
      if (outcome.kind === 'ready') {
        if (request.configuration.local_environment) await workspace?.completed();
        record.native = outcome.executor;
        // Prepared to continue a native Session, it is that one's until a Turn says otherwise.
        record.nativeSessionId =
          outcome.executor.nativeSessionId ?? request.configuration.agent_session_id ?? null;
        void outcome.executor.broken.then(() => this.#broke(record));
        ok = !record.abort.signal.aborted && !isInvalid(record.state);
      } else {
        record.leftover = outcome.resource ?? null;
        why = outcome.message;
      }
    } catch (error) {
      // Our own words about the snapshot name no content; anything else may.
      why =
        error instanceof WorkspaceError
          ? `Its Skills or tools cannot be used: ${error.message}.`
          : error instanceof RuntimeError
            ? error.message
            : null;
      this.#ports.logger.warn('executor.prepare_threw', { executor: record.id, error: asError(error).name });
    }
    if (record.state.state === 'gone') await this.#endForced(record);
    if (!record.abort.signal.aborted) {
      const { kind } = record.offered.adapter;
      this.#ports.facts({ type: 'agent_started', kind, why: ok ? null : (why ?? 'It gave no reason.') });
    }
    this.#ports.logger.info('executor.prepared', {
      executor: record.id,
      session: record.sessionId,
      ok,
      ms: Math.round(this.#ports.clock.monotonic() - started),
    });
    return ok;
  }

  /** A person recorded it as gone while it was prepared; what came of it all the same is ended, and counted nowhere. */
  async #endForced(record: ExecutorRecord): Promise<void> {
    const target = record.native ?? record.leftover;
    if (!target) return;
    const result = await safely(() => target.close());
    this.#ports.logger.warn('executor.forced_late', {
      executor: record.id,
      closed: result.state === 'closed',
    });
  }

  /** An idle Executor whose native program ended by itself is of no use to the next Turn. */
  #broke(record: ExecutorRecord): void {
    this.#ports.logger.warn('executor.broke', { executor: record.id });
    if (record.state.state === 'idle') void this.close(record, 'invalidated');
  }

  async #close(record: ExecutorRecord): Promise<CloseResult> {
    record.abort.abort();
    const sinceClosing = record.state.state === 'closing' ? record.state.attempt : 1;
    if (sinceClosing > 1) this.#report(record, 'retrying', 'trying again');
    const result = await this.#closeNative(record);
    if (result.state === 'closed') {
      const known = sinceClosing > 1;
      this.apply(record, { type: 'closed' });
      this.#ports.logger.info('executor.closed', {
        executor: record.id,
        session: record.sessionId,
        confirmed: true,
      });
      if (known) this.#ports.facts({ type: 'cleanup_ended', id: record.id, how: 'confirmed' });
      return result;
    }
    if (this.apply(record, { type: 'close_unconfirmed', why: result.reason })) {
      this.#ports.logger.warn('executor.close_unconfirmed', { executor: record.id, attempt: sinceClosing });
      this.#report(record, 'unconfirmed', result.reason);
    }
    return result;
  }

  async #closeNative(record: ExecutorRecord): Promise<CloseResult> {
    const { clock } = this.#ports;
    // Only cancelled so far: whatever the preparation still returns is closed below, or by the attempt that follows it.
    const returned = await within(clock, budgets.nativeClose, record.returned);
    if (returned.kind === 'timeout') return unconfirmed('its preparation has not returned');
    const target = record.native ?? record.leftover;
    if (!target) return { state: 'closed' };
    const attempt = record.pendingClose ?? safely(() => target.close());
    record.pendingClose = attempt;
    const waited = await within(clock, budgets.nativeClose, attempt);
    if (waited.kind === 'timeout') {
      // Late proof is still proof: the record leaves when the native close confirms after all.
      void attempt.then((late) => {
        record.pendingClose = null;
        if (late.state === 'closed' && record.state.state === 'unconfirmed')
          void this.close(record, 'invalidated');
      });
      return unconfirmed('it did not end within 10 s');
    }
    record.pendingClose = null;
    return waited.value;
  }

  #report(record: ExecutorRecord, state: 'unconfirmed' | 'retrying', reason: string): void {
    const attempts = 'attempt' in record.state ? record.state.attempt : 1;
    this.#ports.facts({
      type: 'cleanup',
      id: record.id,
      kind: 'executor',
      sessionId: record.sessionId,
      runId: null,
      state,
      attempts,
      reason,
    });
  }
}

/** Leases count up, so the lowest one is the least recently used. */
const restedAs = (record: ExecutorRecord): number =>
  record.state.state === 'idle' ? record.state.lease : Infinity;

async function safely(close: () => Promise<CloseResult>): Promise<CloseResult> {
  try {
    return await close();
  } catch (error) {
    return unconfirmed(`closing it failed (${asError(error).name})`);
  }
}
