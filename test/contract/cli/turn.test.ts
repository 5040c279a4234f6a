import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Machine, viewWhere } from '../../support/runtime-process.ts';

let machine: Machine;
beforeEach(async () => {
  machine = await Machine.make();
});
afterEach(() => machine.close());

async function serving() {
  const running = machine.spawn('run', '--local', '--workspace', machine.workspace);
  const client = await machine.client();
  await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');
  return { ...running, client };
}

test('a Turn from the terminal: started, asked, answered, shown, listed', async () => {
  const { child, ended, client } = await serving();
  const turn = machine.spawn('turn', 'start', '--json', 'hello');
  const asked = await viewWhere(client, ({ interactions }) => interactions[0]?.kind === 'user_choice');
  const question = asked.interactions[0];
  const answers = Object.fromEntries(
    (question?.questions ?? []).map((item) => [item.id, [item.options[0]?.label ?? '']]),
  );
  const answered = await machine.run(
    'answer',
    question?.id ?? '',
    '--answers',
    JSON.stringify(answers),
    '--json',
  );
  expect(JSON.parse(answered.stdout)).toEqual({ outcome: 'answered' });
  const permission = await viewWhere(client, ({ interactions }) => interactions[0]?.kind === 'permission');
  const misfits = [
    [['--for', 'folder'], 'No rule can cover this request.'],
    [['--input', '{"path":"x"}'], 'takes no other input here'],
  ] as const;
  for (const [options, why] of misfits) {
    const refused = await machine.run('answer', permission.interactions[0]?.id ?? '', '--allow', ...options);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(why) as string });
  }
  const denied = await machine.run(
    'answer',
    permission.interactions[0]?.id ?? '',
    '--deny',
    '--message',
    'not now',
  );
  expect(denied.code).toBe(0);
  const { code, stdout, stderr } = await turn.ended;
  expect(code).toBe(0);
  const subject = permission.interactions[0]?.subject;
  if (subject?.kind !== 'file_change') throw new Error('no change of a file was asked');
  // What is asked stands in the terminal as a whole, not only what the agent calls it.
  for (const line of subject.changes[0]?.diff.split('\n') ?? []) expect(stderr).toContain(line);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(Object.keys(lines[0] ?? {})).toEqual(['run_id', 'session_id']);
  expect(lines.at(-1)).toEqual({ outcome: 'completed' });
  expect(lines.slice(1, -1).every((line) => typeof line['delta'] === 'string')).toBe(true);
  const runId = String(lines[0]?.['run_id']);
  const shown = JSON.parse((await machine.run('turn', 'show', runId, '--json')).stdout) as {
    text: string;
    evidence: { fact: string }[];
    outcome: string;
  };
  expect(shown.outcome).toBe('completed');
  expect(shown.text).toContain('demo without a model');
  expect(shown.evidence.map((item) => item.fact)).toEqual([
    'prepared',
    'started',
    'decision_applied',
    'decision_applied',
    'settled',
    'done_sent',
  ]);
  const list = JSON.parse((await machine.run('turn', 'list', '--json')).stdout) as { run_id: string }[];
  expect(list.map((item) => item.run_id)).toEqual([runId]);
  client.close();
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
});

test('a cancelled Turn ends as cancelled, its prompt is withdrawn, and exit code 1 says so', async () => {
  const { child, ended, client } = await serving();
  const turn = machine.spawn('turn', 'start', 'hello');
  const asked = await viewWhere(client, ({ interactions }) => interactions.length === 1);
  const runId = asked.turns[0]?.run_id ?? '';
  expect((await machine.run('turn', 'cancel', runId)).code).toBe(0);
  const { code, stderr } = await turn.ended;
  expect(code).toBe(1);
  expect(stderr).toContain('The Turn was cancelled');
  // The hint works in another terminal as it stands.
  expect(stderr).toContain(
    `agent-runtime answer ${asked.interactions[0]?.id} --state-dir ${machine.stateDir} --answers`,
  );
  const { history } = await client.call('view.get', {});
  expect(history.map((entry) => [entry.kind, entry.outcome])).toEqual([
    ['user_choice', 'withdrawn'],
    ['turn', 'cancelled'],
  ]);
  const late = await machine.run('answer', asked.interactions[0]?.id ?? '', '--cancel', '--json');
  expect(late.code).toBe(1);
  expect(JSON.parse(late.stdout)).toMatchObject({ error: { code: 'already_decided' } });
  client.close();
  child.kill('SIGINT');
  await ended;
});

