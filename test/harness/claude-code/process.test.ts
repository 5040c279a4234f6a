import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { claudeCapabilities } from '../../../src/harness/claude-code/adapter.ts';
import { nativeSessionId } from '../../../src/protocol/run-output.ts';
import { readProcess } from '../../../src/platform/process-identity.ts';
import { says } from '../bed.ts';
import { Recorder } from '../recorder.ts';
import { claudeTest, eventually } from './claude-test.ts';

const pidOf = (bed: { ledger: { entries: readonly { process: { pid: number } | null }[] } }): number =>
  bed.ledger.entries[0]?.process?.pid ?? 0;

async function running(commandLine: readonly string[]): Promise<number | null> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line === `${commandLine.join('\0')}\0`) return Number(pid);
  }
  return null;
}

describe('the program and its process', () => {
  claudeTest(
    'a crash in the middle of a Turn: error, done, nothing reusable, and its command is ended too',
    async (bed) => {
      bed.model.setScenario([
        {
          steps: [
            { text: 'On it.' },
            { tool: 'Bash', id: 'toolu_1', input: { command: 'touch a; sleep 2717' } },
          ],
          usage: { input: 9 },
        },
      ]);
      const executor = await bed.ready();
      const { output, turn } = await bed.start(executor, 'Work');
      await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
      await eventually(async () => (await running(['sleep', '2717'])) !== null);
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
      expect(turn.outcome()).toMatchObject({ content: 'On it.', usage: { tokens: { input_tokens: 9 } } });
      expect(nativeSessionId(turn.outcome())).toBeTruthy();
      // A program that is killed leaves its command behind, in a group of its own.
      const left = await running(['sleep', '2717']);
      expect(left).not.toBeNull();
      expect(await executor.close()).toEqual({ state: 'closed' });
      expect(await readProcess(left ?? 0)).toBeNull();
      expect((await executor.startTurn('run-x', says('Hello'), new Recorder())).kind).toBe('no_turn');
    },
  );

  claudeTest('a crash between Turns is told at once', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: 'One.' }] }]);
    const executor = await bed.ready();
    await bed.run(executor, 'Hello');
    process.kill(pidOf(bed), 'SIGKILL');
    expect(await executor.broken).toContain('SIGKILL');
    expect((await executor.startTurn('run-x', says('Hello'), new Recorder())).kind).toBe('no_turn');
  });

  claudeTest('a preparation that is cancelled leaves no process', async (bed) => {
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

  claudeTest('a workspace that is gone is named as the problem', async (bed) => {
    const outcome = await bed.prepare({}, { workspace: join(bed.root, 'gone') });
    expect(outcome).toEqual({ kind: 'failed', message: expect.stringContaining('folder') as string });
  });

  claudeTest('the tree of many Turns in one process does not grow', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: 'Again.' }], repeat: true }]);
    const executor = await bed.ready();
    for (let turn = 0; turn < 20; turn++) await bed.run(executor, `Turn ${turn}`);
    expect(bed.ledger.entries).toHaveLength(1);
  });
});

describe('looking for the program', () => {
  claudeTest(
    'finds it, its version and its sign-in, without a model request and without leaving anything',
    async (bed) => {
      expect(await bed.adapter.probe()).toEqual({
        available: true,
        version: '2.1.332',
        reason: null,
        capabilities: claudeCapabilities,
      });
      expect(bed.model.requests).toEqual([]);
      expect(bed.ledger.entries).toEqual([]);
      expect(await readdir(bed.workspace)).toEqual([]);
    },
    { fresh: true },
  );

  claudeTest(
    'says how to sign in when nobody is signed in, and prepares nothing',
    async (bed) => {
      const probe = await bed.adapter.probe();
      expect(probe).toMatchObject({ available: false, version: '2.1.332' });
      expect(probe.reason).toContain('claude auth login');
      expect(await bed.prepare()).toEqual({ kind: 'failed', message: probe.reason });
    },
    { key: null, fresh: true },
  );

  claudeTest(
    'says that it is missing, with a complete declaration',
    async (bed) => {
      const probe = await bed.adapter.probe();
      expect(probe).toMatchObject({
        available: false,
        installed: false,
        version: null,
        capabilities: claudeCapabilities,
      });
      expect(probe.reason).toMatch(/not found/);
      expect((await bed.prepare()).kind).toBe('failed');
    },
    { command: '/nowhere/claude', fresh: true },
  );

  claudeTest(
    'does not run hooks of the person when it looks',
    async (bed) => {
      const settings = {
        hooks: {
          SessionStart: [{ hooks: [{ type: 'command', command: `touch ${join(bed.root, 'hooked')}` }] }],
        },
      };
      await mkdir(join(bed.root, 'home', '.claude'), { recursive: true });
      await writeFile(join(bed.root, 'home', '.claude', 'settings.json'), JSON.stringify(settings));
      const { ClaudeCodeAdapter } = await import('../../../src/harness/claude-code/adapter.ts');
      const { claude } = await import('../bed.ts');
      const adapter = new ClaudeCodeAdapter(bed.ports, {
        kind: 'claude_sdk',
        command: claude ?? '',
        env: {
          ANTHROPIC_BASE_URL: bed.model.url,
          ANTHROPIC_API_KEY: 'not-a-real-key',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        },
      });
      expect((await adapter.probe()).available).toBe(true);
      await expect(readFile(join(bed.root, 'hooked'))).rejects.toThrow();
    },
    { fresh: true },
  );

  // An old program cannot be had in small; this one only has the manners of one. What it must not do is be believed.
  claudeTest('tells a program without receipts to be updated, and never sends it a message', async (bed) => {
    const old = join(bed.root, 'old-claude');
    const said = join(bed.root, 'said');
    await writeFile(
      old,
      `#!${process.execPath}
const fs = require('node:fs');
if (process.argv.includes('--version')) { console.log('2.1.197 (Claude Code)'); process.exit(0); }
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'user') fs.writeFileSync(${JSON.stringify(said)}, line);
  const answer = message.request?.subtype === 'initialize' ? { account: { apiKeySource: 'ANTHROPIC_API_KEY' } } : {};
  console.log(JSON.stringify({ type: 'control_response', response: { subtype: 'success', request_id: message.request_id, response: answer } }));
}).on('close', () => process.exit(0));
`,
    );
    await chmod(old, 0o755);
    const { ClaudeCodeAdapter } = await import('../../../src/harness/claude-code/adapter.ts');
    const adapter = new ClaudeCodeAdapter(bed.ports, { kind: 'claude_sdk', command: old });
    const probe = await adapter.probe();
    expect(probe).toMatchObject({ available: false, version: '2.1.197' });
    expect(probe.reason).toContain('Update Claude Code');
    await expect(readFile(said)).rejects.toThrow();
  });
});
