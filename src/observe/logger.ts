/**
 * Logging as the rest of the code sees it: an event name and a few safe fields, no sentences. Payloads, prompts,
 * headers, URLs with a query and raw frames are never fields. The sink (electron-log behind `log-sink.ts`) masks
 * registered secrets once more.
 */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Logger {
  error(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  debug(event: string, fields?: LogFields): void;
  /** A logger whose every line carries `fields`. */
  with(fields: LogFields): Logger;
}

export const silentLogger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  with: () => silentLogger,
};
