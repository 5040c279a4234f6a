import { isCanonicalUuid } from '../protocol/ids.ts';
import { BodyTransfer, type TransferInit } from './body-transfer.ts';
import type { DropReason } from './facts.ts';
import type { RuntimePorts } from './ports.ts';

export interface PlaceHost {
  readonly ports: RuntimePorts;
  drop(reason: DropReason): void;
}

interface Held<R, About> {
  readonly transfer: BodyTransfer<R>;
  readonly about: About;
  attempts: number;
}

type BodyStep =
  | { readonly step: 'begin' }
  | { readonly step: 'chunk'; readonly offset: number; readonly data: string }
  | { readonly step: 'commit' };

/**
 * The one place that a family of transfers with a body has (wire 12.3 and 13): which frame belongs to what holds it,
 * and what becomes of it once its outcome is unknown. What may begin, and what is applied, is the family's.
 */
export class BodyPlace<R, About> {
  readonly #host: PlaceHost;
  readonly #kind: 'write' | 'prepare';
  #held: Held<R, About> | null = null;

  constructor(host: PlaceHost, kind: 'write' | 'prepare') {
    this.#host = host;
    this.#kind = kind;
  }

  /** Also while what holds it is left uncertain. */
  get taken(): boolean {
    return this.#held !== null;
  }
  /** The id of a transfer whose outcome is unknown. */
  get unknown(): string | null {
    return this.#held?.transfer.state === 'unknown' ? this.#held.transfer.id : null;
  }
  holds(id: string): boolean {
    return this.#held?.transfer.id === id;
  }

  /**
   * Whether a frame is the family's to answer: a begin of another id, or anything without a transfer of its id. Chunks
   * and commits of the present one are taken here; what cannot be answered is dropped.
   */
  passes(id: string, frame: BodyStep): boolean {
    if (!isCanonicalUuid(id)) return this.#drop('invalid_transfer_id');
    const held = this.#held;
    if (held?.transfer.id !== id) return true;
    if (frame.step === 'begin') return this.#drop('repeated_begin');
    if (held.transfer.state !== 'receiving') return this.#drop('body_closed');
    if (frame.step === 'chunk') held.transfer.chunk(frame.offset, frame.data);
    else held.transfer.commit();
    return false;
  }

  /** The same for a frame that is no valid one. `ends`: one of the present transfer ends it. */
  passesInvalid(id: string, ends: boolean): boolean {
    if (!isCanonicalUuid(id)) return this.#drop('invalid_transfer_id');
    if (!this.holds(id)) return true;
    this.#drop('invalid_payload');
    if (ends) this.#held?.transfer.refuse('frame');
    return false;
  }

  take(init: Omit<TransferInit<R>, 'ports' | 'kind' | 'onEnd'>, about: About): void {
    const { ports } = this.#host;
    const onEnd = (): void => void (this.#held = null);
    const transfer = new BodyTransfer<R>({ ...init, ports, kind: this.#kind, onEnd });
    this.#held = { transfer, about, attempts: 0 };
  }

  /** A person ends it: what is received is refused, what is applied is asked to stop. False: it is not here. */
  stop(id: string): boolean {
    const held = this.#held;
    if (held?.transfer.id !== id || held.transfer.state === 'unknown') return false;
    held.transfer.refuse('stopped');
    held.transfer.cancel();
    return true;
  }

  /** Ends what is still received and waits for what is applied. `stop` asks that to end, too. */
  async end(stop: boolean): Promise<void> {
    const held = this.#held;
    held?.transfer.refuse('shutdown');
    if (stop) held?.transfer.cancel();
    await held?.transfer.over();
  }

  /**
   * Looks for evidence of an unknown outcome: `look` says why there is none, or null when it is settled. True: its place
   * is free. Null: there is no such transfer.
   */
  async settle(
    id: string,
    doing: string,
    look: (about: About) => Promise<string | null>,
  ): Promise<boolean | null> {
    const held = this.#held;
    if (!held || this.unknown !== id) return null;
    held.attempts++;
    this.report(id, 'retrying', doing);
    const why = await look(held.about);
    if (why === null) this.#free(held, 'confirmed');
    else this.report(id, 'unconfirmed', why);
    return why === null;
  }

  /** A person decided. False: there is nothing unknown under this id. */
  force(id: string): boolean {
    const held = this.#held;
    if (!held || this.unknown !== id) return false;
    this.#host.ports.logger.warn('transfer.forced', { kind: this.#kind, id });
    this.#free(held, 'forced');
    return true;
  }

  /** Shows an outcome that is not known. */
  report(id: string, state: 'unconfirmed' | 'retrying', reason: string): void {
    const { ports } = this.#host;
    ports.facts({
      type: 'cleanup',
      id: `transfer:${id}`,
      kind: 'transfer',
      sessionId: ports.binding?.sessionId ?? '',
      runId: null,
      state,
      attempts: this.#held?.attempts ?? 0,
      reason,
    });
  }

  #free(held: Held<R, About>, how: 'confirmed' | 'forced'): void {
    held.transfer.settled();
    this.#host.ports.facts({ type: 'cleanup_ended', id: `transfer:${held.transfer.id}`, how });
  }

  #drop(reason: DropReason): false {
    this.#host.drop(reason);
    return false;
  }
}
