import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { HarnessAdapter, Probe } from '../../../src/harness/adapter.ts';
import { createHarnessRegistry, HarnessRegistry, type RegistryPorts } from '../../../src/harness/registry.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { ProcessLedger } from '../../../src/ownership/process-ledger.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { capabilityNames, declareCapabilities } from '../../../src/protocol/capabilities.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';

class Fake implements HarnessAdapter {
  readonly name: string;
  readonly kind: string;
  probes = 0;
  answer: () => Promise<Probe> = () => Promise.resolve(available('1.0'));
  constructor(kind: string) {
    this.kind = kind;
    this.name = `The ${kind}`;
  }
  probe(): Promise<Probe> {
    this.probes++;
    return this.answer();
  }
  prepare(): Promise<never> {
    throw new Error('not used');
  }
}
const available = (version: string): Probe => ({
  available: true,
  version,
  reason: null,
  capabilities: declareCapabilities(['streaming']),
});
const missing: Probe = {
  available: false,
  installed: false,
  version: null,
  reason: 'not found',
  capabilities: declareCapabilities([]),
};

describe('the registry', () => {
  let clock: FakeClock;
  let registry: HarnessRegistry;
  beforeEach(() => {
    clock = new FakeClock();
    registry = new HarnessRegistry({ clock, logger: silentLogger });
  });

  test('closing waits for a look under way, and not for ever', async () => {
    const slow = new Fake('slow');
    let found: (probe: Probe) => void = () => undefined;
    slow.answer = () => new Promise((resolve) => (found = resolve));
    registry.register(slow);
    void registry.refresh();
    const ends: string[] = [];
    void registry.close().then(() => ends.push('with the look'));
    await settle();
    expect(ends).toEqual([]);
    found(missing);
    await settle();
    expect(ends).toEqual(['with the look']);
    void registry.refresh();
    void registry.close().then(() => ends.push('after 10 s'));
    await clock.advance(10_000);
    expect(ends).toEqual(['with the look', 'after 10 s']);
  });

  test('a kind twice and an empty kind are refused and change nothing', () => {
    registry.register(new Fake('a'));
    expect(() => registry.register(new Fake('a'))).toThrow(/twice/);
    expect(() => registry.register(new Fake(' '))).toThrow();
    expect(registry.offered().map(({ adapter }) => adapter.kind)).toEqual(['a']);
  });

  test('before the first look a kind is there, unavailable, with a complete declaration', () => {
    registry.register(new Fake('a'));
    const [entry] = registry.offered();
    expect(entry?.probe.available).toBe(false);
    expect(Object.keys(entry?.probe.capabilities ?? {}).sort()).toEqual([...capabilityNames].sort());
  });

  test('an incomplete declaration is not advertised', async () => {
    const fake = new Fake('a');
    const { streaming, ...incomplete } = declareCapabilities(['streaming']);
    expect(streaming).toBe(true);
    fake.answer = () =>
      Promise.resolve({ ...available('1'), capabilities: incomplete as Probe['capabilities'] });
    registry.register(fake);
    await registry.refresh();
    expect(registry.offered()[0]?.probe.available).toBe(false);
    expect(Object.keys(registry.offered()[0]?.probe.capabilities ?? {})).toHaveLength(capabilityNames.length);
  });

  test('a look that throws or never ends makes that kind unavailable and leaves the others alone', async () => {
    const [broken, silent, fine] = [new Fake('broken'), new Fake('silent'), new Fake('fine')];
    broken.answer = () => Promise.reject(new Error('bug'));
    silent.answer = () => new Promise(() => undefined);
    for (const fake of [broken, silent, fine]) registry.register(fake);
    const looking = registry.refresh();
    await clock.advance(60_000);
    await looking;
    expect(registry.offered().map(({ adapter, probe }) => [adapter.kind, probe.available])).toEqual([
      ['broken', false],
      ['fine', true],
      ['silent', false],
    ]);
  });

  test('looks again by itself, sooner while something is unavailable, and announces only changes', async () => {
    const fake = new Fake('a');
    fake.answer = () => Promise.resolve({ ...missing, installed: true });
    registry.register(fake);
    let changes = 0;
    registry.onChange(() => changes++);
    await registry.refresh();
    expect(changes).toBe(1);
    await clock.advance(30_000);
    expect([fake.probes, changes]).toEqual([2, 1]);
    fake.answer = () => Promise.resolve(available('2.0'));
    await clock.advance(30_000);
    expect([fake.probes, changes]).toEqual([3, 2]);
    await clock.advance(4 * 60_000);
    expect(fake.probes).toBe(3);
    fake.answer = () => Promise.resolve(available('2.1'));
    await clock.advance(60_000);
    expect([fake.probes, changes]).toEqual([4, 3]);
    await registry.close();
    await clock.advance(60 * 60_000);
    expect(fake.probes).toBe(4);
    expect(clock.pending).toBe(0);
  });

  test('callers at the same time share one look', async () => {
    const fake = new Fake('a');
    registry.register(fake);
    await Promise.all([registry.refresh(), registry.refresh()]);
    expect(fake.probes).toBe(1);
  });

  test('a program that nobody configured is offered only while it is found', async () => {
    const fake = new Fake('a');
    fake.answer = () => Promise.resolve(missing);
    registry.register(fake, { hideMissing: true });
    expect(registry.offered()).toEqual([]);
    await registry.refresh();
    expect(registry.offered()).toEqual([]);
    expect(registry.known().map(({ probe }) => probe.reason)).toEqual(['not found']);
    fake.answer = () => Promise.resolve(available('1'));
    let changes = 0;
    registry.onChange(() => changes++);
    await registry.refresh();
    expect(registry.offered()).toHaveLength(1);
    expect(changes).toBe(1);
  });
});

