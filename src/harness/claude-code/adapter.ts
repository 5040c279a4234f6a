import { join } from 'node:path';

import { RuntimeError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ProcessLedger } from '../../ownership/process-ledger.ts';
import { declareCapabilities } from '../../protocol/capabilities.ts';
import type { HarnessAdapter, PrepareOutcome, PrepareRequest, Probe } from '../adapter.ts';
import { failed, giveUp } from '../failed-preparation.ts';
import type { LocatedProgram, ProgramPorts, ProgramSearchResult } from '../process/locate-program.ts';
import { startProcess, type ProcessPorts } from '../process/spawn.ts';
import type { LaunchPlan } from './configuration.ts';
import { ClaudeExecutor } from './executor.ts';
import { FUNCTION_SERVER } from './functions.ts';
import { initializeResponse } from './native-types.ts';
import { inspectClaude, isSignedIn } from './probe.ts';
import { baseArguments, claudeEnvironment, locateClaude, ProgramMemory } from './program.ts';
import { listHooks, nativeServers, settleServers } from './servers.ts';
import { buildSkillPackage } from './skills.ts';

/** Each of these is proven against the real program by the tests under `test/harness`. */
export const claudeCapabilities = declareCapabilities([
  'streaming',
  'permissions',
  'usage',
  'resume',
  'steering',
  'durable_input_receipts',
  'durable_turns',
  'preparation',
  'message_items',
  'tool_observations',
  'execution_controls',
  'programmatic_tool_calling_disable',
  'environment_none',
  'local_environment',
  'message_images',
  'subagent_control',
  'structured_output',
  'tool_search',
  'function_tools',
  'function_result_images',
  'mcp_http_tools',
  'mcp_http_required',
  'mcp_http_bearer_auth',
]);

export interface ClaudePorts extends ProcessPorts, ProgramPorts {
  readonly logger: Logger;
  readonly ledger: ProcessLedger;
  /** A private folder of the daemon, outside every workspace. */
  readonly stateDir: string;
  readonly memory?: ProgramMemory;
}

export interface ClaudeSettings {
  readonly kind: string;
  /** A path, or a name to look for instead of `claude`. */
  readonly command?: string | undefined;
  /** Added after ours; later options win. */
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** How long the start of a conversation may take; a long one is read from disk first. */
const INITIALIZE_LIMIT_MS = 60_000;

const OUTDATED = 'This Claude Code is too old for this app. Update Claude Code (run "claude update").';
const SIGNED_OUT = 'Claude Code is not signed in. Run "claude auth login" in a terminal.';

/** Claude Code on this machine, driven over its own line protocol. The program is the person's, and so is its sign-in. */
export class ClaudeCodeAdapter implements HarnessAdapter {
  readonly name = 'Claude Code';
  readonly kind: string;
  readonly #ports: ClaudePorts;
  readonly #settings: ClaudeSettings;
  readonly #memory: ProgramMemory;

  constructor(ports: ClaudePorts, settings: ClaudeSettings) {
    this.kind = settings.kind;
    this.#ports = ports;
    this.#settings = settings;
    this.#memory = ports.memory ?? new ProgramMemory();
  }

  async probe(): Promise<Probe> {
    const env = await this.#environment();
    const located = await this.#locate(env);
    if (located.kind === 'missing') {
      const where = this.#settings.command ? ' at the configured place' : '';
      return unavailable(
        null,
        `Claude Code was not found${where}. Install it, or name its program in the configuration.`,
        false,
      );
    }
    if (located.kind === 'silent')
      return unavailable(
        null,
        'A Claude Code is there but does not answer. Run "claude --version" in a terminal.',
      );
    return this.#judge(located.program, env);
  }

  async prepare(request: PrepareRequest, signal: AbortSignal): Promise<PrepareOutcome> {
    const { planLaunch } = await import('./configuration.ts');
    const planned = planLaunch(request.configuration, request.policy, request.prepared);
    if (planned.kind === 'refused') return failed(planned.message);
    try {
      const env = await this.#environment(planned.plan.env);
      const located = await this.#locate(env);
      if (located.kind !== 'found') return failed('Claude Code was not found. Install it and try again.');
      // It may have been replaced since the last look.
      const known = this.#memory.judged.get(located.program.identity);
      const probe = known ? null : await this.#judge(located.program, env);
      if (known === 'too_old' || probe?.available === false) return failed(probe?.reason ?? OUTDATED);
      if (signal.aborted) return failed('The preparation was cancelled.');
      return await this.#launch(located.program, planned.plan, request, env, signal);
    } catch (error) {
      return failed(error instanceof RuntimeError ? error.message : 'Claude Code could not be started.');
    }
  }

