import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EnrolCore, environmentId, sessionId } from '../../support/enrol-bed.ts';
import { Machine, viewWhere } from '../../support/runtime-process.ts';

let machine: Machine;
let core: EnrolCore;

beforeEach(async () => {
  machine = await Machine.make();
  core = await EnrolCore.start();
  core.authority.offer({ environmentId, sessionId, workspaceDirectory: machine.workspace });
  const enroll = ['enroll', '--endpoint', core.endpoint, '--grant-file', '-', '--store', 'file'];
  expect((await machine.runWithInput(core.authority.grant(environmentId), ...enroll)).code).toBe(0);
});
afterEach(async () => {
  await core.close();
  await machine.close();
});

const rule = (id: string, owner: string) => ({
  id,
  owner,
  workspace: machine.workspace,
  harness: 'demo',
  sessionId: 's',
  runId: 'r',
  scope: 'folder',
  tool: 'Bash',
  match: 'npm test',
  key: id,
  createdAt: 1,
  expiresAt: null,
  used: 0,
  lastUsedAt: null,
});

test.each(['running', 'not running'])(
  'unenroll ends the rules of its binding alone, with the Runtime %s',
  async (runtime) => {
    const file = join(machine.stateDir, 'rules.json');
    const rules = [rule('rule_a', environmentId), rule('rule_b', 'local')];
    await writeFile(file, JSON.stringify({ version: 1, rules }));
    const unenroll = async (): Promise<void> =>
      expect((await machine.run('unenroll', 'project')).stdout).toBe(
        'Removed project with its rules. Its folder and its history stay.\n',
      );
    if (runtime === 'running') {
      const { child, ended } = machine.spawn('run');
      const client = await machine.client();
      await viewWhere(client, (view) => view.bindings.length === 1 && view.rules.length === 2);
      await unenroll();
      const left = await viewWhere(client, (view) => view.rules.length < 2);
      expect(left.rules.map(({ id }) => id)).toEqual(['rule_b']);
      client.close();
      child.kill('SIGINT');
      await ended;
    } else await unenroll();
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ rules: [{ id: 'rule_b' }] });
    const history = (await readFile(join(machine.stateDir, 'history.jsonl'), 'utf8')).trim().split('\n');
    expect(history.map((line): unknown => JSON.parse(line))).toMatchObject([
      { kind: 'rule', id: 'rule_a', outcome: 'removed', decided_by: 'person' },
    ]);
  },
);
