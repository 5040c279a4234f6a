import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WorkspaceError } from '../../../src/workspace/workspace-error.ts';
import { Deferred } from '../../support/controlled-harness.ts';
import { environmentId, FolderBed, readOnlyConfiguration, sessionId } from '../../support/folder-bed.ts';
import { settle } from '../../support/fake-clock.ts';
import { until } from '../../support/workspace-bed.ts';

let bed: FolderBed;
beforeEach(async () => {
  bed = await FolderBed.create();
  await writeFile(join(bed.root, 'README.md'), 'hello workspace\n');
});
afterEach(() => bed.remove());

const refused = (code: string) => ({ outcome: 'rejected', error_code: code });

describe('reads', () => {
  test('by a read-only handle, by a ready Executor and by its Run', async () => {
    const handle = await bed.readOnly();
    await bed.read('a', { handle, path: 'README.md', max_bytes: 5 });
    expect(await bed.payload('a')).toEqual({
      ...{ outcome: 'completed', data: Buffer.from('hello').toString('base64') },
      ...{ truncated: true, close_acknowledged: true },
    });
    await bed.read('b', { handle, operation: 'directory', max_entries: 10 });
    expect(await bed.payload('b')).toEqual({
      outcome: 'completed',
      close_acknowledged: true,
      directory: { entries: [{ name: 'README.md', kind: 'file', size_bytes: 16 }], truncated: false },
    });
    const { handle: ready } = await bed.prepareBound();
    await bed.read('c', { handle: ready, path: 'README.md' });
    expect(await bed.payload('c')).toMatchObject({ outcome: 'completed' });
    await bed.core('execution_release', 'prepare', { handle: ready });
    await bed.startBound('run', 'second');
    await bed.read('d', { run_id: 'run', path: 'README.md' });
    expect(await bed.payload('d')).toMatchObject({ outcome: 'completed' });
    expect(bed.harness.prepared).toHaveLength(1);
  });

  test('each refusal has its own code', async () => {
    const handle = await bed.readOnly();
    await symlink('/etc', join(bed.root, 'etc'));
    const ask = async (read: Parameters<FolderBed['read']>[1]): Promise<unknown> => {
      await bed.read('r', read);
      return bed.payload('r');
    };
    expect(await ask({ handle, path: 'none' })).toEqual(refused('not_found'));
    expect(await ask({ handle, path: 'README.md/below' })).toEqual(refused('not_found'));
    expect(await ask({ handle, path: 'etc/passwd' })).toEqual(refused('not_found'));
    expect(await ask({ handle, path: '' })).toEqual(refused('invalid_request'));
    expect(await ask({ handle, path: 'etc' })).toEqual(refused('invalid_request'));
    const directory = { operation: 'directory', max_entries: 1 } as const;
    expect(await ask({ handle, path: 'etc', ...directory })).toEqual(refused('not_directory'));
    expect(await ask({ handle, path: 'none', ...directory })).toEqual(refused('not_directory'));
    expect(await ask({ handle: 'nobody', path: 'README.md' })).toEqual(refused('resource_unavailable'));
    expect(await ask({ run_id: 'nobody', path: 'README.md' })).toEqual(refused('resource_unavailable'));
    expect(await ask({ handle, environment_id: sessionId, path: 'x' })).toEqual(
      refused('resource_unavailable'),
    );
    await bed.clock.advance(300_000);
    expect(await ask({ handle, path: 'README.md' })).toEqual(refused('resource_unavailable'));
  });

  test('ids: blank is refused, too long and repeated are silent', async () => {
    const handle = await bed.readOnly();
    await bed.read(' ', { handle, path: 'README.md' });
    expect(await bed.payload(' ')).toEqual(refused('invalid_request'));
    await bed.read('x'.repeat(129), { handle, path: 'README.md' });
    await bed.raw(JSON.stringify({ type: 'workspace_read', id: 'x'.repeat(129), payload: {} }));
    expect(bed.sent).toEqual([]);
    expect(bed.facts.filter((fact) => fact.type === 'dropped').map((fact) => fact.reason)).toEqual([
      'oversized_id',
      'oversized_id',
    ]);
  });

  test('a trace is answered with itself, a long one is left out', async () => {
    const handle = await bed.readOnly();
    const trace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const traces: (string | undefined)[] = [];
    bed.onSend = (frame) => {
      traces.push(frame.trace);
      return 'written';
    };
    const payload = { handle, environment_id: environmentId, path: 'README.md', max_bytes: 1 };
    for (const given of [trace, `${trace}${' '.repeat(300)}`])
      await bed
        .raw(JSON.stringify({ type: 'workspace_read', id: 't', payload, trace: given }))
        .then(() => bed.answer('t'));
    expect(traces).toEqual([trace, undefined]);
  });
});

