import type { ServerResponse } from 'node:http';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { View } from '../../../src/contract/view.ts';
import { EnrolCore, environmentId, sessionId } from '../../support/enrol-bed.ts';
import { Machine, viewWhere } from '../../support/runtime-process.ts';

let machine: Machine;
let core: EnrolCore;
const second = '33333333-2222-4333-8444-555555555555';

beforeEach(async () => {
  machine = await Machine.make();
  core = await EnrolCore.start();
  core.authority.offer({ environmentId, sessionId, workspaceDirectory: machine.workspace });
  core.authority.offer({
    environmentId: second,
    sessionId: '44444444-2222-4333-8444-555555555555',
    workspaceDirectory: join(machine.home, 'second'),
  });
});
afterEach(async () => {
  await core.close();
  await machine.close();
});

const enroll = (environment = environmentId, ...more: string[]) =>
  machine.runWithInput(
    core.authority.grant(environment),
    'enroll',
    '--endpoint',
    core.endpoint,
    '--grant-file',
    '-',
    '--store',
    'file',
    ...more,
  );
const binding = (view: View, name: string) => view.bindings.find((bound) => bound.name === name);
const serving = (name: string) => (view: View) => binding(view, name)?.connection.state === 'serving';
const secretsFile = (): string => join(machine.stateDir, 'credentials.secrets.json');
const receiptOf = async (environment = environmentId): Promise<{ enrollment: { device_id: string } }> =>
  JSON.parse(await readFile(join(machine.stateDir, 'environments', environment, 'environment.json'), 'utf8'));

describe('enroll without a running Runtime', () => {
  test('binds; run then serves it, not the local Core', async () => {
    const { code, stdout, stderr } = await enroll();
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'Bound as project. Serve it with: agent-runtime run\n',
    });
    expect(stderr).toContain(machine.workspace);
    expect(stderr).toContain('with your rights');
    const { child, ended } = machine.spawn('run');
    const client = await machine.client();
    const view = await viewWhere(client, serving('project'));
    expect(view.bindings).toHaveLength(1);
    expect(view.bindings[0]).toMatchObject({
      local: false,
      environment_id: environmentId,
      session_id: sessionId,
      workspace: machine.workspace,
      enrolled: { credential_store: 'file', core_version: '2026.11.1' },
    });
    client.close();
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  test('with --json prints one document, and --dry-run binds nothing', async () => {
    const dry = await enroll(environmentId, '--dry-run', '--json');
    expect(JSON.parse(dry.stdout)).toMatchObject({ state: 'review', environment_id: environmentId });
    expect(core.paths).toEqual(['installation']);
    await expect(readFile(join(machine.stateDir, 'credentials.json'), 'utf8')).rejects.toThrow('ENOENT');
    const bound = await enroll(environmentId, '--json', '--name', 'other-name');
    expect(JSON.parse(bound.stdout)).toMatchObject({ state: 'bound', name: 'other-name', connected: null });
  });

  test('takes an install command as a whole', async () => {
    const command = `curl -fsSL ${core.gateway.coreUrl}/agent-daemon/install/1/bootstrap.sh | sh -s -- '${core.authority.grant(environmentId)}'`;
    const { code } = await machine.runWithInput(
      command,
      'enroll',
      '--invitation-file',
      '-',
      '--store',
      'file',
    );
    expect(code).toBe(0);
  });

  test('takes a credential file of an operator, which nobody else may read', async () => {
    const file = join(machine.home, 'key.json');
    await writeFile(file, core.issue(sessionId), { mode: 0o644 });
    const args = [
      'enroll',
      '--remote',
      core.gateway.socketUrl,
      '--environment-id',
      environmentId,
      '--credential-file',
      file,
      '--workspace',
      machine.workspace,
      '--store',
      'file',
    ];
    const open = await machine.run(...args);
    expect(open.code).toBe(2);
    expect(open.stderr).toContain('chmod 600');
    expect(core.seen).toEqual([]);
    const bound = await machine.runWithInput(
      await readFile(file, 'utf8'),
      ...args.map((arg) => (arg === file ? '-' : arg)),
    );
    expect(bound.code).toBe(0);
    expect(await receiptOf()).toMatchObject({ key_id: sessionId });
  });

  test.each([
    ['nothing', []],
    ['half of the values', ['--endpoint', 'https://core.example.com']],
    ['both ways', ['--endpoint', 'https://core.example.com', '--grant-file', '-', '--remote', 'wss://x']],
    ['a secret as an argument', ['--grant', 'canary-secret-0123456789']],
    [
      'a word too many',
      ['canary-secret-0123456789', '--endpoint', 'https://core.example.com', '--grant-file', '-'],
    ],
    ['plain text to another machine', ['--endpoint', 'http://core.example.com', '--grant-file', '-']],
    [
      'an unknown store',
      ['--endpoint', 'https://core.example.com', '--grant-file', '-', '--store', 'clipboard'],
    ],
  ])('%s is wrong usage, repeats nothing and asks nobody', async (_name, args) => {
    const { code, stdout, stderr } = await machine.runWithInput('some.grant', 'enroll', ...args);
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain('canary-secret');
    expect(core.seen).toEqual([]);
  });

  test('a keychain that is not there stops it before anything is claimed, and says what can be chosen', async () => {
    const { code, stderr, stdout } = await machine.runWithInput(
      core.authority.grant(environmentId),
      'enroll',
      '--endpoint',
      core.endpoint,
      '--grant-file',
      '-',
      '--json',
    );
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'credential_store_unavailable' } });
    expect(stdout).toContain('--store file');
    expect(stderr).not.toContain('Bound');
    expect(core.paths).toEqual(['installation']);
    expect(await readdir(machine.stateDir)).not.toContain('credentials.secrets.json');
  });

  test('an invitation that Core does not take any more exits with 3', async () => {
    core.authority.deleteSession(environmentId);
    const { code, stderr } = await enroll();
    expect(code).toBe(3);
    expect(stderr).toContain('fresh command');
  });
});

