import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

import { RuntimeError } from '../../observe/errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ProcessLedger } from '../../ownership/process-ledger.ts';
import type { Environment } from '../../platform/environment.ts';
import {
  declareCapabilities,
  type CapabilityDeclaration,
  type CapabilityName,
} from '../../protocol/capabilities.ts';
import type { HarnessAdapter, PrepareOutcome, PrepareRequest, Probe } from '../adapter.ts';
import { buildEnvironment, joinSearchPaths } from '../process/environment.ts';
import { failed, giveUp } from '../failed-preparation.ts';
import { findPrograms } from '../process/find-program.ts';
import { fileIdentity } from '../process/locate-program.ts';
import type { LoginPath } from '../process/login-env.ts';
import { startProcess, type NativeProcess, type ProcessPorts } from '../process/spawn.ts';
import { planSession, type SessionPlan } from './configuration.ts';
import type { AcpExecutor } from './executor.ts';
import { knownAgents } from './known-agents.ts';
import { openSession, shakeHands, type AgentFacts } from './session.ts';

export interface AcpPorts extends ProcessPorts {
  readonly logger: Logger;
  readonly ledger: ProcessLedger;
  readonly environment: Environment;
  readonly homeDir: string;
  readonly loginPath: LoginPath;
  /** A private folder of the daemon, outside every workspace. */
  readonly stateDir: string;
}

export interface AcpSettings {
  readonly kind: string;
  /** A path, or a name to look for. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly steering?: string | undefined;
}

/** What a start without a prompt showed of an agent. */
interface Judged {
  readonly identity: string;
  readonly facts: AgentFacts;
  readonly asks: boolean;
}

/** Any agent that speaks the Agent Client Protocol, version 1. What the protocol cannot prove is not declared. */
export class AcpAdapter implements HarnessAdapter {
  readonly kind: string;
  readonly name: string;
  readonly #ports: AcpPorts;
  readonly #settings: AcpSettings;
  readonly #program: string;
  readonly #args: readonly string[];
  readonly #inherit: readonly string[];
  #judged: Judged | null = null;

  constructor(ports: AcpPorts, settings: AcpSettings) {
    const program = settings.command ?? settings.kind;
    const known = knownAgents.find((agent) => agent.program === program);
    this.kind = settings.kind;
    this.name = known?.name ?? settings.kind;
    this.#ports = ports;
    this.#settings = settings;
    this.#program = program;
    this.#args = settings.args ?? known?.args ?? [];
    this.#inherit = known?.inherit ?? [];
  }

  async probe(): Promise<Probe> {
    const found = await this.#locate();
    if (!found) return this.#unavailable(this.#missing(), false);
    if (this.#judged?.identity === found.identity) return this.#available(this.#judged);
    const folder = join(this.#ports.stateDir, 'probe');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const native = await this.#start(found.path, folder, {}, null).catch(() => null);
    if (!native) return this.#unavailable(`${this.name} could not be started. Try it in a terminal.`);
    const executor = await this.#executor(native, null, { images: false });
    try {
      const hands = await shakeHands(executor.connection);
      if (hands.kind === 'failed') return this.#unavailable(hands.message);
      const plan = { resume: null, model: null, mcpServers: [] };
      const opened = await openSession(executor.connection, hands.facts, plan, folder);
      if (opened.kind === 'signed_out') return this.#unavailable(this.#signedOut());
      if (opened.kind === 'failed') return this.#unavailable(opened.message);
      if (hands.facts.closes) {
        const { sessionId } = opened;
        await executor.connection.request('session/close', { sessionId }, 2_000).catch(() => undefined);
      }
      this.#judged = { identity: found.identity, facts: hands.facts, asks: opened.asks };
      return this.#available(this.#judged);
    } catch (error) {
      const silent = error instanceof RuntimeError && error.code === 'timeout';
      return this.#unavailable(
        silent
          ? `${this.name} does not answer. Try it in a terminal.`
          : `${this.name} ended by itself. Try it in a terminal.`,
      );
    } finally {
      await executor.close();
    }
  }

  async prepare(request: PrepareRequest, signal: AbortSignal): Promise<PrepareOutcome> {
    const planned = planSession(request.configuration, request.prepared, this.#inherit);
    if (planned.kind === 'refused') return failed(planned.message);
    if (request.workspace === null) return failed('This agent needs a folder to work in.');
    try {
      const found = await this.#locate();
      if (!found) return failed(`${this.name} was not found. Install it and try again.`);
      const { variables } = request.prepared;
      const native = await this.#start(found.path, request.workspace, variables, request.sessionId);
      return await this.#open(native, planned.plan, request, request.workspace, signal);
    } catch (error) {
      return failed(error instanceof RuntimeError ? error.message : `${this.name} could not be started.`);
    }
  }

  async #open(
    native: NativeProcess,
    plan: SessionPlan,
    request: PrepareRequest,
    workspace: string,
    signal: AbortSignal,
  ): Promise<PrepareOutcome> {
    const executor = await this.#executor(native, request, { images: true });
    const attempt = this.#converse(executor, plan, workspace).catch((error: unknown) =>
      error instanceof RuntimeError ? error.message : `${this.name} did not start as expected.`,
    );
    const aborted = new Promise<string>((resolve) => {
      const cancelled = (): void => resolve('The preparation was cancelled.');
      if (signal.aborted) cancelled();
      else signal.addEventListener('abort', cancelled, { once: true });
    });
    const problem = await Promise.race([attempt, aborted]);
    if (problem === null) return { kind: 'ready', executor };
    return giveUp(executor, problem);
  }

