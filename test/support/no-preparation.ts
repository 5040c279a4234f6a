import type { PreparedEnvironment } from '../../src/harness/adapter.ts';
import type { PreparationSteps } from '../../src/workspace/local-workspace.ts';

/** Steps of initialization that do nothing and leave nothing. */
export const noSteps: PreparationSteps = {
  refusal: () => Promise.resolve(null),
  run: () => Promise.resolve({ kind: 'completed' }),
  settle: () => Promise.resolve({ state: 'closed' }),
  prepared: () => Promise.resolve({ variables: {}, skills: [], servers: [] }),
  completed: () => Promise.resolve(),
};

export const nothingPrepared: PreparedEnvironment = { variables: {}, skills: [], mcpServers: [] };
