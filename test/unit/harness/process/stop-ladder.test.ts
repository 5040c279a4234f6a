import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { readLines } from '../../../../src/harness/process/jsonl.ts';
import { startProcess, STDERR_LIMIT, type NativeProcess } from '../../../../src/harness/process/spawn.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';
import { ProcessLedger } from '../../../../src/ownership/process-ledger.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { identifyProcess, readProcess } from '../../../../src/platform/process-identity.ts';
import { systemProcessTable, type ProcessTable } from '../../../../src/platform/process-table.ts';
import { systemRandom } from '../../../../src/platform/random.ts';

const limits = { inputMs: 200, termMs: 200, killMs: 3_000, pipesMs: 1_000 };
let dir = '';
let ledger: ProcessLedger;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ladder-'));
  ledger = await ProcessLedger.open(dir, { clock: systemClock, random: systemRandom });
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Runs JavaScript as a native program. It says `ready` (and what else it likes) on standard output. */
async function start(script: string, table?: ProcessTable): Promise<NativeProcess> {
  return startProcess(
    {
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      ledger,
      limits,
      ...(table ? { table } : {}),
    },
    {
      command: process.execPath,
      args: ['-e', script],
      cwd: dir,
      env: { PATH: process.env['PATH'] ?? '' },
      purpose: 'Test program',
    },
  );
}
async function firstLine(native: NativeProcess): Promise<string> {
  for await (const line of readLines(native.output)) if (line.kind === 'line') return line.text;
  return '';
}
const gone = async (pid: number): Promise<boolean> => (await readProcess(pid)) === null;
const forever = 'setInterval(() => {}, 1000);';
const stubborn = `process.on('SIGTERM', () => {}); ${forever}`;

