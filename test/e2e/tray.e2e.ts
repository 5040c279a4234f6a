import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { DesktopSession, type TrayIcon } from '../support/desktop-session.ts';
import { DesktopBed, pictures, until } from './app.ts';

let desktop: DesktopSession;
let bed: DesktopBed;

test.beforeEach(async () => {
  desktop = await DesktopSession.start();
  bed = await DesktopBed.open({ env: desktop.env });
});
test.afterEach(async () => {
  await bed.close();
  await desktop.close();
});

const labels = async (): Promise<string[]> => (await desktop.panel.menu()).map(({ label }) => label);

test('the icon says each state by its shape, the tooltip by its words, and the menu holds what waits', async () => {
  const icons = new Map<string, TrayIcon>();
  const keep = async (state: string, tooltip: string): Promise<void> => {
    await expect.poll(async () => (await desktop.panel.icon()).tooltip).toBe(`Agent Runtime: ${tooltip}`);
    const icon = await desktop.panel.icon();
    icons.set(state, icon);
    await mkdir(pictures, { recursive: true });
    await writeFile(join(pictures, `tray-${state}.argb`), icon.pixels);
  };
  await keep('connected', 'connected');
  expect(await labels()).toEqual([
    'local: connected',
    'Open window',
    'Pause: take no new work',
    'Stop after current Turns',
    'Stop now',
    'Quit',
  ]);
  await desktop.panel.choose('Pause');
  await keep('paused', 'paused, takes no new work');
  await desktop.panel.choose('Resume');
  await keep('connected', 'connected');
  await bed.startTurn('Show me');
  await keep('needs-you', '1 prompt needs you');
  expect(await labels()).toContain('Question in local');
  console.log(icons);
});
