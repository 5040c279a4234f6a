import log from 'electron-log/node';
import { open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../platform/clock.ts';
import type { LogFields, Logger, LogLevel } from './logger.ts';
import type { Redactor } from './redact.ts';

export const logLimits = { fileBytes: 5 * 1024 * 1024, files: 5, tailBytes: 1024 * 1024 } as const;
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
}): Logger {
  const { folder, redactor, clock } = options;
  const sink = log.create({ logId: `agent-runtime:${folder}` });
  sink.transports.console.level = false;
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
  const write = (level: LogLevel, event: string, fields: LogFields): void => {
    if (order.indexOf(level) > order.indexOf(options.level)) return;
    const shown = Object.entries(fields)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([key, value]) => `${key}=${typeof value === 'string' ? JSON.stringify(value) : String(value)}`);
    const line = redactor.redact(
      [new Date(clock.now()).toISOString(), level.toUpperCase().padEnd(5), event, ...shown].join(' '),
    );
    sink.info(line);
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

async function rotate(path: string): Promise<void> {
  await unlink(`${path}.${logLimits.files - 1}`).catch(() => undefined);
  for (let n = logLimits.files - 2; n >= 1; n--)
    await rename(`${path}.${n}`, `${path}.${n + 1}`).catch(() => undefined);
  await rename(path, `${path}.1`).catch(() => undefined);
}

/** The last `lines` of the log, from at most 1 MiB, across a rotation. */
export async function tailLog(folder: string, lines: number): Promise<string[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('runtime.log'));
  const ordered = names.sort((a, b) => a.length - b.length || a.localeCompare(b));
  const out: string[] = [];
  for (const name of ordered) {
    if (out.length >= lines) break;
    const path = join(folder, name);
    const { size } = await stat(path);
    const from = Math.max(0, size - logLimits.tailBytes);
    const handle = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
      const text = buffer.subarray(0, bytesRead).toString('utf8');
      const found = text.split('\n').filter((line) => line !== '');
      if (from > 0) found.shift();
      out.unshift(...found);
    } finally {
      await handle.close();
    }
  }
  return out.slice(-lines);
}