describe('building it from the configuration', () => {
  let dir = '';
  let ports: RegistryPorts;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'registry-'));
    const clock = new FakeClock();
    ports = {
      clock,
      random: systemRandom,
      logger: silentLogger,
      ledger: await ProcessLedger.open(dir, { clock, random: systemRandom }),
      stateDir: dir,
      homeDir: dir,
      environment: { platform: process.platform, get: () => undefined, all: () => ({}) },
    };
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  test('what is configured is offered, also when it is missing', async () => {
    const registry = await createHarnessRegistry({
      ...ports,
      harnesses: [
        { kind: 'mine', adapter: 'claude-code', command: '/nowhere/claude' },
        { kind: 'show', adapter: 'demo' },
      ],
    });
    await settle();
    expect(registry.offered().map(({ adapter, probe }) => [adapter.kind, probe.available])).toEqual([
      ['mine', false],
      ['show', true],
    ]);
    expect(registry.offered()[0]?.probe.reason).toMatch(/not found/);
    await registry.close();
  });

  test('an empty list offers nothing', async () => {
    const registry = await createHarnessRegistry({ ...ports, harnesses: [] });
    expect(registry.offered()).toEqual([]);
    await registry.close();
  });

  test.each(['other', 'toString'])(
    'the adapter %s is named as the mistake, with its place',
    async (adapter) => {
      const harnesses = [
        { kind: 'demo', adapter: 'demo' },
        { kind: 'x', adapter },
      ];
      await expect(createHarnessRegistry({ ...ports, harnesses })).rejects.toMatchObject({
        code: 'invalid_configuration',
        message: expect.stringContaining('harnesses[1].adapter') as string,
      });
    },
  );

  test('the same kind twice is refused', async () => {
    const harnesses = [
      { kind: 'demo', adapter: 'demo' },
      { kind: 'demo', adapter: 'demo' },
    ];
    await expect(createHarnessRegistry({ ...ports, harnesses })).rejects.toMatchObject({ code: 'conflict' });
  });
});