describe('a read that does not end', () => {
  const hold = new Map<string, Deferred<void>>();
  beforeEach(async () => {
    await bed.remove();
    hold.clear();
    bed = await FolderBed.create({
      wrap: (local) =>
        Object.assign(Object.create(local) as typeof local, {
          latch: local.latch,
          open: async () => {
            const opened = await local.open();
            return {
              ...opened,
              read: async (path: string, max: number, signal: AbortSignal) => {
                await hold.get(path)?.promise;
                return opened.read(path, max, signal);
              },
            };
          },
        }),
    });
    await writeFile(join(bed.root, 'f'), 'x');
  });

  test('four are pending at most, and one id is served once', async () => {
    const handle = await bed.readOnly();
    hold.set('f', new Deferred());
    for (const id of ['1', '2', '3', '4', '4']) await bed.read(id, { handle, path: 'f' });
    await bed.read('5', { handle, path: 'f' });
    expect(await bed.payload('5')).toEqual(refused('read_capacity'));
    await bed.raw(JSON.stringify({ type: 'workspace_read', id: '1', payload: { bad: 1 } }));
    expect(bed.sent).toEqual([]);
    hold.get('f')?.resolve();
    for (const id of ['1', '2', '3', '4'])
      expect(await bed.payload(id)).toMatchObject({ outcome: 'completed' });
    await settle();
    expect(bed.sent).toEqual([]);
    expect(bed.facts.filter((fact) => fact.type === 'transfer_ended')).toHaveLength(4);
  });

  test('is answered after its target was released, and the release waits for it', async () => {
    const handle = await bed.readOnly();
    hold.set('f', new Deferred());
    await bed.read('r', { handle, path: 'f' });
    await bed.core('execution_release', 'ro', { handle });
    await bed.read('late', { handle, path: 'f' });
    expect(await bed.payload('late')).toEqual(refused('resource_unavailable'));
    expect(bed.sent).toEqual([]);
    hold.get('f')?.resolve();
    expect(await bed.payload('r')).toMatchObject({ outcome: 'completed' });
    expect(await bed.payload('ro')).toMatchObject({ state: 'released', revision: 3 });
  });

  test('is unconfirmed after 12 s and stops further reads until it is proven closed', async () => {
    const handle = await bed.readOnly();
    hold.set('f', new Deferred());
    await bed.read('r', { handle, path: 'f' });
    await bed.clock.advance(12_000);
    expect(await bed.payload('r')).toEqual({ outcome: 'unknown', error_code: 'read_unconfirmed' });
    await bed.read('next', { handle, path: 'f' });
    expect(await bed.payload('next')).toEqual(refused('resource_unavailable'));
    await bed.core('execution_release', 'ro', { handle });
    expect(await bed.payload('ro')).toMatchObject({ state: 'failed', error_code: 'cleanup_unconfirmed' });
    hold.get('f')?.resolve();
    await until(() => !bed.workspace.latch.uncertain);
    await bed.core('execution_release', 'ro', { handle });
    expect(await bed.payload('ro')).toMatchObject({ state: 'released', revision: 4 });
    const again = await bed.readOnly('again');
    await bed.read('after', { handle: again, path: 'f' });
    expect(await bed.payload('after')).toMatchObject({ outcome: 'completed' });
  });
});

describe('read-only preparations', () => {
  test('start no Harness and are released after the close', async () => {
    const handle = await bed.readOnly();
    await bed.core('execution_start', 'ro', {
      ...{ executor_id: 'e', handle, run_id: 'run' },
      input: [{ content: [{ type: 'input_text', text: 'x' }] }],
    });
    expect(await bed.payload('ro')).toMatchObject({ error_code: 'read_only_preparation' });
    await bed.core('execution_release', 'ro', { handle });
    expect(await bed.payload('ro')).toMatchObject({ state: 'released', revision: 3 });
    await bed.core('execution_release', 'ro', { handle });
    expect(await bed.payload('ro')).toMatchObject({ state: 'released', revision: 3 });
    expect(bed.harness.prepared).toHaveLength(0);
  });

  test('expire after their close, and a repeated request is answered with what is', async () => {
    await bed.readOnly();
    const repeat = JSON.stringify({
      ...{ type: 'execution_prepare', id: 'ro' },
      payload: { session_id: sessionId, configuration: readOnlyConfiguration },
    });
    await bed.raw(repeat);
    expect(await bed.payload('ro')).toMatchObject({ state: 'ready', revision: 2 });
    await bed.clock.advance(300_000);
    expect(await bed.payload('ro')).toMatchObject({ state: 'expired', revision: 3 });
    await bed.prepare('ro', sessionId);
    expect(await bed.payload('ro')).toMatchObject({ state: 'rejected' });
  });

  test('four own their place, a missing folder fails', async () => {
    const handles: string[] = [];
    for (const n of [1, 2, 3, 4]) handles.push(await bed.readOnly(`ro${n}`));
    await bed.raw(
      JSON.stringify({
        ...{ type: 'execution_prepare', id: 'ro5' },
        payload: { session_id: sessionId, configuration: readOnlyConfiguration },
      }),
    );
    expect(await bed.payload('ro5')).toMatchObject({ error_code: 'preparation_capacity' });
    await bed.core('execution_release', 'ro1', { handle: handles[0] ?? '' });
    await bed.answer('ro1');
    await rename(bed.root, `${bed.root}-gone`);
    await expect(bed.readOnly('ro6')).rejects.toThrow('it is failed');
    await mkdir(bed.root);
  });

  test('a close that fails keeps its place; a retry, a release or a person ends that', async () => {
    let fails = true;
    const failing = await FolderBed.create({
      wrap: (local) =>
        Object.assign(Object.create(local) as typeof local, {
          latch: local.latch,
          open: async () => {
            const opened = await local.open();
            return {
              ...opened,
              close: () => (fails ? Promise.reject(new WorkspaceError('unclosed', 'no')) : opened.close()),
            };
          },
        }),
    });
    const handle = await failing.readOnly();
    await failing.core('execution_release', 'ro', { handle });
    expect(await failing.payload('ro')).toMatchObject({
      ...{ state: 'failed', error_code: 'cleanup_unconfirmed', revision: 3 },
    });
    expect(await failing.router.retryCleanup(handle)).toBe(false);
    expect(await failing.router.shutdown()).toEqual({ kind: 'unsettled', blockers: [handle] });
    fails = false;
    expect(await failing.router.retryCleanup(handle)).toBe(true);
    expect(await failing.router.shutdown()).toEqual({ kind: 'settled' });
    await failing.remove();
  });
});
