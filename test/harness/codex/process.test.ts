import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { describe, expect } from 'vitest';

import { codexCapabilities, CodexAdapter } from '../../../src/harness/codex/adapter.ts';
import { nativeSessionId } from '../../../src/protocol/run-output.ts';
import { configuration, says } from '../bed.ts';
import { Recorder } from '../recorder.ts';
import { codex, codexTest, eventually, running, type CodexBed } from './codex-bed.ts';

const pidOf = (bed: CodexBed): number => bed.ledger.entries[0]?.process?.pid ?? 0;

const script = (body: string): string => `#!${process.execPath}
if (process.argv.includes('--version')) { console.log('codex-cli 0.171.0'); process.exit(0); }
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
process.on('SIGTERM', () => undefined);
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  ${body}
});
`;

async function standIn(bed: CodexBed, text: string): Promise<CodexAdapter> {
  const file = join(bed.root, 'stand-in');
  await writeFile(file, text);
  await chmod(file, 0o755);
  const { memory, ...ports } = bed.ports;
  void memory;
  return new CodexAdapter(ports, { kind: 'codex', command: file });
}

describe('the program and its process', () => {
  codexTest(
    'a crash in the middle of a Turn: error, done, nothing reusable, and its command is ended too',
    async (bed) => {
      bed.model.setScenario([
        {
          steps: [
            { text: 'On it.' },
            {
              tool: 'exec_command',
              id: 'call_1',
              input: { cmd: 'touch a; sleep 2709', yield_time_ms: 20_000 },
            },
          ],
          usage: { input: 9 },
        },
      ]);
      const executor = await bed.ready();
      const { output, turn } = await bed.start(executor, 'Work');
      await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
      await eventually(async () => (await running('sleep', '2709')) !== null);
      process.kill(pidOf(bed), 'SIGKILL');
      expect(await executor.broken).toContain('SIGKILL');
      await output.end();
      expect(output.all('error')).toHaveLength(1);
      expect(output.all('error')[0]?.payload).not.toHaveProperty('code');
      expect(output.events.slice(-2).map((event) => event.type)).toEqual(['error', 'done']);
      expect(output.all('tool_call').at(-1)?.payload).toMatchObject({
        stage: 'after',
        observation: { status: 'incomplete' },
      });
      expect(await turn.settlement()).toMatchObject({ kind: 'settled', reusable: false });
      expect(turn.outcome().content).toBe('On it.');
      expect(nativeSessionId(turn.outcome())).toBeTruthy();
      expect(await executor.close()).toEqual({ state: 'closed' });
      expect(await running('sleep', '2709')).toBeNull();
      expect((await executor.startTurn('run-x', says('Hello'), new Recorder())).kind).toBe('no_turn');
    },
  );

  codexTest(
    'one that stands still in the middle of a Turn is not called settled, and is ended by force',
    async (bed) => {
      bed.model.setScenario([{ steps: [{ text: ['Talking ', { hold: 'talking' }, 'on.'] }] }]);
      const executor = await bed.ready();
      const { output, turn } = await bed.start(executor, 'Talk');
      await output.next('delta');
      process.kill(pidOf(bed), 'SIGSTOP');
      await expect(turn.cancel()).rejects.toMatchObject({ family: 'unknown' });
      expect(await turn.settlement()).toMatchObject({ kind: 'failed' });
      expect(output.closed).toBe(false);
      expect(await executor.close()).toEqual({ state: 'closed' });
      await output.end();
      expect(output.all('error')).toHaveLength(1);
      expect(await turn.settlement()).toMatchObject({ kind: 'settled', reusable: false });
    },
  );

  codexTest('a crash between Turns is told at once', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: 'One.' }] }]);
    const executor = await bed.ready();
    await bed.run(executor, 'Hello');
    process.kill(pidOf(bed), 'SIGKILL');
    expect(await executor.broken).toContain('SIGKILL');
    expect((await executor.startTurn('run-x', says('Hello'), new Recorder())).kind).toBe('no_turn');
  });

  codexTest('a preparation that is cancelled leaves no process', async (bed) => {
    await bed.adapter.probe();
    const abort = new AbortController();
    const preparing = bed.prepare({}, { signal: abort.signal });
    await eventually(() =>
      bed.ledger.entries.some((entry) => entry.sessionId !== null && entry.process !== null),
    );
    abort.abort();
    expect(await preparing).toEqual({
      kind: 'failed',
      message: expect.stringContaining('cancelled') as string,
    });
    expect(bed.ledger.entries).toEqual([]);
  });

  codexTest('a workspace that is gone is named as the problem', async (bed) => {
    const outcome = await bed.prepare({}, { workspace: join(bed.root, 'gone') });
    expect(outcome).toEqual({ kind: 'failed', message: expect.stringContaining('folder') as string });
  });

  codexTest('a hundred Turns in one process do not make the process or the daemon grow', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: 'Again.' }], repeat: true }]);
    const executor = await bed.ready();
    const pid = pidOf(bed);
    const descriptors = async (): Promise<number> => (await readdir(`/proc/${pid}/fd`)).length;
    for (let turn = 0; turn < 20; turn++) await bed.run(executor, `Turn ${turn}`);
    const before = await descriptors();
    for (let turn = 20; turn < 100; turn++) await bed.run(executor, `Turn ${turn}`);
    expect(bed.ledger.entries).toHaveLength(1);
    expect(await descriptors()).toBeLessThanOrEqual(before + 5);
  });

  codexTest('a flood of output is taken at the pace of whoever reads it', async (bed) => {
    bed.model.setScenario([
      {
        steps: [
          {
            tool: 'exec_command',
            id: 'call_1',
            input: { cmd: 'touch a; seq 1 400000', yield_time_ms: 20_000 },
          },
        ],
      },
      { steps: [{ text: 'Done.' }] },
    ]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    expect((await output.end()).payload.content).toBe('Done.');
    expect(output.all('tool_call').at(-1)?.payload.observation).toMatchObject({ status: 'completed' });
  });
});