test('paused takes no new work and says so; resumed takes it again', async () => {
  const { child, ended, client } = await serving();
  expect((await machine.run('pause')).code).toBe(0);
  expect((await client.call('view.get', {})).runtime.state).toBe('paused');
  const refused = await machine.run('turn', 'start', 'hello', '--json');
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain('not_available');
  expect((await machine.run('resume')).code).toBe(0);
  expect((await machine.run('turn', 'start', '--detach', 'hello')).code).toBe(0);
  client.close();
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
});

test('Turns survive a restart, and one whose end was not observed stays unknown and is not run again', async () => {
  const first = await serving();
  expect((await machine.run('turn', 'start', '--detach', 'hello')).code).toBe(0);
  await viewWhere(first.client, ({ interactions }) => interactions.length === 1);
  first.client.close();
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await serving();
  const list = JSON.parse((await machine.run('turn', 'list', '--json')).stdout) as { outcome: string }[];
  expect(list.map((item) => item.outcome)).toEqual(['unknown']);
  const [runId = ''] = (await machine.run('turn', 'list')).stdout.split(' ');
  expect((await machine.run('turn', 'show', runId)).stdout).toContain(
    'before the end of this Turn was observed',
  );
  expect((await second.client.call('view.get', {})).turns).toEqual([]);
  second.client.close();
  second.child.kill('SIGINT');
  await second.ended;
});

test('a Turn that still waited when the app was killed is told as not started, and the others as unknown', async () => {
  const first = await serving();
  const begun = await first.client.call('turn.start', { prompt: 'one' });
  await viewWhere(first.client, ({ interactions }) => interactions.length === 1);
  const second = await first.client.call('turn.start', { prompt: 'two', session_id: begun.session_id });
  const waiting = await first.client.call('view.get', {});
  expect(waiting.turns.map((turn) => [turn.run_id, turn.state])).toContainEqual([second.run_id, 'starting']);
  first.client.close();
  first.child.kill('SIGKILL');
  await first.ended;
  const again = await serving();
  const { history } = await again.client.call('view.get', {});
  const turns = history.filter((entry) => entry.kind === 'turn');
  expect(turns.map(({ id, outcome, harness }) => [id, outcome, harness])).toEqual([
    [begun.run_id, 'unknown', 'demo'],
    [second.run_id, 'cancelled', 'demo'],
  ]);
  again.client.close();
  again.child.kill('SIGINT');
  await again.ended;
});

test('doctor says what is wrong with the configuration, and looks at the rest', async () => {
  await writeFile(join(machine.stateDir, 'config.json'), '{');
  const { code, stdout } = await machine.run('doctor', '--json');
  expect(code).toBe(1);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean }[] };
  expect(checks[0]).toMatchObject({ name: 'Configuration', ok: false });
  expect(checks.map(({ name }) => name)).toContain('State folder');
});

test('what an agent calls its request reaches no terminal as it is', async () => {
  const { child, ended, client } = await serving();
  const evil = 'one \u001b[31m \u202e two';
  await machine.run('turn', 'start', '--detach', evil);
  await viewWhere(client, ({ turns }) => turns.length === 1);
  for (const words of [['status'], ['view'], ['view', '--json'], ['turn', 'list'], ['cleanup']])
    expect((await machine.run(...words)).stdout).not.toMatch(/[\u001b\u202e]/);
  const shown = JSON.parse((await machine.run('view', '--json')).stdout) as { turns: { title: string }[] };
  expect(shown.turns[0]?.title).toBe(evil);
  client.close();
  child.kill('SIGINT');
  await ended;
});

test('doctor works while nothing runs', async () => {
  const { stdout } = await machine.run('doctor', '--json');
  const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
  expect(checks.map((check) => check.name)).toContain('Demo');
});

test('a Session goes on where it was, and belongs to its agent', async () => {
  const { child, ended, client } = await serving();
  const begun = await client.call('turn.start', { prompt: 'one' });
  await viewWhere(client, ({ interactions }) => interactions.length === 1);
  await client.call('turn.cancel', { run_id: begun.run_id });
  await viewWhere(client, ({ turns }) => turns.length === 0);
  const again = await client.call('turn.start', { prompt: 'two', session_id: begun.session_id });
  expect(again.session_id).toBe(begun.session_id);
  await viewWhere(client, ({ interactions }) => interactions.length === 1);
  await expect(client.call('turn.start', { prompt: 'x', session_id: 'none' })).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(client.call('turn.start', { prompt: 'x', harness: 'codex' })).rejects.toMatchObject({
    code: 'harness_unavailable',
  });
  client.close();
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
});

