import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EnrolmentView } from '../../../src/contract/enrolment.ts';
import { EnrolBed, environmentId, sessionId } from '../../support/enrol-bed.ts';

let bed: EnrolBed;
beforeEach(async () => {
  bed = await EnrolBed.make();
});
afterEach(() => bed.close());

const enrol = async (): Promise<EnrolmentView> => {
  const { id } = await bed.desk.read({ source: { kind: 'invitation', text: bed.command() } });
  return bed.desk.confirm(id, 'project');
};
const receiptFile = (): string => join(bed.state, 'environments', environmentId, 'environment.json');

describe('M9: rotation', () => {
  beforeEach(async () => {
    await enrol();
    bed.core.seen.length = 0;
  });

  test('puts the new secret in the place of the old one: same device, same receipt, no reinstall', async () => {
    const [before, receipt] = [bed.keychain.secrets.get(bed.account), await readFile(receiptFile(), 'utf8')];
    const file = bed.core.issue(environmentId, true);
    await bed.desk.rotate('project', file);
    const after = bed.keychain.secrets.get(bed.account);
    expect(file).toContain(after);
    expect(after).not.toBe(before);
    expect(await readFile(receiptFile(), 'utf8')).toBe(receipt);
    expect(bed.core.paths).toEqual(['enroll']);
    expect(bed.restarted).toEqual(['project']);
  });

  test.each([
    ['another key', () => JSON.stringify({ key_id: sessionId, executor_token: 'x' }), 'other_key_bound', 0],
    [
      'another Environment',
      () => JSON.stringify({ key_id: environmentId, environment_id: sessionId, executor_token: 'x' }),
      'conflict',
      0,
    ],
    ['no credential', () => '{}', 'invalid_credential_file', 0],
    [
      'a secret that Core rejects',
      () => JSON.stringify({ key_id: environmentId, executor_token: 'x' }),
      'credential_rejected',
      1,
    ],
  ])('a file with %s changes nothing', async (_name, file, code, asked) => {
    const before = bed.keychain.secrets.get(bed.account);
    await expect(bed.desk.rotate('project', file())).rejects.toMatchObject({ code });
    expect(bed.keychain.secrets.get(bed.account)).toBe(before);
    expect(bed.core.seen).toHaveLength(asked);
    expect(bed.restarted).toEqual([]);
  });

  test('a store that does not answer keeps the old secret', async () => {
    const before = bed.keychain.secrets.get(bed.account);
    bed.keychain.locked = true;
    await expect(bed.desk.rotate('project', bed.core.issue(environmentId, true))).rejects.toMatchObject({
      code: 'credential_store_unavailable',
    });
    expect(bed.keychain.secrets.get(bed.account)).toBe(before);
  });
});

describe('removing a binding', () => {
  beforeEach(async () => {
    await enrol();
    await writeFile(join(bed.workspace, 'kept.txt'), 'kept');
  });

  test('ends it and its secret; folder, history and the old receipt stay', async () => {
    await bed.desk.remove('project', false);
    expect(bed.unserved).toEqual(['project']);
    expect(bed.forgotten).toEqual([environmentId]);
    expect(bed.keychain.secrets.size).toBe(0);
    expect((await bed.receipts.list()).receipts).toEqual([]);
    expect(await readFile(join(bed.workspace, 'kept.txt'), 'utf8')).toBe('kept');
    const left = await readdir(join(bed.state, 'environments', environmentId));
    expect(left).toEqual([expect.stringMatching(/^environment\.removed-\d+\.json$/)]);
  });

  test('binding it again takes a rotated key, and then goes on with the same device', async () => {
    const before: unknown = JSON.parse(await readFile(receiptFile(), 'utf8'));
    await bed.desk.remove('project', false);
    expect(await enrol()).toMatchObject({ state: 'failed', error: { code: 'other_key_bound' } });
    const { id } = await bed.desk.read({
      source: {
        kind: 'credential',
        credential: bed.core.issue(environmentId, true),
        remote_url: bed.core.gateway.socketUrl,
        environment_id: environmentId,
      },
      workspace: bed.workspace,
    });
    expect(await bed.desk.confirm(id, 'project')).toMatchObject({ state: 'bound' });
    const after: unknown = JSON.parse(await readFile(receiptFile(), 'utf8'));
    expect(after).toMatchObject({ enrollment: Object(before).enrollment });
  });

  test('a store that does not answer removes nothing, unless the entry is left behind on purpose', async () => {
    bed.keychain.locked = true;
    await expect(bed.desk.remove('project', false)).rejects.toMatchObject({
      code: 'credential_store_unavailable',
    });
    expect((await bed.receipts.list()).receipts).toHaveLength(1);
    expect(bed.unserved).toEqual([]);
    expect(bed.forgotten).toEqual([]);
    await bed.desk.remove('project', true);
    expect((await bed.receipts.list()).receipts).toEqual([]);
  });
});
