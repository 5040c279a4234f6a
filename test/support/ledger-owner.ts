import { ProcessLedger } from '../../src/ownership/process-ledger.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { startProcess } from '../../src/harness/process/spawn.ts';

/**
 * A daemon in miniature, to be killed: opens the ledger in the folder of its first argument, starts the program of
 * the others, says its pid, and waits.
 */
const [dir = '', command = '', ...args] = process.argv.slice(2);
const ports = { clock: systemClock, random: systemRandom };
const ledger = await ProcessLedger.open(dir, ports);
const native = await startProcess(
  { ...ports, logger: silentLogger, ledger },
  {
    command,
    args,
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '' },
    purpose: 'Test program',
    sessionId: 's-1',
  },
);
native.output.once('data', () => process.stdout.write(`${native.pid}\n`));
await new Promise(() => setInterval(() => undefined, 1_000));
