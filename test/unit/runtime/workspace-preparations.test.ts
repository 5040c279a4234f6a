import { existsSync } from 'node:fs';
import { chmod, link, lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemEnvironment, type Environment } from '../../../src/platform/environment.ts';
import { readProcess } from '../../../src/platform/process-identity.ts';
import type { FramePayload } from '../../../src/protocol/registry.ts';
import {
  environmentId,
  FolderBed,
  otherTransferId,
  sessionId,
  sha256,
  transferId,
} from '../../support/folder-bed.ts';
import { realWorkspace } from '../../support/real-workspace.ts';
import { until } from '../../support/workspace-bed.ts';
import { zipFile } from '../../support/zip-file.ts';

let bed: FolderBed;
const variables: Record<string, string> = {};
const environment: Environment = {
  ...systemEnvironment,
  get: (name) => variables[name] ?? systemEnvironment.get(name),
};
beforeEach(async () => {
  for (const name of Object.keys(variables)) delete variables[name];
  bed = await FolderBed.create({
    make: (root, stateDir) => realWorkspace({ root, stateDir, environmentId, sessionId, environment }),
  });
});
afterEach(() => bed.remove());

/** Whether the process that a command wrote down still runs. */
const runs = async (): Promise<boolean> =>
  (await readProcess(Number(await readFile(join(bed.root, 'pid'), 'utf8')))) !== null;

