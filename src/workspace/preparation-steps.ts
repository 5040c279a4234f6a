import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Initialization, RuntimePrepareBegin } from '../protocol/initialization.ts';
import { asError } from '../observe/errors.ts';
import { closed, type CloseResult } from '../ownership/owned.ts';
import type { Environment } from '../platform/environment.ts';
import { checkPlugin, checkSkill } from './capability-package.ts';
import { InstalledPackages } from './installed-packages.ts';
import type { FileWriter, PreparationSteps, PreparedQuery } from './local-workspace.ts';
import { componentsOf } from './names.ts';
import type { PluginServer } from './plugin-servers.ts';
import { runCommand, type Command, type CommandPorts, type RunningTree } from './run-command.ts';
import { Folder, Walk } from './safe-path.ts';
import type { Spool } from './spool.ts';
import { ToolEnvironment } from './tool-environment.ts';
import { WorkspaceError } from './workspace-error.ts';
import type { PreparedCapabilities, PreparedServer, PrepareResult } from './workspace-service.ts';
import { archiveLimits, readArchive } from './zip-archive.ts';

export interface StepsOptions {
  readonly ports: CommandPorts;
  readonly environment: Environment;
  readonly root: string;
  readonly stateDir: string;
  readonly identity: { readonly environmentId: string; readonly sessionId: string };
  /** Variables that the operator of this machine sets under those of a Session; null: none. */
  readonly operatorFile: string | null;
  readonly files: FileWriter;
}

/** Of the reference: half an hour for one program, inside the budget of its transfer. */
const COMMAND_MS = 30 * 60_000;

const completed: PrepareResult = { kind: 'completed' };
const rejected = (why: string): PrepareResult => ({ kind: 'rejected', why });
const failed = (why: string, exitCode: number | null = null): PrepareResult => ({
  ...{ kind: 'failed', exitCode, why },
});
const unknown = (why: string): PrepareResult => ({ kind: 'unknown', settled: true, why });

/** Every step of initialization as this machine does it (runtime-behaviour 4.9). */
export class LocalSteps implements PreparationSteps {
  readonly #options: StepsOptions;
  readonly #tools: ToolEnvironment;
  readonly #installed: InstalledPackages;
  readonly #packages: string;
  #completed: Promise<void> | null = null;
  /** Programs of steps with an unknown outcome that may still run, by transfer. */
  readonly #left = new Map<string, RunningTree>();

