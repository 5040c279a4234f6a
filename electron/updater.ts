import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { app } from 'electron';
import type { Updater } from '../src/app/updates.ts';
import type { ProxyChoice } from '../src/app/network-settings.ts';
import { proxyConfig, proxyLogin } from './updater-proxy.ts';

/**
 * The updater of an installed app, or null: nothing is packaged, or neither the configuration nor the package names a
 * feed. Loaded then alone: it is most of what it weighs. It fetches nothing by itself and installs nothing on quit. It
 * takes the proxy of the settings; its TLS is Chromium's, which trusts the authorities of the system alone.
 */
export async function feedUpdater(
  feed: string | null,
  ports: { readonly proxy: () => Promise<ProxyChoice>; readonly leave: () => Promise<void> },
): Promise<Updater | null> {
  if (!app.isPackaged) return null;
  if (feed === null && !existsSync(join(process.resourcesPath, 'app-update.yml'))) return null;
  const { autoUpdater } = await import('electron-updater');
  autoUpdater.logger = null;
  autoUpdater.autoDownload = false;
  autoUpdater.autoInstallOnAppQuit = false;
  autoUpdater.autoRunAppAfterInstall = true;
  if (feed !== null) {
    // A package without a feed of its own has no such file, and a download asks it for the name of its folder.
    const named = join(app.getPath('userData'), 'app-update.yml');
    const lines = [
      'provider: generic',
      `url: ${JSON.stringify(feed)}`,
      'updaterCacheDirName: agent-runtime-updater',
    ];
    await writeFile(named, `${lines.join('\n')}\n`);
    autoUpdater.updateConfigPath = named;
  }
  if (!autoUpdater.isUpdaterActive()) return null;
  // A proxy that does not take the password is not asked for ever.
  let login: ReturnType<typeof proxyLogin> = null;
  autoUpdater.on('login', (asked, answer) => {
    const given = asked.isProxy ? login : null;
    login = null;
    if (given) answer(given.user, given.password);
    else answer('', '');
  });
  const takeProxy = async (): Promise<void> => {
    const proxy = await ports.proxy();
    login = proxyLogin(proxy);
    await autoUpdater.netSession.setProxy(proxyConfig(proxy));
  };
  return {
    async look() {
      await takeProxy();
      const found = await autoUpdater.checkForUpdates();
      return found?.isUpdateAvailable ? found.updateInfo.version : null;
    },
    async download(onPercent) {
      const heard = (progress: { readonly percent: number }): void => onPercent(progress.percent);
      autoUpdater.on('download-progress', heard);
      try {
        await takeProxy();
        await autoUpdater.downloadUpdate();
      } finally {
        autoUpdater.off('download-progress', heard);
      }
    },
    install() {
      // First everything ends with its proof; then the program is replaced.
      void ports.leave().then(() => autoUpdater.quitAndInstall(true, true));
    },
  };
}