let count = 0;
type Body = Record<string, unknown>;
async function begin(body: Body, data?: Buffer, id = transferId): Promise<unknown> {
  await bed.core('runtime_prepare', id, {
    ...{ step: 'begin', environment_id: environmentId, session_id: sessionId },
    ...(data ? { size_bytes: data.length, sha256: sha256(data) } : {}),
    ...body,
  } as FramePayload<'runtime_prepare'>);
  return bed.payload(id);
}
/** One whole step; returns its result. */
async function prepare(body: Body, data?: Buffer): Promise<unknown> {
  const id = `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;
  expect(await begin(body, data, id)).toEqual({ outcome: 'ready' });
  for (let at = 0; data && at < data.length; at += 65_536) {
    await bed.chunk('runtime_prepare', id, at, data.subarray(at, at + 65_536));
    await bed.answer(id);
  }
  await bed.core('runtime_prepare', id, { step: 'commit' });
  return bed.payload(id);
}
const setup = (command: string, extra: Body = {}) =>
  prepare({ action: 'initialize', initialization: { action: 'setup', command, ...extra } });
const failed = (code?: number) => ({
  ...{ outcome: 'failed', error_code: 'runtime_preparation_failed' },
  ...(code === undefined ? {} : { exit_code: code }),
});
const file = (path: string, text: string) =>
  prepare({ action: 'file', file: { path: `/workspace/${path}` } }, Buffer.from(text));

describe('initial files', () => {
  test('are put in place private, and replace what is there', async () => {
    expect(await file('a/b.txt', 'first')).toEqual({ outcome: 'completed', size_bytes: 5 });
    await link(join(bed.root, 'a/b.txt'), join(bed.root, 'other'));
    expect(await file('a/b.txt', 'second!')).toMatchObject({ outcome: 'completed' });
    expect(await readFile(join(bed.root, 'a/b.txt'), 'utf8')).toBe('second!');
    expect(await readFile(join(bed.root, 'other'), 'utf8')).toBe('first');
    expect((await lstat(join(bed.root, 'a/b.txt'))).mode & 0o777).toBe(0o600);
    expect(await file('empty', '')).toEqual({ outcome: 'completed' });
  });

  test('never go through a link', async () => {
    await symlink('/tmp', join(bed.root, 'link'));
    expect(await file('link/x', 'x')).toMatchObject({ error_code: 'runtime_preparation_rejected' });
  });
});

describe('commands', () => {
  test('run in the bound folder or below, and their exit code is told', async () => {
    await mkdir(join(bed.root, 'sub'));
    expect(await setup('pwd > where')).toEqual({ outcome: 'completed' });
    expect((await readFile(join(bed.root, 'where'), 'utf8')).trim()).toBe(bed.root);
    expect(await setup('pwd > where', { cwd: '/workspace/sub' })).toEqual({ outcome: 'completed' });
    expect((await readFile(join(bed.root, 'sub/where'), 'utf8')).trim()).toBe(join(bed.root, 'sub'));
    expect(await setup('exit 2')).toEqual(failed(2));
    expect(await setup('true', { cwd: '/workspace/none' })).toEqual(failed());
  });

  test('a signal is no exit code', async () => {
    expect(await setup('kill -9 $$')).toMatchObject({ error_code: 'runtime_preparation_unconfirmed' });
  });

  test('see the configured variables and little else; output is thrown away', async () => {
    variables['AGENT_SECRET'] = 'leak';
    const configure = {
      action: 'initialize',
      initialization: { action: 'configure', env: { GREETING: 'hi', EMPTY: '' } },
    };
    expect(await prepare(configure)).toEqual({ outcome: 'completed' });
    expect(await prepare(configure)).toEqual(failed());
    expect(await setup('env > seen; yes | head -c 5000000; yes | head -c 5000000 >&2')).toEqual({
      outcome: 'completed',
    });
    const seen = await readFile(join(bed.root, 'seen'), 'utf8');
    expect(seen).toContain('GREETING=hi\n');
    expect(seen).not.toContain('leak');
    const path = /^PATH=(.*)$/m.exec(seen)?.[1]?.split(delimiter) ?? [];
    expect(path.slice(0, 2)).toEqual([
      join(bed.state, 'packages/npm/bin'),
      join(bed.state, 'packages/python/bin'),
    ]);
    expect((await lstat(join(bed.state, 'environment.json'))).mode & 0o777).toBe(0o600);
    expect(JSON.stringify(bed.facts)).not.toContain('GREETING');
  });

  test('packages go to a folder of ours, with the package managers of this machine', async () => {
    const bin = join(bed.state, 'bin');
    await mkdir(bin, { recursive: true });
    for (const name of ['npm', 'python3']) {
      await writeFile(join(bin, name), `#!/bin/sh\necho ${name} "$@" >> ${bed.state}/ran\nexit 7\n`);
      await chmod(join(bin, name), 0o755);
    }
    variables['PATH'] = `${bin}${delimiter}/usr/bin:/bin`;
    const install = (action: string, packages: string[]) =>
      prepare({ action: 'initialize', initialization: { action, packages } });
    expect(await install('npm', ['left-pad@1'])).toEqual(failed(7));
    expect(await install('python', ['a', 'b'])).toEqual(failed(7));
    const ran = (await readFile(join(bed.state, 'ran'), 'utf8')).trim().split('\n');
    expect(ran[0]).toBe(
      `npm install --global --prefix ${bed.state}/packages/npm --no-audit --no-fund -- left-pad@1`,
    );
    expect(ran[1]).toMatch(/^python3 -m pip install .* --target .*packages\/python -- a b$/);
    variables['PATH'] = join(bed.state, 'nothing');
    expect(await install('npm', ['x'])).toEqual(failed());
  });

  test('what they leave running is gone before they are told', async () => {
    expect(await setup('setsid sleep 1000 >/dev/null 2>&1 & echo $! > pid')).toEqual({
      outcome: 'completed',
    });
    expect(await runs()).toBe(false);
  });

  test('the budget ends one that runs, with its tree; the place is free after a look', async () => {
    await begin({
      action: 'initialize',
      initialization: { action: 'setup', command: 'sleep 1000 & echo $! > pid; wait' },
      budget_ms: 60_000,
    });
    await bed.core('runtime_prepare', transferId, { step: 'commit' });
    await until(() => existsSync(join(bed.root, 'pid')));
    await bed.clock.advance(60_000);
    expect(await bed.payload(transferId)).toEqual({
      ...{ outcome: 'unknown', error_code: 'runtime_preparation_unconfirmed' },
    });
    expect(await runs()).toBe(false);
    expect(await begin({ action: 'finalize', sources: {} }, undefined, otherTransferId)).toMatchObject({
      error_code: 'runtime_preparation_capacity',
    });
    expect(await bed.router.retryCleanup(`transfer:${transferId}`)).toBe(true);
    expect(await begin({ action: 'finalize', sources: {} }, undefined, otherTransferId)).toEqual({
      outcome: 'ready',
    });
  });

  test('shutdown ends one that runs, and nothing is left', async () => {
    await begin({
      action: 'initialize',
      initialization: { action: 'setup', command: 'echo $$ > pid; sleep 1000' },
    });
    await bed.core('runtime_prepare', transferId, { step: 'commit' });
    await until(() => existsSync(join(bed.root, 'pid')));
    expect(await bed.router.shutdown()).toEqual({ kind: 'settled' });
    expect(await runs()).toBe(false);
    expect(bed.sent).toEqual([]);
    expect(JSON.parse(await readFile(join(bed.state, 'ledger/processes.json'), 'utf8'))).toMatchObject({
      entries: [],
    });
  });
});

