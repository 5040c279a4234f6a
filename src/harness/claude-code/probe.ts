import { mkdir } from 'node:fs/promises';

import type { ProcessLedger } from '../../ownership/process-ledger.ts';
import { within } from '../../platform/clock.ts';
import type { LocatedProgram } from '../process/locate-program.ts';
import { startProcess, type ProcessPorts } from '../process/spawn.ts';
import { ClaudeClient } from './client.ts';
import {
  initializeResponse,
  interruptResponse,
  requiredCapabilities,
  type InitializeResponse,
  type NativeMessage,
} from './native-types.ts';
import { baseArguments } from './program.ts';

/** Each step of the questions to the program, milliseconds. */
const STEP_LIMIT_MS = 10_000;

/** What a start without any model request shows. */
export type Inspection =
  | { readonly kind: 'usable'; readonly signedIn: boolean }
  /** It lacks what receipts and cancellation need. */
  | { readonly kind: 'too_old' }
  | { readonly kind: 'failed' };

export interface InspectionPorts extends ProcessPorts {
  readonly ledger: ProcessLedger;
}

/**
 * Starts the program away from every workspace and asks it, without a model request and without hooks: who is signed
 * in (`initialize`), whether an interrupt gives a receipt, and which capabilities it advertises. The last question
 * needs a message that only joins a conversation which is not kept; it is asked only of a program that has already
 * shown that it gives receipts, because an older one might take the message for a prompt.
 * `capabilities: false` leaves the last two out, for a program that was judged before.
 */
export async function inspectClaude(
  ports: InspectionPorts,
  program: LocatedProgram,
  request: {
    readonly env: Readonly<Record<string, string>>;
    readonly args: readonly string[];
    readonly folder: string;
    readonly capabilities: boolean;
  },
): Promise<Inspection> {
  await mkdir(request.folder, { recursive: true, mode: 0o700 });
  const native = await startProcess(ports, {
    command: program.path,
    args: [
      ...baseArguments,
      ...request.args,
      ...['--permission-mode', 'default', '--tools', '', '--strict-mcp-config', '--no-session-persistence'],
      ...['--settings', '{"disableAllHooks":true}'],
    ],
    cwd: request.folder,
    env: request.env,
    purpose: 'Claude Code (looking at it)',
  });
  const heard = new Heard();
  const client = new ClaudeClient(ports, native, heard);
  try {
    const initialized = initializeResponse.safeParse(
      await client.control({ subtype: 'initialize' }, STEP_LIMIT_MS),
    );
    if (!initialized.success) return { kind: 'failed' };
    if (request.capabilities && !(await givesReceipts(ports, client, heard))) return { kind: 'too_old' };
    return { kind: 'usable', signedIn: isSignedIn(initialized.data) };
  } catch {
    return { kind: 'failed' };
  } finally {
    await client.stop();
  }
}

async function givesReceipts(ports: InspectionPorts, client: ClaudeClient, heard: Heard): Promise<boolean> {
  const answer = await client
    .control({ subtype: 'interrupt', cancel_queued: true }, STEP_LIMIT_MS)
    .catch(() => null);
  if (!interruptResponse.safeParse(answer).success) return false;
  await client.send({
    type: 'user',
    uuid: ports.random.uuid(),
    parent_tool_use_id: null,
    shouldQuery: false,
    message: { role: 'user', content: 'Capabilities?' },
  });
  const shown = await within(ports.clock, STEP_LIMIT_MS, Promise.race([heard.capabilities, client.ended]));
  if (shown.kind === 'timeout' || typeof shown.value === 'string') return false;
  const { value } = shown;
  return requiredCapabilities.every((name) => value.includes(name));
}

/** A credential exists: a key, a token, or a cloud provider with its own. Whether it is valid only a request shows. */
export function isSignedIn({ account }: InitializeResponse): boolean {
  if (!account) return false;
  const { apiKeySource, apiProvider, tokenSource } = account;
  const named = (source: string | null | undefined): boolean => !!source && source !== 'none';
  return named(apiKeySource) || named(tokenSource) || (!!apiProvider && apiProvider !== 'firstParty');
}

/** Listens for the start-up facts and for nothing else. */
class Heard {
  #tell: (capabilities: readonly string[]) => void = () => undefined;
  readonly capabilities = new Promise<readonly string[]>((resolve) => (this.#tell = resolve));

  async message(message: NativeMessage): Promise<void> {
    if (message.type === 'system' && message.subtype === 'init') this.#tell(message.capabilities ?? []);
    // It would ask the model after all: then it is not the program we take it for.
    if (message.type === 'system' && message.subtype === 'status' && message.status === 'requesting')
      this.#tell([]);
  }
  async request(): Promise<void> {
    // Nothing can be asked: there are no tools.
  }
  async withdrawn(): Promise<void> {
    // Nothing was asked.
  }
}
