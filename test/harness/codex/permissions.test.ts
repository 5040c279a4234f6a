import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { readProcess } from '../../../src/platform/process-identity.ts';
import { codexTest, isThere } from './codex-bed.ts';

const command = (cmd: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  steps: [{ tool: 'exec_command', id: 'call_1', input: { cmd, ...more } }],
});
const patch = (input: string, id = 'call_1'): Record<string, unknown> => ({
  steps: [{ customTool: 'apply_patch', id, input: `*** Begin Patch\n${input}\n*** End Patch\n` }],
});
const done = { steps: [{ text: 'Done.' }] };

describe('permissions', () => {
  codexTest(
    'an allowed command runs, and what is asked shows it whole and without its shell',
    async (bed) => {
      const cmd = "echo \"it's\" > out.txt\necho 'second $HOME' >> out.txt";
      bed.model.setScenario([command(cmd), done]);
      const { output, turn } = await bed.start(await bed.ready(), 'Work');
      const { request } = await output.next('permission');
      expect(request).toMatchObject({
        tool: 'Bash',
        title: 'echo "it\'s" > out.txt …',
        reason: null,
        subject: { kind: 'command', command: cmd, cwd: bed.workspace },
        payload: { item_id: 'call_1', cwd: bed.workspace },
        expiresInMs: null,
      });
      expect(await turn.submitPermission?.('another key', { kind: 'allow' })).toBe('not_pending');
      expect(await turn.submitChoice?.(request.key, { kind: 'cancelled', reason: null })).toBe('not_pending');
      expect(await turn.submitPermission?.(request.key, { kind: 'allow' })).toBe('applied');
      expect(await turn.submitPermission?.(request.key, { kind: 'deny', message: null })).toBe('not_pending');
      await output.end();
      expect(await readFile(join(bed.workspace, 'out.txt'), 'utf8')).toBe("it's\nsecond $HOME\n");
    },
  );

  codexTest(
    'a denied command does not run, the message reaches the model and the Turn goes on',
    async (bed) => {
      bed.model.setScenario([
        command('touch forbidden'),
        { when: { body: 'Not on a Sunday.' }, steps: [{ text: 'Understood.' }] },
      ]);
      const { output, turn } = await bed.start(await bed.ready(), 'Work');
      const { request } = await output.next('permission');
      expect(await turn.submitPermission?.(request.key, { kind: 'deny', message: 'Not on a Sunday.' })).toBe(
        'applied',
      );
      expect((await output.end()).payload.content).toBe('Understood.');
      expect(await isThere(join(bed.workspace, 'forbidden'))).toBe(false);
      expect(output.all('error')).toEqual([]);
      expect(output.all('tool_call').at(-1)?.payload.observation?.status).toBe('failed');
    },
  );

  codexTest('nobody in time is a refusal, never an approval', async (bed) => {
    bed.model.setScenario([command('touch forbidden'), { steps: [{ text: 'Too bad.' }] }]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'expired' });
    expect((await output.end()).payload.content).toBe('Too bad.');
    expect(await isThere(join(bed.workspace, 'forbidden'))).toBe(false);
  });

  codexTest('a changed command cannot be given, so nothing is decided by it', async (bed) => {
    bed.model.setScenario([command('touch asked'), done]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    const { key } = (await output.next('permission')).request;
    const changed = { kind: 'allow', updatedInput: { command: 'touch changed' } } as const;
    expect(await turn.submitPermission?.(key, changed)).toBe('failed');
    expect(await turn.submitPermission?.(key, { kind: 'deny', message: null })).toBe('applied');
    await output.end();
    expect(await isThere(join(bed.workspace, 'asked'))).toBe(false);
    expect(await isThere(join(bed.workspace, 'changed'))).toBe(false);
  });

  codexTest('a new, a changed and a removed file are shown as their diff', async (bed) => {
    await writeFile(join(bed.workspace, 'list.txt'), 'one\ntwo\nthree\n');
    await writeFile(join(bed.workspace, 'old.txt'), 'gone\n');
    bed.model.setScenario([
      patch(
        '*** Add File: sub/notes.md\n+# Notes\n*** Update File: list.txt\n@@\n one\n-two\n+TWO\n three\n*** Delete File: old.txt',
      ),
      done,
    ]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    const { request } = await output.next('permission');
    expect(request).toMatchObject({ tool: 'Edit', subject: { kind: 'file_change' } });
    expect(request.title).toContain('Create sub/notes.md');
    const changes = request.subject.kind === 'file_change' ? request.subject.changes : [];
    expect([...changes].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      {
        path: 'list.txt',
        kind: 'update',
        diff: '@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n',
        insideWorkspace: true,
      },
      { path: 'old.txt', kind: 'delete', diff: '@@ -1,1 +0,0 @@\n-gone\n', insideWorkspace: true },
      { path: 'sub/notes.md', kind: 'add', diff: '@@ -0,0 +1,1 @@\n+# Notes\n', insideWorkspace: true },
    ]);
    await turn.submitPermission?.(request.key, { kind: 'allow' });
    await output.end();
    expect(await readFile(join(bed.workspace, 'list.txt'), 'utf8')).toBe('one\nTWO\nthree\n');
    expect(await isThere(join(bed.workspace, 'old.txt'))).toBe(false);
    expect(output.all('tool_call').at(-1)?.payload).toMatchObject({
      name: 'Edit',
      observation: { kind: 'function', name: 'apply_patch', status: 'completed' },
    });
  });

  codexTest('a denied file change leaves the file alone', async (bed) => {
    bed.model.setScenario([patch('*** Add File: notes.md\n+x'), done]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    const { request } = await output.next('permission');
    expect(await turn.submitPermission?.(request.key, { kind: 'deny', message: null })).toBe('applied');
    await output.end();
    expect(await isThere(join(bed.workspace, 'notes.md'))).toBe(false);
  });

  codexTest(
    'under accept_edits the sandbox decides; what leaves it is asked with its reason',
    async (bed) => {
      const outside = join(bed.root, 'outside.txt');
      bed.model.setScenario([
        patch('*** Add File: notes.md\n+x', 'call_0'),
        command('echo in > in.txt'),
        command(`echo out > ${outside}`, {
          sandbox_permissions: 'require_escalated',
          justification: 'I must',
        }),
        done,
      ]);
      const executor = await bed.ready({}, { policy: 'accept_edits' });
      const { output, turn } = await bed.start(executor, 'Work');
      const { request } = await output.next('permission');
      expect(request).toMatchObject({
        reason: 'I must',
        subject: { kind: 'command', command: `echo out > ${outside}` },
      });
      expect(await isThere(join(bed.workspace, 'notes.md'))).toBe(true);
      expect(await isThere(join(bed.workspace, 'in.txt'))).toBe(true);
      await turn.submitPermission?.(request.key, { kind: 'allow' });
      await output.end();
      expect(output.all('permission')).toHaveLength(1);
      expect(await isThere(outside)).toBe(true);
    },
  );

  codexTest('the same command again is the same to a rule; out of the sandbox it is another', async (bed) => {
    const again = { steps: [{ tool: 'exec_command', id: 'call_2', input: { cmd: 'touch made' } }] };
    const escalated = { sandbox_permissions: 'require_escalated', justification: 'I must' };
    bed.model.setScenario([command('touch made'), again, command('touch made', escalated), done]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    for (let index = 0; index < 3; index++) {
      const { request } = await output.next('permission', index);
      await turn.submitPermission?.(request.key, { kind: 'allow' });
    }
    await output.end();
    const [first, second, third] = output.all('permission').map((event) => event.request.input);
    expect(second).toEqual(first);
    expect(third).not.toEqual(first);
  });

  const typing = (about: { readonly lastTool: string }): Record<string, unknown> => ({
    steps: [
      {
        tool: 'write_stdin',
        id: 'call_2',
        input: {
          session_id: Number(/session ID (\d+)/.exec(about.lastTool)?.[1] ?? 0),
          chars: 'touch typed\n',
        },
      },
    ],
  });

  codexTest(
    'under ask no command has a terminal, since nobody would be asked what is typed there',
    async (bed) => {
      bed.model.setScenario([command('sh', { tty: true, yield_time_ms: 300 }), { make: typing }, done]);
      const { output } = await bed.run(await bed.ready(), 'Work');
      expect(output.all('permission')).toEqual([]);
      expect(bed.model.calls[1]?.about.lastTool).toContain('disabled');
      expect(await isThere(join(bed.workspace, 'typed'))).toBe(false);
    },
  );

  codexTest('what is typed into a command outside the sandbox is asked as what it is', async (bed) => {
    const outside = { sandbox_permissions: 'require_escalated', justification: 'I must' };
    bed.model.setScenario([
      command('sh', { tty: true, yield_time_ms: 300, ...outside }),
      { make: typing },
      done,
    ]);
    const { output, turn } = await bed.start(await bed.ready({}, { policy: 'accept_edits' }), 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    const { request } = await output.next('permission', 1);
    expect(request).toMatchObject({ tool: 'write_stdin', subject: { kind: 'tool', name: 'write_stdin' } });
    expect(JSON.stringify(request.subject)).toContain('touch typed');
    await turn.submitPermission?.(request.key, { kind: 'deny', message: null });
    await output.end();
    expect(await isThere(join(bed.workspace, 'typed'))).toBe(false);
  });

  codexTest('what is typed into a command in the sandbox is shown to the person', async (bed) => {
    bed.model.setScenario([command('sh', { tty: true, yield_time_ms: 300 }), { make: typing }, done]);
    const { output } = await bed.run(await bed.ready({}, { policy: 'accept_edits' }), 'Work');
    expect(output.all('notice').some((event) => event.text.includes('touch typed'))).toBe(true);
  });

  codexTest('under unattended nothing is asked', async (bed) => {
    const outside = join(bed.root, 'outside.txt');
    bed.model.setScenario([command(`echo out > ${outside}`), done]);
    const { output } = await bed.run(await bed.ready({}, { policy: 'unattended' }), 'Work');
    expect(output.all('permission')).toEqual([]);
    expect(await isThere(outside)).toBe(true);
  });

  codexTest(
    'the person is asked also where their own settings leave it to a reviewer or to nobody',
    async (bed) => {
      bed.model.setScenario([command('touch made'), done]);
      const { output, turn } = await bed.start(await bed.ready(), 'Work');
      await turn.submitPermission?.((await output.next('permission')).request.key, {
        kind: 'deny',
        message: null,
      });
      await output.end();
      expect(await isThere(join(bed.workspace, 'made'))).toBe(false);
    },
    {
      top: 'approvals_reviewer = "auto_review"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"',
    },
  );

  codexTest(
    'wider access is asked as a permission, granted for this Turn and refused whole',
    async (bed) => {
      const folder = join(bed.root, 'other');
      await mkdir(folder);
      const ask = {
        steps: [
          {
            tool: 'request_permissions',
            id: 'call_1',
            input: { reason: 'I need it', permissions: { file_system: { write: [folder] } } },
          },
        ],
      };
      bed.model.setScenario([ask, done]);
      const executor = await bed.ready({}, { policy: 'accept_edits' });
      for (const kind of ['allow', 'deny'] as const) {
        bed.model.setScenario([ask, done]);
        const { output, turn } = await bed.start(executor, 'Work');
        const { request } = await output.next('permission');
        expect(request).toMatchObject({ tool: 'request_permissions', reason: 'I need it' });
        expect(JSON.stringify(request.subject)).toContain(folder);
        const answer = kind === 'allow' ? { kind } : { kind, message: null };
        expect(await turn.submitPermission?.(request.key, answer)).toBe('applied');
        await output.end();
        expect(bed.model.calls.at(-1)?.about.lastTool.includes(folder)).toBe(kind === 'allow');
      }
    },
    { args: ['-c', 'features.request_permissions_tool=true'] },
  );

  codexTest('a cancel withdraws what was asked, and an answer after that is not pending', async (bed) => {
    bed.model.setScenario([command('touch forbidden')]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Work');
    const { request } = await output.next('permission');
    await turn.cancel();
    expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    expect(output.all('withdrawn')).toEqual([{ type: 'withdrawn', key: request.key }]);
    expect(await turn.submitPermission?.(request.key, { kind: 'allow' })).toBe('not_pending');
    bed.model.setScenario([{ steps: [{ text: 'Next.' }] }]);
    expect((await bed.run(executor, 'Next')).output.text).toBe('Next.');
    expect(await isThere(join(bed.workspace, 'forbidden'))).toBe(false);
  });

  codexTest('an answer to a program that is gone is not called applied', async (bed) => {
    bed.model.setScenario([command('touch forbidden')]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    const { request } = await output.next('permission');
    const pid = bed.ledger.entries[0]?.process?.pid ?? 0;
    process.kill(pid, 'SIGKILL');
    while (await readProcess(pid)) await new Promise((resolve) => setImmediate(resolve));
    expect(await turn.submitPermission?.(request.key, { kind: 'allow' })).not.toBe('applied');
    await output.end();
  });
});

describe('settings of the folder', () => {
  codexTest('are never run, and the person’s own settings do not change', async (bed) => {
    const evil = (name: string): string =>
      `[mcp_servers.evil]\ncommand = "/usr/bin/touch"\nargs = ["${join(bed.root, name)}"]\n`;
    const folder = join(bed.workspace, 'sub');
    for (const [at, name] of [
      [bed.workspace, 'above'],
      [folder, 'here'],
    ] as const) {
      await mkdir(join(at, '.codex'), { recursive: true });
      await writeFile(join(at, '.codex', 'config.toml'), evil(name));
    }
    await mkdir(join(bed.workspace, '.git'));
    await writeFile(join(bed.workspace, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    const config = join(bed.home, 'config.toml');
    await writeFile(
      config,
      `${await readFile(config, 'utf8')}\n[projects."${bed.workspace}"]\ntrust_level = "trusted"\n`,
    );
    const before = await readFile(config, 'utf8');
    bed.model.setScenario([done]);
    await bed.run(await bed.ready({}, { workspace: folder }), 'Hello');
    expect(await isThere(join(bed.root, 'above'))).toBe(false);
    expect(await isThere(join(bed.root, 'here'))).toBe(false);
    expect(await readFile(config, 'utf8')).toBe(before);
  });
});
