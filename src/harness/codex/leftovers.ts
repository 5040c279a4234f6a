import type { Logger } from '../../observe/logger.ts';
import { asError } from '../../observe/errors.ts';
import { delay, within, type Clock } from '../../platform/clock.ts';
import type { ProcessTable } from '../../platform/process-table.ts';
import type { CodexClient } from './client.ts';
import { terminalsResult } from './native-types.ts';

export interface LeftoverPorts {
  readonly client: CodexClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly commands: CommandProcesses;
}

/** Set for every command of the agent, and for nothing else that the program starts. */
export const COMMAND_VARIABLE = 'AGENT_RUNTIME_COMMAND';

/** What commands of one start of the program left running, also away from it. Knows of none where the system hides it. */
export interface CommandProcesses {
  anyRuns(): Promise<boolean>;
}

export const commandProcesses = (table: ProcessTable, owner: string): CommandProcesses => ({
  async anyRuns() {
    return (await table.withVariable(await table.list(), COMMAND_VARIABLE, owner)).size > 0;
  },
});

const STEP_LIMIT_MS = 5_000;
const CHILDREN_LIMIT_MS = 8_000;
/** Together five seconds. */
const LOOKS = 50;
const LOOK_PAUSE_MS = 100;
/** Together two seconds. */
const STRAY_LOOKS = 20;

/** Sub-agents of a conversation and what they do. */
export class Children {
  readonly #running = new Map<string, string>();
  readonly #seen = new Set<string>();
  #watchers: (() => void)[] = [];

  began(threadId: string, turnId: string): void {
    this.#seen.add(threadId);
    this.#running.set(threadId, turnId);
  }
  ended(threadId: string, turnId: string): void {
    if (this.#running.get(threadId) !== turnId) return;
    this.#running.delete(threadId);
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watcher of watchers) watcher();
  }
  get running(): ReadonlyMap<string, string> {
    return this.#running;
  }
  /** Conversations that were seen to work since the last call. */
  takeSeen(): readonly string[] {
    const seen = [...this.#seen];
    this.#seen.clear();
    return seen;
  }
  async idle(): Promise<void> {
    while (this.#running.size > 0) await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }
}

export interface Leftovers {
  /** Commands were still running and have been ended; the program says so of each by its own word. */
  readonly commands: boolean;
  /** Why it is not certain that nothing is left; null when it is. */
  readonly problem: string | null;
}

/**
 * Ends what a native turn leaves behind, and sees that it is gone: sub-agents that still work, then commands that run
 * on in the background, which an interrupt does not stop, and last a look for what such a command left. Never throws.
 */
export async function endLeftovers(
  ports: LeftoverPorts,
  threadId: string,
  children: Children,
): Promise<Leftovers> {
  const { client, clock, logger } = ports;
  let commands = false;
  const unsure = (problem: string): Leftovers => ({ commands, problem });
  try {
    for (const [child, turnId] of children.running)
      await client.ask('turn/interrupt', { threadId: child, turnId }, STEP_LIMIT_MS);
    if ((await within(clock, CHILDREN_LIMIT_MS, children.idle())).kind === 'timeout')
      return unsure('Codex did not confirm the end of its sub-agents.');
    for (const thread of [threadId, ...children.takeSeen()]) {
      // A sub-agent that its parent closed is not there to be asked; the look for processes below goes for it too.
      const open = await terminals(client, thread);
      if (open === null && thread === threadId)
        return unsure('Codex did not say whether commands of this Turn still run.');
      if (open === null || open === 0) continue;
      commands = true;
      await client.request('thread/backgroundTerminals/clean', { threadId: thread }, STEP_LIMIT_MS);
      if (!(await untilNone(ports, thread))) return unsure('Codex did not end the commands of this Turn.');
    }
    if (!(await untilGone(ports)))
      return unsure('Something that a command of this Turn started still runs and is not known to Codex.');
    return { commands, problem: null };
  } catch (error) {
    logger.warn('codex.leftovers_unknown', { error: asError(error).name });
    return unsure('Codex did not say whether commands of this Turn still run.');
  }
}

/** A command that left the program behind is known by its environment alone. */
async function untilGone({ commands, clock }: LeftoverPorts): Promise<boolean> {
  for (let looks = 0; looks < STRAY_LOOKS; looks++) {
    if (!(await commands.anyRuns())) return true;
    await delay(clock, LOOK_PAUSE_MS);
  }
  return false;
}

/** A command is asked to end and ends a moment later. */
async function untilNone({ client, clock }: LeftoverPorts, threadId: string): Promise<boolean> {
  for (let looks = 0; looks < LOOKS; looks++) {
    if (((await terminals(client, threadId)) ?? 0) === 0) return true;
    await delay(clock, LOOK_PAUSE_MS);
  }
  return false;
}

/** How many commands a conversation has running; null when the program has no such conversation open. */
async function terminals(client: CodexClient, threadId: string): Promise<number | null> {
  const answer = await client.ask('thread/backgroundTerminals/list', { threadId }, STEP_LIMIT_MS);
  return answer.kind === 'refused' ? null : terminalsResult.parse(answer.result).data.length;
}
