import { join } from 'node:path';
import { ConsoleServer } from '../app/console-server.ts';
import { isCommandName, type CommandResult } from '../contract/commands.ts';
import { RuntimeError, rejected } from '../observe/errors.ts';
import { silentLogger } from '../observe/logger.ts';
import { consolePort } from './console-port.ts';
import type { ControlClient } from './client.ts';
import { withRuntime, type CliCommand } from './command.ts';
import { exitCodes } from './output.ts';

export const consoleCommand: CliCommand = {
  help: `agent-runtime console [--console-port N]

  Serves the window of the running Runtime or app as a web page on loopback until interrupted; prints one URL that
  opens it once.`,
  options: { 'console-port': { type: 'string' } },
  run: (context) =>
    withRuntime(context, async (client) => {
      const console_ = await ConsoleServer.listen(
        {
          folder: join(__dirname, 'renderer'),
          port: consolePort(context.parsed.text('console-port')),
          logger: silentLogger,
        },
        {
          run: (name, request) => passedOn(client, name, request),
          subscribe: (listener) => client.onView(listener),
        },
      );
      context.output.document(
        { console: console_.url },
        () => `Open this once in a browser on this machine: ${console_.url}`,
      );
      const why = await Promise.race([
        client.ended.then(() => 'ended' as const),
        new Promise<'interrupt'>((done) => {
          for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
            process.once(signal, () => done('interrupt'));
        }),
      ]);
      await console_.close();
      if (why === 'ended') context.output.message('The Runtime has ended.');
      return exitCodes.done;
    }),
};

async function passedOn(client: ControlClient, name: string, request: unknown): Promise<CommandResult> {
  if (!isCommandName(name)) {
    return { ok: false, error: { code: 'usage', message: 'There is no command of that name.' } };
  }
  try {
    return { ok: true, answer: await client.pass(name, request) };
  } catch (error) {
    const { code, message } =
      error instanceof RuntimeError ? error : rejected('fault', 'Something went wrong.');
    return { ok: false, error: { code, message } };
  }
}
