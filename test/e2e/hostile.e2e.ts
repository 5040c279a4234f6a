import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
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
      env: { ...process.env, ...env },
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
