import type { Timer } from '../platform/clock.ts';
import { within } from '../platform/clock.ts';
import { asError, assertNever } from '../observe/errors.ts';
import type {
  ExecutionPreparePayload,
  PreparationRejectionCode,
  PreparationStatusPayload,
} from '../protocol/preparation.ts';
import type { CloseResult } from '../ownership/owned.ts';
import { unconfirmed } from '../ownership/owned.ts';
import type { OpenedWorkspace } from '../workspace/workspace-service.ts';
import { fingerprint } from './fingerprint.ts';
import { budgets, capacity } from './limits.ts';
import type { RuntimePorts, SendResult, Sender } from './ports.ts';

/** Read-only preparations as the admissions see them (wire 5.4, runtime-behaviour 2.6). */
export interface ReadOnlyAdmissions {
  readonly records: number;
  has(handle: string, requestId: string): boolean;
  hasRequest(requestId: string): boolean;
  /** Admits and publishes, or returns the rejection. */
  prepare(
    requestId: string,
    payload: ExecutionPreparePayload,
    trace: string | undefined,
  ): PreparationRejectionCode | null;
  /** True when the handle is one of its own. */
  release(handle: string, requestId: string): boolean;
}

type FailureCode =
  'preparation_failed' | 'cleanup_unconfirmed' | 'status_delivery_failed' | 'connection_closed';
type Terminal =
  | { readonly state: 'released' }
  | { readonly state: 'expired' }
  | { readonly state: 'failed'; readonly code: FailureCode };
type Phase =
  | { readonly state: 'preparing' }
  | { readonly state: 'ready' }
  /** No new use; `to` is told only after the local close worked. */
  | { readonly state: 'closing'; readonly to: Terminal }
  /** The close is not confirmed: it keeps its place and may be released again. */
  | { readonly state: 'unclosed' }
  | Terminal;

interface Preparation {
  readonly handle: string;
  readonly requestId: string;
  readonly fingerprint: string;
  readonly trace: string | undefined;
  readonly expiresAt: number;
  readonly deadline: number;
  phase: Phase;
  revision: number;
  timer: Timer | null;
  opening: Promise<void>;
  resource: OpenedWorkspace | null;
  users: number;
  /** Uses that were given up while what they opened was not proven closed. */
  stuck: number;
  idle: (() => void)[];
  attempts: number;
}

export interface ReadOnlyHost {
  readonly ports: RuntimePorts;
  readonly sender: Sender;
  /** Records of Executor admissions; both kinds share one bound. */
  otherRecords(): number;
  closed(): boolean;
}

/** Owned read-only preparations at the same time (runtime-behaviour 2.8). */
const OWNED = 4;

/**
 * Preparations that open the bound folder and start no Harness. `released` and `expired` are told only after the
 * local close worked; one that did not keeps its place until a later release closes it.
 */
export class ReadOnlyPreparations implements ReadOnlyAdmissions {
  readonly #host: ReadOnlyHost;
  readonly #byHandle = new Map<string, Preparation>();
  readonly #byRequest = new Map<string, Preparation>();

  constructor(host: ReadOnlyHost) {
    this.#host = host;
  }

