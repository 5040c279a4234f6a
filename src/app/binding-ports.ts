import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../observe/errors.ts';
import type { ProcessLedger } from '../ownership/process-ledger.ts';
import { systemEnvironment } from '../platform/environment.ts';
import { LocalSteps } from '../workspace/preparation-steps.ts';
import { LocalWorkspace } from '../workspace/local-workspace.ts';
import type { BindingPorts } from './binding.ts';
import type { Daemon } from './daemon.ts';

/** What a binding gets from the daemon that serves it. */
export function bindingPorts(
  daemon: Daemon,
  ledger: ProcessLedger,
  on: Pick<BindingPorts, 'onFact' | 'onChange'>,
): BindingPorts {
  const { clock, random, logger, version, config, paths } = daemon.options;
  const { timeout_seconds: seconds } = config.interactions;
  return {
    ...on,
    clock,
    random,
    logger,
    version,
    userAgent: daemon.userAgent,
    network: daemon.network,
    // Read at each use: a person may change them while the Runtime runs.
    interactions: {
      get policy() {
        return daemon.settings.policy;
      },
      get answeredBy() {
        return daemon.settings.answered_by;
      },
      timeoutMs: seconds === undefined ? null : seconds * 1_000,
    },
    rules: daemon.rules.book,
    executorIdleMs: config.limits.executor_idle_seconds * 1_000,
    harnesses: (target) => daemon.offeredTo(target.local),
    stateDir: async (sessionId) => {
      const folder = join(paths.sessions, safeName(sessionId));
      await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
        throw fault(
          'storage',
          'Its folder in the state folder could not be made. Check the state folder.',
          error,
        );
      });
      return folder;
    },
    workspace: ({ workspace: root, environmentId, sessionId }) => {
      const stateDir = join(paths.environments, safeName(environmentId));
      return new LocalWorkspace({
        root,
        stateDir,
        logger,
        createSteps: (files) =>
          new LocalSteps({
            ports: { clock, random, ledger },
            environment: systemEnvironment,
            root,
            stateDir,
            identity: { environmentId, sessionId },
            operatorFile: null,
            files,
          }),
      });
    },
    paused: () => daemon.paused,
  };
}

/** Session ids come from Core: only what is a plain name becomes a folder as it is. */
function safeName(sessionId: string): string {
  if (/^[A-Za-z0-9-]{1,64}$/.test(sessionId)) return sessionId;
  return `x${Buffer.from(sessionId, 'utf8').toString('hex').slice(0, 120)}`;
}
