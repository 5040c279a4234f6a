import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';
import { test } from 'vitest';

import { AcpAdapter, type AcpPorts, type AcpSettings } from '../../../src/harness/acp/adapter.ts';
import { LoginPath } from '../../../src/harness/process/login-env.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { ProcessLedger } from '../../../src/ownership/process-ledger.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { Environment } from '../../../src/platform/environment.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { startFakeAnthropic, type FakeModel } from '../../support/model-servers/fake-anthropic.mjs';
import { Bed } from '../bed.ts';
import { exampleAgentSource, openCodeProgram } from '../programs.mjs';

const scripted = fileURLToPath(new URL('../../support/model-servers/fake-acp-agent.mjs', import.meta.url));

/** Null where it cannot be had and nobody insists (`CI` does). */
const have = (program: Promise<string>): Promise<string | null> =>
  program.catch((error: unknown) => {
    if (process.env['CI']) throw error;
    return null;
  });
export const openCode: string | null = await have(openCodeProgram());
export const exampleAgent: string | null = await have(exampleAgentSource());

export interface AcpBed extends Bed {
  readonly adapter: AcpAdapter;
}

async function bedOf(
  settings: Omit<AcpSettings, 'kind'>,
  home: (root: string) => Promise<Record<string, string>> = () => Promise.resolve({}),
): Promise<{ bed: AcpBed }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'harness-')));
  for (const name of ['workspace', 'state', 'home']) await mkdir(join(root, name));
  const ledger = await ProcessLedger.open(root, { clock: systemClock, random: systemRandom });
  const variables: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(root, 'home'),
    ...(await home(root)),
  };
  const environment: Environment = {
    platform: process.platform,
    get: (name) => variables[name],
    all: () => variables,
  };
  const ports: AcpPorts = {
    ...{ clock: systemClock, random: systemRandom, logger: silentLogger, ledger, environment },
    homeDir: join(root, 'home'),
    loginPath: new LoginPath({ clock: systemClock, random: systemRandom, environment }),
    stateDir: join(root, 'daemon'),
  };
  const adapter = new AcpAdapter(ports, { kind: 'agent', ...settings });
  return { bed: Object.assign(new Bed(root, ledger, adapter), { adapter }) };
}

/** The scripted agent; every start of it plays the scenario from its beginning. */
export async function scriptedBed(scenario: unknown, settings: Partial<AcpSettings> = {}): Promise<AcpBed> {
  const folder = await mkdtemp(join(tmpdir(), 'acp-scenario-'));
  const file = join(folder, 'scenario.json');
  await writeFile(file, JSON.stringify(scenario));
  const { bed } = await bedOf({
    command: process.execPath,
    args: [scripted, '--scenario', file],
    ...settings,
  });
  const close = bed.close.bind(bed);
  return Object.assign(bed, {
    close: async () => {
      await close();
      await rm(folder, { recursive: true });
    },
  });
}

/** A test with the scripted agent; the bed's leak check is part of it. */
export function scriptedTest(
  name: string,
  scenario: unknown,
  body: (bed: AcpBed) => Promise<void>,
  settings: Partial<AcpSettings> = {},
): void {
  test(name, { timeout: 20_000 }, async () => {
    const bed = await scriptedBed(scenario, settings);
    try {
      await body(bed);
    } finally {
      await bed.close();
    }
  });
}

/** The example agent of the old SDK, built from its source. */
export async function exampleBed(settings: Partial<AcpSettings> = {}): Promise<AcpBed> {
  const folder = await mkdtemp(join(tmpdir(), 'example-agent-'));
  const script = join(folder, 'agent.mjs');
  await build({
    entryPoints: [exampleAgent ?? ''],
    outfile: script,
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' },
  });
  const { bed } = await bedOf({ command: process.execPath, args: [script], ...settings });
  const close = bed.close.bind(bed);
  return Object.assign(bed, {
    close: async () => {
      await close();
      await rm(folder, { recursive: true });
    },
  });
}

/** The real OpenCode on a scripted model, in a mode of the person's in which it asks for commands and edits. */
export async function openCodeBed(
  settings: Partial<AcpSettings> = {},
): Promise<{ bed: AcpBed; model: FakeModel }> {
  const model = await startFakeAnthropic();
  const { bed } = await bedOf(
    { command: openCode ?? 'opencode', args: ['acp'], ...settings },
    async (root) => {
      const config = join(root, 'home', '.config');
      await mkdir(join(config, 'opencode'), { recursive: true });
      await writeFile(
        join(config, 'opencode', 'opencode.json'),
        JSON.stringify({
          autoupdate: false,
          share: 'disabled',
          model: 'anthropic/claude-sonnet-4-5',
          small_model: 'anthropic/claude-haiku-4-5',
          provider: { anthropic: { options: { baseURL: `${model.url}/v1`, apiKey: 'dummy' } } },
          permission: { bash: 'ask', edit: 'ask' },
        }),
      );
      return { XDG_CONFIG_HOME: config, XDG_DATA_HOME: join(root, 'home', '.data') };
    },
  );
  return { bed, model };
}

/** What every execution for an agent of this protocol looks like: it has no execution controls. */
export const plain = { execution_controls: undefined };
