import { describe, expect, test } from 'vitest';
import { drives, playCore } from '../../../src/conformance/core-player.ts';
import { GatewayReplay } from '../../support/gateway-replay.ts';
import { LocalCoreControl } from '../../support/local-core-control.ts';
import { allScenarios } from '../../support/scenario-files.ts';

const scenarios = allScenarios.filter((scenario) => scenario.unreachable === undefined);

/** How the local Core acts in front of a scripted Runtime, over a real socket. */
describe('the Core side of the wire scenarios', () => {
  for (const scenario of scenarios) {
    if (!scenario.sides.includes('core') || !drives(scenario)) continue;
    test(`${scenario.name}: ${scenario.title}`, async () => {
      const control = await LocalCoreControl.open();
      try {
        expect(await playCore(scenario, control.subject)).toEqual({ kind: 'held' });
      } finally {
        await control.core.close();
      }
    });
  }
});

/** How the gateway carries every frame of every scenario, as it stands. */
describe('the gateway under the wire scenarios', () => {
  for (const scenario of scenarios) {
    if (scenario.steps.some((step) => 'dial' in step || 'runtime_text' in step)) continue;
    test(`${scenario.name}: each frame arrives as it was sent`, async () => {
      expect(await GatewayReplay.play(scenario)).toBeNull();
    });
  }
});
