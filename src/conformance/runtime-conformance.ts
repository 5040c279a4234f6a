import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import { WIRE_VERSION } from '../protocol/version.ts';
import { playRuntime } from './player.ts';
import { scenarioWorkspace, type Profile } from './profile.ts';
import { report, reportRow, type Report, type ReportRow } from './report.ts';
import type { Scenario } from './scenario.ts';
import { contractCredential, contractDevice, ScriptedCore } from './scripted-core.ts';
import { SubjectProcess } from './subject-process.ts';
import type { ScenarioResult } from './verdict.ts';

export interface RuntimeConformanceOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly scenarios: readonly Scenario[];
  /** The Runtime's command; placeholders are filled in for every scenario. */
  readonly command: readonly string[];
  readonly kind: string;
  readonly env: Readonly<Record<string, string>>;
  readonly patience: number;
  readonly jobs: number;
  readonly verbose: boolean;
  onRow(row: ReportRow): void;
}

/** The command never became a Runtime that can be looked at: why, for a person. */
export class NoSubject extends Error {}

/** Heartbeats of an ordinary Core, so that a Runtime that watches its link is content. */
const HEARTBEAT_SECONDS = 15;

/**
 * Replays every scenario against a foreign Runtime, each in a process, a state folder and a workspace of its own, so
 * that none sees what another left behind.
 * @throws NoSubject when it does not connect at all, or does not offer the kind.
 */
export async function conformRuntime(options: RuntimeConformanceOptions): Promise<Report> {
  await lookAt(options);
  const rows = new Map<string, ReportRow>();
  const waiting = [...options.scenarios];
  const work = async (): Promise<void> => {
    for (let scenario = waiting.shift(); scenario; scenario = waiting.shift()) {
      const row = reportRow(scenario, await playOne(options, scenario));
      rows.set(scenario.name, row);
      options.onRow(row);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, options.jobs) }, work));
  return report(
    'runtime',
    options.scenarios.flatMap((scenario) => rows.get(scenario.name) ?? []),
  );
}

async function playOne(options: RuntimeConformanceOptions, scenario: Scenario): Promise<ScenarioResult> {
  const machine = await Machine.make(options);
  try {
    return await playRuntime(scenario, {
      clock: options.clock,
      core: machine.core,
      profile: machine.profile,
      control: null,
      patience: options.patience,
      start: () => machine.start(),
    });
  } finally {
    await machine.close();
  }
}

/** One look before the replay: does it connect, and what does it offer? */
async function lookAt(options: RuntimeConformanceOptions): Promise<void> {
  const machine = await Machine.make(options);
  try {
    await machine.start();
    const ready = machine.core.ready(2 * options.patience);
    // A command that has ended will not connect any more.
    await Promise.race([ready, machine.exited(2 * options.patience)]);
    if (!machine.core.heartbeat) {
      const how = machine.ended ?? 'it is still running';
      throw new NoSubject(
        `The command did not connect to the scripted Core and send a heartbeat (${how}). Run it with --verbose to see what it writes.`,
      );
    }
    const kinds = (machine.core.heartbeat?.supported_agent_kinds ?? []).map((offered) => offered.kind);
    if (!kinds.includes(options.kind)) {
      const offered = kinds.length > 0 ? kinds.join(', ') : 'nothing';
      throw new NoSubject(
        `The Runtime offers ${offered}, not ${options.kind}. Name one of its kinds with --kind.`,
      );
    }
  } finally {
    await machine.close();
  }
}

/** A scripted Core with a Runtime in front of it and everything that one needs. */
class Machine {
  readonly core: ScriptedCore;
  readonly profile: Profile;
  readonly #options: RuntimeConformanceOptions;
  readonly #folder: string;
  readonly #values: Readonly<Record<string, string>>;
  #process: SubjectProcess | null = null;

  private constructor(
    core: ScriptedCore,
    options: RuntimeConformanceOptions,
    folder: string,
    ids: { environmentId: string; sessionId: string },
  ) {
    this.core = core;
    this.#options = options;
    this.#folder = folder;
    const bound = options.command.some((part) => part.includes('{environment_id}'));
    this.profile = { kind: options.kind, bound: bound ? ids : null };
    this.#values = {
      bootstrap_file: join(folder, 'bootstrap.json'),
      environment_id: ids.environmentId,
      session_id: ids.sessionId,
      workspace: join(folder, 'workspace'),
      state_dir: join(folder, 'state'),
    };
  }

  static async make(options: RuntimeConformanceOptions): Promise<Machine> {
    const core = await ScriptedCore.listen({ clock: options.clock, heartbeatSeconds: HEARTBEAT_SECONDS });
    const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
    const machine = new Machine(core, options, folder, {
      environmentId: options.random.uuid(),
      sessionId: options.random.uuid(),
    });
    await machine.#furnish();
    return machine;
  }

  get ended(): string | null {
    return this.#process?.ended ?? null;
  }

  async exited(ms: number): Promise<void> {
    await this.#process?.exited(ms);
  }

  start(): Promise<void> {
    const { clock, command, env, verbose } = this.#options;
    this.#process = new SubjectProcess({
      clock,
      command,
      values: this.#values,
      env,
      cwd: this.#folder,
      verbose,
    });
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await this.#process?.stop();
    await this.core.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #furnish(): Promise<void> {
    const workspace = join(this.#folder, 'workspace');
    await mkdir(workspace);
    await mkdir(join(this.#folder, 'state'), { mode: 0o700 });
    for (const name of scenarioWorkspace.folders) await mkdir(join(workspace, name));
    for (const [name, content] of Object.entries(scenarioWorkspace.files))
      await writeFile(join(workspace, name), content);
    const file = {
      version: WIRE_VERSION,
      core_url: this.core.coreUrl,
      device_id: contractDevice,
      credential: contractCredential,
    };
    await writeFile(join(this.#folder, 'bootstrap.json'), JSON.stringify(file), { mode: 0o600 });
  }
}
