import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '../../src/observe/logger.ts';
import { ProcessLedger } from '../../src/ownership/process-ledger.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { systemEnvironment, type Environment } from '../../src/platform/environment.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { LocalWorkspace, type PreparationSteps } from '../../src/workspace/local-workspace.ts';
import { LocalSteps } from '../../src/workspace/preparation-steps.ts';

/** A bound folder as the app serves it, programs and all. */
export function realWorkspace(options: {
  root: string;
  stateDir: string;
  environmentId: string;
  sessionId: string;
  environment?: Environment;
  operatorFile?: string;
}): LocalWorkspace {
  const { root, stateDir, environmentId, sessionId } = options;
  mkdirSync(stateDir, { recursive: true });
  const ledger = ProcessLedger.open(join(stateDir, 'ledger'), { clock: systemClock, random: systemRandom });
  return new LocalWorkspace({
    ...{ root, stateDir, logger: silentLogger },
    createSteps: (files): PreparationSteps => {
      const steps = ledger.then(
        (opened) =>
          new LocalSteps({
            ports: { clock: systemClock, random: systemRandom, ledger: opened },
            environment: options.environment ?? systemEnvironment,
            ...{ root, stateDir, files, identity: { environmentId, sessionId } },
            operatorFile: options.operatorFile ?? null,
          }),
      );
      return {
        refusal: async () => (await steps).refusal(),
        run: async (...args) => (await steps).run(...args),
        settle: async (id) => (await steps).settle(id),
        prepared: async (wanted) => (await steps).prepared(wanted),
        completed: async () => (await steps).completed(),
      };
    },
  });
}
