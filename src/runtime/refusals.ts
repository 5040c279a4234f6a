import * as z from 'zod';
import { functionResultIdsOf } from '../protocol/functions.ts';
import { isBoundedId } from '../protocol/ids.ts';
import { CORRELATION_ID_BYTES } from '../protocol/limits.ts';
import type { Refusal } from '../protocol/codec.ts';
import { steerInputIdOf } from '../protocol/steering.ts';
import { budgets } from './limits.ts';
import type { RuntimeFrame, Sender } from './ports.ts';

/**
 * The answer to a body that is no valid one of its type, where the family has an answer (wire 5 to 14,
 * runtime-behaviour 2.3); transfers and reads answer for themselves. False: the contract wants silence, because a reply could be misread as settlement.
 */
export function refuse(sender: Sender, refusal: Refusal): boolean {
  const frame = answerTo(refusal);
  if (!frame) return false;
  void sender.send({ ...frame, id: refusal.id, trace: refusal.trace }, budgets.receiptSend);
  return true;
}

function answerTo(refusal: Refusal): RuntimeFrame | null {
  const invalid = refusal.stage === 'decode' ? 'invalid_request' : 'invalid_configuration';
  switch (refusal.type) {
    case 'execution_prepare':
      return rejection(invalid, 'execution_prepare');
    case 'execution_start':
      return rejection('invalid_start', 'execution_start');
    case 'execution_release':
      return rejection('invalid_release', 'execution_release');
    case 'prompt_steer':
      return {
        type: 'prompt_steer_ack',
        payload: { input_id: steerInputIdOf(refusal.body), accepted: false, error_code: 'invalid_input' },
      };
    case 'function_result': {
      const ids = functionResultIdsOf(refusal.body);
      if (!ids || refusal.stage === 'decode') return null;
      return {
        type: 'interaction_decision_ack',
        payload: { delivery_id: ids.deliveryId, applied: false, error_code: 'invalid_result' },
      };
    }
    case 'environment_quiesce':
      if (!isBoundedId(refusal.id, CORRELATION_ID_BYTES)) return null;
      return {
        type: 'environment_quiesced',
        payload: { ...identityOf(refusal.body), accepted: false, error_code: 'invalid_request' },
      };
    case 'environment_resume':
      if (!isBoundedId(refusal.id, CORRELATION_ID_BYTES)) return null;
      return {
        type: 'environment_resumed',
        payload: { environment_id: '', suspend_id: '', accepted: false, error_code: 'not_suspended' },
      };
    default:
      return null;
  }
}

function rejection(
  code: 'invalid_request' | 'invalid_configuration' | 'invalid_start' | 'invalid_release',
  operation: 'execution_prepare' | 'execution_start' | 'execution_release',
): RuntimeFrame {
  return {
    type: 'preparation_status',
    payload: { revision: 0, state: 'rejected', error_code: code, operation },
  };
}

const identity = z.object({
  environment_id: z.string().max(512).catch(''),
  suspend_id: z.string().max(128).catch(''),
});

function identityOf(body: unknown): { environment_id: string; suspend_id: string } {
  const parsed = identity.safeParse(body);
  return parsed.success ? parsed.data : { environment_id: '', suspend_id: '' };
}
