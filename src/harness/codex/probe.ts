import { mkdir } from 'node:fs/promises';

import type { Logger } from '../../observe/logger.ts';
import type { ProcessLedger } from '../../ownership/process-ledger.ts';
import type { LocatedProgram } from '../process/locate-program.ts';
import { startProcess, type ProcessPorts } from '../process/spawn.ts';
import { CodexClient, type ClientListener } from './client.ts';
import { accountResult, configResult, initializeResult, type NativeConfig } from './native-types.ts';

/** Each question to the program, milliseconds. */
const STEP_LIMIT_MS = 10_000;

/** What a start without any model request shows. */
export type Inspection =
  | { readonly kind: 'usable'; readonly signedIn: boolean; readonly referred: readonly string[] }
  /** It lacks a method that Turns need. */
  | { readonly kind: 'too_old' }
  | { readonly kind: 'failed' };

export interface InspectionPorts extends ProcessPorts {
  readonly logger: Logger;
  readonly ledger: ProcessLedger;
}

/** Every method this adapter calls; one that is missing makes the program too old. */
export const calledMethods = [
  'thread/start',
  'thread/resume',
  'thread/read',
  'thread/settings/update',
  'thread/backgroundTerminals/list',
  'thread/backgroundTerminals/clean',
  'turn/start',
  'turn/steer',
  'turn/interrupt',
  'skills/extraRoots/set',
  'skills/list',
  'model/list',
  'config/read',
  'account/read',
] as const;

/** Greets the program, as every start must. */
export async function greet(client: CodexClient, limitMs: number): Promise<boolean> {
  const answer = await client.request(
    'initialize',
    {
      clientInfo: { name: 'agent-runtime', title: 'Agent Runtime', version: '1.0.0' },
      capabilities: { experimentalApi: true, requestAttestation: false },
    },
    limitMs,
  );
  if (!initializeResult.safeParse(answer).success) return false;
  client.notify('initialized');
  return true;
}

/**
 * Starts the program away from every workspace and asks it, without a model request: who is signed in, which variables
 * its configuration takes keys from (names alone), and whether it has the methods that Turns need. The last is asked
 * with parameters that no method takes, so that nothing can come of it. `methods: false` leaves that out, for a
 * program that was judged before.
 */
export async function inspectCodex(
  ports: InspectionPorts,
  program: LocatedProgram,
  request: {
    readonly env: Readonly<Record<string, string>>;
    readonly args: readonly string[];
    readonly folder: string;
    readonly methods: boolean;
  },
): Promise<Inspection> {
  await mkdir(request.folder, { recursive: true, mode: 0o700 });
  const native = await startProcess(ports, {
    command: program.path,
    args: ['app-server', ...request.args],
    cwd: request.folder,
    env: request.env,
    purpose: 'Codex (looking at it)',
  });
  const client = new CodexClient(ports, native, deaf);
  try {
    if (!(await greet(client, STEP_LIMIT_MS))) return { kind: 'failed' };
    if (request.methods && !(await hasMethods(client))) return { kind: 'too_old' };
    const account = accountResult.parse(await client.request('account/read', {}, STEP_LIMIT_MS));
    const { config } = configResult.parse(await client.request('config/read', {}, STEP_LIMIT_MS));
    return { kind: 'usable', signedIn: isSignedIn(account), referred: referredVariables(config) };
  } catch {
    return { kind: 'failed' };
  } finally {
    await client.stop();
  }
}

async function hasMethods(client: CodexClient): Promise<boolean> {
  const answers = await Promise.all(calledMethods.map((method) => client.ask(method, 0, STEP_LIMIT_MS)));
  return answers.every((answer) => answer.kind === 'refused' && !answer.refusal.unknownMethod);
}

/** A credential exists, or the provider in use needs none of its own. Whether it is valid only a request shows. */
export const isSignedIn = (account: {
  readonly account?: unknown;
  readonly requiresOpenaiAuth: boolean;
}): boolean => !account.requiresOpenaiAuth || (account.account !== null && account.account !== undefined);

/** Names of the variables that a configuration takes keys and headers from. */
export function referredVariables(config: NativeConfig): readonly string[] {
  const names = new Set<string>();
  for (const provider of Object.values(config.model_providers ?? {})) {
    if (provider.env_key) names.add(provider.env_key);
    for (const name of Object.values(provider.env_http_headers ?? {})) names.add(name);
  }
  for (const server of Object.values(config.mcp_servers ?? {})) {
    if (server.bearer_token_env_var) names.add(server.bearer_token_env_var);
    for (const name of Object.values(server.env_http_headers ?? {})) names.add(name);
  }
  return [...names].sort();
}

/** Nothing runs, so nothing that is said or asked matters. */
const deaf: ClientListener = {
  notified: () => Promise.resolve(),
  asked: () => Promise.resolve(),
};
