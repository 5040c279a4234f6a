import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Deferred } from '../../support/controlled-harness.ts';
import { environmentId, FolderBed } from '../../support/folder-bed.ts';
import { settle } from '../../support/fake-clock.ts';
import { until } from '../../support/workspace-bed.ts';

let bed: FolderBed;
let handle: string;
beforeEach(async () => {
  bed = await FolderBed.create();
  handle = await bed.readOnly();
});
afterEach(() => bed.remove());

const begin = (id = 'ex', to = handle) =>
  bed.core('workspace_export', id, { step: 'begin', handle: to, environment_id: environmentId });
const next = (offset: number, id = 'ex') => bed.core('workspace_export', id, { step: 'next', offset });
const unavailable = { outcome: 'rejected', offset: 0, error_code: 'resource_unavailable' };
interface Chunk {
  outcome: string;
  offset: number;
  data?: string;
}

test('is pulled chunk by chunk and ends with its own receipt', async () => {
  await mkdir(join(bed.root, 'outputs'));
  await writeFile(join(bed.root, 'outputs', 'f'), Buffer.alloc(200_000, 1));
  await begin();
  let offset = 0;
  let chunks = 0;
  for (;;) {
    const chunk = (await bed.payload('ex')) as Chunk;
    expect(chunk.offset).toBe(offset);
    if (chunk.outcome === 'completed') break;
    offset += Buffer.from(chunk.data ?? '', 'base64').length;
    chunks++;
    await settle();
    expect(bed.sent).toEqual([]);
    await next(offset);
  }
  expect([offset, chunks]).toEqual([512 + 200_192 + 1_024, 4]);
  await next(offset);
  expect(await bed.payload('ex')).toEqual(unavailable);
});

test('needs a ready read-only preparation of its own Environment', async () => {
  await begin('a', 'nobody');
  expect(await bed.payload('a')).toEqual(unavailable);
  const { handle: executor } = await bed.prepareBound();
  await begin('b', executor);
  expect(await bed.payload('b')).toEqual(unavailable);
  await next(0, 'c');
  expect(await bed.payload('c')).toEqual(unavailable);
  await bed.core('workspace_export', 'd', { step: 'cancel' });
  await begin();
  await bed.answer('ex');
  await begin('second');
  expect(await bed.payload('second')).toEqual(unavailable);
});

test('a wrong offset fails it, and its place is free', async () => {
  await begin();
  await bed.answer('ex');
  await next(7);
  expect(await bed.payload('ex')).toEqual({
    outcome: 'failed',
    offset: 1_024,
    error_code: 'invalid_request',
  });
  await begin();
  expect(await bed.payload('ex')).toMatchObject({ outcome: 'chunk' });
});

test('a request while one is pending ends it without a reply', async () => {
  await mkdir(join(bed.root, 'outputs'));
  await writeFile(join(bed.root, 'outputs', 'f'), Buffer.alloc(500_000, 1));
  const payload = { step: 'begin', handle, environment_id: environmentId };
  bed.router.receive(JSON.stringify({ type: 'workspace_export', id: 'ex', payload }));
  bed.router.receive(
    JSON.stringify({ type: 'workspace_export', id: 'ex', payload: { step: 'next', offset: 0 } }),
  );
  await until(() => bed.facts.some((fact) => fact.type === 'transfer_ended'));
  await settle();
  expect(bed.sent).toEqual([]);
});

test('cancel ends it silently, also against a release that waits for it', async () => {
  await begin();
  await bed.answer('ex');
  await bed.core('execution_release', 'ro', { handle });
  await settle();
  expect(bed.sent).toEqual([]);
  await bed.core('workspace_export', 'ex', { step: 'cancel' });
  expect(await bed.payload('ro')).toMatchObject({ state: 'released' });
  expect(bed.sent).toEqual([]);
});

test('it is over after 180 s', async () => {
  await begin();
  await bed.answer('ex');
  await bed.clock.advance(180_000);
  await until(() => bed.facts.some((fact) => fact.type === 'transfer_ended'));
  await next(1_024);
  expect(await bed.payload('ex')).toEqual(unavailable);
});

test('a special file fails it after what came before', async () => {
  await mkdir(join(bed.root, 'outputs'));
  const { execFileSync } = await import('node:child_process');
  execFileSync('mkfifo', [join(bed.root, 'outputs', 'pipe')]);
  await begin();
  expect(await bed.payload('ex')).toEqual({ outcome: 'failed', offset: 0, error_code: 'export_failed' });
});

test('it is completed only after everything that it opened was closed', async () => {
  await bed.remove();
  const closing = new Deferred<void>();
  let closes = 0;
  bed = await FolderBed.create({
    wrap: (local) =>
      Object.assign(Object.create(local) as typeof local, {
        latch: local.latch,
        open: async () => {
          const opened = await local.open();
          return {
            ...opened,
            export: () => {
              const stream = opened.export();
              const close = async (): Promise<void> => {
                closes++;
                await closing.promise;
                await stream.close();
              };
              return { next: () => stream.next(), close };
            },
          };
        },
      }),
  });
  handle = await bed.readOnly();
  await begin();
  await bed.answer('ex');
  await next(1_024);
  await until(() => closes === 1);
  await settle();
  expect(bed.sent).toEqual([]);
  await begin('second');
  expect(await bed.payload('second')).toEqual(unavailable);
  closing.resolve();
  expect(await bed.payload('ex')).toEqual({ outcome: 'completed', offset: 1_024 });
});
