import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BoundRuntime, type BindingPorts } from '../../../src/app/binding.ts';
import { enrolledTarget } from '../../../src/app/enrolled-binding.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { RuleBook } from '../../../src/runtime/rule-book.ts';
import type { Random } from '../../../src/platform/random.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { EnrolBed, EnrolCore } from '../../support/enrol-bed.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';
import { directNetwork } from '../../support/direct-network.ts';

let bed: EnrolBed;
let clock: FakeClock;
let bound: BoundRuntime;
let fraction = 0.5;

beforeEach(async () => {
  fraction = 0.5;
  bed = await EnrolBed.make();
  const { id } = await bed.desk.read({ source: { kind: 'invitation', text: bed.command() } });
  await bed.desk.confirm(id, 'project');
  bed.core.seen.length = 0;
  clock = new FakeClock(Date.now());
  const [receipt] = bed.served;
  if (!receipt) throw new Error('not bound');
  const target = enrolledTarget(receipt, {
    credentials: bed.credentials,
    clock,
    userAgent: 'agent-runtime/test',
    network: directNetwork(),
    register: () => undefined,
  });
  bound = new BoundRuntime(target, ports());
});
afterEach(async () => {
  const stopped = bound.link.stop();
  await untilTrue(async () => {
    await clock.advance(1_000);
    return bound.link.state.state === 'stopped';
  });
  await stopped;
  bound.link.dispose();
  await bed.close();
});

function ports(): BindingPorts {
  const random: Random = { ...systemRandom, fraction: () => fraction };
  return {
    clock,
    random,
    logger: silentLogger,
    userAgent: 'agent-runtime/test',
    network: directNetwork(),
    version: '1',
    interactions: { policy: 'ask', answeredBy: 'both', timeoutMs: null },
    rules: new RuleBook({ clock, random: systemRandom }),
    executorIdleMs: 1_000,
    harnesses: () => [],
    stateDir: () => Promise.resolve('/nowhere'),
    workspace: () => null,
    paused: () => false,
    onFact: () => undefined,
    onChange: () => undefined,
  };
}

/** Sockets are real and time is not: lets the network have its turns until something is so. */
async function untilTrue(is: () => boolean | Promise<boolean>): Promise<void> {
  const until = Date.now() + 10_000;
  while (!(await is())) {
    if (Date.now() > until) throw new Error('it did not become so');
    await settle();
  }
}
const state = (name: string) => (): boolean => bound.link.state.state === name;
/** The wait after the given failed attempt, which is then over. Milliseconds. */
async function nextWait(attempt: number): Promise<number> {
  const attempts = (): number => bed.core.paths.filter((path) => path === 'bootstrap').length;
  await untilTrue(() => state('waiting')() && attempts() === attempt);
  const { state: now } = bound.link;
  const wait = now.state === 'waiting' ? now.until - now.since : Number.NaN;
  await clock.advance(wait);
  return wait;
}
const refuse = (path: string, status: number): void => {
  bed.core.intercept = (request, response) => {
    if (!request.url?.includes(`/agent-daemon/${path}`)) return false;
    request.resume();
    response.writeHead(status).end('canary text of a peer');
    return true;
  };
};

describe('M6: what stops reconnecting, and what does not', () => {
  test.each([
    ['enroll', 401, 'credential_rejected'],
    ['enroll', 409, 'other_key_bound'],
    ['bootstrap', 401, 'credential_rejected'],
    ['bootstrap', 403, 'credential_rejected'],
    ['bootstrap', 426, 'incompatible_version'],
  ])('%s answered with %i parks: no further request, however long', async (path, status, code) => {
    refuse(path, status);
    bound.link.start();
    await untilTrue(state('parked'));
    expect(bound.failure).toBe(code);
    const asked = bed.core.seen.length;
    await clock.advance(24 * 3_600_000);
    await settle();
    expect(bed.core.seen).toHaveLength(asked);
  });

  test('after a person’s word it asks exactly once whether the binding stands', async () => {
    refuse('bootstrap', 401);
    bound.link.start();
    await untilTrue(state('parked'));
    refuse('enroll', 401);
    bed.core.seen.length = 0;
    bound.link.retry();
    await untilTrue(() => bed.core.paths.length > 0 && state('parked')());
    await clock.advance(3_600_000);
    expect(bed.core.paths).toEqual(['enroll']);
    bed.core.intercept = () => false;
    bound.link.retry();
    await untilTrue(state('serving'));
  });

  test.each([500, 502, 503, 404, 429])('%i is tried again and does not enrol again', async (status) => {
    refuse('bootstrap', status);
    bound.link.start();
    for (let attempt = 1; attempt <= 3; attempt++) await nextWait(attempt);
    expect(bed.core.paths.filter((path) => path === 'enroll')).toHaveLength(1);
  });

  test('an ordinary end of the connection (1000, 1001) and a lost network connect again', async () => {
    bound.link.start();
    await untilTrue(state('serving'));
    const port = Number(new URL(bed.core.gateway.coreUrl).port);
    await bed.core.close();
    await untilTrue(() => !state('serving')());
    await clock.advance(2_000);
    await untilTrue(state('waiting'));
    expect(bound.failure).not.toBeNull();
    // The same Core comes back; what it knew of keys is another matter, so only the way back is looked at.
    const again = await EnrolCore.start(port);
    await untilTrue(async () => {
      await clock.advance(1_000);
      return again.seen.length > 0 || state('parked')();
    });
    await again.close();
  });
});

describe('M7: the waits between attempts', () => {
  test.each([
    [0, 0.8],
    [0.5, 1],
    [0.999_999, 1.2],
  ])('with a jitter of %d they are %d times the schedule, and never above 30 s', async (jitter, factor) => {
    fraction = jitter;
    refuse('bootstrap', 503);
    bound.link.start();
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 8; attempt++) waits.push(await nextWait(attempt));
    const schedule = [1, 2, 4, 8, 16, 30, 30, 30].map((seconds) => seconds * 1_000);
    expect(waits).toHaveLength(schedule.length);
    for (const [at, wait] of waits.entries()) {
      expect(wait).toBeLessThanOrEqual(30_000);
      expect(wait).toBeCloseTo(Math.min(30_000, (schedule[at] ?? 0) * factor), -2);
    }
  });
});

test('M8: the first frame after the upgrade is a heartbeat, at once', async () => {
  bound.link.start();
  await untilTrue(() => bed.core.frames.length > 0);
  expect(JSON.parse(bed.core.frames[0] ?? '')).toMatchObject({ frame: { type: 'heartbeat' } });
});
