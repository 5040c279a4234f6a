import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WIRE_VERSION } from '../../../src/protocol/version.ts';
import { EnrolBed, environmentId, sessionId } from '../../support/enrol-bed.ts';
import { FakeClock } from '../../support/fake-clock.ts';

let bed: EnrolBed;
beforeEach(async () => {
  bed = await EnrolBed.make();
});
afterEach(() => bed.close());

const enrol = async (on: EnrolBed = bed, name = 'project') => {
  const { id } = await on.desk.read({ source: { kind: 'invitation', text: on.command() } });
  return on.desk.confirm(id, name);
};
const answer = (path: string, status: number, body: unknown, headers: Record<string, string> = {}): void => {
  bed.core.intercept = (request, response) => {
    if (!(request.url ?? '').includes(`/agent-daemon/${path}`)) return false;
    if (path === 'installation' && request.url?.endsWith('/claim')) return false;
    request.resume();
    response.writeHead(status, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
    return true;
  };
};
const receiptFile = (): string => join(bed.state, 'environments', environmentId, 'environment.json');

describe('with an invitation', () => {
  test('what would be bound is shown first, and nothing is stored or changed by looking', async () => {
    const shown = await bed.desk.read({ source: { kind: 'invitation', text: bed.command() } });
    expect(shown).toMatchObject({
      way: 'grant',
      state: 'review',
      host: new URL(bed.core.gateway.coreUrl).host,
      encrypted: false,
      environment_id: environmentId,
      core_version: '2026.11.1',
      name: 'project',
      folder_frozen: true,
      folder: { asked: bed.workspace, path: bed.workspace, exists: false, refusal: null },
      error: null,
    });
    expect(Date.parse(shown.expires_at ?? '')).toBeGreaterThan(Date.now() + 29 * 60_000);
    expect(bed.core.paths).toEqual(['installation']);
    expect(bed.keychain.secrets.size).toBe(0);
    expect(await readdir(bed.state)).toEqual([]);
    expect(await readdir(bed.home)).toEqual(['state']);
  });

  test('a link that arrives asks nobody; it is read when a person says so, again if Core was away', async () => {
    const grant = /[\w-]{20,}\.[\w-]+/.exec(bed.command())?.[0] ?? '';
    const given = new URLSearchParams({ endpoint: bed.core.endpoint, grant });
    bed.desk.arrive(`agent-runtime://enroll?${given.toString()}`);
    expect(bed.desk.invited).toEqual({ host: new URL(bed.core.gateway.coreUrl).host });
    expect(bed.core.paths).toEqual([]);
    answer('installation', 503, '');
    await expect(bed.desk.read({ source: { kind: 'arrived' } })).rejects.toThrow();
    bed.core.intercept = () => false;
    expect(await bed.desk.read({ source: { kind: 'arrived' } })).toMatchObject({ state: 'review' });
    expect(bed.desk.invited).toBeNull();
    await expect(bed.desk.read({ source: { kind: 'arrived' } })).rejects.toMatchObject({ code: 'not_found' });
    bed.desk.arrive('agent-runtime://enroll?endpoint=x');
    expect(bed.desk.invited).toEqual({ host: null });
    bed.desk.ignore();
    expect(bed.desk.invited).toBeNull();
  });

  test('it binds: folder made, secret kept, claimed, enrolled, one receipt without a secret in it', async () => {
    expect(await enrol()).toMatchObject({ state: 'bound', connected: null, error: null, name: 'project' });
    expect(bed.core.paths).toEqual(['installation', 'installation/claim', 'enroll']);
    expect((await stat(bed.workspace)).isDirectory()).toBe(true);
    const secret = bed.keychain.secrets.get(bed.account) ?? '';
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    expect(secret).toHaveLength(43);
    const text = await readFile(receiptFile(), 'utf8');
    expect(text).not.toContain(secret);
    expect(JSON.parse(text)).toMatchObject({
      name: 'project',
      remote_url: bed.core.gateway.socketUrl,
      enrollment: {
        session_id: sessionId,
        environment_id: environmentId,
        workspace_directory: bed.workspace,
      },
      local_workspace: bed.workspace,
      capability_directory: join(bed.state, 'environments', environmentId, 'capabilities'),
      key_id: environmentId,
    });
    expect(bed.served.map(({ name }) => name)).toEqual(['project']);
  });

  test('the endpoint and the grant apart do the same', async () => {
    const grant = bed.core.authority.grant(environmentId);
    const { id } = await bed.desk.read({
      source: { kind: 'grant', endpoint: bed.core.endpoint, grant: `${grant}\n` },
    });
    expect(await bed.desk.confirm(id, 'project')).toMatchObject({ state: 'bound' });
  });

  test('the same command again resumes: the same secret, device and receipt', async () => {
    await enrol();
    const [secret, receipt] = [bed.keychain.secrets.get(bed.account), await readFile(receiptFile(), 'utf8')];
    const later = await bed.restart();
    expect(await enrol(later, 'another-name')).toMatchObject({ state: 'bound', name: 'project' });
    expect(bed.keychain.secrets.get(bed.account)).toBe(secret);
    expect(await readFile(receiptFile(), 'utf8')).toBe(receipt);
  });

  test('another folder than the Session’s is a conflict, not an override', async () => {
    const source = { kind: 'invitation', text: bed.command() } as const;
    await expect(bed.desk.read({ source, workspace: join(bed.home, 'other') })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect((await bed.desk.read({ source, workspace: bed.workspace })).folder?.path).toBe(bed.workspace);
  });

  test('a Session that names no folder of a machine takes the one that the person names', async () => {
    bed.core.authority.offer({ environmentId, sessionId, workspaceDirectory: '/workspace' });
    const shown = await bed.desk.read({ source: { kind: 'invitation', text: bed.command() } });
    expect(shown).toMatchObject({ folder_frozen: false, folder: null });
    expect(await bed.desk.confirm(shown.id, 'x')).toMatchObject({ state: 'failed', step: 'folder' });
    await bed.desk.chooseFolder(shown.id, bed.workspace);
    expect(await bed.desk.confirm(shown.id, 'x')).toMatchObject({ state: 'bound' });
    expect(JSON.parse(await readFile(receiptFile(), 'utf8'))).toMatchObject({
      local_workspace: bed.workspace,
      enrollment: { workspace_directory: '/workspace' },
    });
  });

  test('a folder that must not be bound stops before anything is made', async () => {
    bed.core.authority.offer({ environmentId, sessionId, workspaceDirectory: join(bed.state, 'inside') });
    const shown = await bed.desk.read({ source: { kind: 'invitation', text: bed.command() } });
    expect(shown.folder?.refusal).toContain('own state');
    expect(await bed.desk.confirm(shown.id, 'x')).toMatchObject({
      state: 'failed',
      step: 'folder',
      error: { code: 'workspace_unusable' },
    });
    expect(bed.core.paths).toEqual(['installation']);
    expect(bed.keychain.secrets.size).toBe(0);
  });

  test.each([
    [
      'an expired or unknown grant',
      401,
      { error: 'installation_authorization_invalid' },
      'invitation_rejected',
      'fresh command',
    ],
    ['no installers', 503, { error: 'installation_unavailable' }, 'not_available', 'Ask whoever runs it'],
    [
      'no place for keys',
      503,
      { error: 'credential_storage_unavailable' },
      'not_available',
      'Ask whoever runs it',
    ],
    ['an overloaded Core', 503, 'canary text of a peer', 'network', 'Core answered 503'],
    ['a redirect', 302, '', 'network', 'Core answered 302'],
    ['an answer that is none', 200, 'not json', 'network', 'not one of a Core'],
    ['an answer without a folder', 200, { version: '1' }, 'network', 'not one of a Core'],
    ['another Core at that address', 404, 'canary text of a peer', 'network', 'does not know this address'],
    ['far too long an answer', 200, 'x'.repeat(17_000), 'network', 'not one of a Core'],
  ])('%s is told with its remedy', async (_name, status, body, code, says) => {
    answer('installation', status, body, { location: 'http://127.0.0.1:1/canary' });
    const failed: unknown = await enrol().catch((error: unknown) => error);
    expect(failed).toMatchObject({ code });
    expect(String(failed)).toContain(says);
    expect(String(failed)).not.toContain('canary');
    expect(bed.core.paths).toEqual(['installation']);
  });

  const installation = (change: Record<string, string>): Record<string, string> => ({
    version: '2026.11.1',
    protocol_version: WIRE_VERSION,
    environment_id: environmentId,
    remote_url: bed.core.gateway.socketUrl,
    workspace_directory: bed.workspace,
    ...change,
  });
  test.each([
    ['of another wire version', { protocol_version: '0.9.9' }, 'incompatible_version'],
    ['for another Environment than its grant', { environment_id: sessionId }, 'binding_mismatch'],
    [
      'that leads to another machine',
      { remote_url: 'ws://127.0.0.1:1/api/v1/agent-daemon/ws' },
      'binding_mismatch',
    ],
    ['that leads to another path', { remote_url: 'ws://127.0.0.1/other' }, 'binding_mismatch'],
    ['with a folder that is not plain', { workspace_directory: '../up' }, 'network'],
  ])('an answer %s is refused before anything is stored', async (_name, change, code) => {
    answer('installation', 200, installation(change));
    await expect(enrol()).rejects.toMatchObject({ code });
    expect(bed.keychain.secrets.size).toBe(0);
    expect(bed.core.paths).toEqual(['installation']);
  });
});

describe('M1: a bad address', () => {
  test.each([
    'ws://core.example.com/api/v1/agent-daemon/ws',
    'wss://core.example.com/api/v1/agent-daemon/ws?token=x',
    'wss://user:x@core.example.com/api/v1/agent-daemon/ws',
    'wss://core.example.com/other',
  ])('%s is refused and nobody is asked', async (remote_url) => {
    const credential = bed.core.issue(sessionId);
    await expect(
      bed.desk.read({
        source: { kind: 'credential', credential, remote_url, environment_id: environmentId },
      }),
    ).rejects.toMatchObject({ code: 'usage' });
    expect(bed.core.seen).toEqual([]);
  });
});

describe('M2: the secret is kept before Core hears of it', () => {
  test('it is in the store when the claim arrives', async () => {
    let kept: string | undefined;
    bed.core.intercept = (request) => {
      if (request.url?.endsWith('/claim')) kept = bed.keychain.secrets.get(bed.account);
      return false;
    };
    await enrol();
    expect(kept).toBe(bed.keychain.secrets.get(bed.account));
    expect(kept).toHaveLength(43);
  });

  test('a lost answer of the claim is repaired by claiming with the same secret', async () => {
    bed.core.intercept = (request, response) => {
      if (!request.url?.endsWith('/claim')) return false;
      // Core takes it, and its answer never arrives.
      response.end = () => {
        response.destroy();
        return response;
      };
      return false;
    };
    expect(await enrol()).toMatchObject({ state: 'failed', step: 'claim', error: { code: 'network' } });
    const secret = bed.keychain.secrets.get(bed.account);
    expect(secret).toBeDefined();
    bed.core.intercept = () => false;
    const later = await bed.restart();
    expect(await enrol(later)).toMatchObject({ state: 'bound' });
    expect(bed.keychain.secrets.get(bed.account)).toBe(secret);
  });

  test('a store that does not answer stops before the claim, deletes nothing and never becomes a file', async () => {
    bed.keychain.locked = true;
    await bed.credentials.probe();
    expect(await enrol()).toMatchObject({
      state: 'failed',
      step: 'store',
      error: { code: 'credential_store_unavailable' },
    });
    expect(bed.core.paths).not.toContain('installation/claim');
    expect(await readdir(bed.state)).not.toContain('credentials.secrets.json');
    bed.keychain.locked = false;
    await bed.credentials.probe();
    const [open] = bed.desk.views;
    expect(await bed.desk.confirm(open?.id ?? '', 'project')).toMatchObject({ state: 'bound' });
  });

  test('the memory of this run is no place for a secret that nobody else has', async () => {
    bed.keychain.locked = true;
    await bed.credentials.choose('memory');
    expect(await enrol()).toMatchObject({ state: 'failed', step: 'store' });
    expect(bed.core.paths).not.toContain('installation/claim');
  });

  test('a file is a place by choice, for its owner alone', async () => {
    bed.keychain.locked = true;
    await bed.credentials.choose('file');
    expect(await enrol()).toMatchObject({ state: 'bound' });
    const file = join(bed.state, 'credentials.secrets.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const later = await bed.restart();
    expect(await later.credentials.get(bed.account)).toMatchObject({ kind: 'ok' });
    expect(later.credentials.backendOf(bed.account)).toBe('file');
  });

  test('a definite no to a new secret leaves none behind; a key that others hold is told', async () => {
    bed.core.issue(sessionId);
    expect(await enrol()).toMatchObject({
      state: 'failed',
      step: 'claim',
      error: { code: 'other_key_bound' },
    });
    expect(bed.keychain.secrets.size).toBe(0);
  });
});

describe('M3: an answer to enroll that is not exactly one', () => {
  const right = (): Record<string, unknown> => ({
    device_id: '11111111-2222-4333-8444-555555555555',
    session_id: sessionId,
    environment_id: environmentId,
    workspace_directory: bed.workspace,
  });
  test.each([
    ['with another member', { more: true }],
    ['for another Environment', { environment_id: sessionId }],
    ['with a device that is no UUID', { device_id: 'device' }],
    ['with a Session in upper case', { session_id: sessionId.toUpperCase() }],
    ['without a folder', { workspace_directory: undefined }],
    ['with the root for a folder', { workspace_directory: '/' }],
    ['with another folder than the invitation’s', { workspace_directory: '/srv/elsewhere' }],
    ['with a folder that is not plain', { workspace_directory: '/srv/../x' }],
  ])('%s writes no receipt and serves nothing', async (_name, change) => {
    answer('enroll', 200, { ...right(), ...change });
    expect(await enrol()).toMatchObject({ state: 'failed', step: 'enroll' });
    await expect(stat(receiptFile())).rejects.toMatchObject({ code: 'ENOENT' });
    expect(bed.served).toEqual([]);
  });

  test.each([
    [401, 'credential_rejected'],
    [409, 'other_key_bound'],
    [405, 'network'],
    [503, 'network'],
    [307, 'network'],
  ])('a refusal with %i counts by its status alone', async (status, code) => {
    answer('enroll', status, JSON.stringify(right()), { location: bed.core.gateway.coreUrl });
    const failed = await enrol();
    expect(failed).toMatchObject({ state: 'failed', step: 'enroll', error: { code } });
    await expect(stat(receiptFile())).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('M4: state that belongs to another binding', () => {
  const secretSent = (): boolean =>
    bed.core.paths.some((path) => path === 'enroll' || path === 'installation/claim');

  test('of another Core is refused before the secret leaves the machine', async () => {
    await enrol();
    const text = await readFile(receiptFile(), 'utf8');
    await writeFile(receiptFile(), text.replace(/ws:\/\/127\.0\.0\.1:\d+/, 'wss://core.example.com'));
    bed.core.seen.length = 0;
    const later = await bed.restart();
    expect(await enrol(later)).toMatchObject({
      state: 'failed',
      step: 'folder',
      error: { code: 'conflict' },
    });
    expect(secretSent()).toBe(false);
  });

  test('without a receipt is refused before the secret leaves the machine', async () => {
    await mkdir(join(bed.state, 'environments', environmentId, 'capabilities'), {
      recursive: true,
      mode: 0o700,
    });
    expect(await enrol()).toMatchObject({ state: 'failed', error: { code: 'conflict' } });
    expect(secretSent()).toBe(false);
    expect(bed.keychain.secrets.size).toBe(0);
  });

  test('bound with another key is refused before the secret leaves the machine', async () => {
    await enrol();
    bed.core.seen.length = 0;
    const { id } = await bed.desk.read({
      source: {
        kind: 'credential',
        credential: JSON.stringify({ key_id: sessionId, executor_token: 'another' }),
        remote_url: bed.core.gateway.socketUrl,
        environment_id: environmentId,
      },
      workspace: bed.workspace,
    });
    expect(await bed.desk.confirm(id, 'project')).toMatchObject({ error: { code: 'other_key_bound' } });
    expect(secretSent()).toBe(false);
  });

  test('a name that another binding has is refused before anything', async () => {
    await enrol();
    const second = '33333333-2222-4333-8444-555555555555';
    bed.core.authority.offer({ environmentId: second, sessionId, workspaceDirectory: join(bed.home, 'two') });
    bed.core.seen.length = 0;
    const text = bed.command(bed.core.authority.grant(second));
    const { id, name, folder } = await bed.desk.read({ source: { kind: 'invitation', text } });
    expect(name).toBe('two');
    expect(folder?.overlaps).toEqual([]);
    expect(await bed.desk.confirm(id, 'project')).toMatchObject({ error: { code: 'conflict' } });
    expect(secretSent()).toBe(false);
    expect(await bed.desk.confirm(id, 'two')).toMatchObject({ state: 'bound' });
  });
});

describe('with a credential file', () => {
  const read = (credential: string, workspace: string) =>
    bed.desk.read({
      source: {
        kind: 'credential',
        credential,
        remote_url: bed.core.gateway.socketUrl,
        environment_id: environmentId,
      },
      workspace,
    });

  test('it binds an existing folder under the key of the file', async () => {
    await mkdir(bed.workspace);
    const shown = await read(bed.core.issue(sessionId), bed.workspace);
    expect(shown).toMatchObject({ way: 'credential', state: 'review', folder_frozen: false });
    expect(bed.core.seen).toEqual([]);
    expect(await bed.desk.confirm(shown.id, 'project')).toMatchObject({ state: 'bound' });
    expect(bed.core.paths).toEqual(['enroll']);
    expect(JSON.parse(await readFile(receiptFile(), 'utf8'))).toMatchObject({ key_id: sessionId });
  });

  test('a folder that does not exist is refused, and none is made', async () => {
    const shown = await read(bed.core.issue(sessionId), bed.workspace);
    expect(shown.folder?.refusal).toContain('does not exist');
    expect(await bed.desk.confirm(shown.id, 'x')).toMatchObject({ error: { code: 'workspace_unusable' } });
    expect(bed.core.seen).toEqual([]);
  });

  test('a folder that is not the Session’s is refused by name, and nothing is stored', async () => {
    const other = join(bed.home, 'other');
    await mkdir(other);
    const { id } = await read(bed.core.issue(sessionId), other);
    const failed = await bed.desk.confirm(id, 'x');
    expect(failed.error?.message).toContain(bed.workspace);
    expect(bed.keychain.secrets.size).toBe(0);
    await expect(stat(receiptFile())).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('a file for another Environment is refused', async () => {
    const credential = JSON.stringify({ key_id: sessionId, environment_id: sessionId, executor_token: 'x' });
    await expect(read(credential, bed.workspace)).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('confirming the connection', () => {
  const withClock = async (connectedAfter: number | null): Promise<{ asked: number; bound: unknown }> => {
    await bed.close();
    const clock = new FakeClock(Date.now());
    bed = await EnrolBed.make({ clock });
    bed.serving = true;
    let asked = 0;
    bed.core.intercept = (request, response) => {
      if (!request.url?.includes('/connection')) return false;
      asked += 1;
      const status = connectedAfter !== null && asked >= connectedAfter ? 'connected' : 'disconnected';
      response.end(JSON.stringify({ environment_id: environmentId, status }));
      return true;
    };
    const { id } = await bed.desk.read({ source: { kind: 'invitation', text: bed.command() } });
    let bound: unknown = null;
    const done = bed.desk.confirm(id, 'project').then((view) => (bound = view));
    while (bound === null) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      const before = asked;
      await clock.advance(1_000);
      if (bound === null && asked === before) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await done;
    return { asked, bound };
  };

  test('asks until Core sees it', async () => {
    expect(await withClock(3)).toMatchObject({ asked: 3, bound: { state: 'bound', connected: true } });
  });

  test('gives up after 45 s, which is not fatal', async () => {
    const { asked, bound } = await withClock(null);
    expect(bound).toMatchObject({ state: 'bound', connected: false, error: null });
    expect(asked).toBeGreaterThan(10);
    expect(asked).toBeLessThanOrEqual(46);
  });
});

test('several bindings side by side have their own key, receipt and state folder; shared folders are warned of', async () => {
  await enrol();
  const second = '33333333-2222-4333-8444-555555555555';
  const inside = join(bed.workspace, 'docs');
  bed.core.authority.offer({ environmentId: second, sessionId, workspaceDirectory: inside });
  const text = bed.command(bed.core.authority.grant(second));
  const shown = await bed.desk.read({ source: { kind: 'invitation', text } });
  expect(shown.folder?.overlaps).toEqual([{ binding: 'project', how: 'inside' }]);
  expect(await bed.desk.confirm(shown.id, 'docs')).toMatchObject({ state: 'bound' });
  expect(new Set(bed.keychain.secrets.values()).size).toBe(2);
  const { receipts } = await bed.receipts.list();
  expect(receipts.map(({ name }) => name)).toEqual(['docs', 'project']);
  expect(new Set(receipts.map(({ enrollment }) => enrollment.device_id)).size).toBe(2);
});

test('M10: neither grant nor secret is in a log line, a view, a URL or an error; the header alone carries them', async () => {
  const grant = bed.core.authority.grant(environmentId);
  const { id } = await bed.desk.read({ source: { kind: 'invitation', text: bed.command(grant) } });
  const bound = await bed.desk.confirm(id, 'project');
  await bed.desk.rotate('project', bed.core.issue(environmentId, true));
  const failed = await bed.desk
    .rotate('project', JSON.stringify({ key_id: environmentId, executor_token: 'canary-secret-0123456789' }))
    .catch((error: unknown) => error);
  const secrets = [grant, 'canary-secret-0123456789', ...bed.keychain.secrets.values()];
  expect(new Set(bed.registered)).toEqual(new Set([...bed.registered, ...secrets]));
  const out = [
    bed.log.join('\n'),
    JSON.stringify([bound, bed.desk.views]),
    String(failed),
    JSON.stringify(failed),
  ];
  const urls = bed.core.seen.map(({ url, headers: { authorization, ...headers } }) => {
    expect(authorization).toMatch(/^Bearer \S+$/);
    return `${url} ${JSON.stringify(headers)}`;
  });
  for (const secret of bed.registered) expect([...out, ...urls].join('\n')).not.toContain(secret);
});
