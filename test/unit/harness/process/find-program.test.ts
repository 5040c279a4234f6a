import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { findPrograms, type FoundProgram } from '../../../../src/harness/process/find-program.ts';
import { between, LoginPath } from '../../../../src/harness/process/login-env.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import type { Environment } from '../../../../src/platform/environment.ts';
import { systemRandom } from '../../../../src/platform/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

let dir = '';
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'find-')));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const environmentOf = (variables: Record<string, string>): Environment => ({
  platform: 'linux',
  get: (name) => variables[name],
  all: () => variables,
});

async function program(...path: string[]): Promise<string> {
  const file = join(dir, ...path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, '#!/bin/sh\n');
  await chmod(file, 0o755);
  return file;
}

async function found(explicit: string | null, variables: Record<string, string>): Promise<FoundProgram[]> {
  const environment = environmentOf(variables);
  const loginPath = new LoginPath({ clock: systemClock, random: systemRandom, environment });
  const programs: FoundProgram[] = [];
  const search = {
    name: 'agent',
    explicit,
    ownFolders: ['.agent/bin'],
    environment,
    homeDir: dir,
    loginPath,
  };
  for await (const item of findPrograms(search)) programs.push(item);
  return programs;
}

describe('finding a program', () => {
  test('a configured path is taken alone, and a broken one finds nothing else', async () => {
    const onPath = await program('bin', 'agent');
    const other = await program('other', 'agent-2');
    expect(await found(other, { PATH: join(onPath, '..') })).toEqual([{ path: other, found: other }]);
    expect(await found(join(dir, 'missing'), { PATH: join(onPath, '..') })).toEqual([]);
  });

  test('a configured name is looked for on PATH', async () => {
    const file = await program('bin', 'agent-next');
    expect((await found('agent-next', { PATH: join(dir, 'bin') })).map((item) => item.path)).toEqual([file]);
  });

  test('PATH comes before the usual folders, and what may not be run is passed over', async () => {
    await writeFile(join(dir, 'agent'), 'no program');
    const first = await program('bin', 'agent');
    const second = await program('.agent', 'bin', 'agent');
    const third = await program('.nvm', 'versions', 'node', 'v9.1.0', 'bin', 'agent');
    const newer = await program('.nvm', 'versions', 'node', 'v20.1.0', 'bin', 'agent');
    const paths = (await found(null, { PATH: `${dir}:${join(dir, 'bin')}` })).map((item) => item.path);
    expect(paths.slice(0, 2)).toEqual([first, second]);
    expect(paths.slice(2)).toEqual([newer, third]);
  });

  test('a link is followed, so that two names of one program count once', async () => {
    const real = await program('versions', '2.0', 'agent');
    await mkdir(join(dir, 'bin'));
    await symlink(real, join(dir, 'bin', 'agent'));
    const programs = await found(null, { PATH: `${join(dir, 'bin')}:${join(dir, 'versions', '2.0')}` });
    expect(programs).toEqual([{ path: real, found: join(dir, 'bin', 'agent') }]);
  });

  test('the login shell adds its PATH, and its chatter is thrown away', async () => {
    const file = await program('login', 'agent');
    const shell = join(dir, 'shell');
    await writeFile(
      shell,
      `#!/bin/sh\necho "welcome $PATH"\nPATH=${join(dir, 'login')}\neval "$2"\necho bye\n`,
    );
    await chmod(shell, 0o755);
    expect((await found(null, { PATH: '/nowhere', SHELL: shell })).map((item) => item.path)).toEqual([file]);
  });
});

describe('asking the login shell', () => {
  test('a shell that does not answer is given up after five seconds and asked only once', async () => {
    const shell = join(dir, 'shell');
    const asked = join(dir, 'asked');
    await writeFile(shell, `#!/bin/sh\necho x >> ${asked}\nexec sleep 60\n`);
    await chmod(shell, 0o755);
    const clock = new FakeClock();
    const path = new LoginPath({ clock, random: systemRandom, environment: environmentOf({ SHELL: shell }) });
    const answer = path.get();
    await clock.advance(5_000);
    expect(await answer).toBeNull();
    expect(path.get()).toBe(answer);
  });

  test('no shell and a relative shell are no answer', async () => {
    for (const variables of [{}, { SHELL: 'sh' }]) {
      const path = new LoginPath({
        clock: systemClock,
        random: systemRandom,
        environment: environmentOf(variables),
      });
      expect(await path.get()).toBeNull();
    }
  });

  test('only text between two markers counts', () => {
    expect(between('noise m/bin:/usr/binm more', 'm/')).toBeNull();
    expect(between('noise <m>/a:/b<m> tail', '<m>')).toBe('/a:/b');
    expect(between('<m><m>', '<m>')).toBeNull();
  });
});
