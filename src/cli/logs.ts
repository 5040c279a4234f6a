import { watch } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { rejected } from '../observe/errors.ts';
import { tailLog } from '../observe/tail-log.ts';
import type { CliCommand } from './command.ts';
import { exitCodes } from './output.ts';

export const logsCommand: CliCommand = {
  help: 'agent-runtime logs [-n LINES] [--follow]\n\nReads the log files; a Runtime need not run.',
  options: { lines: { type: 'string', short: 'n', default: '100' }, follow: { type: 'boolean', short: 'f' } },
  run: async (context) => {
    const { parsed, paths, output } = context;
    const lines = Number(parsed.text('lines'));
    if (!Number.isInteger(lines) || lines < 1 || lines > 5_000)
      throw rejected('usage', '-n takes 1 to 5000.');
    for (const line of await tailLog(paths.logs, lines)) output.line({ line }, `${line}\n`);
    if (parsed.flag('follow'))
      await follow(join(paths.logs, 'runtime.log'), (line) => output.line({ line }, `${line}\n`));
    return exitCodes.done;
  },
};

/** Prints what is added until interrupted; starts over when the file was rotated. */
async function follow(path: string, print: (line: string) => void): Promise<void> {
  let at = await sizeOf(path);
  let rest = '';
  let reading = Promise.resolve();
  const read = async (): Promise<void> => {
    const size = await sizeOf(path);
    if (size < at) at = 0;
    if (size === at) return;
    const handle = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - at), 0, size - at, at);
      at += bytesRead;
      const parts = (rest + buffer.subarray(0, bytesRead).toString('utf8')).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) print(line);
    } finally {
      await handle.close();
    }
  };
  await new Promise<void>((resolve) => {
    const watcher = watch(path, () => (reading = reading.then(read).catch(() => undefined)));
    process.once('SIGINT', () => {
      watcher.close();
      resolve();
    });
  });
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );
