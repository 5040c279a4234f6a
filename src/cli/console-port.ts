import { rejected } from '../observe/errors.ts';

/** @throws RuntimeError `usage` for what is no port. Left out: a free one. */
export function consolePort(text: string | undefined): number {
  if (text === undefined) return 0;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw rejected('usage', '--console-port takes 1 to 65535.');
  return port;
}
