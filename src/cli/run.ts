import { join, resolve } from 'node:path';
import type { BindingTarget } from '../app/binding.ts';
import { readBootstrapFile } from '../app/bootstrap-file.ts';
import { compose } from '../app/compose.ts';
import { loadConfig } from '../app/config.ts';
import { enrolledBindings } from '../app/enrolled-binding.ts';
import { existingFolder, localWorkspace } from '../app/workspace-folder.ts';
import type { Daemon } from '../app/daemon.ts';
import { rejected } from '../observe/errors.ts';
import { Redactor } from '../observe/redact.ts';
import { isCanonicalUuid } from '../protocol/ids.ts';
import type { Parsed } from './arguments.ts';
import { consolePort } from './console-port.ts';
import { endProcess } from './end-process.ts';
import type { CliCommand, CommandContext } from './command.ts';
import { exitCodes, type ExitCode } from './output.ts';
import { untilSignal } from '../platform/signals.ts';

export const runCommand: CliCommand = {
  help: `agent-runtime run [options]

  --bootstrap-file FILE      {"version","core_url","device_id","credential"}; stored nowhere
  --environment-id ID --session-id ID --workspace DIR
                             the binding, all or none; none: Environment type none, no folder
  --binding NAME             an enrolled binding; may repeat
  --local                    the local Core; --workspace DIR is its folder
                             none of these: all enrolled bindings, or the local Core where there is none
  --config FILE              instead of config.json in the state folder
  --prompt TEXT              start this Turn with the local Core at once
  --console [--console-port N]  also serve the window as a web page on loopback; prints one URL

Exits with 3 when Core permanently rejected all that it serves, with 4 when cleanup was not confirmed.`,
  options: {
    'bootstrap-file': { type: 'string' },
    'environment-id': { type: 'string' },
    'session-id': { type: 'string' },
    workspace: { type: 'string' },
    local: { type: 'boolean' },
    binding: { type: 'string', multiple: true },
    config: { type: 'string' },
    prompt: { type: 'string' },
    console: { type: 'boolean' },
    'console-port': { type: 'string' },
  },
  run: async (context) => {
    const { parsed, paths, output } = context;
    const consolePort = portOf(parsed);
    const redactor = new Redactor();
    const target = await bootstrapTarget(parsed, redactor);
    const config = await loadConfig(
      parsed.text('config') ?? paths.config,
      parsed.text('config') !== undefined,
    );
    const names = parsed.texts('binding');
    const chosen = target !== null || names.length > 0 || parsed.flag('local');
    const enrolled = chosen && names.length === 0 ? undefined : await enrolledBindings(paths, names);
    const named = parsed.text('bootstrap-file') === undefined ? parsed.text('workspace') : undefined;
    // A folder or a prompt is for the local Core, which then serves beside the rest.
    const forLocal = target === null && (named !== undefined || parsed.text('prompt') !== undefined);
    const useLocal = parsed.flag('local') || forLocal || (!chosen && enrolled?.receipts.length === 0);
    const workspace = useLocal
      ? await localWorkspace(named === undefined ? null : resolve(named), paths)
      : null;
    const interrupted = untilSignal('SIGINT', 'SIGTERM', 'SIGHUP');
    const { daemon, logger } = await compose({
      paths,
      version: AGENT_RUNTIME_VERSION,
      config,
      targets: target ? [target] : [],
      ...(enrolled ? { enrolled } : {}),
      localWorkspace: workspace,
      logLevel: parsed.logLevel,
      stderr: output.json ? null : 'warn',
      redactor,
    });
    const console_ = parsed.flag('console')
      ? await (
          await import('../app/console-server.ts')
        ).ConsoleServer.listen(
          { folder: join(__dirname, 'renderer'), port: consolePort, logger },
          {
            run: (name, request) => daemon.run(name, request),
            subscribe: (listener) => daemon.publisher.subscribe(listener),
          },
        )
      : null;
    if (console_)
      output.document(
        { console: console_.url },
        () => `Open this once in a browser on this machine: ${console_.url}`,
      );
    const prompt = parsed.text('prompt');
    if (prompt !== undefined) {
      const { InProcessFrontEnd } = await import('../app/in-process.ts');
      const begun = await new InProcessFrontEnd(daemon).call('turn.start', { prompt });
      output.message(`Run ${begun.run_id}`);
    }
    output.message(`Serving. Stop with Ctrl C. State: ${paths.root}`);
    return serve(daemon, output, interrupted, async () => console_?.close());
  },
};

