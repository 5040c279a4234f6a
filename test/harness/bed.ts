import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect } from 'vitest';

import type {
  Executor,
  HarnessAdapter,
  HarnessTurn,
  InteractionPolicy,
  PreparedEnvironment,
  PrepareOutcome,
} from '../../src/harness/adapter.ts';
import { ClaudeCodeAdapter, type ClaudePorts } from '../../src/harness/claude-code/adapter.ts';
import { ProgramMemory } from '../../src/harness/claude-code/program.ts';
import { DemoAdapter } from '../../src/harness/demo/adapter.ts';
import { LoginPath } from '../../src/harness/process/login-env.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { ProcessLedger } from '../../src/ownership/process-ledger.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Environment } from '../../src/platform/environment.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { executionConfiguration, type ExecutionConfiguration } from '../../src/protocol/execution.ts';
import type { MessageInput } from '../../src/protocol/message-input.ts';
import { prepareEnvironment } from '../../src/runtime/prepared-environment.ts';
import { startFakeAnthropic, type FakeModel } from '../support/model-servers/fake-anthropic.mjs';
import { claudeProgram } from './programs.mjs';
import { Recorder } from './recorder.ts';

/** Path of the real program; null where it cannot be had and nobody insists (`CI` does). */
export const claude: string | null = await claudeProgram().catch((error: unknown) => {
  if (process.env['CI']) throw error;
  return null;
});

export const says = (...texts: readonly string[]): MessageInput =>
  texts.map((text) => ({ content: [{ type: 'input_text', text }] }));

/** What Core sends for every execution. */
export function configuration(changes: Record<string, unknown> = {}): ExecutionConfiguration {
  return executionConfiguration.parse({
    agent_kind: 'test',
    conversation_id: '',
    run_id: '',
    strict_resume: true,
    observe_messages: true,
    observe_tool_observations: true,
    execution_controls: { web_search: 'disabled', text_verbosity: 'medium' },
    ...changes,
  });
}

export interface StartedTurn {
  readonly turn: HarnessTurn;
  readonly output: Recorder;
}

/** A machine in miniature: a workspace, state folders, a ledger, and an adapter. */
export class Bed {
  readonly root: string;
  readonly workspace: string;
  readonly ledger: ProcessLedger;
  readonly adapter: HarnessAdapter;
  #runs = 0;
  readonly #executors: Executor[] = [];

  constructor(root: string, ledger: ProcessLedger, adapter: HarnessAdapter) {
    this.root = root;
    this.workspace = join(root, 'workspace');
    this.ledger = ledger;
    this.adapter = adapter;
  }

  async prepare(
    changes: Record<string, unknown> = {},
    options: {
      policy?: InteractionPolicy;
      workspace?: string | null;
      signal?: AbortSignal;
      /** Beside the MCP servers of the configuration. */
      prepared?: Partial<PreparedEnvironment>;
    } = {},
  ): Promise<PrepareOutcome> {
    const parsed = configuration(changes);
    const prepared = await prepareEnvironment(parsed, null);
    const outcome = await this.adapter.prepare(
      {
        sessionId: systemRandom.uuid(),
        workspace: options.workspace === undefined ? this.workspace : options.workspace,
        stateDir: join(this.root, 'state'),
        configuration: parsed,
        policy: options.policy ?? 'ask',
        prepared: { ...prepared, ...options.prepared },
      },
      options.signal ?? new AbortController().signal,
    );
    if (outcome.kind === 'ready') this.#executors.push(outcome.executor);
    return outcome;
  }

  async ready(...args: Parameters<Bed['prepare']>): Promise<Executor> {
    const outcome = await this.prepare(...args);
    if (outcome.kind !== 'ready') throw new Error(`not prepared: ${outcome.message}`);
    return outcome.executor;
  }

  async start(executor: Executor, input: MessageInput | string): Promise<StartedTurn> {
    const output = new Recorder();
    const started = await executor.startTurn(
      `run-${++this.#runs}`,
      typeof input === 'string' ? says(input) : input,
      output,
    );
    if (started.kind !== 'turn' || started.error !== undefined)
      throw new Error(`not started: ${JSON.stringify(started)}`);
    return { turn: started.turn, output };
  }

  /** One whole Turn. */
  async run(executor: Executor, input: MessageInput | string): Promise<StartedTurn> {
    const started = await this.start(executor, input);
    await started.output.end();
    return started;
  }

  /** Ends everything and checks that nothing is left: no process, no ledger entry. */
  async close(): Promise<void> {
    for (const executor of this.#executors) expect(await executor.close()).toEqual({ state: 'closed' });
    expect(this.ledger.entries).toEqual([]);
    await rm(this.root, { recursive: true, force: true });
  }
}

async function folders(): Promise<{ root: string; ledger: ProcessLedger }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'harness-')));
  for (const name of ['workspace', 'state', 'home']) await mkdir(join(root, name));
  return { root, ledger: await ProcessLedger.open(root, { clock: systemClock, random: systemRandom }) };
}

export async function demoBed(): Promise<Bed> {
  const { root, ledger } = await folders();
  return new Bed(root, ledger, new DemoAdapter({ clock: systemClock, random: systemRandom }, 'demo'));
}

export class ClaudeBed extends Bed {
  readonly model: FakeModel;
  readonly ports: ClaudePorts;
  constructor(
    root: string,
    ledger: ProcessLedger,
    adapter: HarnessAdapter,
    ports: ClaudePorts,
    model: FakeModel,
  ) {
    super(root, ledger, adapter);
    this.ports = ports;
    this.model = model;
  }
  override async close(): Promise<void> {
    await super.close();
    await this.model.close();
  }
}

/** The program is judged once for each file of tests; the tests of looking at it begin without this. */
const memory = new ProgramMemory();

/** The real Claude Code on a scripted model, with a home folder of its own and no sign-in but the one given. */
export async function claudeBed(
  options: {
    env?: Record<string, string>;
    args?: readonly string[];
    command?: string;
    key?: string | null;
    /** Nothing is known of the program. */
    fresh?: boolean;
  } = {},
): Promise<ClaudeBed> {
  const { root, ledger } = await folders();
  const model = await startFakeAnthropic();
  const home = join(root, 'home');
  const variables: Record<string, string> = { PATH: process.env['PATH'] ?? '', HOME: home };
  const environment: Environment = {
    platform: process.platform,
    get: (name) => variables[name],
    all: () => variables,
  };
  const ports: ClaudePorts = {
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    ledger,
    environment,
    homeDir: home,
    loginPath: new LoginPath({ clock: systemClock, random: systemRandom, environment }),
    stateDir: join(root, 'daemon'),
    ...(options.fresh ? {} : { memory }),
  };
  const adapter = new ClaudeCodeAdapter(ports, {
    kind: 'claude_sdk',
    command: options.command ?? claude ?? 'claude',
    args: options.args ?? ['--setting-sources', ''],
    env: {
      CLAUDE_CONFIG_DIR: join(home, '.claude'),
      ANTHROPIC_BASE_URL: model.url,
      ...(options.key === null ? {} : { ANTHROPIC_API_KEY: options.key ?? 'not-a-real-key' }),
      CLAUDE_CODE_MAX_RETRIES: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ...options.env,
    },
  });
  return new ClaudeBed(root, ledger, adapter, ports, model);
}
