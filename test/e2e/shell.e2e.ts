import { readFile } from 'node:fs/promises';
import { expect, test } from '@playwright/test';
import { DesktopBed } from './app.ts';

let bed: DesktopBed;
test.beforeEach(async () => {
  bed = await DesktopBed.open();
});
test.afterEach(() => bed.close());

test('the window runs with the preferences that the table of docs/security.md names', async () => {
  const preferences = await bed.app.evaluate(({ webContents }) => {
    const [contents] = webContents.getAllWebContents();
    // Not in the published types, but there.
    return (
      contents as unknown as { getLastWebPreferences(): Record<string, unknown> }
    ).getLastWebPreferences();
  });
  expect(preferences).toMatchObject({
    nodeIntegration: false,
    contextIsolation: true,
    sandbox: true,
    webSecurity: true,
    webviewTag: false,
  });
  for (const name of [
    'allowRunningInsecureContent',
    'experimentalFeatures',
    'nodeIntegrationInSubFrames',
    'nodeIntegrationInWorker',
  ])
    expect(preferences[name] ?? false, name).toBe(false);
  expect(preferences['enableBlinkFeatures'] ?? '').toBe('');
});

test('no permission is granted, no web view comes to life, and no second window opens', async () => {
  const tried = await bed.window.evaluate(async () => {
    const states: string[] = [];
    for (const name of ['geolocation', 'notifications', 'camera', 'microphone', 'clipboard-read', 'midi']) {
      const { state } = await navigator.permissions.query({ name: name as PermissionName });
      states.push(`${name} ${state}`);
    }
    const asked = await Promise.all([
      new Promise((done) =>
        navigator.geolocation.getCurrentPosition(
          () => done('granted'),
          () => done('refused'),
        ),
      ),
      Notification.requestPermission(),
      navigator.mediaDevices.getUserMedia({ audio: true }).then(
        () => 'granted',
        () => 'refused',
      ),
    ]);
    const view = document.createElement('webview');
    view.setAttribute('src', 'https://example.com/');
    view.setAttribute('allowpopups', '');
    document.body.append(view);
    return { states, asked, alive: 'loadURL' in view, opened: window.open('https://example.com/') };
  });
  for (const state of tried.states) expect(state).toMatch(/ denied$/);
  expect(tried.asked).not.toContain('granted');
  expect({ alive: tried.alive, opened: tried.opened }).toEqual({ alive: false, opened: null });
  expect(await bed.app.evaluate(({ webContents }) => webContents.getAllWebContents().length)).toBe(1);
});

test('a frame that is not the main frame of our own page may ask nothing, although it has the bridge', async () => {
  const answers = await bed.app.evaluate(async ({ app, BrowserWindow, webContents }) => {
    const ask = "window.agentRuntime.command('view.get', {}).then(JSON.stringify)";
    const [ours] = webContents.getAllWebContents();
    const window = new BrowserWindow({
      show: false,
      webPreferences: {
        preload: `${app.getAppPath()}/dist/preload.cjs`,
        sandbox: true,
        contextIsolation: true,
      },
    });
    await window.loadURL('about:blank');
    const foreign: unknown = await window.webContents.executeJavaScript(ask);
    const own: unknown = await ours?.executeJavaScript(ask);
    window.destroy();
    return { foreign: String(foreign), own: String(own) };
  });
  expect(answers.own).toContain('"ok":true');
  expect(answers.foreign).toContain('This page may not ask that');
  expect((await bed.cli('logs')).stdout).toContain('ipc.refused');
});

test('the fuses of the package are those of the configuration', async () => {
  const bytes = await readFile(bed.process.spawnfile);
  // The wire of @electron/fuses: a sentinel, a version, a count, then one digit a fuse.
  const at = bytes.indexOf('dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX');
  const count = bytes[at + 33] ?? 0;
  const digits = bytes.toString('latin1', at + 34, at + 34 + count);
  const [runAsNode, , nodeOptions] = digits;
  expect({ runAsNode, nodeOptions, asarOnly: digits[5] }).toEqual({
    runAsNode: '0',
    nodeOptions: '0',
    asarOnly: '1',
  });
});
