import type { ScriptFrame } from '../../../src/conformance/scenario.ts';
import { runtimePrepareCodes, runtimePrepareOutcomes } from '../../../src/protocol/initialization.ts';
import { cancellationReceiptCodes, decisionReceiptCodes } from '../../../src/protocol/interactions.ts';
import {
  preparationFailureCodes,
  preparationRejectionCodes,
  preparationStates,
} from '../../../src/protocol/preparation.ts';
import { steeringCodes } from '../../../src/protocol/steering.ts';
import { suspensionCodes } from '../../../src/protocol/suspension.ts';
import {
  exportFailureCodes,
  exportOutcomes,
  exportRejectionCodes,
} from '../../../src/protocol/workspace-export.ts';
import { readCodes, readOutcomes } from '../../../src/protocol/workspace-read.ts';
import { writeCodes, writeOutcomes } from '../../../src/protocol/workspace-write.ts';

/**
 * Whether the contract names such a reply (wire 2.2 and 18). That it answers a frame that was sent, under its id, is a
 * rule of the history checker; here it is the form and the finite sets.
 */
export function namedReply(frame: ScriptFrame): string | null {
  const { type, payload } = frame;
  const code = payload['error_code'];
  const one = (set: readonly string[], value: unknown, what: string): string | null =>
    set.some((known) => known === value) ? null : `${type} with the ${what} ${String(value)}`;
  const outcome = (outcomes: readonly string[], codes: readonly string[]): string | null =>
    one(outcomes, payload['outcome'], 'outcome') ?? (code === undefined ? null : one(codes, code, 'code'));
  switch (type) {
    case 'preparation_status': {
      const state = one(preparationStates, payload['state'], 'state');
      if (state !== null) return state;
      if (payload['state'] === 'rejected') return one(preparationRejectionCodes, code, 'code');
      return payload['state'] === 'failed' ? one(preparationFailureCodes, code, 'code') : null;
    }
    case 'prompt_steer_ack':
      return code === undefined ? null : one(steeringCodes, code, 'code');
    case 'interaction_decision_ack':
      return code === undefined
        ? null
        : one([...decisionReceiptCodes, ...cancellationReceiptCodes], code, 'code');
    case 'environment_quiesced':
    case 'environment_resumed':
      return code === undefined ? null : one(suspensionCodes, code, 'code');
    case 'workspace_read_result':
      return outcome(readOutcomes, readCodes);
    case 'workspace_write_result':
      return outcome(writeOutcomes, writeCodes);
    case 'workspace_export_result':
      return outcome(exportOutcomes, [...exportFailureCodes, ...exportRejectionCodes]);
    case 'runtime_prepare_result':
      return outcome(runtimePrepareOutcomes, runtimePrepareCodes);
    case 'delta':
    case 'thinking':
    case 'error':
    case 'done':
    case 'function_call':
    case 'permission_request':
    case 'permission_cancel':
    case 'prompt_for_user_choice':
      return null;
    default:
      return `an unexpected ${type}`;
  }
}