describe('Skills, Plugins and the end of preparation', () => {
  const metadata = { type: 'inline', name: 'tidy', description: 'Tidies' };
  const archive = zipFile([
    { name: 'tidy/SKILL.md', data: '---\nname: tidy\ndescription: Tidies\n---\n' },
    { name: 'tidy/run.sh', data: 'echo' },
  ]);

  test('are installed once, frozen, and nothing is prepared after that', async () => {
    expect(await prepare({ action: 'skill', skill: metadata }, archive)).toMatchObject({
      outcome: 'completed',
    });
    expect(await prepare({ action: 'skill', skill: metadata }, archive)).toEqual(failed());
    const plugin = zipFile([{ name: '.codex-plugin/plugin.json', data: '{"name":"tidy"}' }]);
    expect(await prepare({ action: 'plugin', plugin: metadata, slot: 3 }, plugin)).toMatchObject({
      outcome: 'completed',
    });
    expect(await readdir(join(bed.state, 'capabilities/skills/tidy'))).toEqual(['SKILL.md', 'run.sh']);
    expect(await prepare({ action: 'finalize', sources: { skills: [metadata] } })).toEqual(failed());
    const sources = { skills: [metadata], plugins: [metadata] };
    expect(await prepare({ action: 'finalize', sources })).toEqual({ outcome: 'completed' });
    expect(JSON.parse(await readFile(join(bed.state, 'capabilities/installed.json'), 'utf8'))).toMatchObject({
      ...{ version: 1, environment_id: environmentId, session_id: sessionId },
      ...{ skills: [{ name: 'tidy', folder: 'skills/tidy' }], plugins: ['plugins/3'], servers: [] },
    });
    expect(await file('late', 'x')).toMatchObject({ error_code: 'runtime_preparation_rejected' });
    expect(await readdir(bed.root)).toEqual([]);
  });

  test('an archive that is none fails and leaves nothing', async () => {
    expect(await prepare({ action: 'skill', skill: metadata }, Buffer.from('not a zip'))).toEqual(failed());
    expect(existsSync(join(bed.state, 'capabilities'))).toBe(false);
  });
});

test('the rules of a transfer: capacity, repeats, foreign ids, an invalid frame ends it', async () => {
  const body = { action: 'file', file: { path: '/workspace/f' } };
  expect(await begin(body, Buffer.from('x'))).toEqual({ outcome: 'ready' });
  expect(await begin(body, Buffer.from('x'), otherTransferId)).toMatchObject({
    error_code: 'runtime_preparation_capacity',
  });
  await bed.core('runtime_prepare', otherTransferId, { step: 'commit' });
  expect(await bed.payload(otherTransferId)).toMatchObject({ error_code: 'resource_unavailable' });
  await bed.raw(
    JSON.stringify({ type: 'runtime_prepare', id: transferId, payload: { step: 'chunk', surprise: 1 } }),
  );
  expect(await bed.payload(transferId)).toEqual({ outcome: 'rejected', error_code: 'invalid_request' });
  expect(await begin({ ...body, session_id: environmentId }, Buffer.from('x'))).toMatchObject({
    error_code: 'resource_unavailable',
  });
  expect(await begin(body, Buffer.from('x'))).toEqual({ outcome: 'ready' });
  await bed.clock.advance(120_000);
  expect(await bed.payload(transferId)).toEqual({ outcome: 'rejected', error_code: 'invalid_request' });
});
