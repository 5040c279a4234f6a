import { spawn } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Daemon } from '../../src/app/daemon.ts';
import { readBootstrapFile } from '../../src/app/bootstrap-file.ts';
import { defaultConfig } from '../../src/app/config.ts';
import { CredentialDesk } from '../../src/app/credentials.ts';
import type { HarnessAdapter, HarnessTurn, Settlement, TurnOutput } from '../../src/harness/adapter.ts';
import { parseLine, readLines } from '../../src/harness/process/jsonl.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { systemEnvironment } from '../../src/platform/environment.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { declareCapabilities } from '../../src/protocol/capabilities.ts';
import { statePaths } from '../../src/store/paths.ts';

/**
 * The real daemon with one Harness that relays the lines of a child process. Started by `bench.mjs` with a bootstrap
 * file, a state folder, the path of the child, and how many lines it prints at which rate.
 */
const [bootstrapPath = '', stateDir = '', lines = '', count = '0', rate = '0', speed = '1'] =
  process.argv.slice(2);
const file = await readBootstrapFile(bootstrapPath);
const factor = Number(speed);
/** The clock of the machine, or one that runs so many times as fast. */
const clock: Clock =
  factor === 1
    ? systemClock
    : {
        now: () => systemClock.now() * factor,
        monotonic: () => systemClock.monotonic() * factor,
        after: (ms, fire, options) => systemClock.after(ms / factor, fire, options),
      };
const random = systemRandom;
const logger = silentLogger;
const paths = statePaths(stateDir, systemEnvironment);
const capabilities = declareCapabilities(['streaming', 'preparation', 'environment_none', 'durable_turns']);

async function relay(output: TurnOutput, settled: (settlement: Settlement) => void): Promise<void> {
  const lag = monitorEventLoopDelay({ resolution: 1 });
  if (Number(count) > 0) {
    const child = spawn(process.execPath, [lines, count, rate], { stdio: ['ignore', 'pipe', 'inherit'] });
    lag.enable();
    for await (const line of readLines(child.stdout)) {
      const value = line.kind === 'line' ? parseLine(line.text) : undefined;
      if (typeof value !== 'object' || value === null || !('text' in value)) continue;
      await output.emit({ type: 'delta', payload: { delta: String(value.text) } });
    }
    lag.disable();
  }
  const content = Number(count) > 0 ? JSON.stringify({ lag_p99_ms: lag.percentile(99) / 1e6 }) : '';
  await output.emit({ type: 'done', payload: { content } });
  output.close();
  settled({ kind: 'settled', reusable: true });
}

const adapter: HarnessAdapter = {
  kind: 'bench',
  name: 'Bench',
  probe: () => Promise.resolve({ available: true, version: '1', reason: null, capabilities }),
  prepare: () =>
    Promise.resolve({
      kind: 'ready',
      executor: {
        nativeSessionId: null,
        broken: new Promise<string>(() => undefined),
        close: () => Promise.resolve({ state: 'closed' }),
        startTurn: (_runId, _input, output) => {
          let settle: (settlement: Settlement) => void = () => undefined;
          const settlement = new Promise<Settlement>((resolve) => (settle = resolve));
          const turn: HarnessTurn = {
            cancel: () => Promise.resolve(),
            settlement: () => settlement,
            outcome: () => ({ content: '' }),
          };
          void relay(output, settle);
          return Promise.resolve({ kind: 'turn', turn });
        },
      },
    }),
};

const probe = await adapter.probe();
const daemon = await Daemon.start({
  clock,
  random,
  logger,
  paths,
  version: 'bench',
  config: defaultConfig,
  credentials: await CredentialDesk.open({
    clock,
    random,
    logger,
    path: paths.credentials,
    load: () => null,
  }),
  targets: [
    {
      name: 'bench',
      local: false,
      coreUrl: file.core_url,
      deviceId: file.device_id,
      expectedUrl: null,
      workspace: null,
      secret: () => Promise.resolve({ kind: 'ok', secret: file.credential }),
    },
  ],
  createHarnesses: () =>
    Promise.resolve({
      offered: () => [{ adapter, probe }],
      refresh: () => Promise.resolve(),
      onChange: () => () => undefined,
      close: () => undefined,
    }),
  createLocalCore: null,
});
// Growth is what stays after a collection, not what waits for one.
process.on('SIGUSR2', () => globalThis.gc?.());
process.on('SIGINT', () => void daemon.shutdown().then(() => process.exit(0)));
