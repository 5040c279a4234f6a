import type { Timer } from '../platform/clock.ts';
import type { Spool } from '../workspace/spool.ts';
import { budgets } from './limits.ts';
import type { RuntimePorts, SendResult } from './ports.ts';
import { freshTransfer, transfer, type TransferEvent, type TransferState } from './transfer-state.ts';

/** Why a body was refused before anything was applied. `reason` is for the log; the wire has one code for most. */
export type BodyRefusal =
  | 'frame'
  | 'offset'
  | 'incomplete'
  | 'digest'
  | 'time'
  | 'shutdown'
  | 'undeliverable'
  /** A person stopped it. */
  | 'stopped'
  /** The state folder could not hold it. */
  | 'storage';

export type Applied<R> =
  { readonly kind: 'settled'; readonly result: R } | { readonly kind: 'unknown'; readonly result: R };

export interface TransferInit<R> {
  readonly ports: RuntimePorts;
  readonly kind: 'write' | 'prepare';
  readonly id: string;
  /** For a person: which step of a preparation. */
  readonly step?: string;
  readonly size: number;
  /** Empty where there is no body. */
  readonly sha256: string;
  readonly createBody: (() => Promise<Spool>) | null;
  /** From begin to the complete body, milliseconds. */
  readonly stagingMs: number;
  /** From begin to the end, milliseconds; null: the application is not timed. */
  readonly budgetMs: number | null;
  ready(): Promise<SendResult>;
  received(offset: number): Promise<SendResult>;
  refused(why: BodyRefusal): R;
  /** Never rejects. `signal` asks it to stop; it is over when it returns. */
  apply(body: Spool | null, signal: AbortSignal): Promise<Applied<R>>;
  /** Tells the result; the place is free by then, or kept by an unknown one. */
  tell(result: R): Promise<unknown>;
  /** The place is free. */
  onEnd(): void;
}

/** One transfer with a body. Decisions are synchronous; everything that touches a disk has its own serial queue. */
export class BodyTransfer<R> {
  readonly id: string;
  readonly #init: TransferInit<R>;
  readonly #abort = new AbortController();
  readonly #timers: Timer[] = [];
  #state: TransferState = freshTransfer;
  #body: Promise<Spool | null>;
  #queue: Promise<void>;
  /** Resolves when nothing of it is under way. */
  #work: Promise<void> = Promise.resolve();

  constructor(init: TransferInit<R>) {
    this.id = init.id;
    this.#init = init;
    const { clock } = init.ports;
    this.#timers.push(clock.after(init.stagingMs, () => this.refuse('time'), { background: true }));
    if (init.budgetMs !== null) {
      const stop = (): void => this.#abort.abort();
      this.#timers.push(clock.after(init.budgetMs, stop, { background: true }));
    }
    this.#show();
    this.#body = init.createBody ? init.createBody().catch(() => this.#unstored()) : Promise.resolve(null);
    this.#queue = this.#body.then(async () => {
      if (this.#state.state !== 'receiving') return;
      if ((await init.ready()) !== 'written') this.refuse('undeliverable');
    });
  }

  get state(): TransferState['state'] {
    return this.#state.state;
  }

  chunk(offset: number, data: string): void {
    const bytes = Buffer.from(data, 'base64');
    const event = { type: 'chunk', offset, bytes: bytes.length, size: this.#init.size } as const;
    const next = transfer(this.#state, event);
    if (next === null) return;
    if (next === 'invalid') return this.refuse('offset');
    this.#state = next;
    this.#queue = this.#queue.then(async () => {
      const body = await this.#body;
      // Also when the commit came already: what was accepted belongs to the body.
      if (this.#state.state === 'ended' || !body) return;
      try {
        await body.append(bytes);
      } catch {
        return this.refuse('storage');
      }
      this.#step({ type: 'stored' });
      this.#show(body.size);
      if ((await this.#init.received(body.size)) !== 'written') this.refuse('undeliverable');
    });
  }

  commit(): void {
    const next = transfer(this.#state, { type: 'commit', size: this.#init.size });
    if (next === null) return;
    if (next === 'invalid') return this.refuse('incomplete');
    this.#state = next;
    this.#timers[0]?.cancel();
    this.#show(this.#init.size);
    this.#work = this.#queue.then(() => this.#apply());
  }

  /** Ends it without applying anything. Of no effect once the body is complete. */
  refuse(why: BodyRefusal): void {
    if (this.#state.state !== 'receiving') return;
    this.#step({ type: 'end' });
    this.#init.ports.logger.warn('transfer.refused', { kind: this.#init.kind, id: this.id, why });
    this.#work = this.#finish(this.#init.refused(why));
  }

  /** Asks what is being applied to stop. */
  cancel(): void {
    this.#abort.abort();
  }

  /** Resolves when it is neither received nor applied any more. */
  async over(): Promise<void> {
    await this.#work;
  }

  /** An unknown outcome became known, or a person decided. */
  settled(): void {
    if (this.#state.state !== 'unknown') return;
    this.#step({ type: 'end' });
    this.#gone();
  }

  async #apply(): Promise<void> {
    const init = this.#init;
    const body = await this.#body;
    if (init.sha256 !== '' && body?.digest() !== init.sha256) {
      this.#step({ type: 'end' });
      init.ports.logger.warn('transfer.refused', { kind: init.kind, id: this.id, why: 'digest' });
      return this.#finish(init.refused('digest'));
    }
    const applied = await init.apply(body, this.#abort.signal);
    if (applied.kind === 'settled') {
      this.#step({ type: 'end' });
      return this.#finish(applied.result);
    }
    this.#step({ type: 'unknown' });
    await this.#discard();
    this.#show(init.size);
    await this.#tell(applied.result);
  }

  /** The body leaves the disk and the place is free before anybody is told. */
  async #finish(result: R): Promise<void> {
    await this.#discard();
    this.#gone();
    await this.#tell(result);
  }

  async #discard(): Promise<void> {
    for (const timer of this.#timers) timer.cancel();
    await (await this.#body)?.discard();
  }

  #gone(): void {
    this.#init.onEnd();
    this.#init.ports.facts({ type: 'transfer_ended', kind: this.#init.kind, id: this.id });
  }

  async #tell(result: R): Promise<void> {
    await this.#init.tell(result);
  }

  #unstored(): null {
    this.refuse('storage');
    return null;
  }

  #step(event: TransferEvent): boolean {
    const next = transfer(this.#state, event);
    if (next === null || next === 'invalid') return false;
    this.#state = next;
    return true;
  }

  #show(bytes = 0): void {
    const { kind, size, ports, step } = this.#init;
    const state = this.#state.state;
    if (state === 'ended') return;
    const more = step === undefined ? {} : { step };
    ports.facts({ type: 'transfer', kind, id: this.id, state, bytes, total: size, ...more });
  }
}

/** How long a transfer's reply may wait to be written. */
export const replyBudget = budgets.receiptSend;
