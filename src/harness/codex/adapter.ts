import { join } from 'node:path';

import { RuntimeError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ProcessLedger } from '../../ownership/process-ledger.ts';
import { systemProcessTable } from '../../platform/process-table.ts';
import { declareCapabilities } from '../../protocol/capabilities.ts';
import type { HarnessAdapter, PrepareOutcome, PrepareRequest, Probe } from '../adapter.ts';
import { failed, giveUp } from '../failed-preparation.ts';
import type { LocatedProgram, ProgramPorts, ProgramSearchResult } from '../process/locate-program.ts';
import { startProcess, type ProcessPorts } from '../process/spawn.ts';
import type { LaunchPlan } from './configuration.ts';
import { openConversation, SIGNED_OUT } from './conversation.ts';
import { CodexExecutor } from './executor.ts';
import { commandProcesses } from './leftovers.ts';
import { greet, inspectCodex } from './probe.ts';
import { codexEnvironment, isOldEnoughToRefuse, locateCodex, OLDEST, ProgramMemory } from './program.ts';
import { conversationsOf, recalled, remember } from './session-record.ts';

/** Each of these is proven against the real program by the tests under `test/harness`. */
export const codexCapabilities = declareCapabilities([
  'streaming',
  'permissions',
  'usage',
  'resume',
  'native_session_recovery',
  'steering',
  'durable_input_receipts',
  'durable_turns',
  'preparation',
  'message_items',
  'tool_observations',
  'execution_controls',
  'web_search_control',
  'text_verbosity',
  'structured_output',
  'tool_search',
  'environment_none',
  'local_environment',
  'message_images',
  'function_tools',
  'function_result_images',
  'mcp_http_tools',
  'mcp_http_required',
  'mcp_http_bearer_auth',
  'subagent_control',
  'subagent_observations',
]);

export interface CodexPorts extends ProcessPorts, ProgramPorts {
  readonly logger: Logger;
  readonly ledger: ProcessLedger;
  /** A private folder of the daemon, outside every workspace. */
  readonly stateDir: string;
  readonly memory?: ProgramMemory;
}

export interface CodexSettings {
  readonly kind: string;
  /** A path, or a name to look for instead of `codex`. */
  readonly command?: string | undefined;
  /** Added after `app-server`. */
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

const GREET_LIMIT_MS = 30_000;

const OUTDATED = `This Codex is too old for this app, which needs ${OLDEST.join('.')} or newer. Update Codex.`;
const CANCELLED = 'The preparation was cancelled.';

/** Codex on this machine, driven over its app server. The program is the person's, and so is its sign-in. */
export class CodexAdapter implements HarnessAdapter {
  readonly name = 'Codex';
  readonly kind: string;
  readonly #ports: CodexPorts;
  readonly #settings: CodexSettings;
  readonly #memory: ProgramMemory;

  constructor(ports: CodexPorts, settings: CodexSettings) {
    this.kind = settings.kind;
    this.#ports = ports;
    this.#settings = settings;
    this.#memory = ports.memory ?? new ProgramMemory();
  }

  async probe(): Promise<Probe> {
    const env = await this.#environment([]);
    const located = await this.#locate(env);
    if (located.kind === 'missing') {
      const where = this.#settings.command ? ' at the configured place' : '';
      return unavailable(
        null,
        `Codex was not found${where}. Install it, or name its program in the configuration.`,
        false,
      );
    }
    if (located.kind === 'silent')
      return unavailable(null, 'A Codex is there but does not answer. Run "codex --version" in a terminal.');
    return this.#judge(located.program, env);
  }

  async prepare(request: PrepareRequest, signal: AbortSignal): Promise<PrepareOutcome> {
    const { planLaunch } = await import('./configuration.ts');
    const planned = planLaunch(request);
    if (planned.kind === 'refused') return failed(planned.message);
    const { plan } = planned;
    try {
      const continued = await this.#continued(plan, request.stateDir);
      if ('problem' in continued) return failed(continued.problem);
      const env = await this.#environment([]);
      const located = await this.#locate(env);
      if (located.kind !== 'found') return failed('Codex was not found. Install it and try again.');
      // It may have been replaced, or read other settings, since the last look.
      const { program } = located;
      const looked = this.#memory.referred.has(this.#place(program));
      const probe = looked ? null : await this.#judge(program, env);
      if (!this.#memory.referred.has(this.#place(program))) return failed(probe?.reason ?? OUTDATED);
      if (signal.aborted) return failed(CANCELLED);
      return await this.#launch(program, plan, request, continued.resume, signal);
    } catch (error) {
      return failed(error instanceof RuntimeError ? error.message : 'Codex could not be started.');
    }
  }

  /** Which conversation to continue, or why that cannot be done honestly. */
  async #continued(
    plan: LaunchPlan,
    stateDir: string,
  ): Promise<{ readonly resume: string | null } | { readonly problem: string }> {
    const resume = plan.recover ? only(await conversationsOf(stateDir)) : plan.resume;
    if (plan.recover && resume === null)
      return {
        problem: 'The earlier Codex conversation of this Session is not known, so it cannot be continued.',
      };
    if (resume === null) return { resume };
    const functions = await recalled(stateDir, resume);
    if ((functions ?? '') !== plan.functionsMark)
      return {
        problem:
          'The functions of this Agent have changed, and Codex cannot change those of a conversation. Begin a new Session.',
      };
    return { resume };
  }

