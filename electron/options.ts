import { isAbsolute, resolve } from 'node:path';

/** What the desktop app understands on its command line. Switches of Chromium are passed over. */
export interface DesktopOptions {
  readonly prompt: string | null;
  readonly stateDir: string | undefined;
  readonly workspace: string | null;
  readonly config: string | null;
  /** Start in the tray. */
  readonly hidden: boolean;
}

export function desktopOptions(args: readonly string[], cwd: string): DesktopOptions {
  const value = (name: string): string | null => {
    const joined = args.find((arg) => arg.startsWith(`--${name}=`));
    if (joined !== undefined) return joined.slice(name.length + 3);
    const at = args.indexOf(`--${name}`);
    const next = at >= 0 ? args[at + 1] : undefined;
    return next !== undefined && !next.startsWith('--') ? next : null;
  };
  const path = (name: string): string | null => {
    const given = value(name);
    if (given === null) return null;
    return isAbsolute(given) ? given : resolve(cwd, given);
  };
  return {
    prompt: value('prompt'),
    stateDir: path('state-dir') ?? undefined,
    workspace: path('workspace'),
    config: path('config'),
    hidden: args.includes('--hidden'),
  };
}
