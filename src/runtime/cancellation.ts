import { within } from '../platform/clock.ts';
import type { InteractionDecisionAck } from '../protocol/interactions.ts';
import { budgets } from './limits.ts';
import type { RuntimePorts, Sender } from './ports.ts';
import { sendReceipt } from './receipts.ts';
import type { Attempt, Run } from './run.ts';

/**
 * `prompt_cancel` (wire 8, runtime-behaviour 2.13): always carried out, acknowledged only where a delivery id asks for
 * it, and never before native settlement. After ten seconds the receipt says `cancel_timeout`, once; the settlement
 * goes on and keeps its place.
 */
export class Cancellations {
  readonly #ports: RuntimePorts;
  readonly #sender: Sender;
  readonly #closed: () => boolean;

  constructor(ports: RuntimePorts, sender: Sender, closed: () => boolean) {
    this.#ports = ports;
    this.#sender = sender;
    this.#closed = closed;
  }

  receive(
    run: Run | undefined,
    runId: string,
    deliveryId: string | undefined,
    trace: string | undefined,
  ): void {
    const reply = (ack: Omit<InteractionDecisionAck, 'delivery_id'>): void => {
      if (deliveryId === undefined || deliveryId === '' || this.#closed()) return;
      void sendReceipt(this.#sender, runId, { delivery_id: deliveryId, ...ack }, trace);
    };
    if (!run) return reply({ applied: false, error_code: 'run_inactive' });
    if (run.direct && !run.turn) return reply({ applied: false, error_code: 'not_ready' });
    this.#ports.facts({ type: 'evidence', runId, fact: 'cancel_requested', by: 'core', detail: null });
    const attempt = run.claim('abort', 'cancel');
    void within(this.#ports.clock, budgets.cancelReceipt, attempt).then((result) => {
      reply(
        result.kind === 'timeout' ? { applied: false, error_code: 'cancel_timeout' } : receipt(result.value),
      );
    });
  }
}

function receipt(attempt: Attempt): Omit<InteractionDecisionAck, 'delivery_id'> {
  if (attempt.kind === 'failed') return { applied: false, error_code: 'cancel_failed' };
  if (!attempt.delivered) return { applied: false, error_code: 'cancel_output_unavailable' };
  if (!attempt.outcome) return { applied: false, error_code: 'cancel_outcome_unavailable' };
  return { applied: true, outcome: attempt.outcome };
}
