import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { commandNames } from '../../src/contract/commands.ts';
import { leaksIn } from '../support/canary.ts';
import { DesktopSession } from '../support/desktop-session.ts';
import { EnrolCore, environmentId, sessionId } from '../support/enrol-bed.ts';
import { DesktopBed, until } from './app.ts';

/** Everything a page of ours could be made to try if it were taken over. */
test('a hostile page reaches no file, no network, no process, no other page, and no prompt it was not shown', async () => {
  const bed = await DesktopBed.open({ env: { CANARY_VARIABLE: 'canary-of-the-environment' } });
  try {
    const tried = await bed.window.evaluate(async () => {
      const attempt = async (work: () => unknown): Promise<string> => {
        try {
          const value: unknown = await work();
          return value === undefined || value === null ? 'nothing' : JSON.stringify(value);
        } catch (error) {
          return `refused: ${error instanceof Error ? error.name : 'thrown'}`;
        }
      };
      const page = globalThis as unknown as Record<string, unknown> & {
        agentRuntime: Record<string, (...args: unknown[]) => Promise<unknown>>;
      };
      const command = (name: string, request: unknown): Promise<unknown> | undefined =>
        page.agentRuntime['command']?.(name, request);
      return {
        globals: ['require', 'process', 'module', 'Buffer', 'global'].filter((name) => name in page),
        bridge: Object.keys(page.agentRuntime).sort(),
        frozen: await attempt(() => {
          page.agentRuntime['command'] = () => Promise.resolve('mine');
          return page.agentRuntime['command']?.('view.get', {});
        }),
        network: await attempt(() => fetch('http://127.0.0.1:9/')),
        file: await attempt(() => fetch('file:///etc/passwd').then((answer) => answer.text())),
        outside: await attempt(() => fetch('app://window/../main.cjs').then((answer) => answer.text())),
        script: await attempt(() => new Function('return 1')()),
        opened: await attempt(() => window.open('https://example.com') === null),
        frame: await attempt(() => {
          const frame = document.createElement('iframe');
          frame.src = 'https://example.com';
          document.body.append(frame);
          return frame.contentWindow?.location.href;
        }),
        unknown: await attempt(() => command('credentials.read', {})),
        shape: await attempt(() => command('interaction.answer', { id: 1 })),
        prompt: await attempt(() =>
          command('interaction.answer', {
            id: 'perm_0000000000000000',
            answer: { kind: 'allow', scope: 'once' },
          }),
        ),
        saved: await attempt(() => page.agentRuntime['saveText']?.('../../escaped', 'text')),
      };
    });
    expect(tried.globals).toEqual([]);
    expect(tried.bridge).toEqual(['chooseFolder', 'command', 'onShow', 'onView', 'platform', 'saveText']);
    expect(tried.frozen).not.toBe('"mine"');
    for (const name of ['network', 'file', 'script'] as const) expect(tried[name]).toMatch(/^refused/);
    expect(tried.outside).not.toContain('BrowserWindow');
    expect(tried.opened).toBe('true');
    expect(tried.frame).not.toContain('example.com');
    for (const name of ['unknown', 'shape', 'prompt'] as const) expect(tried[name]).toContain('"ok":false');
    expect(tried.saved).toBe('false');

    // Nothing that the window can ask for, and nothing it is told, holds the environment.
    const view = JSON.stringify(await bed.view());
    const page = await bed.window.content();
    for (const text of [view, page, JSON.stringify(tried)]) expect(text).not.toContain('canary-of-the');

    await bed.window.evaluate(() => {
      window.location.href = 'https://example.com/';
    });
    // The driver would wait for the navigation that does not come; the shell knows where its page is.
    const address = await bed.app.evaluate(({ webContents }) => webContents.getAllWebContents()[0]?.getURL());
    expect(address).toMatch(/^app:\/\/window\//);
  } finally {
    await bed.close();
  }
});

test('a hostile page that asks for all it may ask for gets no credential, no variable, no file, and no say over prompts it was not shown', async () => {
  const desktop = await DesktopSession.start();
  const core = await EnrolCore.start();
  const variable = 'variable-4d1c20b7e95f4c8e9a31';
  const content = 'content-93b06fd1b7a24e0c8d55';
  const bed = await DesktopBed.open({ env: { ...desktop.env, CANARY_VARIABLE: variable } });
  try {
    const home = await realpath(bed.home);
    const folder = join(home, 'site');
    await mkdir(folder);
    const outside = join(home, 'outside.txt');
    await writeFile(outside, content);
    core.authority.offer({ environmentId, sessionId, workspaceDirectory: folder });
    const file = core.issue(environmentId);
    const { executor_token: credential } = JSON.parse(file) as { executor_token: string };
    const key = join(home, 'key.json');
    await writeFile(key, file, { mode: 0o600 });
    const remote = ['--remote', core.gateway.socketUrl, '--environment-id', environmentId];
    const bound = await bed.cli('enroll', ...remote, '--workspace', folder, '--credential-file', key);
    expect(bound.code, bound.stderr).toBe(0);
    // One prompt is open; another was decided before the page asks.
    await bed.cli('turn', 'start', '--detach', '--harness', 'demo', 'Show me');
    const shown = await until(async () => (await bed.view()).interactions[0] ?? null, 'a prompt');
    await bed.cli('answer', shown.id, '--cancel');
    const open = await until(async () => (await bed.view()).interactions[0] ?? null, 'the next prompt');
    expect(open.id).not.toBe(shown.id);

    const reads: [string, unknown][] = commandNames
      .filter((name) => !/^(binding\.remove|runtime\.|interaction\.answer|turn\.cancel)/.test(name))
      .flatMap((name) => [
        [name, {}] as [string, unknown],
        ...[outside, '/proc/self/environ', `../${outside}`].flatMap((path): [string, unknown][] => [
          [name, { id: path, path, run_id: path, name: 'x', binding: path, after: -1 }],
          [name, { run_id: path, after: -1, limit: 2_000 }],
          [name, { id: path }],
          [name, { id: path, path }],
        ]),
      ]);
    reads.push(
      ['turn.read', { run_id: shown.run_id, after: -1, limit: 2_000 }],
      ['logs.tail', { lines: 5_000 }],
      ['enrol.read', { source: { kind: 'credential', text: file }, workspace: outside }],
      ['enrol.read', { source: { kind: 'invitation', text: outside } }],
    );
    const guesses = [
      ...Array.from({ length: 200 }, (_, at) => `perm_${at.toString(16).padStart(16, '0')}`),
      `${open.id.slice(0, -1)}${open.id.endsWith('0') ? '1' : '0'}`,
      ...[shown.id, open.run_id, '', '*', '__proto__'],
    ];
    const got = await bed.window.evaluate(
      async ([requests, ids]) => {
        const { agentRuntime } = globalThis as unknown as {
          agentRuntime: { command(name: string, request: unknown): Promise<unknown> };
        };
        const answers: unknown[] = [];
        for (const [name, request] of requests) answers.push(await agentRuntime.command(name, request));
        const decided: unknown[] = [];
        for (const id of ids) {
          for (const answer of [{ kind: 'allow', scope: 'once' }, { kind: 'deny' }])
            decided.push(await agentRuntime.command('interaction.answer', { id, answer }));
        }
        return { answers: JSON.stringify(answers), decided: JSON.stringify(decided) };
      },
      [reads, guesses] as const,
    );
    expect(got.answers.length).toBeGreaterThan(10_000);
    expect(leaksIn('answers', Buffer.from(got.answers), [credential, variable, content])).toEqual([]);
    expect(got.decided).not.toContain('"ok":true');
    expect((await bed.view()).interactions.map(({ id }) => id)).toEqual([open.id]);
  } finally {
    await bed.close();
    await core.close();
    await desktop.close();
  }
});

test('a link from outside fills the enrol screen and asks nobody; the grant is in no file and no page', async () => {
  const bed = await DesktopBed.open();
  try {
    const grant = 'canary-grant-0123456789abcdef.signature';
    const link = `agent-runtime://enroll?endpoint=${encodeURIComponent('http://127.0.0.1:9/api/v1')}&grant=${grant}`;
    execFileSync(bed.process.spawnfile, ['--no-sandbox', `--state-dir=${bed.stateDir}`, link], {
      stdio: 'ignore',
    });
    await until(async () => ((await bed.view()).invited === null ? null : true), 'the invitation');
    await expect(bed.window.getByText('A link brought an invitation of 127.0.0.1:9')).toBeVisible();
    expect(await bed.window.content()).not.toContain('canary-grant');
    expect(JSON.stringify(await bed.view())).not.toContain('canary-grant');
    for (const entry of await readdir(bed.stateDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      expect(await readFile(path, 'latin1').catch(() => ''), path).not.toContain('canary-grant');
    }
    await bed.window.getByRole('button', { name: 'Ignore it' }).click();
    await until(async () => ((await bed.view()).invited === null ? true : null), 'it to be forgotten');
  } finally {
    await bed.close();
  }
});

test('the program cannot be started as plain Node, nor take code by NODE_OPTIONS', async () => {
  const bed = await DesktopBed.open();
  const program = bed.process.spawnfile;
  await bed.close();
  const seen = (env: Record<string, string>, ...args: string[]): string => {
    const run = spawnSync(program, args, {
      env: { ...process.env, HOME: bed.home, ...env },
      encoding: 'utf8',
      timeout: 10_000,
    });
    return `${run.stdout}${run.stderr}`;
  };
  const code = "console.log('code-' + 'ran')";
  expect(seen({ ELECTRON_RUN_AS_NODE: '1' }, '-e', code)).not.toContain('code-ran');
  const required = join(bed.home, 'required.cjs');
  await mkdir(bed.home, { recursive: true });
  await writeFile(required, code);
  const state = `--state-dir=${join(bed.home, 'fuses')}`;
  expect(seen({ NODE_OPTIONS: `--require ${required}` }, '--no-sandbox', '--hidden', state)).not.toContain(
    'code-ran',
  );
  await rm(bed.home, { recursive: true, force: true });
});