describe('ending a native program', () => {
  test('a program that leaves at the end of its input is never signalled', async () => {
    const native = await start(
      `process.stdin.on('end', () => process.exit(7)).resume(); console.log('ready');`,
    );
    expect(await firstLine(native)).toBe('ready');
    expect(await native.stop()).toEqual({ state: 'closed' });
    expect(await native.exited).toEqual({ code: 7, signal: null });
    expect(ledger.entries).toEqual([]);
  });

  test('one that stays gets TERM', async () => {
    const native = await start(`${forever} console.log('ready');`);
    await firstLine(native);
    expect(await native.stop()).toEqual({ state: 'closed' });
    expect(await native.exited).toEqual({ code: null, signal: 'SIGTERM' });
  });

  test('one that ignores TERM gets KILL', async () => {
    const native = await start(`${stubborn} console.log('ready');`);
    await firstLine(native);
    expect(await native.stop()).toEqual({ state: 'closed' });
    expect(await native.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await gone(native.pid)).toBe(true);
  });

  test.runIf(process.platform === 'linux')(
    'a descendant in a session of its own that ignores TERM ends too, also when its parent is gone',
    async () => {
      const native = await start(`
        const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], { detached: true, stdio: 'ignore' });
        child.unref();
        console.log(child.pid);
        setTimeout(() => process.exit(0), 50);`);
      const descendant = Number(await firstLine(native));
      await native.exited;
      const entry = await readProcess(descendant);
      expect(entry?.group).toBe(descendant);
      expect(entry?.parent).not.toBe(native.pid);
      expect(ledger.entries).toHaveLength(1);
      expect(await native.stop()).toEqual({ state: 'closed' });
      expect(await gone(descendant)).toBe(true);
      expect(ledger.entries).toEqual([]);
    },
  );

  test('while something cannot be ended the answer is unconfirmed with the reason, and a later call may succeed', async () => {
    let deaf = true;
    const table: ProcessTable = {
      ...systemProcessTable,
      signal: (pid, signal) => (deaf ? undefined : systemProcessTable.signal(pid, signal)),
      signalGroup: (group, signal) => (deaf ? true : systemProcessTable.signalGroup(group, signal)),
    };
    const native = await startProcess(
      {
        clock: systemClock,
        random: systemRandom,
        logger: silentLogger,
        ledger,
        limits: { ...limits, killMs: 100 },
        table,
      },
      { command: process.execPath, args: ['-e', forever], cwd: dir, env: {}, purpose: 'Test program' },
    );
    const [first, shared] = await Promise.all([native.stop(), native.stop()]);
    expect(first).toEqual({ state: 'unconfirmed', reason: `process ${native.pid} did not end` });
    expect(shared).toBe(first);
    expect(ledger.entries.map((entry) => entry.process?.pid)).toEqual([native.pid]);
    deaf = false;
    expect(await native.stop()).toEqual({ state: 'closed' });
    expect(ledger.entries).toEqual([]);
  });

  test('a program that ended by itself in the middle of a line is closed, and the line is not lost', async () => {
    const native = await start(
      `process.stdout.write('{"half":', () => process.kill(process.pid, 'SIGKILL'));`,
    );
    expect(await firstLine(native)).toBe('{"half":');
    expect(await native.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await expect(native.input.write({ late: true })).rejects.toThrow();
    expect(await native.stop()).toEqual({ state: 'closed' });
  });

  test('a program that floods standard error is not slowed down and only the end is kept', async () => {
    const native = await start(`
      for (let i = 0; i < 3000; i++) process.stderr.write('e'.repeat(1024));
      process.stderr.write('the end', () => console.log('ready'));`);
    expect(await firstLine(native)).toBe('ready');
    await native.stop();
    expect(native.stderrTail.length).toBeLessThanOrEqual(STDERR_LIMIT);
    expect(native.stderrTail.endsWith('the end')).toBe(true);
  });
});

describe('starting a native program', () => {
  test('it leads a group of its own, sees only the given environment, and is in the ledger on disk', async () => {
    process.env['A_SECRET_OF_THE_DAEMON'] = 'x';
    const native = await start(`console.log(JSON.stringify(Object.keys(process.env).sort())); ${forever}`);
    delete process.env['A_SECRET_OF_THE_DAEMON'];
    expect(JSON.parse(await firstLine(native))).toEqual(['AGENT_RUNTIME_OWNER', 'PATH']);
    expect((await readProcess(native.pid))?.group).toBe(native.pid);
    const onDisk: unknown = JSON.parse(await readFile(join(dir, 'processes.json'), 'utf8'));
    expect(onDisk).toMatchObject({
      entries: [{ purpose: 'Test program', process: await identifyProcess(native.pid) }],
    });
    await native.stop();
  });

  test('a program that is not there is a clear refusal and leaves no entry', async () => {
    const request = {
      command: join(dir, 'missing'),
      args: [],
      cwd: dir,
      env: {},
      purpose: 'Missing program',
    };
    const ports = { clock: systemClock, random: systemRandom, logger: silentLogger, ledger };
    await expect(startProcess(ports, request)).rejects.toMatchObject({
      family: 'rejected',
      code: 'harness_unavailable',
    });
    expect(ledger.entries).toEqual([]);
  });

  test('a missing working folder is told from a missing program', async () => {
    const request = {
      command: process.execPath,
      args: [],
      cwd: join(dir, 'no'),
      env: {},
      purpose: 'Test program',
    };
    const ports = { clock: systemClock, random: systemRandom, logger: silentLogger, ledger };
    await expect(startProcess(ports, request)).rejects.toMatchObject({ code: 'workspace_unusable' });
  });

  test('when the ledger cannot be written nothing is started', async () => {
    const marker = join(dir, 'ran');
    await rm(dir, { recursive: true });
    const { writeFile } = await import('node:fs/promises');
    await writeFile(dir, 'a file where the folder was');
    const request = {
      command: process.execPath,
      args: ['-e', `require('node:fs').writeFileSync(${JSON.stringify(marker)}, '')`],
      cwd: tmpdir(),
      env: {},
      purpose: 'Test program',
    };
    const ports = { clock: systemClock, random: systemRandom, logger: silentLogger, ledger };
    await expect(startProcess(ports, request)).rejects.toMatchObject({ family: 'fault', code: 'storage' });
    expect(ledger.entries).toEqual([]);
  });

  test('a program that is gone before it was recorded is still reported as ended', async () => {
    const native = await start('process.exit(3)');
    expect(await native.exited).toEqual({ code: 3, signal: null });
    expect(await native.stop()).toEqual({ state: 'closed' });
    expect(ledger.entries).toEqual([]);
  });
});
