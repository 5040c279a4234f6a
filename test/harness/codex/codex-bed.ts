import { mkdir, mkdtemp, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test } from 'vitest';

import { CodexAdapter, type CodexPorts } from '../../../src/harness/codex/adapter.ts';
import { ProgramMemory } from '../../../src/harness/codex/program.ts';
import { LoginPath } from '../../../src/harness/process/login-env.ts';
import type { LogFields, Logger } from '../../../src/observe/logger.ts';
import { ProcessLedger } from '../../../src/ownership/process-ledger.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { Environment } from '../../../src/platform/environment.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { startFakeOpenAI, type FakeOpenAI } from '../../support/model-servers/fake-openai.mjs';
import { Bed } from '../bed.ts';
import { codexProgram } from '../programs.mjs';

/** Path of the real program; null where it cannot be had and nobody insists (`CI` does). */
export const codex: string | null = await codexProgram().catch((error: unknown) => {
  if (process.env['CI']) throw error;
  return null;
});

/** Stands for a key of the person. It must never be seen outside the process it was given to. */
export const CANARY = 'canary-key-of-the-person';

/** The program is judged once for each file of tests; the tests of looking at it begin without this. */
const memory = new ProgramMemory();

export class CodexBed extends Bed {
  /** What was logged, a line for each. */
  readonly log: readonly string[];
  readonly model: FakeOpenAI;
  readonly ports: CodexPorts;
  readonly home: string;
  constructor(parts: {
    root: string;
    ledger: ProcessLedger;
    adapter: CodexAdapter;
    ports: CodexPorts;
    model: FakeOpenAI;
    home: string;
    log: readonly string[];
  }) {
    super(parts.root, parts.ledger, parts.adapter);
    this.ports = parts.ports;
    this.model = parts.model;
    this.home = parts.home;
    this.log = parts.log;
  }
  override async close(): Promise<void> {
    await super.close();
    await this.model.close();
  }
}

export interface CodexBedOptions {
  readonly model?: string;
  /** Added to the person's configuration: top-level lines, and tables at its end. */
  readonly top?: string;
  readonly tables?: string;
  readonly provider?: { readonly request_max_retries: number; readonly stream_max_retries: number };
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly command?: string;
  /** The provider needs a sign-in of its own, and there is none. */
  readonly signedOut?: boolean;
  /** Nothing is known of the program. */
  readonly fresh?: boolean;
}

/** The real Codex on a scripted model, with a home folder of its own. */
export async function codexBed(options: CodexBedOptions = {}): Promise<CodexBed> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'harness-')));
  for (const name of ['workspace', 'state', 'home']) await mkdir(join(root, name));
  const home = join(root, 'home');
  const ledger = await ProcessLedger.open(root, { clock: systemClock, random: systemRandom });
  const model = await startFakeOpenAI();
  await writeFile(
    join(home, 'config.toml'),
    options.signedOut
      ? ''
      : `model = "${options.model ?? 'gpt-5.5'}"
model_provider = "scripted"
${options.top ?? ''}
[model_providers.scripted]
name = "Scripted"
base_url = "${model.url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = ${options.provider?.request_max_retries ?? 0}
stream_max_retries = ${options.provider?.stream_max_retries ?? 0}
${options.tables ?? ''}
`,
  );
  const variables: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    CODEX_HOME: home,
    SCRIPTED_KEY: CANARY,
  };
  const environment: Environment = {
    platform: process.platform,
    get: (name) => variables[name],
    all: () => variables,
  };
  const log: string[] = [];
  const ports: CodexPorts = {
    clock: systemClock,
    random: systemRandom,
    logger: recordingLogger(log),
    ledger,
    environment,
    homeDir: home,
    loginPath: new LoginPath({ clock: systemClock, random: systemRandom, environment }),
    stateDir: join(root, 'daemon'),
    ...(options.fresh ? {} : { memory }),
  };
  const adapter = new CodexAdapter(ports, {
    kind: 'codex',
    command: options.command ?? codex ?? 'codex',
    args: options.args ?? [],
    env: options.env ?? {},
  });
  return new CodexBed({ root, ledger, adapter, ports, model, home, log });
}

function recordingLogger(lines: string[]): Logger {
  const record = (event: string, fields: LogFields = {}): void => {
    lines.push(JSON.stringify({ event, ...fields }));
  };
  const logger: Logger = { error: record, warn: record, info: record, debug: record, with: () => logger };
  return logger;
}

/** A test with the real program on a bed of its own; the bed's leak check is part of the test. */
export function codexTest(
  name: string,
  body: (bed: CodexBed) => Promise<void>,
  options: CodexBedOptions = {},
): void {
  test.skipIf(codex === null)(name, { timeout: 30_000 }, async () => {
    const bed = await codexBed(options);
    try {
      await body(bed);
    } finally {
      await bed.close();
    }
  });
}

/** Polls for something outside that sends no event, such as a process or a file. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('it never came true');
}

/** The process with exactly this command line, or null. */
export async function running(...commandLine: readonly string[]): Promise<number | null> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line === `${commandLine.join('\0')}\0`) return Number(pid);
  }
  return null;
}

export const isThere = (file: string): Promise<boolean> =>
  readFile(file).then(
    () => true,
    () => false,
  );

/** Every file below a folder that holds the text. */
export async function filesWith(folder: string, text: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await filesWith(path, text)));
    else if (entry.isFile() && (await readFile(path)).includes(text)) found.push(path);
  }
  return found;
}