test('M2: killed between writing the secret and the answer to the claim, the next run claims with the same one', async () => {
  let claimed: (body: string) => void = () => undefined;
  const claim = new Promise<string>((resolve) => (claimed = resolve));
  core.intercept = async (request, response: ServerResponse) => {
    if (!request.url?.endsWith('/claim')) return false;
    let body = '';
    for await (const chunk of request) body += String(chunk);
    claimed(body);
    response.on('error', () => undefined);
    return true;
  };
  const grant = core.authority.grant(environmentId);
  const first = machine.spawn('enroll', '--endpoint', core.endpoint, '--grant-file', '-', '--store', 'file');
  first.child.stdin?.end(grant);
  const { executor_token: token } = JSON.parse(await claim) as { executor_token: string };
  first.child.kill('SIGKILL');
  await first.ended;
  expect(await readFile(secretsFile(), 'utf8')).toContain(token);
  core.intercept = () => false;
  expect((await enroll()).code).toBe(0);
  expect(
    Object.values((JSON.parse(await readFile(secretsFile(), 'utf8')) as { secrets: object }).secrets),
  ).toEqual([token]);
});

describe('with a running Runtime', () => {
  test('a binding is served at once, beside what is served already, and confirmed by Core', async () => {
    const { child, ended } = machine.spawn('run', '--local');
    const client = await machine.client();
    await viewWhere(client, serving('local'));
    const { code, stdout } = await enroll();
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Bound as project. Core sees it connected.\n' });
    // A view of a moment ago may still hold the enrolment that was closed.
    const over = (view: View): boolean => serving('project')(view) && view.enrolments.length === 0;
    const view = await viewWhere(client, over);
    expect(view.bindings.map(({ name }) => name)).toEqual(['project', 'local']);
    client.close();
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  test('M9: rotate replaces the secret of the same device and connects anew', async () => {
    await enroll();
    const { child, ended } = machine.spawn('run');
    const client = await machine.client();
    const before = await viewWhere(client, serving('project'));
    const { enrollment } = await receiptOf();
    const file = core.issue(environmentId, true);
    const rotated = await machine.runWithInput(file, 'rotate', 'project', '--credential-file', '-');
    expect({ code: rotated.code, stdout: rotated.stdout }).toEqual({
      code: 0,
      stdout: 'The credential of project was replaced.\n',
    });
    const since = binding(before, 'project')?.connection.since ?? '';
    await viewWhere(
      client,
      (view) => serving('project')(view) && binding(view, 'project')?.connection.since !== since,
    );
    expect((await receiptOf()).enrollment).toEqual(enrollment);
    const { executor_token: token } = JSON.parse(file) as { executor_token: string };
    expect(core.seen.at(-1)?.headers.authorization).toBe(`Bearer ${token}`);
    client.close();
    child.kill('SIGINT');
    await ended;
  });

  test('unenroll ends the connection and the binding; the folder stays', async () => {
    await enroll();
    await writeFile(join(machine.workspace, 'kept.txt'), 'kept');
    const { child, ended } = machine.spawn('run');
    const client = await machine.client();
    await viewWhere(client, serving('project'));
    expect((await machine.run('unenroll', 'project')).code).toBe(0);
    await viewWhere(client, ({ bindings }) => bindings.length === 0);
    expect(await readFile(join(machine.workspace, 'kept.txt'), 'utf8')).toBe('kept');
    expect(JSON.parse(await readFile(secretsFile(), 'utf8'))).toMatchObject({ secrets: {} });
    expect((await machine.run('unenroll', 'project')).code).toBe(1);
    client.close();
    child.kill('SIGINT');
    await ended;
  });
});

describe('a binding that Core does not want any more is parked with its own remedy', () => {
  beforeEach(async () => {
    expect((await enroll()).code).toBe(0);
    core.seen.length = 0;
  });
  const enrollCalls = (): number => core.paths.filter((path) => path === 'enroll').length;

  test('revoked or replaced: the rejected key', async () => {
    core.authority.revokeKey(environmentId, environmentId);
    const { code, stderr } = await machine.run('run');
    expect(code).toBe(3);
    expect(stderr).toContain('Core rejected the credential: it was revoked or replaced.');
    expect(core.paths).toEqual(['enroll']);
  });

  test('another key bound (409)', async () => {
    core.intercept = (request, response) => {
      if (!request.url?.endsWith('/enroll')) return false;
      request.resume();
      response.writeHead(409).end('canary text of a peer');
      return true;
    };
    const { code, stderr } = await machine.run('run');
    expect(code).toBe(3);
    expect(stderr).toContain('Another key is bound to this Environment.');
    expect(stderr).not.toContain('canary');
    expect(core.paths).toEqual(['enroll']);
  });

  test('another distribution (426 or another version in the answer)', async () => {
    core.intercept = (request, response) => {
      if (!request.url?.endsWith('/bootstrap')) return false;
      request.resume();
      response.writeHead(426).end();
      return true;
    };
    const { code, stderr } = await machine.run('run');
    expect(code).toBe(3);
    expect(stderr).toContain('another version than this app');
    expect(core.paths).toEqual(['enroll', 'bootstrap']);
  });

  test('retired while connected (4001)', async () => {
    const { ended } = machine.spawn('run');
    const client = await machine.client();
    await viewWhere(client, serving('project'));
    core.gateway.retireDevice((await receiptOf()).enrollment.device_id);
    const { code, stderr } = await ended;
    client.close();
    expect(code).toBe(3);
    expect(stderr).toContain('Core retired this binding.');
  });

  test('M5: an address that is not the stored one, or another device, is refused', async () => {
    for (const change of [{ ws_url: 'ws://127.0.0.1:1/api/v1/agent-daemon/ws' }, { device_id: second }]) {
      core.intercept = async (request, response) => {
        if (!request.url?.endsWith('/bootstrap')) return false;
        request.resume();
        const { enrollment } = await receiptOf();
        const right = {
          device_id: enrollment.device_id,
          ws_url: core.gateway.socketUrl,
          heartbeat_seconds: 1,
        };
        response.end(JSON.stringify({ ...right, protocol_version: '0.10.0', ...change }));
        return true;
      };
      const { code, stderr } = await machine.run('run');
      expect(code).toBe(3);
      expect(stderr).toContain('another device or address');
      expect(core.gateway.connection((await receiptOf()).enrollment.device_id)).toBeUndefined();
    }
  });

  test('an answer to enroll that names another device than the receipt is refused', async () => {
    core.intercept = (request, response) => {
      if (!request.url?.endsWith('/enroll')) return false;
      request.resume();
      const answer = { device_id: second, session_id: sessionId, environment_id: environmentId };
      response.end(JSON.stringify({ ...answer, workspace_directory: machine.workspace }));
      return true;
    };
    const { code, stderr } = await machine.run('run');
    expect(code).toBe(3);
    expect(stderr).toContain('Core answered for another device or address');
    expect(core.paths).toEqual(['enroll']);
  });

  test('M6: an overloaded or broken Core is tried again, and each start asks once whether the binding stands', async () => {
    let refused = 0;
    core.intercept = (request, response) => {
      if (!request.url?.endsWith('/enroll') || refused >= 1) return false;
      refused += 1;
      request.resume();
      response.writeHead(503).end('no');
      return true;
    };
    const { child, ended } = machine.spawn('run');
    const client = await machine.client();
    await viewWhere(client, (view) => binding(view, 'project')?.connection.state === 'waiting');
    await viewWhere(client, serving('project'));
    expect(enrollCalls()).toBe(2);
    client.close();
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  test('while another binding is served the Runtime goes on; with none left it exits with 3', async () => {
    expect((await enroll(second)).code).toBe(0);
    const { ended } = machine.spawn('run');
    const client = await machine.client();
    await viewWhere(client, (view) => serving('project')(view) && serving('second')(view));
    const { device_id: first } = (await receiptOf()).enrollment;
    core.gateway.retireDevice(first);
    const view = await viewWhere(client, (now) => binding(now, 'project')?.connection.state === 'parked');
    expect(binding(view, 'second')?.connection.state).toBe('serving');
    expect(binding(view, 'project')?.connection.reason_code).toBe('binding_retired');
    core.gateway.retireDevice((await receiptOf(second)).enrollment.device_id);
    expect((await ended).code).toBe(3);
    client.close();
  });

  test('a credential store that does not answer is no rejection: it waits and says so', async () => {
    const marks = join(machine.stateDir, 'credentials.json');
    const text = await readFile(marks, 'utf8');
    await writeFile(marks, text.replaceAll('"file"', '"keychain"'));
    const { child, ended } = machine.spawn('run');
    const client = await machine.client();
    const view = await viewWhere(client, (now) => binding(now, 'project')?.connection.state === 'waiting');
    expect(binding(view, 'project')?.connection.reason_code).toBe('credential_store_unavailable');
    expect(core.seen).toEqual([]);
    client.close();
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
    await expect(readFile(secretsFile(), 'utf8')).resolves.toContain(environmentId);
  });
});

describe('which bindings run serves', () => {
  test('those that are named, or all; a name that no binding has is told with the ones that exist', async () => {
    await enroll();
    await enroll(second);
    const wrong = await machine.run('run', '--binding', 'nothing');
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('project, second');
    const { child, ended } = machine.spawn('run', '--binding', 'second');
    const client = await machine.client();
    const view = await viewWhere(client, serving('second'));
    expect(view.bindings.map(({ name }) => name)).toEqual(['second']);
    client.close();
    child.kill('SIGINT');
    await ended;
  });

  test('a receipt that cannot be read is named, and the others are served', async () => {
    await enroll();
    await mkdir(join(machine.stateDir, 'environments', second), { recursive: true, mode: 0o700 });
    await writeFile(join(machine.stateDir, 'environments', second, 'environment.json'), '{');
    const { child, ended } = machine.spawn('run');
    const client = await machine.client();
    const view = await viewWhere(client, serving('project'));
    expect(view.health.map(({ code }) => code)).toContain('binding_unreadable');
    client.close();
    child.kill('SIGINT');
    await ended;
  });
});

test('M10: grant and secret are in no argument, environment, output, view, log or file but the one chosen for them', async () => {
  const grant = core.authority.grant(environmentId);
  const spawned: string[] = [];
  const watch = async (pid: number | undefined): Promise<void> => {
    for (const name of ['cmdline', 'environ'])
      spawned.push(await readFile(`/proc/${String(pid)}/${name}`, 'utf8'));
  };
  const { child, ended } = machine.spawn('run', '--local', '--log-level', 'debug');
  const client = await machine.client();
  const enrolling = machine.spawn(
    'enroll',
    '--endpoint',
    core.endpoint,
    '--grant-file',
    '-',
    '--store',
    'file',
    '--json',
  );
  await watch(enrolling.child.pid);
  enrolling.child.stdin?.end(grant);
  const enrolled = await enrolling.ended;
  expect(enrolled.code).toBe(0);
  const view = await viewWhere(client, serving('project'));
  await watch(child.pid);
  const file = core.issue(environmentId, true);
  await machine.runWithInput(file, 'rotate', 'project', '--credential-file', '-');
  await viewWhere(client, serving('project'));
  const bundle = join(machine.home, 'bundle.json');
  await machine.run('diagnostics', bundle);
  client.close();
  child.kill('SIGINT');
  const run = await ended;
  const { secrets } = JSON.parse(await readFile(secretsFile(), 'utf8')) as {
    secrets: Record<string, string>;
  };
  const files: string[] = [];
  for (const name of await readdir(machine.home, { recursive: true, withFileTypes: true })) {
    if (!name.isFile() || name.name === 'credentials.secrets.json') continue;
    files.push(await readFile(join(name.parentPath, name.name), 'utf8'));
  }
  const all = [
    ...spawned,
    ...files,
    enrolled.stdout,
    enrolled.stderr,
    run.stdout,
    run.stderr,
    JSON.stringify(view),
  ];
  expect(core.frames.length).toBeGreaterThan(0);
  const urls = [...core.seen.map(({ url }) => url), ...core.frames];
  const canaries = [
    grant,
    ...Object.values(secrets),
    (JSON.parse(file) as { executor_token: string }).executor_token,
  ];
  expect(canaries.every((canary) => canary.length >= 43)).toBe(true);
  for (const canary of canaries) expect([...all, ...urls].join('\n')).not.toContain(canary);
});
