import type { PreparedQuery } from '../../../src/workspace/local-workspace.ts';
import { noSteps } from '../../support/no-preparation.ts';
import { afterEach, describe, expect, test } from 'vitest';
import {
  activities,
  blockedBy,
  excludedBy,
  operations,
  type Operation,
} from '../../../src/runtime/exclusion.ts';
import {
  environmentId,
  FolderBed,
  otherTransferId,
  sessionId,
  sha256,
  transferId,
} from '../../support/folder-bed.ts';
import { Deferred } from '../../support/controlled-harness.ts';
import { settle } from '../../support/fake-clock.ts';

/** The table of the contract, written out: x forbids. */
const table: Record<Operation, string> = {
  //                 run idle busy adm read write exp prep
  prepare: '           .   .    .    .   .    x    x   x',
  prepare_read_only: ' .   .    .    .   .    .    .   x',
  start: '             .   .    .    .   .    x    x   x',
  read: '              .   .    .    .   .    .    .   .',
  write: '             x   .    x    x   x    x    x   x',
  export: '            .   .    .    .   .    x    x   .',
  runtime_prepare: '   x   x    x    x   x    x    x   x',
  quiesce: '           x   .    x    x   x    x    x   x',
};

describe('the table of exclusions', () => {
  for (const operation of operations) {
    const cells = table[operation].trim().split(/\s+/);
    test.each(activities.map((activity, column) => [activity, cells[column] === 'x'] as const))(
      `${operation} while %s is present: forbidden is %s`,
      (activity, forbidden) => {
        expect(cells).toHaveLength(activities.length);
        expect(excludedBy[operation].includes(activity)).toBe(forbidden);
        expect(blockedBy(operation, (present) => present === activity)).toBe(forbidden ? activity : null);
      },
    );
  }
});

const beds: FolderBed[] = [];
const held = new Deferred<void>();
afterEach(async () => {
  held.resolve();
  for (const bed of beds.splice(0)) await bed.remove();
});

async function create(): Promise<FolderBed> {
  const bed = await FolderBed.create({
    createSteps: () => noSteps,
    wrap: (local) =>
      Object.assign(Object.create(local) as typeof local, {
        latch: local.latch,
        spool: (id: string) => local.spool(id),
        prepared: (wanted: PreparedQuery) => local.prepared(wanted),
        completed: () => local.completed(),
        open: async () => ({
          ...(await local.open()),
          read: () => held.promise.then(() => Promise.reject(new Error())),
        }),
      }),
  });
  beds.push(bed);
  return bed;
}

const beginPreparation = (bed: FolderBed, id: string): Promise<void> =>
  bed.core('runtime_prepare', id, {
    ...{ step: 'begin', environment_id: environmentId, session_id: sessionId, action: 'file' },
    ...{ file: { path: '/workspace/f' }, size_bytes: 1, sha256: sha256('x') },
  });
const beginExport = (bed: FolderBed, id: string, handle: string): Promise<void> =>
  bed.core('workspace_export', id, { step: 'begin', handle, environment_id: environmentId });

const present: Record<string, (bed: FolderBed) => Promise<unknown>> = {
  nothing: () => Promise.resolve(),
  'a Run': (bed) => bed.startBound(),
  'an idle Executor': async (bed) => {
    const { handle } = await bed.prepareBound();
    await bed.core('execution_release', 'prepare', { handle });
  },
  'an admitted Executor': (bed) => bed.prepareBound(),
  'a read-only admission': (bed) => bed.readOnly(),
  'a read': async (bed) => bed.read('read', { handle: await bed.readOnly(), path: 'x' }),
  'a write': async (bed) => {
    await bed.beginWrite(otherTransferId, 'f', 'x');
    await bed.answer(otherTransferId);
  },
  'an export': async (bed) => {
    await beginExport(bed, 'export', await bed.readOnly());
    await bed.answer('export');
  },
  'a runtime preparation': async (bed) => {
    await beginPreparation(bed, otherTransferId);
    await bed.answer(otherTransferId);
  },
};

const text = async (bed: FolderBed, id: string): Promise<string> => JSON.stringify(await bed.payload(id));
const allowed: Record<string, (bed: FolderBed) => Promise<boolean>> = {
  prepare: async (bed) => {
    const begun = bed.prepareBound('second').then((ready) => ready.handle !== undefined);
    return begun;
  },
  'prepare to read': (bed) =>
    bed.readOnly('another').then(
      () => true,
      () => false,
    ),
  write: async (bed) => {
    await bed.beginWrite(transferId, 'g', 'x');
    return (await text(bed, transferId)).includes('ready');
  },
  export: async (bed) => {
    const handle = await bed.readOnly('for-export').catch(() => 'none');
    await beginExport(bed, 'second', handle);
    return (await text(bed, 'second')).includes('chunk');
  },
  'runtime preparation': async (bed) => {
    await beginPreparation(bed, transferId);
    return (await text(bed, transferId)).includes('ready');
  },
  quiesce: async (bed) => {
    await bed.core('environment_quiesce', 'q', { environment_id: environmentId, suspend_id: 's' });
    return (await text(bed, 'q')).includes('"accepted":true');
  },
};

/** One column an operation above, in that order. A Session has one Executor, which forbids a second preparation. */
const behaviour: Record<string, string> = {
  //                         prep ro write export rprep quiesce
  nothing: '                  1    1   1     1     1      1',
  'a Run': '                  0    1   0     1     0      0',
  'an idle Executor': '       1    1   1     1     0      1',
  'an admitted Executor': '   0    1   0     1     0      0',
  'a read-only admission': '  1    1   0     1     0      0',
  'a read': '                 1    1   0     1     0      0',
  'a write': '                0    1   0     0     0      0',
  'an export': '              0    1   0     0     0      0',
  'a runtime preparation': '  0    0   0     0     0      0',
};

describe('what the router does with each pair', () => {
  for (const [what, row] of Object.entries(behaviour)) {
    const cells = row.trim().split(/\s+/);
    test.each(Object.keys(allowed).map((operation, column) => [operation, cells[column] === '1'] as const))(
      `with ${what}: %s may begin is %s`,
      async (operation, expected) => {
        const bed = await create();
        await present[what]?.(bed);
        await settle();
        bed.take();
        expect(await allowed[operation]?.(bed)).toBe(expected);
      },
    );
  }

  test('a start waits for nothing: it is refused while an export runs', async () => {
    const bed = await create();
    const { handle, executorId } = await bed.prepareBound();
    await present['an export']?.(bed);
    await bed.core('execution_start', 'prepare', {
      ...{ executor_id: executorId, handle, run_id: 'run' },
      input: [{ content: [{ type: 'input_text', text: 'x' }] }],
    });
    expect(await bed.payload('prepare')).toMatchObject({ error_code: 'resource_unavailable' });
  });
});