describe('a program that misbehaves', () => {
  codexTest('and never answers is given up, and ended by force', async (bed) => {
    const adapter = await standIn(bed, script(''));
    const looking = adapter.probe();
    const probe = await looking;
    expect(probe).toMatchObject({ available: false, version: '0.171.0' });
    expect(bed.ledger.entries).toEqual([]);
  });

  codexTest('and fills standard error does not fill memory', async (bed) => {
    const adapter = await standIn(
      bed,
      script(
        `process.stderr.write('x'.repeat(200000)); say({ id, error: { code: -32600, message: 'no' } });`,
      ),
    );
    expect((await adapter.probe()).available).toBe(false);
    expect(bed.ledger.entries).toEqual([]);
  });

  codexTest('and lacks a method is too old, and says so', async (bed) => {
    const adapter = await standIn(
      bed,
      script(
        `if (method === 'initialize') say({ id, result: { userAgent: 'x/0.171.0' } });
  else if (id !== undefined) say({ id, error: { code: -32600, message: method === 'turn/steer' ? 'Invalid request: unknown variant \`turn/steer\`' : 'invalid type' } });`,
      ),
    );
    const probe = await adapter.probe();
    expect(probe.available).toBe(false);
    expect(probe.reason).toContain('Update Codex');
    expect(bed.ledger.entries).toEqual([]);
  });
});