  /** Null when the session is ready for a prompt, else why not. */
  async #converse(executor: AcpExecutor, plan: SessionPlan, workspace: string): Promise<string | null> {
    const hands = await shakeHands(executor.connection);
    if (hands.kind === 'failed') return hands.message;
    if (plan.mcpServers.some((server) => server['type'] === 'http') && !hands.facts.http) {
      return `${this.name} takes no MCP servers over HTTP.`;
    }
    const opened = await openSession(executor.connection, hands.facts, plan, workspace);
    if (opened.kind === 'signed_out') {
      this.#judged = null;
      return this.#signedOut();
    }
    if (opened.kind === 'failed') return opened.message;
    await executor.opened(opened.sessionId);
    return null;
  }

  async #executor(
    native: NativeProcess,
    request: PrepareRequest | null,
    { images }: { images: boolean },
  ): Promise<AcpExecutor> {
    // Loaded for whoever has such an agent: the protocol's client is most of what this adapter weighs.
    const { AcpExecutor } = await import('./executor.ts');
    return new AcpExecutor(this.#ports, native, {
      workspace: request?.workspace ?? null,
      images: images && this.#judged?.facts.images !== false,
      cancelAndContinue: this.#settings.steering === 'cancel_and_continue',
      observeMessages: request?.configuration.observe_messages === true,
      observeTools: request?.configuration.observe_tool_observations === true,
    });
  }

  async #start(
    command: string,
    cwd: string,
    prepared: Readonly<Record<string, string>>,
    sessionId: string | null,
  ): Promise<NativeProcess> {
    const { environment, loginPath } = this.#ports;
    const { PATH: first, ...variables } = prepared;
    const path = joinSearchPaths(
      delimiter,
      first,
      environment.get('PATH'),
      (await loginPath.get()) ?? undefined,
    );
    return startProcess(this.#ports, {
      command,
      args: [...this.#args],
      cwd,
      env: buildEnvironment({
        from: environment.all(),
        inherit: this.#inherit,
        set: [variables, { PATH: path }, this.#settings.env ?? {}],
      }),
      purpose: sessionId === null ? `${this.name} (looking at it)` : this.name,
      ...(sessionId === null ? {} : { sessionId }),
    });
  }

  /** Identity changes with the program and with a script that is its first argument. */
  async #locate(): Promise<{ readonly path: string; readonly identity: string } | null> {
    const { environment, homeDir, loginPath } = this.#ports;
    const search = { name: this.#program, explicit: this.#settings.command ?? null, ownFolders: [] };
    for await (const { path } of findPrograms({ ...search, environment, homeDir, loginPath })) {
      const parts = await Promise.all([path, ...this.#args.slice(0, 1)].map((file) => fileIdentity(file)));
      return { path, identity: parts.join(' ') };
    }
    return null;
  }

  #missing(): string {
    return this.#settings.command === undefined
      ? `${this.name} was not found. Install it, or name its program in the configuration.`
      : `${this.name} was not found at the configured place. Install it, or name its program in the configuration.`;
  }

  #available({ facts, asks }: Judged): Probe {
    const capabilities = declare(facts, asks, this.#settings.steering === 'cancel_and_continue');
    const reason = asks ? null : `${this.name} has no mode that is known to ask before it acts.`;
    return { available: true, version: facts.version, reason, capabilities };
  }

  #unavailable(reason: string, installed = true): Probe {
    return { available: false, installed, version: null, reason, capabilities: declareCapabilities([]) };
  }

  #signedOut(): string {
    return `${this.name} is not signed in. Start it in a terminal and sign in there.`;
  }
}

/** What this protocol, this agent and this configuration can prove, and nothing more. */
export function declare(facts: AgentFacts, asks: boolean, steering: boolean): CapabilityDeclaration {
  const names: readonly (readonly [CapabilityName, boolean])[] = [
    ['streaming', true],
    ['preparation', true],
    ['local_environment', true],
    ['message_items', true],
    ['tool_observations', true],
    ['permissions', asks],
    ['resume', facts.resume !== null],
    ['message_images', facts.images],
    ['mcp_http_tools', facts.http],
    ['mcp_http_bearer_auth', facts.http],
    ['steering', steering],
    ['durable_input_receipts', steering],
    ['durable_turns', steering],
  ];
  return declareCapabilities(names.filter(([, yes]) => yes).map(([name]) => name));
}
