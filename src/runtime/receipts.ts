import type { DecisionReceiptCode, InteractionDecisionAck } from '../protocol/interactions.ts';
import { budgets } from './limits.ts';
import type { SendResult, Sender } from './ports.ts';

/** `interaction_decision_ack` (wire 8, 9.6, 10): the receipt of a decision, a result or a cancellation of Core. */
export function sendReceipt(
  sender: Sender,
  id: string,
  payload: InteractionDecisionAck,
  trace: string | undefined,
): Promise<SendResult> {
  return sender.send({ type: 'interaction_decision_ack', id, payload, trace }, budgets.receiptSend);
}

/** The receipt of a decision or a result; null: it was applied. */
export function decided(deliveryId: string, code: DecisionReceiptCode | null): InteractionDecisionAck {
  return code === null
    ? { delivery_id: deliveryId, applied: true }
    : { delivery_id: deliveryId, applied: false, error_code: code };
}
