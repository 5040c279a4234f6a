import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WorkspaceService } from '../../../src/workspace/workspace-service.ts';
import { FolderBed, otherTransferId, sha256, transferId } from '../../support/folder-bed.ts';
import { Deferred } from '../../support/controlled-harness.ts';
import { settle } from '../../support/fake-clock.ts';
import { until } from '../../support/workspace-bed.ts';

let bed: FolderBed;
beforeEach(async () => {
  bed = await FolderBed.create();
});
afterEach(() => bed.remove());

const refused = (code: string, reason?: string) => ({
  ...{ outcome: 'rejected', error_code: code },
  ...(reason === undefined ? {} : { reason }),
});
const leftovers = (): Promise<string[]> => readdir(join(bed.state, 'transfers')).catch(() => []);

describe('a write', () => {
  test('is acknowledged step by step and appears whole', async () => {
    const data = Buffer.alloc(150_000, 7);
    await bed.beginWrite(transferId, 'a/b/file', data);
    expect(await bed.payload(transferId)).toEqual({ outcome: 'ready' });
    expect(await leftovers()).toEqual([`${transferId}.part`]);
    for (let at = 0; at < data.length; at += 65_536) {
      await bed.chunk('workspace_write', transferId, at, data.subarray(at, at + 65_536));
      const offset = Math.min(at + 65_536, data.length);
      expect(await bed.payload(transferId)).toEqual({ outcome: 'received', offset });
    }
    expect(await readdir(bed.root)).toEqual([]);
    await bed.core('workspace_write', transferId, { step: 'commit' });
    expect(await bed.payload(transferId)).toEqual({ outcome: 'completed', size_bytes: 150_000 });
    expect(sha256(await readFile(join(bed.root, 'a/b/file')))).toBe(sha256(data));
    expect(await leftovers()).toEqual([]);
    await bed.core('workspace_write', transferId, { step: 'commit' });
    expect(await bed.payload(transferId)).toEqual(refused('resource_unavailable'));
  });

  test('an empty file needs no chunk', async () => {
    expect(await bed.write(transferId, 'empty', '')).toEqual({ outcome: 'completed' });
  });

  test('replaces nothing and says what is in the way', async () => {
    await mkdir(join(bed.root, 'folder'));
    await writeFile(join(bed.root, 'file'), 'old');
    expect(await bed.write(transferId, 'folder', 'x')).toEqual(
      refused('write_rejected', 'destination_directory'),
    );
    expect(await bed.write(transferId, 'file', 'x')).toEqual(refused('write_rejected', 'unsafe_destination'));
    expect(await bed.write(transferId, 'file/x', 'x')).toEqual(
      refused('write_rejected', 'unsafe_destination'),
    );
    expect(await readFile(join(bed.root, 'file'), 'utf8')).toBe('old');
  });

  test.each([
    ['a wrong offset', () => bed.chunk('workspace_write', transferId, 1, Buffer.from('x'))],
    ['too many bytes', () => bed.chunk('workspace_write', transferId, 0, Buffer.alloc(17))],
    ['a missing byte', () => bed.core('workspace_write', transferId, { step: 'commit' })],
    ['120 s', () => bed.clock.advance(120_000)],
  ])('%s ends it with nothing written', async (_what, act) => {
    await bed.beginWrite(transferId, 'f', 'hello workspace\n');
    await bed.answer(transferId);
    await act();
    expect(await bed.payload(transferId)).toEqual(refused('invalid_request'));
    expect(await readdir(bed.root)).toEqual([]);
    expect(await leftovers()).toEqual([]);
    expect(await bed.write(otherTransferId, 'f', 'x')).toMatchObject({ outcome: 'completed' });
  });

  test('a wrong digest ends it with nothing written', async () => {
    await bed.beginWrite(transferId, 'f', 'hello', 5);
    await bed.answer(transferId);
    await bed.chunk('workspace_write', transferId, 0, Buffer.from('jello'));
    await bed.answer(transferId);
    await bed.core('workspace_write', transferId, { step: 'commit' });
    expect(await bed.payload(transferId)).toEqual(refused('invalid_request'));
    expect(await readdir(bed.root)).toEqual([]);
  });

  test('silence: repeated begin, malformed frame of the open one, no canonical id', async () => {
    await bed.beginWrite(transferId, 'f', 'x');
    await bed.answer(transferId);
    await bed.beginWrite(transferId, 'f', 'x');
    const bad = { step: 'chunk', data: '', surprise: 1 };
    await bed.raw(JSON.stringify({ type: 'workspace_write', id: transferId, payload: bad }));
    await bed.raw(JSON.stringify({ type: 'workspace_write', id: transferId.toUpperCase(), payload: bad }));
    expect(bed.sent).toEqual([]);
    await bed.beginWrite(otherTransferId, 'g', 'x');
    expect(await bed.payload(otherTransferId)).toEqual(refused('write_capacity'));
    await bed.chunk('workspace_write', transferId, 0, Buffer.from('x'));
    expect(await bed.payload(transferId)).toEqual({ outcome: 'received', offset: 1 });
    expect(bed.facts.filter((fact) => fact.type === 'dropped').map((fact) => fact.reason)).toEqual([
      'repeated_begin',
      'invalid_payload',
      'invalid_transfer_id',
    ]);
  });

  test('a sender that does not wait for receipts is stopped before it costs memory', async () => {
    await bed.beginWrite(transferId, 'f', Buffer.alloc(1_000_000));
    await bed.answer(transferId);
    const chunk = Buffer.alloc(65_536).toString('base64');
    for (let n = 0; n < 5; n++) {
      const payload = { step: 'chunk', ...(n > 0 ? { offset: n * 65_536 } : {}), data: chunk };
      bed.router.receive(JSON.stringify({ type: 'workspace_write', id: transferId, payload }));
    }
    await until(() => bed.sent.some((frame) => JSON.stringify(frame.payload).includes('rejected')));
    expect(bed.sent.filter((frame) => JSON.stringify(frame.payload).includes('received'))).toEqual([]);
  });

  test('a commit that does not wait for the receipt of the last chunk loses nothing', async () => {
    await bed.beginWrite(transferId, 'f', 'hello');
    await bed.answer(transferId);
    const chunk = { step: 'chunk', data: Buffer.from('hello').toString('base64') };
    for (const payload of [chunk, { step: 'commit' }])
      bed.router.receive(JSON.stringify({ type: 'workspace_write', id: transferId, payload }));
    expect(await bed.payload(transferId)).toEqual({ outcome: 'received', offset: 5 });
    expect(await bed.payload(transferId)).toEqual({ outcome: 'completed', size_bytes: 5 });
    expect(await readFile(join(bed.root, 'f'), 'utf8')).toBe('hello');
  });

  test('a receipt that cannot be sent ends it', async () => {
    bed.onSend = () => 'failed';
    await bed.beginWrite(transferId, 'f', 'x');
    await until(() => bed.facts.some((fact) => fact.type === 'transfer_ended'));
    expect(await leftovers()).toEqual([]);
  });

  test('shutdown before the commit leaves nothing', async () => {
    await bed.beginWrite(transferId, 'f', 'x');
    await bed.answer(transferId);
    expect(await bed.router.shutdown()).toEqual({ kind: 'settled' });
    expect(await leftovers()).toEqual([]);
    expect(bed.sent).toEqual([]);
  });
});

