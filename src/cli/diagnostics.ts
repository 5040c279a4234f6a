import { open, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { loadConfig } from '../app/config.ts';
import { collectDiagnostics } from '../app/diagnostics.ts';
import { doctorAlone } from '../app/doctor-alone.ts';
import type { CommandAnswer } from '../contract/commands.ts';
import type { Diagnostics } from '../contract/diagnostics.ts';
import { RuntimeError, fault, rejected } from '../observe/errors.ts';
import { silentLogger } from '../observe/logger.ts';
import { Redactor } from '../observe/redact.ts';
import { systemClock } from '../platform/clock.ts';
import { codeOf } from '../store/atomic-file.ts';
import { withRuntime, type CliCommand, type CommandContext } from './command.ts';
import { exitCodes } from './output.ts';

export const diagnosticsCommand: CliCommand = {
  help: `agent-runtime diagnostics FILE [--json]

Writes one JSON file that only you can read: versions, states and reasons, checks, counts, the last log lines. It holds
no secret, no prompt and no output; look into it before you hand it on. An existing FILE is never overwritten. A
Runtime need not run.`,
  words: 1,
  options: {},
  run: async (context) => {
    const { parsed, output } = context;
    const [file, ...more] = parsed.positionals;
    if (file === undefined || more.length > 0)
      throw rejected('usage', 'Name one file: agent-runtime diagnostics FILE.');
    const path = resolve(file);
    const bundle = await withRuntime(context, (client) => client.call('diagnostics.collect', {})).catch(
      (error: unknown) => {
        if (!(error instanceof RuntimeError) || error.code !== 'not_running') throw error;
        return collectAlone(context);
      },
    );
    const text = `${JSON.stringify(bundle, null, 2)}\n`;
    await writeNew(path, text);
    const bytes = Buffer.byteLength(text);
    output.document(
      { file: path, bytes },
      () => `Wrote ${path} (${bytes} bytes). Look into it before you hand it on.`,
    );
    return exitCodes.done;
  },
};

async function collectAlone({ paths }: CommandContext): Promise<Diagnostics> {
  const checks = await doctorAlone(paths, await loadConfig(paths.config, false), silentLogger).catch(
    (error: unknown): CommandAnswer<'doctor.run'>['checks'] => [
      {
        name: 'Checks',
        ok: false,
        text: error instanceof RuntimeError ? error.message : 'They could not be made.',
        next: null,
      },
    ],
  );
  return collectDiagnostics({
    now: systemClock.now(),
    version: AGENT_RUNTIME_VERSION,
    paths,
    redactor: new Redactor(),
    view: null,
    checks,
  });
}

/** @throws RuntimeError `conflict` when there is something under this name, `storage` when it cannot be written. */
async function writeNew(path: string, text: string): Promise<void> {
  const failed = (error: unknown): never => {
    if (codeOf(error) === 'EEXIST')
      throw rejected('conflict', `${path} is there already and was left as it is. Name another file.`);
    throw fault(
      'storage',
      `${path} could not be written. Check the folder and that the disk has room.`,
      error,
    );
  };
  const handle = await open(path, 'wx', 0o600).catch(failed);
  try {
    await handle.writeFile(text, 'utf8');
    await handle.sync();
    await handle.close();
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(path).catch(() => undefined);
    failed(error);
  }
}