  get records(): number {
    return this.#byHandle.size;
  }
  get owning(): number {
    return [...this.#byHandle.values()].filter(owns).length;
  }
  has(handle: string, requestId: string): boolean {
    return this.#byHandle.get(handle)?.requestId === requestId;
  }
  hasRequest(requestId: string): boolean {
    return this.#byRequest.has(requestId);
  }

  prepare(
    requestId: string,
    payload: ExecutionPreparePayload,
    trace: string | undefined,
  ): PreparationRejectionCode | null {
    const { ports } = this.#host;
    const { workspace } = ports;
    if (!workspace) return 'unsupported_read_preparation';
    this.#prune();
    const print = fingerprint(payload);
    const known = this.#byRequest.get(requestId);
    if (known) {
      if (known.fingerprint !== print) return 'request_conflict';
      void this.#publish(known);
      return null;
    }
    if (this.owning >= OWNED) return 'preparation_capacity';
    if (this.records + this.#host.otherRecords() >= capacity.admissionRecords) return 'preparation_capacity';
    const { clock, random } = ports;
    const preparation: Preparation = {
      handle: random.uuid(),
      requestId,
      fingerprint: print,
      trace,
      expiresAt: clock.now() + budgets.admissionLifetime,
      deadline: clock.monotonic() + budgets.admissionLifetime,
      phase: { state: 'preparing' },
      revision: 1,
      timer: null,
      opening: Promise.resolve(),
      resource: null,
      users: 0,
      stuck: 0,
      idle: [],
      attempts: 0,
    };
    const expire = (): void => void this.#end(preparation, { state: 'expired' });
    preparation.timer = clock.after(budgets.admissionLifetime, expire, { background: true });
    this.#byHandle.set(preparation.handle, preparation);
    this.#byRequest.set(requestId, preparation);
    void this.#publish(preparation).then((sent) => {
      if (sent !== 'written') this.#end(preparation, { state: 'failed', code: 'status_delivery_failed' });
    });
    preparation.opening = workspace.open().then(
      (resource) => {
        preparation.resource = resource;
        return this.#ready(preparation);
      },
      (error: unknown) => {
        ports.logger.warn('read_only.not_opened', { error: asError(error).message });
        this.#end(preparation, { state: 'failed', code: 'preparation_failed' });
      },
    );
    return null;
  }

  release(handle: string, requestId: string): boolean {
    const preparation = this.#byHandle.get(handle);
    if (preparation?.requestId !== requestId) return false;
    if (!this.#end(preparation, { state: 'released' })) void this.#publish(preparation);
    return true;
  }

  /** Takes a ready preparation of this Environment for one use, or null. */
  use(
    handle: string,
    environmentId: string,
  ): { opened: OpenedWorkspace; done: (stuck: boolean) => void } | null {
    const { ports } = this.#host;
    const preparation = this.#byHandle.get(handle);
    if (preparation?.phase.state !== 'ready' || !preparation.resource) return null;
    if (environmentId !== ports.binding?.environmentId) return null;
    if (ports.clock.monotonic() >= preparation.deadline) return null;
    preparation.users++;
    let over = false;
    return {
      opened: preparation.resource,
      done: (stuck) => {
        if (over) return;
        over = true;
        preparation.users--;
        if (stuck) preparation.stuck++;
        if (preparation.users === 0) for (const waiting of preparation.idle.splice(0)) waiting();
      },
    };
  }

  /** Closes all; resolves with the handles of those that are not proven closed. Nothing is sent. */
  async shutdown(): Promise<readonly string[]> {
    await Promise.all(
      [...this.#byHandle.values()].map(async (preparation) => {
        if (owns(preparation)) await this.#close(preparation, { state: 'failed', code: 'connection_closed' });
      }),
    );
    return [...this.#byHandle.values()].filter(owns).map((preparation) => preparation.handle);
  }

  /** A person asks again. Null: no such preparation waits for that. */
  async retry(id: string): Promise<boolean | null> {
    const preparation = this.#byHandle.get(id);
    if (preparation?.phase.state !== 'unclosed') return null;
    await this.#close(preparation, { state: 'released' });
    return !owns(preparation);
  }

  /** A person decided that it is gone. */
  force(id: string): boolean {
    const preparation = this.#byHandle.get(id);
    if (preparation?.phase.state !== 'unclosed') return false;
    this.#move(preparation, { state: 'released' });
    this.#host.ports.facts({ type: 'cleanup_ended', id, how: 'forced' });
    return true;
  }

  async #ready(preparation: Preparation): Promise<void> {
    if (preparation.phase.state !== 'preparing') return;
    this.#move(preparation, { state: 'ready' });
    const sent = await this.#publish(preparation);
    if (sent !== 'written') this.#end(preparation, { state: 'failed', code: 'status_delivery_failed' });
  }

