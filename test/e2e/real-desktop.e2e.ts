import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { RealDesktop } from '../support/real-desktop.ts';
import { DesktopBed, pictures } from './app.ts';

test('on a desktop of real programs: an older kind of tray is found and clicked, its menu pauses, a notification opens its prompt', async () => {
  const desktop = await RealDesktop.start();
  const bed = await DesktopBed.open({ env: desktop.env });
  try {
    await mkdir(pictures, { recursive: true });
    // The tray speaks no D-Bus; it is found on the display, so the window may go.
    const icon = await desktop.shown('trayer');
    await expect
      .poll(async () => (await bed.view()).health.some(({ code }) => code === 'no_tray'))
      .toBe(false);
    await bed.closeWindow();
    const opened = bed.app.waitForEvent('window');
    await desktop.click(icon, 1);
    bed.window = await opened;
    await expect(bed.window.getByRole('navigation', { name: 'Main' })).toBeVisible();
    await bed.closeWindow();

    // The menu by a right click; the keyboard goes up from its end to Pause.
    await desktop.click(icon, 3);
    await desktop.shown('agent-runtime');
    await desktop.picture(join(pictures, 'desktop-tray-menu.png'));
    await desktop.press('Up', 'Up', 'Up', 'Up', 'Return');
    await expect.poll(async () => (await bed.view()).runtime.state).toBe('paused');
    await bed.cli('resume');

    // A real notification, and a real click on it.
    await bed.cli('turn', 'start', '--detach', '--harness', 'demo', 'Show me');
    const note = await desktop.shown('dunst');
    await desktop.picture(join(pictures, 'desktop-notification.png'));
    const again = bed.app.waitForEvent('window');
    await desktop.click(note, 2);
    bed.window = await again;
    await expect(bed.window).toHaveURL(/#\/prompt\//);
    await expect(bed.window.getByRole('heading', { name: 'Needs you', exact: true })).toBeVisible();
    expect((await bed.view()).interactions).toHaveLength(1);
    await desktop.picture(join(pictures, 'desktop-prompt.png'));
  } finally {
    await bed.close();
    await desktop.close();
  }
});
