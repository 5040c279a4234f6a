import { isAbsolute, resolve } from 'node:path';

/** What the desktop app understands on its command line. Switches of Chromium are passed over. */
export interface DesktopOptions {
  readonly prompt: string | null;
  readonly stateDir: string | undefined;
  readonly workspace: string | null;
  readonly config: string | null;
  /** A link of ours that the system handed over. */
  readonly link: string | null;
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
    link: linkIn(args),
    hidden: args.includes('--hidden'),
  };
}

/** Scheme of our links. A link only fills a screen; what it holds is read when a person says so. */
export const linkScheme = 'agent-runtime';

/** The first link of ours among arguments; null where there is none or it is longer than any of ours. */
export function linkIn(args: readonly unknown[]): string | null {
  const found = args.find((arg) => typeof arg === 'string' && arg.startsWith(`${linkScheme}://`));
  return typeof found === 'string' && found.length <= 16_384 ? found : null;
}