  /** Starts the close that an end needs. False: there is nothing to end any more. */
  #end(preparation: Preparation, to: Terminal): boolean {
    const { phase } = preparation;
    // A close under way tells its own end, and then there is one status and no other.
    if (phase.state === 'closing') return true;
    if (!owns(preparation) || (phase.state === 'unclosed' && to.state !== 'released')) return false;
    void this.#close(preparation, to);
    return true;
  }

  async #close(preparation: Preparation, to: Terminal): Promise<void> {
    if (preparation.phase.state === 'closing') return;
    preparation.phase = { state: 'closing', to };
    preparation.timer?.cancel();
    preparation.attempts++;
    const result = await this.#closeResource(preparation);
    const { facts, logger } = this.#host.ports;
    if (result.state === 'closed') {
      if (preparation.attempts > 1) {
        facts({ type: 'cleanup_ended', id: preparation.handle, how: 'confirmed' });
      }
      this.#move(preparation, to);
    } else {
      logger.warn('read_only.close_unconfirmed', { handle: preparation.handle, why: result.reason });
      facts({
        type: 'cleanup',
        id: preparation.handle,
        kind: 'file',
        sessionId: this.#host.ports.binding?.sessionId ?? '',
        runId: null,
        state: 'unconfirmed',
        attempts: preparation.attempts,
        reason: result.reason,
      });
      this.#move(preparation, { state: 'unclosed' });
    }
    if (to.state === 'failed' && to.code === 'status_delivery_failed') return;
    await this.#publish(preparation);
  }

  async #closeResource(preparation: Preparation): Promise<CloseResult> {
    await preparation.opening;
    if (preparation.users > 0) await new Promise<void>((resolve) => preparation.idle.push(resolve));
    const { resource, stuck } = preparation;
    const { workspace, clock } = this.#host.ports;
    if (stuck > 0 && workspace?.latch.uncertain) return unconfirmed('a read of it has not ended');
    if (!resource) return { state: 'closed' };
    const attempt = resource
      .close()
      .catch((error: unknown) => unconfirmed(`closing it failed (${asError(error).name})`));
    const closed = await within(clock, budgets.nativeClose, attempt);
    return closed.kind === 'value' ? closed.value : unconfirmed('it did not close within 10 s');
  }

  #move(preparation: Preparation, phase: Phase): void {
    preparation.phase = phase;
    preparation.revision++;
  }

  #publish(preparation: Preparation): Promise<SendResult> {
    const payload = status(preparation);
    if (!payload || this.#host.closed()) return Promise.resolve('failed');
    return this.#host.sender.send(
      { type: 'preparation_status', id: preparation.requestId, payload, trace: preparation.trace },
      budgets.receiptSend,
    );
  }

  /** Ended records past their deadline leave first, then the one with the earliest deadline. */
  #prune(): void {
    const now = this.#host.ports.clock.monotonic();
    const ended = [...this.#byHandle.values()].filter((preparation) => !owns(preparation));
    for (const preparation of ended) if (preparation.deadline <= now) this.#forget(preparation);
    if (this.records + this.#host.otherRecords() < capacity.admissionRecords) return;
    const [oldest] = ended
      .filter((preparation) => this.#byHandle.has(preparation.handle))
      .sort((a, b) => a.deadline - b.deadline);
    if (oldest) this.#forget(oldest);
  }

  #forget(preparation: Preparation): void {
    this.#byHandle.delete(preparation.handle);
    if (this.#byRequest.get(preparation.requestId) === preparation) {
      this.#byRequest.delete(preparation.requestId);
    }
  }
}

const owns = ({ phase }: Preparation): boolean =>
  phase.state === 'preparing' ||
  phase.state === 'ready' ||
  phase.state === 'closing' ||
  phase.state === 'unclosed';

/** Null while it is closing: its end is told once, when it is known. */
function status(preparation: Preparation): PreparationStatusPayload | null {
  const { phase, handle, revision, expiresAt } = preparation;
  const base = { handle, revision, expires_at: expiresAt };
  switch (phase.state) {
    case 'closing':
      return null;
    case 'unclosed':
      return { ...base, state: 'failed', error_code: 'cleanup_unconfirmed' };
    case 'failed':
      return { ...base, state: 'failed', error_code: phase.code };
    case 'preparing':
    case 'ready':
    case 'released':
    case 'expired':
      return { ...base, state: phase.state };
    default:
      return assertNever(phase);
  }
}
