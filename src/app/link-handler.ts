import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { Logger } from '../observe/logger.ts';
import { homeFolder, systemEnvironment } from '../platform/environment.ts';
import { DesktopEntry, linkEntry } from './desktop-entry.ts';

/** Another name than that of the package, whose entry a file of the same name would hide. */
const fileName = 'agent-runtime-links.desktop';
/** A desktop that does not answer is left as it is. */
const limitMs = 10_000;

/** What of the system this needs; a test stands in for it. */
export interface LinkHandlerPorts {
  readonly logger: Logger;
  /** The person's folder of applications. */
  readonly folder: string;
  /** Runs xdg-mime; rejects where it is missing or fails. */
  xdgMime(...args: readonly string[]): Promise<string>;
}

/**
 * Hands links of `scheme` on a Linux desktop to `program` where nobody else takes them: an AppImage and an
 * unpacked archive have no package that does. A handler that is there stays, be it the package's or another's.
 */
export async function takeLinks(scheme: string, program: string, ports: LinkHandlerPorts): Promise<void> {
  const mime = `x-scheme-handler/${scheme}`;
  const { logger, folder, xdgMime } = ports;
  try {
    const handler = (await xdgMime('query', 'default', mime)).trim();
    if (handler !== '' && handler !== fileName) return;
    const became = await new DesktopEntry(join(folder, fileName), linkEntry(scheme)).set(true, program);
    if (became === 'done') await xdgMime('default', fileName, mime);
    else logger.info('links.left', { why: became });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    logger.info('links.not_taken', { code });
  }
}

export const linkHandlerPorts = (logger: Logger): LinkHandlerPorts => ({
  logger,
  folder: join(
    systemEnvironment.get('XDG_DATA_HOME') || join(homeFolder(), '.local', 'share'),
    'applications',
  ),
  xdgMime: (...args) =>
    new Promise((resolve, reject) => {
      execFile('xdg-mime', [...args], { timeout: limitMs }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      );
    }),
});