  async #judge(program: LocatedProgram, env: Readonly<Record<string, string>>): Promise<Probe> {
    const known = this.#memory.judged.get(program.identity);
    if (known === 'too_old') return unavailable(program.version, OUTDATED);
    const seen = await inspectClaude(this.#ports, program, {
      env,
      args: this.#settings.args ?? [],
      folder: join(this.#ports.stateDir, 'probe'),
      capabilities: known === undefined,
    }).catch(() => ({ kind: 'failed' as const }));
    if (seen.kind === 'failed')
      return unavailable(
        program.version,
        'Claude Code could not be started. Run "claude" in a terminal and look what it says.',
      );
    this.#memory.judged.set(program.identity, seen.kind);
    if (seen.kind === 'too_old') return unavailable(program.version, OUTDATED);
    if (!seen.signedIn) return unavailable(program.version, SIGNED_OUT);
    return { available: true, version: program.version, reason: null, capabilities: claudeCapabilities };
  }

  async #launch(
    program: LocatedProgram,
    plan: LaunchPlan,
    request: PrepareRequest,
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<PrepareOutcome> {
    const sessionId = plan.resume ?? this.#ports.random.uuid();
    const skills = await buildSkillPackage(request.prepared.skills, join(request.stateDir, 'claude-skills'));
    if (skills.kind === 'refused') return failed(skills.message);
    const native = await startProcess(this.#ports, {
      command: program.path,
      args: [
        ...baseArguments,
        ...plan.args,
        ...(plan.resume ? [] : ['--session-id', sessionId]),
        ...(skills.folder === null ? [] : ['--plugin-dir', skills.folder]),
        ...(this.#settings.args ?? []),
      ],
      cwd: request.workspace ?? request.stateDir,
      env,
      purpose: 'Claude Code',
      sessionId: request.sessionId,
    });
    const executor = new ClaudeExecutor(this.#ports, native, {
      plan,
      workspace: request.workspace,
      sessionId,
      observeMessages: request.configuration.observe_messages === true,
      observeTools: request.configuration.observe_tool_observations === true,
    });
    const problem = await this.#initialize(executor, plan, native.owner, signal).catch((error: unknown) =>
      error instanceof RuntimeError ? error.message : 'Claude Code did not start as expected.',
    );
    if (problem === null) return { kind: 'ready', executor };
    return giveUp(executor, problem);
  }

  /** Null when the program is ready for a Turn, else why not. No model request is made. */
  async #initialize(
    executor: ClaudeExecutor,
    plan: LaunchPlan,
    owner: string,
    signal: AbortSignal,
  ): Promise<string | null> {
    const { client } = executor;
    const aborted = new Promise<null>((resolve) => {
      if (signal.aborted) resolve(null);
      else signal.addEventListener('abort', () => resolve(null), { once: true });
    });
    const control = client.control(initializeRequest(plan, owner), INITIALIZE_LIMIT_MS);
    const answer = await Promise.race([control, aborted]).catch(() => undefined);
    if (signal.aborted) return 'The preparation was cancelled.';
    const initialized = initializeResponse.safeParse(answer);
    if (!initialized.success) {
      return executor.refusedToResume
        ? 'Claude Code does not have the earlier conversation of this Session on this machine any more.'
        : 'Claude Code did not start as expected. Run "claude" in a terminal and look what it says.';
    }
    if (!isSignedIn(initialized.data)) return SIGNED_OUT;
    if (plan.servers.length > 0) {
      const problem = await settleServers({ client, clock: this.#ports.clock }, plan.servers, owner, signal);
      if (problem !== null) return problem;
    }
    const mode = initialized.data.current_permission_mode;
    if (mode === undefined || mode === null || mode === plan.mode) return null;
    await client.control({ subtype: 'set_permission_mode', mode: plan.mode }, 5_000).catch(() => undefined);
    // Believed when `system/init` of the first native turn says so.
    return null;
  }

  #locate(env: Readonly<Record<string, string>>): Promise<ProgramSearchResult> {
    return locateClaude(this.#ports, this.#settings.command ?? null, env, this.#memory);
  }

  #environment(prepared: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
    return claudeEnvironment(this.#ports, this.#settings.env ?? {}, prepared);
  }
}

/** Everything confidential goes in here, over standard input, and nothing of it on the command line. */
function initializeRequest(plan: LaunchPlan, owner: string): Record<string, unknown> {
  return {
    subtype: 'initialize',
    ...(plan.systemPrompt === null ? {} : { appendSystemPrompt: plan.systemPrompt }),
    ...(plan.functions.length > 0 ? { sdkMcpServers: [FUNCTION_SERVER] } : {}),
    ...(plan.servers.length > 0 ? { mcpServers: nativeServers(plan.servers, owner) } : {}),
    ...(plan.output ? { jsonSchema: plan.output.json } : {}),
    ...listHooks(plan.servers),
  };
}

function unavailable(version: string | null, reason: string, installed = true): Probe {
  return { available: false, installed, version, reason, capabilities: claudeCapabilities };
}
