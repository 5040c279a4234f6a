import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../src/observe/logger.ts';
import { ExportStream, exportOutputs } from '../../src/workspace/export-outputs.ts';
import { listFolder } from '../../src/workspace/list-folder.ts';
import { LocalWorkspace } from '../../src/workspace/local-workspace.ts';
import { readFileBytes } from '../../src/workspace/read-file.ts';
import { Folder, type Mode } from '../../src/workspace/safe-path.ts';
import { WorkspaceError } from '../../src/workspace/workspace-error.ts';
import { temporaryFolder } from '../support/workspace-bed.ts';

let base: string;
let remove: () => Promise<void>;
let attacker: ChildProcess;
const never = new AbortController().signal;

beforeEach(async () => {
  ({ path: base, remove } = await temporaryFolder());
  await mkdir(join(base, 'root/a/b'), { recursive: true });
  await mkdir(join(base, 'outside/b'), { recursive: true });
  await writeFile(join(base, 'outside/b/secret'), 'SECRET');
  await writeFile(join(base, 'outside/b/f'), 'SECRET');
  await writeFile(join(base, 'outside/f'), 'SECRET');
  attacker = spawn(
    process.execPath,
    [resolve('test/support/path-attacker.mjs'), join(base, 'root'), join(base, 'outside')],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  await once(attacker.stdout ?? attacker, 'data');
});
afterEach(async () => {
  attacker.kill('SIGKILL');
  if (attacker.exitCode === null && attacker.signalCode === null) await once(attacker, 'exit');
  await remove();
});

const modes: Mode[] = process.platform === 'linux' ? ['anchored', 'portable'] : ['portable'];

test.each(modes)(
  'an attacker who swaps the path during thousands of operations gets nothing (%s)',
  async (mode) => {
    const counts: Record<string, number> = {};
    const count = (what: string): void => void (counts[what] = (counts[what] ?? 0) + 1);
    const attempt = async (what: string, act: () => Promise<void>): Promise<void> => {
      try {
        await act();
        count(`${what} done`);
      } catch (error) {
        if (!(error instanceof WorkspaceError)) throw error;
        count(`${what} refused`);
      }
    };
    const workspace = new LocalWorkspace({
      ...{ root: join(base, 'root'), stateDir: join(base, 'state'), logger: silentLogger, createSteps: null },
    });
    const root = await Folder.openRoot(join(base, 'root'), mode);
    // The walk looks at everything many times over; the anchored form is what is served here.
    const rounds = mode === 'anchored' ? 4_600 : 600;
    for (let n = 0; n < rounds; n++) {
      await attempt('read', async () => {
        const { data } = await readFileBytes(root, 'a/b/f', 100, never);
        expect(data.toString()).not.toContain('SECRET');
      });
      await attempt('list', async () => {
        const { entries } = await listFolder(root, 'a/b', 100, never);
        expect(entries.map((entry) => entry.name)).not.toContain('secret');
      });
      if (n % 4 === 0 && mode === 'anchored') {
        const id = `w${n}`;
        const body = await workspace.spool(id);
        await body.append(Buffer.from('WRITTEN'));
        const outcome = await workspace.create({ id, path: `a/b/new/w${n}`, size: 7, sha256: '' }, body);
        await body.discard();
        count(`write ${outcome.kind}`);
      }
      if (n % 40 === 0) {
        await attempt('export', async () => {
          const stream = new ExportStream((signal) => exportOutputs(root, signal));
          for (let chunk = await stream.next(); chunk; chunk = await stream.next())
            expect(chunk.toString('latin1')).not.toContain('SECRET');
          await stream.close();
        });
      }
    }
    await root.close();
    attacker.kill('SIGKILL');
    await once(attacker, 'exit');
    // Nothing was written outside of the root, whatever became of the folders in it.
    expect((await readdir(join(base, 'outside'))).sort()).toEqual(['b', 'f']);
    expect((await readdir(join(base, 'outside/b'))).sort()).toEqual(['f', 'secret']);
    for (const path of ['b/secret', 'b/f', 'f'])
      expect(await readFile(join(base, 'outside', path), 'utf8')).toBe('SECRET');
    // Both happened, or the race was none.
    if (mode === 'anchored') expect(counts['read done']).toBeGreaterThan(0);
    expect(counts['read refused']).toBeGreaterThan(0);
    const total = Object.values(counts).reduce((sum, value) => sum + value, 0);
    expect(total).toBeGreaterThan(mode === 'anchored' ? 10_000 : 1_200);
  },
);
