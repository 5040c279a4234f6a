import { silentLogger } from '../../src/observe/logger.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { Router } from '../../src/runtime/router.ts';

/** Prints the CPU milliseconds that 100,000 inbound frames cost: dispatched by the Router, or parsed alone. */
const frames = [
  '{"type":"prompt_cancel","id":"82e6c0be-f2e9-4800-b0b0-2d768523dfdc","payload":{"delivery_id":"cancel:82e6c0be-f2e9-4800-b0b0-2d768523dfdc"}}',
  '{"type":"permission_decision","id":"perm_3fa91c07","payload":{"delivery_id":"dlv-1","approved":true}}',
  '{"type":"prompt_steer","id":"82e6c0be-f2e9-4800-b0b0-2d768523dfdc","payload":{"input_id":"in-2","input":[{"content":[{"type":"input_text","text":"Also check the tests."}]}],"durable_receipt":true}}',
  '{"type":"function_result","id":"run-fn","payload":{"delivery_id":"function:4a9c2f0e","call_id":"call_1","success":true,"content":[{"type":"input_text","text":"shipped"}]}}',
  '{"type":"execution_start","id":"prep-01","payload":{"executor_id":"9074d199-3ce2-4200-ac1d-c9042d32b8bd","handle":"42025bc1-1979-431e-ae9c-6a44b266fb60","run_id":"82e6c0be-f2e9-4800-b0b0-2d768523dfdc","input":[{"content":[{"type":"input_text","text":"List the open tasks."}]}]}}',
].map((text) => Buffer.from(text));

const router = new Router(
  {
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    binding: null,
    harness: () => null,
    stateDir: () => Promise.resolve('/nowhere'),
    interactions: { policy: 'ask', answeredBy: 'both', timeoutMs: null },
    executorIdleMs: 1_000,
    paused: () => false,
    facts: () => undefined,
    suspension: { memory: { resumed: null }, hooks: { armed: () => undefined, failed: () => undefined } },
  },
  { send: () => Promise.resolve('written'), stream: () => Promise.resolve('entered'), backedUp: false },
);
const work =
  process.argv[2] === 'ours'
    ? (frame: Buffer): void => router.receive(frame)
    : (frame: Buffer): void => void JSON.parse(frame.toString('utf8'));

async function measure(count: number): Promise<number> {
  const before = process.cpuUsage();
  for (let n = 0; n < count; n++) {
    const frame = frames[n % frames.length];
    if (frame) work(frame);
    if (n % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
// Both are measured as they run in a daemon that has been up for a while.
await measure(100_000);
process.stdout.write(String(await measure(100_000)));
process.exit(0);
