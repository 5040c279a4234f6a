import { describe, expect, test } from 'vitest';
import { runtimePrepareCodes } from '../../../src/protocol/initialization.ts';
import { cancellationReceiptCodes, decisionReceiptCodes } from '../../../src/protocol/interactions.ts';
import {
  preparationFailureCodes,
  preparationRejectionCodes,
  preparationStates,
} from '../../../src/protocol/preparation.ts';
import { steeringCodes } from '../../../src/protocol/steering.ts';
import { suspensionCodes } from '../../../src/protocol/suspension.ts';
import { exportFailureCodes, exportRejectionCodes } from '../../../src/protocol/workspace-export.ts';
import { readCodes } from '../../../src/protocol/workspace-read.ts';
import { writeCodes } from '../../../src/protocol/workspace-write.ts';
import type { Scenario } from '../../../src/conformance/scenario.ts';
import { allScenarios } from '../../support/scenario-files.ts';

const scenarios = allScenarios;

/** Whether a scenario has the Runtime say this, or lists it as a row that frames cannot provoke. */
function shows(type: string, member: 'error_code' | 'state', value: string): boolean {
  const says = (scenario: Scenario): boolean =>
    scenario.steps.some(
      (step) => 'runtime' in step && step.runtime.type === type && step.runtime.payload[member] === value,
    );
  const names = (scenario: Scenario): boolean =>
    scenario.unreachable !== undefined && scenario.rows.some((row) => row.endsWith(` ${value}`));
  return scenarios.some((scenario) => says(scenario) || names(scenario));
}

/** The finite sets of wire 18 that a Runtime answers with: each value has a scenario. */
const sets = [
  ['preparation_status', 'state', preparationStates],
  ['preparation_status', 'error_code', [...preparationFailureCodes, ...preparationRejectionCodes]],
  ['prompt_steer_ack', 'error_code', steeringCodes],
  ['interaction_decision_ack', 'error_code', [...decisionReceiptCodes, ...cancellationReceiptCodes]],
  ['workspace_read_result', 'error_code', readCodes],
  ['workspace_write_result', 'error_code', writeCodes],
  ['workspace_export_result', 'error_code', [...exportFailureCodes, ...exportRejectionCodes]],
  ['runtime_prepare_result', 'error_code', runtimePrepareCodes],
  ['environment_quiesced', 'error_code', suspensionCodes.filter((code) => code !== 'not_suspended')],
  ['environment_resumed', 'error_code', ['not_suspended']],
] as const;

describe('every value of a finite set has a scenario', () => {
  for (const [type, member, values] of sets) {
    for (const value of values) {
      test(`${type}.${member} ${value}`, () => {
        expect(shows(type, member, value)).toBe(true);
      });
    }
  }
});
