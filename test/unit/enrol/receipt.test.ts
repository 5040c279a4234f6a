import { chmod, mkdir, mkdtemp, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { Receipts, accountOf, isBindingName, type BindingReceipt } from '../../../src/enrol/receipt.ts';
import { createOnce } from '../../../src/platform/create-once.ts';
import { systemRandom } from '../../../src/platform/random.ts';

const environmentId = '58e2e6ff-46cf-477f-8705-f19c41923382';
const remoteUrl = 'wss://core.example.com/api/v1/agent-daemon/ws';
let root: string;
let receipts: Receipts;
let receipt: BindingReceipt;

beforeEach(async () => {
  root = join(await mkdtemp(join(tmpdir(), 'receipts-')), 'environments');
  receipts = new Receipts(root, systemRandom);
  receipt = {
    version: 1,
    name: 'site',
    remote_url: remoteUrl,
    enrollment: {
      device_id: '11111111-2222-4333-8444-555555555555',
      session_id: '92ea7b07-1c1f-4eb1-b222-b335f2123ed8',
      environment_id: environmentId,
      workspace_directory: '/srv/site',
    },
    local_workspace: '/srv/site',
    capability_directory: join(root, environmentId, 'capabilities'),
    key_id: environmentId,
    bound_at: '2026-01-01T00:00:00.000Z',
    core_version: '2026.11.1',
    harness: null,
  };
});
const file = (): string => join(root, environmentId, 'environment.json');

describe('a receipt', () => {
  test('is written once, whole, for its owner alone, and read again', async () => {
    expect(await receipts.write(receipt)).toEqual(receipt);
    expect(await receipts.list()).toEqual({ receipts: [receipt], unreadable: [] });
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect((await stat(join(root, environmentId))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(root, environmentId))).toEqual(['environment.json']);
  });

  test('is never replaced: the same again is the same, anything else is refused and nothing changes', async () => {
    await receipts.write(receipt);
    const before = await readFile(file(), 'utf8');
    expect(await receipts.write({ ...receipt, bound_at: '2027-01-01T00:00:00.000Z' })).toEqual(receipt);
    for (const change of [
      { remote_url: 'wss://other.example.com/api/v1/agent-daemon/ws' },
      { local_workspace: '/srv/other' },
      { key_id: '11111111-2222-4333-8444-555555555555' },
      { enrollment: { ...receipt.enrollment, device_id: '11111111-2222-4333-8444-000000000000' } },
      { enrollment: { ...receipt.enrollment, session_id: '11111111-2222-4333-8444-000000000000' } },
      { enrollment: { ...receipt.enrollment, workspace_directory: '/srv/other' } },
    ]) {
      await expect(receipts.write({ ...receipt, ...change })).rejects.toMatchObject({ code: 'conflict' });
    }
    expect(await readFile(file(), 'utf8')).toBe(before);
  });

  test.each([
    ['cut off', '{"version":1'],
    ['of a later form', JSON.stringify({ version: 2 })],
    ['with a member that does not belong there', 'unknown member'],
    ['of another Environment', 'other environment'],
  ])('that is %s is not served, not replaced, and named', async (_name, text) => {
    await receipts.write(receipt);
    const other = { ...receipt.enrollment, environment_id: '11111111-2222-4333-8444-555555555555' };
    const changed: Record<string, string> = {
      'unknown member': JSON.stringify({ ...receipt, more: true }),
      'other environment': JSON.stringify({ ...receipt, enrollment: other }),
    };
    await writeFile(file(), changed[text] ?? text);
    expect(await receipts.list()).toEqual({ receipts: [], unreadable: [join(root, environmentId)] });
    await expect(receipts.requireSame({ remoteUrl, environmentId })).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(receipts.write(receipt)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('behind a link is none of ours', async () => {
    await mkdir(join(root, environmentId), { recursive: true, mode: 0o700 });
    await writeFile(join(root, 'elsewhere.json'), JSON.stringify(receipt));
    await symlink(join(root, 'elsewhere.json'), file());
    expect(await receipts.read(environmentId)).toEqual({ kind: 'unreadable' });
  });

  test('is not written into a folder that others can enter', async () => {
    await mkdir(join(root, environmentId), { recursive: true, mode: 0o700 });
    await chmod(join(root, environmentId), 0o755);
    await expect(receipts.write(receipt)).rejects.toMatchObject({ code: 'storage' });
  });
});

describe('state of an Environment', () => {
  test('without a receipt is never adopted', async () => {
    await mkdir(join(root, environmentId, 'capabilities'), { recursive: true, mode: 0o700 });
    await expect(receipts.requireSame({ remoteUrl, environmentId })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('left by a kill in the middle of writing is no state', async () => {
    await mkdir(join(root, environmentId), { recursive: true, mode: 0o700 });
    await writeFile(`${file()}.0a1b.tmp`, '{"vers');
    expect(await receipts.requireSame({ remoteUrl, environmentId })).toBeNull();
  });

  test('of a removed binding goes on with the same Session of the same Core alone', async () => {
    await receipts.write(receipt);
    await mkdir(join(root, environmentId, 'capabilities'));
    await receipts.retire(environmentId, 1_234);
    expect(await receipts.list()).toEqual({ receipts: [], unreadable: [] });
    expect(await receipts.requireSame({ remoteUrl, environmentId })).toBeNull();
    const elsewhere = 'wss://other.example.com/api/v1/agent-daemon/ws';
    await expect(receipts.requireSame({ remoteUrl: elsewhere, environmentId })).rejects.toMatchObject({
      code: 'conflict',
    });
    const session = { ...receipt.enrollment, session_id: '11111111-2222-4333-8444-000000000000' };
    await expect(receipts.write({ ...receipt, enrollment: session })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await receipts.write(receipt)).toEqual(receipt);
  });
});

test('one of two writers at the same moment creates the file, and it is whole', async () => {
  await mkdir(root, { recursive: true });
  const path = join(root, 'once');
  const made = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => createOnce(path, name.repeat(1_000), name)),
  );
  expect(made.filter((how) => how === 'created')).toHaveLength(1);
  expect(await readFile(path, 'utf8')).toMatch(/^(a{1000}|b{1000}|c{1000}|d{1000})$/);
  expect(await readdir(root)).toEqual(['once']);
});

test('names and accounts', () => {
  expect(accountOf(remoteUrl, environmentId, 'key')).toBe(`core.example.com/${environmentId}/key`);
  expect(['site', 'A.b_c-1'].every(isBindingName)).toBe(true);
  expect(['', 'local', '.', '..', 'a b', 'a/b', 'é', 'x'.repeat(65)].some(isBindingName)).toBe(false);
});