/** Until interrupted, or until everything that is served was permanently rejected. */
async function serve(
  daemon: Daemon,
  output: CommandContext['output'],
  interrupted: Promise<void>,
  before: () => Promise<void>,
): Promise<ExitCode> {
  const why = await new Promise<'interrupt' | 'rejected'>((done) => {
    void interrupted.then(() => done('interrupt'));
    const told = new Map<string, string>();
    daemon.publisher.subscribe((view) => {
      for (const { name, connection } of view.bindings) {
        const line =
          connection.reason === null ? connection.state : `${connection.state}: ${connection.reason}`;
        const well =
          connection.state === 'serving' ||
          connection.state === 'bootstrapping' ||
          connection.state === 'dialing';
        if (told.get(name) === line || (well && !told.has(name))) continue;
        // Each way down and each way back up once; what goes on trying by itself does not repeat itself.
        if (connection.state === 'bootstrapping' || connection.state === 'dialing') continue;
        told.set(name, line);
        output.message(`${name}: ${line}`);
      }
      const parked =
        view.bindings.length > 0 && view.bindings.every(({ connection }) => connection.state === 'parked');
      if (parked && view.runtime.state !== 'starting') done('rejected');
    });
  });
  if (why === 'rejected') {
    for (const bound of daemon.bindings.values()) {
      const { reason } = bound.view([]).connection;
      output.message(`${bound.target.name}: ${reason ?? 'permanently rejected'}`);
    }
  } else output.message('Stopping. Open Turns are ended; press Ctrl C again to leave without proof.');
  await before();
  const ended = daemon.shutdown().then(() => 'ended' as const);
  const forced = new Promise<'forced'>((done) => {
    process.once('SIGINT', () => done('forced'));
    process.once('SIGTERM', () => done('forced'));
  });
  const blocked = setInterval(() => {
    for (const item of daemon.projection.cleanup)
      output.message(`Waiting for: ${item.owner}: ${item.reason}`);
  }, 5_000);
  const how = await Promise.race([ended, forced]);
  clearInterval(blocked);
  if (how === 'forced') {
    output.message('Left without proof. The next start looks for what is still running.');
    endProcess(exitCodes.unconfirmed);
  }
  return why === 'rejected' ? exitCodes.rejected : exitCodes.done;
}

async function bootstrapTarget(parsed: Parsed, redactor: Redactor): Promise<BindingTarget | null> {
  const path = parsed.text('bootstrap-file');
  const environmentId = parsed.text('environment-id');
  const sessionId = parsed.text('session-id');
  if (path === undefined) {
    if (environmentId !== undefined || sessionId !== undefined) {
      throw rejected('usage', '--environment-id and --session-id go with --bootstrap-file.');
    }
    return null;
  }
  const folder = parsed.text('workspace');
  const given = [environmentId, sessionId, folder].filter((value) => value !== undefined).length;
  const whole = given === 3 || (given === 0 && !parsed.flag('local'));
  if (!whole && !(parsed.flag('local') && environmentId === undefined && sessionId === undefined)) {
    throw rejected('usage', 'Give --environment-id, --session-id and --workspace together, or none of them.');
  }
  const file = await readBootstrapFile(path);
  redactor.register(file.credential);
  return {
    name: environmentId ?? file.device_id,
    local: false,
    coreUrl: file.core_url,
    deviceId: file.device_id,
    expectedUrl: null,
    workspace:
      environmentId !== undefined && sessionId !== undefined && folder !== undefined
        ? await binding(environmentId, sessionId, folder)
        : null,
    secret: () => Promise.resolve({ kind: 'ok', secret: file.credential }),
  };
}

async function binding(
  environmentId: string,
  sessionId: string,
  folder: string,
): Promise<NonNullable<BindingTarget['workspace']>> {
  if (!isCanonicalUuid(environmentId) || !isCanonicalUuid(sessionId)) {
    throw rejected('usage', '--environment-id and --session-id are canonical UUIDs.');
  }
  const recordedDirectory = resolve(folder);
  return { environmentId, sessionId, workspace: await existingFolder(recordedDirectory), recordedDirectory };
}

function portOf(parsed: Parsed): number {
  const text = parsed.text('console-port');
  if (text === undefined) return 0;
  if (!parsed.flag('console')) throw rejected('usage', '--console-port goes with --console.');
  return consolePort(text);
}
