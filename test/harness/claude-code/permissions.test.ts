import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { readProcess } from '../../../src/platform/process-identity.ts';
import { claudeTest } from './claude-test.ts';

const missing = (file: string): Promise<boolean> =>
  readFile(file).then(
    () => false,
    () => true,
  );

describe('permissions', () => {
  claudeTest('an allowed command runs, and what is asked shows it whole', async (bed) => {
    const command = 'echo hi > out.txt\necho second line >> out.txt';
    bed.model.setScenario([
      { steps: [{ tool: 'Bash', id: 'toolu_1', input: { command, description: 'Writes a greeting' } }] },
      { steps: [{ text: 'Done.' }] },
    ]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    const { request } = await output.next('permission');
    expect(request).toMatchObject({
      tool: 'Bash',
      title: 'echo hi > out.txt …',
      reason: 'Writes a greeting',
      subject: { kind: 'command', command, cwd: null },
      payload: { tool_name: 'Bash', tool_use_id: 'toolu_1', input: { command } },
      expiresInMs: null,
    });
    expect(await turn.submitPermission?.('another key', { kind: 'allow' })).toBe('not_pending');
    expect(await turn.submitChoice?.(request.key, { kind: 'cancelled', reason: null })).toBe('not_pending');
    expect(await turn.submitPermission?.(request.key, { kind: 'allow' })).toBe('applied');
    expect(await turn.submitPermission?.(request.key, { kind: 'deny', message: null })).toBe('not_pending');
    await output.end();
    expect(await readFile(join(bed.workspace, 'out.txt'), 'utf8')).toBe('hi\nsecond line\n');
  });

  claudeTest(
    'a denied command does not run, the message reaches the model and the Turn goes on',
    async (bed) => {
      bed.model.setScenario([
        { steps: [{ tool: 'Bash', id: 'toolu_1', input: { command: 'touch forbidden' } }] },
        { when: { lastTool: 'Not on a Sunday.' }, steps: [{ text: 'Understood.' }] },
      ]);
      const { output, turn } = await bed.start(await bed.ready(), 'Work');
      const { request } = await output.next('permission');
      expect(await turn.submitPermission?.(request.key, { kind: 'deny', message: 'Not on a Sunday.' })).toBe(
        'applied',
      );
      expect((await output.end()).payload.content).toBe('Understood.');
      expect(await missing(join(bed.workspace, 'forbidden'))).toBe(true);
      expect(output.all('error')).toEqual([]);
    },
  );

  claudeTest('nobody in time is a refusal, never an approval', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'Bash', id: 'toolu_1', input: { command: 'touch forbidden' } }] },
      { when: { lastTool: 'Nobody answered in time' }, steps: [{ text: 'Too bad.' }] },
    ]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'expired' });
    expect((await output.end()).payload.content).toBe('Too bad.');
    expect(await missing(join(bed.workspace, 'forbidden'))).toBe(true);
  });

  claudeTest('a command that was changed before it was allowed runs as changed', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'Bash', id: 'toolu_1', input: { command: 'touch asked' } }] },
      { steps: [{ text: 'Done.' }] },
    ]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    const { request } = await output.next('permission');
    await turn.submitPermission?.(request.key, { kind: 'allow', updatedInput: { command: 'touch changed' } });
    await output.end();
    expect(await missing(join(bed.workspace, 'asked'))).toBe(true);
    expect(await missing(join(bed.workspace, 'changed'))).toBe(false);
  });

  claudeTest('a new file and an edit are shown as the true change of the file', async (bed) => {
    const file = join(bed.workspace, 'notes.md');
    const edited = join(bed.workspace, 'list.txt');
    await writeFile(edited, 'one\ntwo\nthree\nfour\nfive\n');
    bed.model.setScenario([
      { steps: [{ tool: 'Read', id: 'toolu_0', input: { file_path: edited } }] },
      { steps: [{ tool: 'Write', id: 'toolu_1', input: { file_path: file, content: '# Notes\nfirst\n' } }] },
      {
        steps: [
          {
            tool: 'Edit',
            id: 'toolu_2',
            input: { file_path: edited, old_string: 'three', new_string: 'THREE' },
          },
        ],
      },
      { steps: [{ text: 'Done.' }] },
    ]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    const write = await output.next('permission');
    expect(write.request).toMatchObject({
      tool: 'Write',
      title: 'Create notes.md',
      subject: {
        kind: 'file_change',
        changes: [
          {
            path: 'notes.md',
            kind: 'add',
            diff: '@@ -0,0 +1,2 @@\n+# Notes\n+first\n',
            insideWorkspace: true,
          },
        ],
      },
    });
    await turn.submitPermission?.(write.request.key, { kind: 'allow' });
    const edit = await output.next('permission', 1);
    expect(edit.request).toMatchObject({
      tool: 'Edit',
      title: 'Change list.txt',
      subject: {
        kind: 'file_change',
        changes: [
          {
            path: 'list.txt',
            kind: 'update',
            diff: '@@ -1,5 +1,5 @@\n one\n two\n-three\n+THREE\n four\n five\n',
          },
        ],
      },
    });
    await turn.submitPermission?.(edit.request.key, { kind: 'allow' });
    await output.end();
    expect(await readFile(file, 'utf8')).toBe('# Notes\nfirst\n');
    expect(await readFile(edited, 'utf8')).toBe('one\ntwo\nTHREE\nfour\nfive\n');
  });

  claudeTest('a file outside the workspace is named by its whole path and not read', async (bed) => {
    const file = join(bed.root, 'outside.txt');
    bed.model.setScenario([
      { steps: [{ tool: 'Write', id: 'toolu_1', input: { file_path: file, content: 'mine\n' } }] },
      { steps: [{ text: 'Done.' }] },
    ]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    const { request } = await output.next('permission');
    expect(request.subject).toEqual({
      kind: 'file_change',
      changes: [{ path: file, kind: 'add', diff: '@@ -0,0 +1,1 @@\n+mine\n', insideWorkspace: false }],
    });
    await turn.submitPermission?.(request.key, { kind: 'deny', message: null });
    await output.end();
    expect(await missing(file)).toBe(true);
  });

  claudeTest(
    'under accept_edits files in the workspace change unasked and commands still ask',
    async (bed) => {
      const file = join(bed.workspace, 'notes.md');
      bed.model.setScenario([
        { steps: [{ tool: 'Write', id: 'toolu_1', input: { file_path: file, content: 'x\n' } }] },
        { steps: [{ tool: 'Bash', id: 'toolu_2', input: { command: 'node -e 1 > made' } }] },
        { steps: [{ text: 'Done.' }] },
      ]);
      const { output, turn } = await bed.start(await bed.ready({}, { policy: 'accept_edits' }), 'Work');
      const { request } = await output.next('permission');
      expect(request.tool).toBe('Bash');
      expect(await readFile(file, 'utf8')).toBe('x\n');
      await turn.submitPermission?.(request.key, { kind: 'allow' });
      await output.end();
      expect(output.all('permission')).toHaveLength(1);
    },
  );

  claudeTest('under unattended every permission is still asked of the Runtime', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'Bash', id: 'toolu_1', input: { command: 'touch made' } }] },
      { steps: [{ text: 'Done.' }] },
    ]);
    const { output, turn } = await bed.start(await bed.ready({}, { policy: 'unattended' }), 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    await output.end();
    expect(await missing(join(bed.workspace, 'made'))).toBe(false);
  });

  claudeTest('a cancel withdraws what was asked, and an answer after that is not pending', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'Bash', id: 'toolu_1', input: { command: 'touch forbidden' } }] },
      { steps: [{ text: 'Next.' }] },
    ]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Work');
    const { request } = await output.next('permission');
    await turn.cancel();
    expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    expect(output.all('withdrawn')).toEqual([{ type: 'withdrawn', key: request.key }]);
    expect(await turn.submitPermission?.(request.key, { kind: 'allow' })).toBe('not_pending');
    expect((await bed.run(executor, 'Next')).output.text).toBe('Next.');
    expect(await missing(join(bed.workspace, 'forbidden'))).toBe(true);
  });

  claudeTest('an answer to a program that is gone is not called applied', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'Bash', id: 'toolu_1', input: { command: 'touch forbidden' } }] },
    ]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Work');
    const { request } = await output.next('permission');
    const pid = bed.ledger.entries[0]?.process?.pid ?? 0;
    process.kill(pid, 'SIGKILL');
    while (await readProcess(pid)) await new Promise((resolve) => setImmediate(resolve));
    expect(await turn.submitPermission?.(request.key, { kind: 'allow' })).not.toBe('applied');
    await output.end();
  });
});
