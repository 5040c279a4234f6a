import { homedir } from 'node:os';

/** What the process was started with. The only reader of `process.env` below the entry points. */
export interface Environment {
  readonly platform: NodeJS.Platform;
  get(name: string): string | undefined;
  /** A copy, for child processes that need it whole. */
  all(): Readonly<Record<string, string>>;
}

export const systemEnvironment: Environment = {
  platform: process.platform,
  get: (name) => process.env[name],
  all: () =>
    Object.fromEntries(
      Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
};

/** The home folder of this user. */
export const homeFolder = (): string => homedir();