describe('looking for the program', () => {
  codexTest(
    'finds it, its version and its sign-in, without a model request and without leaving anything',
    async (bed) => {
      expect(await bed.adapter.probe()).toEqual({
        available: true,
        version: '0.171.0',
        reason: null,
        capabilities: codexCapabilities,
      });
      expect(bed.model.requests).toEqual([]);
      expect(bed.ledger.entries).toEqual([]);
    },
    { fresh: true },
  );

  codexTest(
    'says how to sign in when nobody is signed in, and prepares nothing',
    async (bed) => {
      const probe = await bed.adapter.probe();
      expect(probe).toMatchObject({ available: false, version: '0.171.0' });
      expect(probe.reason).toContain('codex login');
      expect(await bed.prepare()).toEqual({ kind: 'failed', message: probe.reason });
    },
    { signedOut: true, fresh: true },
  );

  codexTest(
    'sees a sign-in and its end, and never the key',
    async (bed) => {
      const KEY = 'sk-canary-of-the-account';
      const codexCommand = (...args: readonly string[]): void => {
        const env = { PATH: process.env['PATH'] ?? '', HOME: bed.home, CODEX_HOME: bed.home };
        execFileSync(codex ?? '', args, { env, input: `${KEY}\n`, stdio: ['pipe', 'ignore', 'ignore'] });
      };
      codexCommand('login', '--with-api-key');
      const probe = await bed.adapter.probe();
      expect(probe).toMatchObject({ available: true, reason: null });
      codexCommand('logout');
      expect(await bed.adapter.probe()).toMatchObject({ available: false });
      expect(bed.log.join('\n')).not.toContain(KEY);
    },
    { signedOut: true, fresh: true },
  );

  codexTest(
    'says that it is missing, with a complete declaration',
    async (bed) => {
      const probe = await bed.adapter.probe();
      expect(probe).toMatchObject({
        available: false,
        installed: false,
        version: null,
        capabilities: codexCapabilities,
      });
      expect(probe.reason).toMatch(/not found/);
      expect((await bed.prepare()).kind).toBe('failed');
    },
    { command: '/nowhere/codex', fresh: true },
  );

  codexTest('goes behind the launcher of npm to the program itself', async (bed) => {
    const program = codex ?? '';
    const modules = join(bed.root, 'node_modules', '@openai');
    const native = join(modules, `codex-${process.platform}-${process.arch}`, 'vendor');
    await mkdir(join(modules, 'codex', 'bin'), { recursive: true });
    await mkdir(native, { recursive: true });
    await symlink(dirname(dirname(program)), join(native, 'target'));
    await writeFile(join(modules, 'codex', 'bin', 'codex.js'), '#!/usr/bin/env node\nprocess.exit(9);\n');
    await chmod(join(modules, 'codex', 'bin', 'codex.js'), 0o755);
    await mkdir(join(bed.root, 'bin'));
    const link = join(bed.root, 'bin', 'codex');
    await symlink('../node_modules/@openai/codex/bin/codex.js', link);
    const adapter = new CodexAdapter(bed.ports, { kind: 'codex', command: link });
    expect(await adapter.probe()).toMatchObject({ available: true, version: '0.171.0' });
  });

  codexTest('tells an old version to be updated without starting it', async (bed) => {
    const old = script('').replace('codex-cli 0.171.0', 'codex-cli 0.128.0');
    const probe = await (await standIn(bed, old)).probe();
    expect(probe).toMatchObject({ available: false, version: '0.128.0' });
    expect(probe.reason).toContain('0.153');
  });

  codexTest('notices another program in the same place; what already runs goes on', async (bed) => {
    const file = join(bed.root, 'codex');
    await copyFile(codex ?? '', file);
    await chmod(file, 0o755);
    const adapter = new CodexAdapter(bed.ports, { kind: 'codex', command: file });
    expect((await adapter.probe()).version).toBe('0.171.0');
    bed.model.setScenario([{ steps: [{ text: 'Still the old one.' }] }]);
    const outcome = await adapter.prepare(
      {
        sessionId: 's',
        workspace: bed.workspace,
        stateDir: join(bed.root, 'state'),
        configuration: configuration(),
        policy: 'ask',
        prepared: { variables: {}, skills: [], mcpServers: [] },
      },
      new AbortController().signal,
    );
    if (outcome.kind !== 'ready') throw new Error(outcome.message);
    try {
      const newer = join(bed.root, 'newer');
      await writeFile(newer, script('').replace('codex-cli 0.171.0', 'codex-cli 0.128.0'));
      await chmod(newer, 0o755);
      await rename(newer, file);
      expect((await adapter.probe()).version).toBe('0.128.0');
      const { output } = await bed.run(outcome.executor, 'Hello');
      expect(output.text).toBe('Still the old one.');
    } finally {
      expect(await outcome.executor.close()).toEqual({ state: 'closed' });
    }
  });
});
