import { keychainHangs } from '../store/keychain.ts';
import type { ExitCode } from './output.ts';

/**
 * Ends this process. Where a keychain call hangs, an exit would wait for it for ever: then the process ends by a signal,
 * SIGTERM for a good end (which service managers take for one), SIGKILL for any other. The code is lost.
 */
export function endProcess(code: ExitCode): void {
  if (!keychainHangs() || process.platform === 'win32') process.exit(code);
  process.removeAllListeners('SIGTERM');
  process.kill(process.pid, code === 0 ? 'SIGTERM' : 'SIGKILL');
}