  async #judge(program: LocatedProgram, env: Readonly<Record<string, string>>): Promise<Probe> {
    const known = this.#memory.judged.get(program.identity);
    if (known === 'too_old' || isOldEnoughToRefuse(program.version)) {
      this.#memory.judged.set(program.identity, 'too_old');
      return unavailable(program.version, OUTDATED);
    }
    const seen = await inspectCodex(this.#ports, program, {
      env,
      args: this.#settings.args ?? [],
      folder: join(this.#ports.stateDir, 'probe'),
      methods: known === undefined,
    }).catch(() => ({ kind: 'failed' as const }));
    if (seen.kind === 'failed')
      return unavailable(
        program.version,
        'Codex could not be started. Run "codex" in a terminal and look what it says.',
      );
    this.#memory.judged.set(program.identity, seen.kind);
    if (seen.kind === 'too_old') return unavailable(program.version, OUTDATED);
    this.#memory.referred.set(this.#place(program), seen.referred);
    if (!seen.signedIn) return unavailable(program.version, SIGNED_OUT);
    return { available: true, version: program.version, reason: null, capabilities: codexCapabilities };
  }

  async #launch(
    program: LocatedProgram,
    plan: LaunchPlan,
    request: PrepareRequest,
    resume: string | null,
    signal: AbortSignal,
  ): Promise<PrepareOutcome> {
    const cwd = request.workspace ?? request.stateDir;
    const referred = this.#memory.referred.get(this.#place(program)) ?? [];
    const native = await startProcess(this.#ports, {
      command: program.path,
      args: ['app-server', ...(this.#settings.args ?? [])],
      cwd,
      env: { ...(await this.#environment(referred)), ...plan.references },
      purpose: 'Codex',
      sessionId: request.sessionId,
    });
    const { random, table = systemProcessTable } = this.#ports;
    const executor = new CodexExecutor(this.#ports, native, {
      plan,
      workspace: request.workspace,
      observeMessages: request.configuration.observe_messages === true,
      observeTools: request.configuration.observe_tool_observations === true,
      observeSubagents: request.configuration.observe_subagent_identities === true,
      commands: commandProcesses(table, native.owner),
      remember: (threadId) => remember(random, request.stateDir, threadId, plan.functionsMark),
    });
    const place = { cwd, owner: native.owner };
    const problem = await this.#open(executor, plan, place, resume, signal);
    if (problem === null) return { kind: 'ready', executor };
    return giveUp(executor, problem);
  }

  /** Null when the program is ready for a Turn, else why not. No model request is made. */
  async #open(
    executor: CodexExecutor,
    plan: LaunchPlan,
    place: { readonly cwd: string; readonly owner: string },
    resume: string | null,
    signal: AbortSignal,
  ): Promise<string | null> {
    // Ending the program answers everything that is still asked of it.
    const stop = (): void => void executor.close();
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) return CANCELLED;
      if (!(await greet(executor.client, GREET_LIMIT_MS)))
        return 'Codex did not start as expected. Run "codex" in a terminal and look what it says.';
      const opened = await openConversation(executor.client, plan, place, resume);
      if (signal.aborted) return CANCELLED;
      if (opened.kind === 'refused') return opened.message;
      executor.bind({ id: opened.threadId, model: opened.model, resumed: resume !== null });
      return null;
    } catch {
      if (signal.aborted) return CANCELLED;
      return 'Codex did not start as expected. Run "codex" in a terminal and look what it says.';
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #place(program: LocatedProgram): string {
    const { env = {} } = this.#settings;
    return `${program.identity}\n${env['CODEX_HOME'] ?? this.#ports.environment.get('CODEX_HOME') ?? ''}`;
  }

  #locate(env: Readonly<Record<string, string>>): Promise<ProgramSearchResult> {
    return locateCodex(this.#ports, this.#settings.command ?? null, env, this.#memory);
  }

  #environment(referred: readonly string[]): Promise<Record<string, string>> {
    return codexEnvironment(this.#ports, this.#settings.env ?? {}, referred);
  }
}

const only = (ids: readonly string[]): string | null => (ids.length === 1 ? (ids[0] ?? null) : null);

function unavailable(version: string | null, reason: string, installed = true): Probe {
  return { available: false, installed, version, reason, capabilities: codexCapabilities };
}
