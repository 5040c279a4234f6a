import { systemEnvironment } from '../platform/environment.ts';
import { stateRoot, statePaths, type StatePaths } from '../store/paths.ts';

/** The same state folder for the desktop app and for the command line. */
export function desktopPaths(stateDir: string | undefined): StatePaths {
  return statePaths(stateRoot(stateDir, systemEnvironment), systemEnvironment);
}
