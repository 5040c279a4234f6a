import { mkdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeLogger } from 'electron-log';
import type { Clock, Timer } from '../platform/clock.ts';
import type { LogFields, Logger, LogLevel } from './logger.ts';
import type { Redactor } from './redact.ts';

export const logLimits = { fileBytes: 5 * 1024 * 1024, files: 5, wait: 250, waiting: 1_000 } as const;
const order: readonly LogLevel[] = ['error', 'warn', 'info', 'debug'];

/**
 * Our logger over electron-log's file transport. It decides the shape of a line (time, level, event, fields), masks
 * it, and keeps five files of 5 MiB.
 */
export function createFileLogger(options: {
  folder: string;
  level: LogLevel;
  redactor: Redactor;
  clock: Clock;
  /** Also print lines of this level and above to stderr (headless). */
  stderr: LogLevel | null;
  /** A line could not be written to the file. */
  onUnwritten?: () => void;
}): Logger {
  const { folder, redactor, clock } = options;
  const sink = new FileSink(folder, clock, options.onUnwritten ?? (() => undefined));
  const write = (level: LogLevel, event: string, fields: LogFields): void => {
    if (order.indexOf(level) > order.indexOf(options.level)) return;
    const shown = Object.entries(fields)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([key, value]) => `${key}=${typeof value === 'string' ? JSON.stringify(value) : String(value)}`);
    const line = redactor.redact(
      [new Date(clock.now()).toISOString(), level.toUpperCase().padEnd(5), event, ...shown].join(' '),
    );
    sink.write(line, level === 'error' || level === 'warn');
    if (options.stderr && order.indexOf(level) <= order.indexOf(options.stderr))
      process.stderr.write(`${line}\n`);
  };
  const make = (base: LogFields): Logger => ({
    error: (event, fields) => write('error', event, { ...base, ...fields }),
    warn: (event, fields) => write('warn', event, { ...base, ...fields }),
    info: (event, fields) => write('info', event, { ...base, ...fields }),
    debug: (event, fields) => write('debug', event, { ...base, ...fields }),
    with: (fields) => make({ ...base, ...fields }),
  });
  return make({});
}

/**
 * The file of the log. What writes it is loaded after the first lines, which wait for it: a start is not held up by its
 * own log. A line that tells of trouble does not wait.
 */
class FileSink {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #onUnwritten: () => void;
  #waiting: string[] = [];
  #timer: Timer | null = null;
  #loading = false;
  #log: { info(line: string): void } | null = null;

  constructor(folder: string, clock: Clock, onUnwritten: () => void) {
    this.#folder = folder;
    this.#clock = clock;
    this.#onUnwritten = onUnwritten;
  }

  write(line: string, urgent: boolean): void {
    if (this.#log) return this.#log.info(line);
    this.#waiting.push(line);
    if (this.#waiting.length > logLimits.waiting) this.#waiting.shift();
    if (this.#loading) return;
    if (urgent) void this.#load();
    else this.#timer ??= this.#clock.after(logLimits.wait, () => void this.#load());
  }

  async #load(): Promise<void> {
    this.#loading = true;
    this.#timer?.cancel();
    this.#timer = null;
    try {
      const { default: log } = await import('electron-log/node');
      // For its owner alone: what writes the log would make it for everybody.
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      this.#log = openLog(log, this.#folder, this.#onUnwritten);
      for (const line of this.#waiting.splice(0)) this.#log.info(line);
    } catch {
      // Too many open files, say: the lines stay, and the next one tries again.
      this.#loading = false;
      this.#onUnwritten();
    }
  }
}

function openLog(log: NodeLogger, folder: string, onUnwritten: () => void): { info(line: string): void } {
  const sink = log.create({ logId: `agent-runtime:${folder}` });
  sink.transports.console.level = false;
  // The trouble of every file of this process comes here, and nothing else: the first logger, which is not ours, hears it.
  log.transports.console.writeFn = onUnwritten;
  const { file } = sink.transports;
  // Without a name it looks for a package.json around the working folder, and writes nothing where there is none.
  file.setAppName('agent-runtime');
  file.level = 'silly';
  file.resolvePathFn = () => join(folder, 'runtime.log');
  file.maxSize = logLimits.fileBytes;
  file.format = '{text}';
  file.sync = false;
  file.writeOptions = { flag: 'a', mode: 0o600, encoding: 'utf8' };
  file.archiveLogFn = (old) => void rotate(String(old.path));
  return sink;
}

async function rotate(path: string): Promise<void> {
  await unlink(`${path}.${logLimits.files - 1}`).catch(() => undefined);
  for (let n = logLimits.files - 2; n >= 1; n--)
    await rename(`${path}.${n}`, `${path}.${n + 1}`).catch(() => undefined);
  await rename(path, `${path}.1`).catch(() => undefined);
}