describe('a write whose outcome is unknown', () => {
  type Override = Partial<Pick<WorkspaceService, 'create' | 'inspect'>>;
  const override: Override = {};
  beforeEach(async () => {
    await bed.remove();
    delete override.create;
    delete override.inspect;
    bed = await FolderBed.create({
      wrap: (local) =>
        Object.assign(Object.create(local) as typeof local, {
          latch: local.latch,
          open: () => local.open(),
          spool: (id: string) => local.spool(id),
          forget: (id: string) => local.forget(id),
          create: (...args: Parameters<WorkspaceService['create']>) =>
            override.create ? override.create(...args) : local.create(...args),
          inspect: (...args: Parameters<WorkspaceService['inspect']>) =>
            override.inspect ? override.inspect(...args) : local.inspect(...args),
        }),
    });
  });
  const unsure = () => Promise.resolve({ kind: 'unknown', why: 'test' } as const);

  test('is told as what the evidence shows', async () => {
    override.create = async () => {
      await writeFile(join(bed.root, 'f'), 'hello');
      return unsure();
    };
    expect(await bed.write(transferId, 'f', 'hello')).toEqual({ outcome: 'completed', size_bytes: 5 });
    override.create = unsure;
    expect(await bed.write(transferId, 'g', 'hello')).toEqual(refused('write_rejected'));
  });

  test('stays unknown and keeps its place without evidence, until there is some', async () => {
    override.create = async () => {
      await writeFile(join(bed.root, 'f'), 'something else');
      return unsure();
    };
    expect(await bed.write(transferId, 'f', 'hello')).toEqual({
      ...{ outcome: 'unknown', error_code: 'write_unconfirmed' },
    });
    expect(await bed.write(otherTransferId, 'g', 'x')).toEqual(refused('write_capacity'));
    await bed.prepare('later', 'session');
    expect(bed.facts.filter((fact) => fact.type === 'cleanup')).toMatchObject([
      { id: `transfer:${transferId}`, kind: 'transfer', state: 'unconfirmed' },
    ]);
    expect(await bed.router.retryCleanup(`transfer:${transferId}`)).toBe(false);
    await writeFile(join(bed.root, 'f'), 'hello');
    expect(await bed.router.retryCleanup(`transfer:${transferId}`)).toBe(true);
    delete override.create;
    expect(await bed.write(otherTransferId, 'g', 'x')).toMatchObject({ outcome: 'completed' });
  });

  test('a person may decide, and shutdown waits for one or for evidence', async () => {
    override.create = unsure;
    override.inspect = () => Promise.reject(new Error('no'));
    await bed.write(transferId, 'f', 'hello');
    expect(await bed.router.shutdown()).toEqual({ kind: 'unsettled', blockers: [`transfer:${transferId}`] });
    expect(bed.router.forceCleanup(`transfer:${transferId}`)).toBe(true);
    expect(bed.router.forceCleanup(`transfer:${transferId}`)).toBe(false);
    expect(await bed.router.shutdown()).toEqual({ kind: 'settled' });
    expect(bed.facts.find((fact) => fact.type === 'cleanup_ended')).toMatchObject({ how: 'forced' });
  });

  test('shutdown during the application waits for its end', async () => {
    const gate = new Deferred<void>();
    override.create = async () => {
      await gate.promise;
      return { kind: 'written', leftover: false };
    };
    await bed.beginWrite(transferId, 'f', '');
    await bed.answer(transferId);
    await bed.core('workspace_write', transferId, { step: 'commit' });
    let over = false;
    const shutdown = bed.router.shutdown().then((result) => {
      over = true;
      return result;
    });
    await settle();
    expect(over).toBe(false);
    gate.resolve();
    expect(await shutdown).toEqual({ kind: 'settled' });
  });
});
