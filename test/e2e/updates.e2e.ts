import { createHash } from 'node:crypto';
import { access, chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { ConnectProxy } from '../support/connect-proxy.ts';
import { DesktopBed, until } from './app.ts';

test('a newer version is found, fetched and installed on a word, never during a Turn; the app ends with its proof first', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-runtime-update-'));
  const installed = join(folder, 'Agent Runtime-0.1.0.AppImage');
  const started = join(folder, 'started');
  // In place of the new version: a program that says that it was started.
  const next = Buffer.from(`#!/bin/sh\necho new > '${started}'\n`);
  await writeFile(installed, '#!/bin/sh\nexit 1\n');
  await chmod(installed, 0o755);
  const sha512 = createHash('sha512').update(next).digest('base64');
  const name = 'agent-runtime-9.9.9.AppImage';
  const feed = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/latest-linux.yml')
      return void response.end(
        `version: 9.9.9\nfiles:\n  - url: ${name}\n    sha512: ${sha512}\n    size: ${next.length}\npath: ${name}\nsha512: ${sha512}\nreleaseDate: '2026-12-01T00:00:00.000Z'\n`,
      );
    response.statusCode = path === `/${name}` ? 200 : 404;
    response.end(path === `/${name}` ? next : undefined);
  });
  await new Promise<void>((done) => feed.listen(0, '127.0.0.1', done));
  const { port } = feed.address() as AddressInfo;
  const bed = await DesktopBed.open({
    env: { APPIMAGE: installed, XDG_CACHE_HOME: join(folder, 'cache') },
    config: { updates: { feed: `http://127.0.0.1:${port}/` } },
  });
  try {
    const { window } = bed;
    const general = async (): Promise<void> => {
      await window.getByRole('link', { name: 'Settings' }).click();
      await window
        .getByRole('link', { name: 'General' })
        .or(window.getByRole('tab', { name: 'General' }))
        .click();
    };
    await general();
    await expect(window.getByText('Version 9.9.9 is there. Nothing was fetched yet.')).toBeVisible();
    await bed.picture('settings-update');
    await window.getByRole('button', { name: 'Fetch it' }).click();
    await expect(window.getByText(/^Version 9.9.9 is here/)).toBeVisible();

    await window.getByRole('link', { name: /^Home/ }).click();
    await bed.startTurn('Do something');
    await until(async () => (await bed.view()).interactions[0]?.id ?? null, 'a prompt');
    await general();
    await window.getByRole('button', { name: 'Quit and install' }).click();
    await expect(
      window.getByText('A Turn is open. The update is installed when it has ended.'),
    ).toBeVisible();
    expect(await readFile(installed, 'utf8')).toContain('exit 1');
    const [turn] = (await bed.view()).turns;
    await bed.cli('turn', 'cancel', turn?.run_id ?? '');
    await until(async () => ((await bed.view()).turns.length === 0 ? true : null), 'the end of the Turn');

    const { process: app } = bed;
    const gone = new Promise((done) => app.once('exit', done));
    await window.getByRole('button', { name: 'Quit and install' }).click();
    await gone;
    await until(
      () =>
        access(started).then(
          () => true,
          () => null,
        ),
      'the new version',
    );
    const log = await readFile(join(bed.stateDir, 'logs', 'runtime.log'), 'utf8');
    expect(log).toContain('update.installing');
  } finally {
    await bed.close();
    feed.close();
  }
});

test('the feed is asked through the proxy of the settings, with its password', async () => {
  const proxy = await ConnectProxy.start({ auth: 'ann:a:b' });
  const folder = await mkdtemp(join(tmpdir(), 'agent-runtime-update-'));
  const bed = await DesktopBed.open({
    env: { APPIMAGE: join(folder, 'Agent Runtime.AppImage'), XDG_CACHE_HOME: join(folder, 'cache') },
    config: { updates: { feed: 'https://updates.test/agent-runtime/' } },
  });
  try {
    const call = (name: string, request: unknown): Promise<unknown> =>
      bed.window.evaluate(`window.agentRuntime.command('${name}', ${JSON.stringify(request)})`);
    await call('credentials.choose', { choice: 'file' });
    await call('settings.set', { proxy: 'manual', proxy_url: proxy.url, proxy_user: 'ann' });
    await call('proxy.password', { password: 'a:b' });
    await call('update.look', {});
    const basic = `Basic ${Buffer.from('ann:a:b').toString('base64')}`;
    const asked = { target: 'updates.test:443', authorization: basic };
    await expect.poll(() => proxy.asked).toContainEqual(asked);
  } finally {
    await bed.close();
    await proxy.close();
  }
});
