import { describe, expect, test } from 'vitest';
import { checkHistory } from '../../../src/conformance/history-checker.ts';
import { playRuntime } from '../../../src/conformance/player.ts';
import { ContractRuntime } from '../../support/contract-runtime.ts';
import { allScenarios } from '../../support/scenario-files.ts';

/** Replayed on the real Runtime over a real socket; the scripted Core speaks. */
describe('the Runtime side of the wire scenarios', () => {
  for (const scenario of allScenarios) {
    if (scenario.unreachable !== undefined || !scenario.sides.includes('runtime')) continue;
    test(`${scenario.name}: ${scenario.title}`, async (context) => {
      const runtime = await ContractRuntime.open(scenario);
      try {
        const result = await playRuntime(scenario, runtime.subject);
        // What this Runtime does not serve is refused by name, which other scenarios show.
        if (result.kind === 'not_run') {
          expect(scenario.requires.join()).toMatch(/bound|serves/);
          return context.skip(result.reason);
        }
        expect(result).toEqual({ kind: 'held' });
        expect(checkHistory(runtime.history.events)).toEqual([]);
      } finally {
        await runtime.close();
      }
    });
  }
});
