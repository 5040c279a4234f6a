import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { NativeFileChange } from '../../../../src/harness/adapter.ts';
import {
  choiceReply,
  mapChoice,
  mapPermission,
  permissionReply,
} from '../../../../src/harness/claude-code/map-approvals.ts';
import { canUseTool, type CanUseTool } from '../../../../src/harness/claude-code/native-types.ts';
import { SHOWN_FILE_LIMIT } from '../../../../src/harness/workspace-file.ts';

let root = '';
let workspace = '';
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'approvals-')));
  workspace = join(root, 'workspace');
  await mkdir(workspace);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const request = (tool: string, input: Record<string, unknown>): CanUseTool =>
  canUseTool.parse({ subtype: 'can_use_tool', tool_name: tool, input, tool_use_id: 'toolu_1' });

async function changeOf(tool: string, input: Record<string, unknown>): Promise<NativeFileChange> {
  const { subject } = await mapPermission('k', request(tool, input), { workspace });
  const change = subject.kind === 'file_change' ? subject.changes[0] : undefined;
  if (!change) throw new Error(`not a file change: ${subject.kind}`);
  return change;
}

describe('the change that is shown', () => {
  test('every part of a MultiEdit is applied, in order', async () => {
    await writeFile(join(workspace, 'a.txt'), 'one\ntwo\none\n');
    const edits = [
      { old_string: 'one', new_string: 'ONE', replace_all: true },
      { old_string: 'two', new_string: 'ONE and two' },
    ];
    expect((await changeOf('MultiEdit', { file_path: 'a.txt', edits })).diff).toBe(
      '@@ -1,3 +1,3 @@\n-one\n-two\n-one\n+ONE\n+ONE and two\n+ONE\n',
    );
  });

  test('signs that mean something in a replacement are taken as they are', async () => {
    await writeFile(join(workspace, 'a.txt'), 'price\n');
    const change = await changeOf('Edit', {
      file_path: 'a.txt',
      old_string: 'price',
      new_string: "$& $1 $'",
    });
    expect(change.diff).toContain("+$& $1 $'\n");
  });

  test('a part that is not in the file shows the part alone', async () => {
    await writeFile(join(workspace, 'a.txt'), 'other\n');
    const change = await changeOf('Edit', { file_path: 'a.txt', old_string: 'x', new_string: 'y' });
    expect(change).toMatchObject({ kind: 'update', insideWorkspace: true });
    expect(change.diff).toMatch(/-x\n[^]*\+y\n/);
  });

  test('a link out of the workspace is outside, whether it is the file or its folder, and is not read', async () => {
    const outside = join(root, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'secret.txt'), 'secret\n');
    await symlink(outside, join(workspace, 'folder'));
    await symlink(join(outside, 'secret.txt'), join(workspace, 'file.txt'));
    const folder = await changeOf('Write', { file_path: 'folder/secret.txt', content: 'mine\n' });
    expect(folder).toEqual({
      path: join(outside, 'secret.txt'),
      kind: 'update',
      diff: '@@ -0,0 +1,1 @@\n+mine\n',
      insideWorkspace: false,
    });
    const file = await changeOf('Write', { file_path: 'file.txt', content: 'mine\n' });
    expect(file.diff).not.toContain('secret');
  });

  test('a file that is too large or no text is not shown, the new text is', async () => {
    await writeFile(join(workspace, 'big.txt'), 'x'.repeat(SHOWN_FILE_LIMIT + 1));
    await writeFile(join(workspace, 'picture.bin'), Buffer.from([0, 255, 1, 2]));
    for (const name of ['big.txt', 'picture.bin']) {
      const change = await changeOf('Write', { file_path: name, content: 'new\n' });
      expect(change).toMatchObject({ path: name, kind: 'update', diff: '@@ -0,0 +1,1 @@\n+new\n' });
    }
  });

  test('input of another form than the tool has is shown as it is', async () => {
    const input = { file_path: 7, content: null };
    const { subject } = await mapPermission('k', request('Write', input), { workspace });
    expect(subject).toEqual({ kind: 'tool', name: 'Write', server: null, input });
  });

  test('an input too large for Core is left out of the payload and stays in the subject', async () => {
    const content = 'x'.repeat(400_000);
    const { payload, subject } = await mapPermission('k', request('Write', { file_path: 'a', content }), {
      workspace,
    });
    expect(payload).not.toHaveProperty('input');
    expect(payload).toHaveProperty('input_omitted');
    expect(JSON.stringify(subject)).toContain(content);
  });
});

describe('answers', () => {
  test('only an allow lets something happen', () => {
    const asked = request('Bash', { command: 'ls' });
    expect(permissionReply(asked, { kind: 'allow' })).toEqual({
      behavior: 'allow',
      updatedInput: { command: 'ls' },
      toolUseID: 'toolu_1',
    });
    for (const answer of [
      { kind: 'deny', message: null },
      { kind: 'deny', message: '' },
      { kind: 'expired' },
    ] as const) {
      const reply = permissionReply(asked, answer);
      expect(reply).toMatchObject({ behavior: 'deny' });
      expect(reply['message']).toMatch(/\w/);
    }
  });

  test('two questions with the same text keep ids of their own', () => {
    const question = { question: 'Which?', options: [{ label: 'A' }] };
    const asked = request('AskUserQuestion', { questions: [question, question] });
    const mapped = mapChoice('k', asked);
    const ids = mapped?.choice.questions.map(({ id }) => id) ?? [];
    expect(new Set(ids).size).toBe(2);
    const answers = new Map([[ids[0] ?? '', ['A']]]);
    expect(choiceReply(asked, mapped?.questionTexts ?? new Map(), { kind: 'answers', answers })).toEqual({
      behavior: 'allow',
      updatedInput: { questions: [question, question], answers: { 'Which?': 'A' } },
      toolUseID: 'toolu_1',
    });
  });

  test('a question tool of an unknown form is no choice', () => {
    expect(mapChoice('k', request('AskUserQuestion', { questions: [] }))).toBeNull();
    expect(mapChoice('k', request('AskUserQuestion', { question: 'Which?' }))).toBeNull();
  });
});