  constructor(options: StepsOptions) {
    this.#options = options;
    this.#packages = join(options.stateDir, 'packages');
    this.#tools = new ToolEnvironment({
      folder: options.stateDir,
      packages: this.#packages,
      environment: options.environment,
      operatorFile: options.operatorFile,
    });
    this.#installed = new InstalledPackages(options.stateDir, options.identity);
  }

  async refusal(): Promise<string | null> {
    return (await this.#installed.frozen()) ? 'this Environment was prepared before' : null;
  }

  async run(
    id: string,
    begin: RuntimePrepareBegin,
    body: Spool | null,
    signal: AbortSignal,
  ): Promise<PrepareResult> {
    if (signal.aborted) return unknown('it was given up');
    try {
      switch (begin.action) {
        case 'file':
          return body ? await this.#file(id, begin.file.path, body) : failed('no body');
        case 'skill':
          return await this.#package(id, 'skill', 0, begin.skill, body);
        case 'plugin':
          return await this.#package(id, 'plugin', begin.slot, begin.plugin, body);
        case 'finalize':
          await this.#installed.finalize(begin.sources, id);
          return completed;
        case 'initialize':
          return await this.#initialize(id, begin.initialization, signal);
      }
    } catch (error) {
      // A refusal of ours is made before anything changes; anything else may be after.
      const open = error instanceof WorkspaceError && ['uncertain', 'unclosed'].includes(error.code);
      if (error instanceof WorkspaceError && !open) return failed(error.message);
      return unknown(asError(error).name);
    }
  }

  async settle(id: string): Promise<CloseResult> {
    const tree = this.#left.get(id);
    const result = tree ? await tree.end() : closed;
    if (result.state === 'closed') this.#left.delete(id);
    return result;
  }

  async prepared({ sources, variables }: PreparedQuery): Promise<PreparedCapabilities> {
    const { skills, servers } = await this.#installed.load(sources);
    const known = await this.#tools.read();
    return {
      variables: variables ? await this.#tools.forTools() : {},
      skills,
      servers: servers.map((server) => withValues(server, known)),
    };
  }

  async completed(): Promise<void> {
    this.#completed ??= this.#installed.complete('first').catch((error: unknown) => {
      this.#completed = null;
      throw error;
    });
    await this.#completed;
  }

  async #file(id: string, path: string, body: Spool): Promise<PrepareResult> {
    const outcome = await this.#options.files(id, path.slice('/workspace/'.length), body);
    if (outcome.kind === 'written') return completed;
    if (outcome.kind === 'unknown') return unknown(outcome.why);
    const badPath = ['not_directory', 'is_directory', 'exists', 'invalid', 'unsafe'].includes(outcome.code);
    return badPath ? rejected(outcome.code) : failed(outcome.code);
  }

  async #package(
    id: string,
    kind: 'skill' | 'plugin',
    slot: number,
    metadata: Parameters<typeof checkSkill>[1],
    body: Spool | null,
  ): Promise<PrepareResult> {
    if (!body || body.size > archiveLimits.packedBytes) return failed('the archive is too large');
    const bytes = Buffer.alloc(body.size);
    for (let at = 0; at < bytes.length;) {
      const got = await body.read(bytes.subarray(at), at);
      if (got === 0) return failed('the archive is cut');
      at += got;
    }
    const files = await readArchive(bytes);
    const checked = kind === 'skill' ? await checkSkill(files, metadata) : checkPlugin(files, metadata);
    await this.#installed.install(kind, slot, metadata, checked, body.size, id);
    return completed;
  }

  async #initialize(id: string, step: Initialization, signal: AbortSignal): Promise<PrepareResult> {
    switch (step.action) {
      case 'configure': {
        const written = await this.#tools.write(step.env);
        if (written === 'written') return completed;
        return failed(
          written === 'exists' ? 'it was configured before' : "the operator's variables are no object",
        );
      }
      case 'npm': {
        const prefix = await this.#packageFolder('npm');
        const args = [
          'install',
          '--global',
          '--prefix',
          prefix,
          '--no-audit',
          '--no-fund',
          '--',
          ...step.packages,
        ];
        return this.#command(
          id,
          { program: 'npm', args, cwd: prefix, purpose: 'Preparation (npm packages)' },
          signal,
        );
      }
      case 'python': {
        const target = await this.#packageFolder('python');
        const quiet = ['--disable-pip-version-check', '--no-input'];
        const args = ['-m', 'pip', 'install', ...quiet, '--target', target, '--', ...step.packages];
        const program = this.#options.environment.platform === 'win32' ? 'python' : 'python3';
        return this.#command(
          id,
          { program, args, cwd: target, purpose: 'Preparation (Python packages)' },
          signal,
        );
      }
      case 'setup':
        return this.#setup(id, step.command, step.cwd, signal);
    }
  }

  /** In the folder itself, not in whatever its path leads to when the program starts. */
  async #setup(id: string, command: string, cwd: string, signal: AbortSignal): Promise<PrepareResult> {
    const { environment } = this.#options;
    const program = bash(environment);
    if (program === null) return failed('Git Bash was not found');
    const root = await Folder.openRoot(this.#options.root);
    const walk = new Walk(root);
    try {
      const names = componentsOf(cwd.replace(/^\/workspace\/?/, ''), environment.platform);
      const folder = await walk.to(names);
      const args = ['--noprofile', '--norc', '-c', command];
      const purpose = 'Preparation (setup command)';
      return await this.#command(id, { program, args, cwd: folder.workingPath, purpose }, signal);
    } finally {
      await walk.close();
      await root.close();
    }
  }

  async #command(
    id: string,
    command: Pick<Command, 'program' | 'args' | 'cwd' | 'purpose'>,
    signal: AbortSignal,
  ): Promise<PrepareResult> {
    const { ports, identity } = this.#options;
    const stop = new AbortController();
    const onAbort = (): void => stop.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) stop.abort();
    const timer = ports.clock.after(COMMAND_MS, onAbort, { background: true });
    const env = await this.#tools.forStep();
    const end = await runCommand(ports, { ...command, env, sessionId: identity.sessionId }, stop.signal);
    timer.cancel();
    signal.removeEventListener('abort', onAbort);
    switch (end.kind) {
      case 'exited':
        return end.code === 0 ? completed : failed('it ended with a code', end.code & 0xff || 255);
      case 'missing':
        return failed('its program was not found');
      case 'unknown':
        if (end.left) this.#left.set(id, end.left);
        return { kind: 'unknown', settled: end.left === null, why: end.why };
    }
  }

  async #packageFolder(name: 'npm' | 'python'): Promise<string> {
    const folder = join(this.#packages, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }
}

/** A variable that a server selects comes from the prepared ones and from nowhere else. */
function withValues(server: PluginServer, known: Readonly<Record<string, string>>): PreparedServer {
  const value = (name: string): string => {
    const found = Object.hasOwn(known, name) ? known[name] : undefined;
    if (found === undefined)
      throw new WorkspaceError('invalid', 'a variable of an MCP server is not prepared');
    return found;
  };
  const { name } = server;
  if (server.kind === 'http') {
    const { url, headers, bearerVariable } = server;
    const bearer = bearerVariable === null ? null : value(bearerVariable);
    return { kind: 'http', name, url, headers, bearer };
  }
  const { command, args, cwd, variables } = server;
  const env = Object.fromEntries(variables.map((variable) => [variable, value(variable)]));
  return { kind: 'stdio', name, command, args, cwd, env };
}

/** Bash of the system; on Windows that of Git and no other. */
function bash(environment: Environment): string | null {
  if (environment.platform !== 'win32') return 'bash';
  const programs = environment.get('ProgramFiles');
  return programs === undefined ? null : join(programs, 'Git', 'bin', 'bash.exe');
}
