import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { ProcessLedger } from '../../../src/ownership/process-ledger.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { identifyProcess, readProcess } from '../../../src/platform/process-identity.ts';
import { systemProcessTable } from '../../../src/platform/process-table.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { bundledScript } from '../../support/bundled-script.ts';

const ports = { clock: systemClock, random: systemRandom, limits: { termMs: 200, killMs: 3_000 } };
let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ledger-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));
const open = (): Promise<ProcessLedger> => ProcessLedger.open(dir, ports);

describe('the ledger on disk', () => {
  test('an entry is there before the start, gets its identity after it, and is gone when its end was proven', async () => {
    const ledger = await open();
    const entry = await ledger.record({ owner: 'o1', purpose: 'Agent', sessionId: 's1' });
    expect((await open()).entries).toEqual([entry]);
    expect(entry.process).toBeNull();
    await ledger.started(entry.id, { pid: 42, startTime: '7', bootId: 'b' });
    expect((await open()).entries[0]?.process).toEqual({ pid: 42, startTime: '7', bootId: 'b' });
    await ledger.remove(entry.id);
    expect((await open()).entries).toEqual([]);
  });

  test('a system that will not list its processes proves no end: the entry stays and is tried again', async () => {
    const entry = await (await open()).record({ owner: 'o1', purpose: 'Agent' });
    let says = false;
    const table = {
      ...systemProcessTable,
      list: () => (says ? Promise.resolve([]) : Promise.reject(new Error('EMFILE'))),
    };
    const ledger = await ProcessLedger.open(dir, { ...ports, table });
    expect(await ledger.orphans()).toEqual([{ entry, pids: [] }]);
    expect((await ledger.reap(entry.id)).state).toBe('unconfirmed');
    expect((await open()).entries).toEqual([entry]);
    says = true;
    expect((await ledger.reap(entry.id)).state).toBe('closed');
    expect((await open()).entries).toEqual([]);
  });

  test('changes made at the same time are all kept', async () => {
    const ledger = await open();
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => ledger.record({ owner: `o${i}`, purpose: 'Agent' })),
    );
    expect((await open()).entries).toHaveLength(20);
    expect((await readdir(dir)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test.each([
    ['no JSON', '{"version":1,'],
    ['another shape', '{"version":1,"entries":[{"id":1}]}'],
    ['a later version', '{"version":2,"entries":[]}'],
  ])('a file with %s is set aside under another name and reported', async (_, text) => {
    await writeFile(join(dir, 'processes.json'), text);
    const ledger = await open();
    expect(ledger.entries).toEqual([]);
    expect(await readFile(ledger.setAside ?? '', 'utf8')).toBe(text);
    await ledger.record({ owner: 'o', purpose: 'Agent' });
    expect(await readFile(ledger.setAside ?? '', 'utf8')).toBe(text);
    expect((await open()).setAside).toBeNull();
  });

  test('a record that could not be written is a rejection and no entry', async () => {
    const ledger = await open();
    await rm(dir, { recursive: true });
    await writeFile(dir, 'in the way');
    await expect(ledger.record({ owner: 'o', purpose: 'Agent' })).rejects.toThrow();
    expect(ledger.entries).toEqual([]);
  });
});

describe('what an earlier daemon left behind', () => {
  let script: Awaited<ReturnType<typeof bundledScript>>;
  beforeAll(async () => {
    script = await bundledScript(join(import.meta.dirname, '../../support/ledger-owner.ts'));
  });
  afterAll(() => script.remove());

  /** Starts the little daemon with a program of ours, kills it as a crash would, and returns what it left. */
  async function crash(program: string): Promise<number> {
    const owner = spawn(process.execPath, [script.file, dir, process.execPath, '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [chunk] = (await once(owner.stdout, 'data')) as [Buffer];
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    return Number(chunk.toString());
  }
  const stubborn = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('ready');`;

  test('is found by its identity, ended although it ignores TERM, and forgotten', async () => {
    const pid = await crash(stubborn);
    const ledger = await open();
    const [orphan, ...others] = await ledger.orphans();
    expect(others).toEqual([]);
    expect(orphan?.pids).toEqual([pid]);
    expect(orphan?.entry).toMatchObject({
      purpose: 'Test program',
      sessionId: 's-1',
      process: await identifyProcess(pid),
    });
    expect(await ledger.reap(orphan?.entry.id ?? '')).toEqual({ state: 'closed' });
    expect(await readProcess(pid)).toBeNull();
    expect((await open()).entries).toEqual([]);
  });

  test.runIf(process.platform === 'linux')(
    'is found by its descendants when the first process is gone',
    async () => {
      const first = await crash(`
      const options = { detached: true, stdio: 'ignore' };
      const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], options);
      child.unref();
      require('node:fs').writeFileSync('descendant', String(child.pid));
      console.log('ready');
      process.stdin.on('end', () => process.exit(0)).resume();`);
      const descendant = Number(await readFile(join(dir, 'descendant'), 'utf8'));
      while ((await readProcess(first)) !== null) await new Promise((resolve) => setTimeout(resolve, 5));
      const ledger = await open();
      expect((await ledger.orphans()).map((orphan) => orphan.pids)).toEqual([[descendant]]);
      expect(await ledger.reap(ledger.entries[0]?.id ?? '')).toEqual({ state: 'closed' });
      expect(await readProcess(descendant)).toBeNull();
    },
  );

  test('a stranger under a recycled pid is neither reported nor ended', async () => {
    const stranger = spawn(process.execPath, ['-e', `console.log(1); setInterval(() => {}, 1000)`], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(stranger.stdout, 'data');
    const identity = await identifyProcess(stranger.pid ?? 0);
    const earlier = await open();
    const entry = await earlier.record({ owner: 'nobody', purpose: 'Agent' });
    await earlier.started(entry.id, {
      pid: stranger.pid ?? 0,
      startTime: '1',
      bootId: identity?.bootId ?? '',
    });
    const ledger = await open();
    expect(await ledger.reap(entry.id)).toEqual({ state: 'closed' });
    expect(await identifyProcess(stranger.pid ?? 0)).toEqual(identity);
    stranger.kill('SIGKILL');
    await once(stranger, 'exit');
  });

  test('entries of an earlier boot are forgotten without a look at their pids', async () => {
    const earlier = await open();
    const entry = await earlier.record({ owner: 'o', purpose: 'Agent' });
    const identity = await identifyProcess(process.pid);
    await earlier.started(entry.id, {
      pid: process.pid,
      startTime: identity?.startTime ?? '',
      bootId: 'another boot',
    });
    const ledger = await open();
    expect(await ledger.orphans()).toEqual([]);
    expect(ledger.entries).toEqual([]);
  });

  test('what this daemon started itself is no orphan', async () => {
    const ledger = await open();
    await ledger.record({ owner: 'o', purpose: 'Agent' });
    expect(await ledger.orphans()).toEqual([]);
    expect(ledger.entries).toHaveLength(1);
  });
});