test('try runs one Turn in one process, shows the whole change, and writes the file it was allowed to write', async () => {
  const done = await machine.runInteractively(
    [
      [/a number/, '1'],
      [/numbers, separated/, '1'],
      [/Allow once/, 'yes'],
    ],
    ...['try', '--workspace', machine.workspace, '--harness', 'demo', 'hello'],
  );
  expect(done.code).toBe(0);
  const written = await readFile(join(machine.workspace, 'agent-runtime-demo.md'), 'utf8');
  expect(written).toContain('no model');
  for (const line of written.split('\n')) expect(done.stderr).toContain(line);
  const log = await readFile(join(machine.stateDir, 'logs', 'runtime.log'), 'utf8');
  expect(log).toContain('run.settled');
  expect(log).not.toContain('hello');
});

test('try takes nothing that was typed before the question, and with nobody to ask stops the Turn', async () => {
  const typed = '1\n1\nyes\n';
  const args = ['try', '--workspace', machine.workspace, '--harness', 'demo', 'hello'];
  const done = await machine.runWithInput(typed, ...args);
  expect(done.code).toBe(1);
  expect(done.stderr).toContain('nobody to ask');
  await expect(readFile(join(machine.workspace, 'agent-runtime-demo.md'))).rejects.toThrow();
});

test('try ended by TERM ends its Turn and leaves its place to the next one', async () => {
  const args = ['try', '--workspace', machine.workspace, '--harness', 'demo', 'hello'];
  const { child, ended } = machine.spawn(...args);
  const client = await machine.client();
  await viewWhere(client, ({ interactions }) => interactions.length === 1);
  client.close();
  child.kill('SIGTERM');
  expect((await ended).code).toBe(1);
  expect((await machine.runWithInput('', ...args)).stderr).toContain('nobody to ask');
});

test('commands without a running Runtime, and wrong usage, say what to do', async () => {
  const status = await machine.run('status', '--json');
  expect(status.code).toBe(1);
  expect(JSON.parse(status.stdout)).toMatchObject({ error: { code: 'not_running' } });
  expect((await machine.run('answer', 'x')).code).toBe(2);
  expect((await machine.run('nonsense')).code).toBe(2);
  expect((await machine.run('turn', 'bogus')).code).toBe(2);
  expect((await machine.run('turn', 'start')).code).toBe(2);
  expect((await machine.run('run', '--console-port', '8080')).code).toBe(2);
  const option = await machine.run('turn', '--secret-value=abc');
  expect(option.code).toBe(2);
  expect(option.stderr).not.toContain('abc');
});

test.each([
  ['status', 'more'],
  ['pause', 'now'],
  ['turn', 'list', 'all'],
  ['turn', 'show', 'one', 'two'],
  ['cleanup', 'retry', 'one', 'two'],
  ['answer', 'one', 'two', '--deny'],
  ['answer', 'x', '--allow', '--days', '3'],
  ['answer', 'x', '--allow', '--for', 'session', '--no-end'],
  ['answer', 'x', '--deny', '--no-end'],
  ['answer', 'x', '--answers', '{}'],
  ['answer', 'x', '--answers', '{"q":[]}'],
])('%s %s %s %s %s: nothing that was typed is passed over', async (...args) => {
  const { code, stderr } = await machine.run(...args);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/\w/) });
});

test('a Runtime that does not answer is told as such, and waited for', async () => {
  const { child, ended, client } = await serving();
  child.kill('SIGSTOP');
  const asked = machine.spawn('status');
  const told = new Promise<void>((done) => {
    asked.child.stderr?.on('data', (chunk) => {
      if (String(chunk).includes('has not answered yet')) done();
    });
  });
  await told;
  child.kill('SIGCONT');
  expect((await asked.ended).code).toBe(0);
  client.close();
  child.kill('SIGINT');
  await ended;
});

test('doctor names what is wrong, and conformance judges frames', async () => {
  const { child, ended, client } = await serving();
  const doctor = await machine.run('doctor', '--json');
  expect(doctor.code).toBe(1);
  const { checks } = JSON.parse(doctor.stdout) as {
    checks: { name: string; ok: boolean; next: string | null }[];
  };
  expect(checks.find((check) => check.name === 'Agents')).toMatchObject({ ok: false });
  expect(checks.find((check) => check.name === 'Local Core')).toMatchObject({ ok: true });
  const frames = [
    '{"frame":{"type":"prompt_cancel","id":"run"}}',
    '{"frame":{"type":"prompt_cancel","id":"run","payload":{"more":1}}}',
    'nonsense',
  ];
  const judged = await machine.runWithInput(frames.join('\n'), 'conformance', 'frames');
  expect(judged.code).toBe(0);
  expect(
    judged.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { ok: boolean }).ok),
  ).toEqual([true, false, false]);
  client.close();
  child.kill('SIGINT');
  await ended;
});
