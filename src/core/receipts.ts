import type { Clock } from '../platform/clock.ts';
import type { InteractionDecisionAck } from '../protocol/interactions.ts';

export type ReceiptResult =
  | { readonly kind: 'receipt'; readonly receipt: InteractionDecisionAck }
  /** Nothing was observed: the operation may have happened. */
  | { readonly kind: 'unobserved'; readonly reason: 'timeout' | 'connection_lost' | 'replaced' }
  /** Another wait for this delivery id is open. Nothing may be sent for this one. */
  | { readonly kind: 'already_waiting' };

/** Waits for application receipts, matched by delivery id alone; one wait for an id at a time. */
export class Receipts {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, (result: ReceiptResult) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Opens the wait. Do this before the frame is sent, so that no receipt can come too early. */
  wait(deliveryId: string, ms: number): Promise<ReceiptResult> {
    if (this.#waiting.has(deliveryId)) return Promise.resolve({ kind: 'already_waiting' });
    return new Promise((resolve) => {
      const timer = this.#clock.after(ms, () => settle({ kind: 'unobserved', reason: 'timeout' }));
      const settle = (result: ReceiptResult): void => {
        timer.cancel();
        this.#waiting.delete(deliveryId);
        resolve(result);
      };
      this.#waiting.set(deliveryId, settle);
    });
  }

  /** False when nobody waits for it: the receipt is dropped. */
  offer(receipt: InteractionDecisionAck): boolean {
    const settle = this.#waiting.get(receipt.delivery_id);
    settle?.({ kind: 'receipt', receipt });
    return settle !== undefined;
  }

  end(reason: 'connection_lost' | 'replaced'): void {
    for (const settle of [...this.#waiting.values()]) settle({ kind: 'unobserved', reason });
  }
}
