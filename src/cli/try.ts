import { join, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { compose } from '../app/compose.ts';
import { loadConfig } from '../app/config.ts';
import type { Daemon } from '../app/daemon.ts';
import { InProcessFrontEnd } from '../app/in-process.ts';
import { existingFolder } from '../app/workspace-folder.ts';
import type { Answer } from '../contract/commands.ts';
import type { InteractionView } from '../contract/view.ts';
import { RuntimeError, rejected } from '../observe/errors.ts';
import { systemEnvironment } from '../platform/environment.ts';
import { statePaths, type StatePaths } from '../store/paths.ts';
import type { CliCommand, CommandContext } from './command.ts';
import { exitCodes, plain, type ExitCode } from './output.ts';
import { wholeInput } from './whole-input.ts';
import { untilSignal } from '../platform/signals.ts';
import { endSentence, followTurn } from './turn.ts';

/** Places for a `try` beside others under way. */
const places = 8;

export const tryCommand: CliCommand = {
  help: `agent-runtime try [--harness KIND] [--workspace DIR] TEXT

Local Core, Runtime and agent in this process, working in DIR (default: this folder). Its state lies in the folder
try of the state folder, unless --state-dir names one; the next try looks there for what this one left behind.`,
  words: Infinity,
  options: { harness: { type: 'string' }, workspace: { type: 'string' }, config: { type: 'string' } },
  run: async (context) => {
    const { parsed, output } = context;
    const prompt = parsed.positionals.join(' ');
    if (prompt.trim() === '') {
      throw rejected('usage', 'Give the text: agent-runtime try "What is in this folder?"');
    }
    const named = parsed.text('config');
    const config = await loadConfig(named ?? context.paths.config, named !== undefined);
    const localWorkspace = await existingFolder(resolve(parsed.text('workspace') ?? '.'));
    // A closed terminal or a TERM ends the agent as well as this process.
    const ended = untilSignal('SIGTERM', 'SIGHUP').then(() => exitCodes.failed);
    let stopped = false;
    const stop = untilSignal('SIGINT').then(() => void (stopped = true));
    const daemon = await start(context, (paths) =>
      compose({
        paths,
        version: AGENT_RUNTIME_VERSION,
        config,
        targets: [],
        localWorkspace,
        logLevel: parsed.logLevel,
        stderr: null,
      }),
    );
    const client = new InProcessFrontEnd(daemon);
    const turn = stopped
      ? Promise.resolve(exitCodes.failed)
      : runTurn(client, prompt, parsed.text('harness'), output.json, stop).catch((error: unknown) => {
          output.failure(error);
          return exitCodes.failed;
        });
    const code = await Promise.race([turn, ended]);
    await daemon.shutdown();
    return code;
  },
};

/** In the folder that was named, or in the first place for a `try` that is free. */
async function start(
  context: CommandContext,
  compose_: (paths: StatePaths) => Promise<{ daemon: Daemon }>,
): Promise<Daemon> {
  const { parsed, paths } = context;
  if (parsed.stateDir !== undefined) return (await compose_(paths)).daemon;
  for (let n = 1; ; n++) {
    const root = join(paths.root, n === 1 ? 'try' : `try-${n}`);
    try {
      return (await compose_(statePaths(root, systemEnvironment))).daemon;
    } catch (error) {
      const taken = error instanceof RuntimeError && error.code === 'already_running';
      if (!taken || n === places) throw error;
    }
  }
}

async function runTurn(
  client: InProcessFrontEnd,
  prompt: string,
  harness: string | undefined,
  json: boolean,
  stop: Promise<void>,
): Promise<ExitCode> {
  const begun = await client.call('turn.start', { prompt, ...(harness === undefined ? {} : { harness }) });
  if (json) process.stdout.write(`${JSON.stringify(begun)}\n`);
  const lines = createInterface({ input: process.stdin });
  const interrupt = (): void =>
    void client.call('turn.cancel', { run_id: begun.run_id }).catch(() => undefined);
  const asker = new TerminalAsker(
    lines,
    (id, answer) => client.call('interaction.answer', { id, answer }),
    () => {
      process.stderr.write('\nThere is nobody to ask: the input has ended. The Turn is stopped.\n');
      interrupt();
    },
  );
  void stop.then(interrupt);
  const end = await followTurn(client, begun.run_id, {
    text: (text) => process.stdout.write(json ? `${JSON.stringify({ delta: text })}\n` : plain(text)),
    view: (view) => asker.see(view.interactions.filter((prompt_) => prompt_.run_id === begun.run_id)),
  });
  lines.close();
  process.stdout.write(json ? `${JSON.stringify({ outcome: end.outcome })}\n` : '\n');
  if (!json && end.outcome !== 'completed') process.stderr.write(`${endSentence(end)}\n`);
  return end.outcome === 'completed' ? exitCodes.done : exitCodes.failed;
}

/**
 * Asks one prompt after the other, each shown whole. What was typed before a question was on the screen answers
 * nothing; input that ends without an answer decides nothing and denies nothing by itself.
 */
class TerminalAsker {
  readonly #lines: Interface;
  readonly #answer: (id: string, answer: Answer) => Promise<unknown>;
  readonly #seen = new Set<string>();
  readonly #nobody: () => void;
  #ended = false;
  #waiting: ((line: string) => void) | null = null;
  #queue: Promise<void> = Promise.resolve();

  constructor(
    lines: Interface,
    answer: (id: string, answer: Answer) => Promise<unknown>,
    nobody: () => void,
  ) {
    this.#lines = lines;
    this.#answer = answer;
    this.#nobody = nobody;
    this.#lines.on('close', () => {
      this.#ended = true;
      if (this.#waiting) nobody();
    });
    this.#lines.on('line', (line) => {
      const waiting = this.#waiting;
      this.#waiting = null;
      if (waiting) waiting(line);
      else process.stderr.write('\nTyped before a question was shown: it answers nothing.\n');
    });
  }

  see(prompts: readonly InteractionView[]): void {
    for (const prompt of prompts) {
      if (this.#seen.has(prompt.id)) continue;
      this.#seen.add(prompt.id);
      this.#queue = this.#queue
        .then(() => this.#ask(prompt))
        .catch((error: unknown) => {
          process.stderr.write(
            `${error instanceof RuntimeError ? error.message : 'The answer was not taken.'}\n`,
          );
        });
    }
  }

  async #ask(prompt: InteractionView): Promise<void> {
    process.stderr.write(
      `\n${prompt.kind === 'permission' ? 'The agent asks for permission' : 'The agent asks'}: ${plain(prompt.title)}\n`,
    );
    for (const line of wholeInput(prompt)) process.stderr.write(`  ${plain(line)}\n`);
    if (prompt.kind === 'permission') {
      for (;;) {
        const line = (await this.#read('Allow once? yes / no: ')).trim().toLowerCase();
        if (line === 'yes' || line === 'y')
          return void (await this.#answer(prompt.id, { kind: 'allow', scope: 'once' }));
        if (line === 'no' || line === 'n') return void (await this.#answer(prompt.id, { kind: 'deny' }));
      }
    }
    const answers: Record<string, string[]> = {};
    for (const question of prompt.questions) {
      process.stderr.write(`${plain(question.question)}\n`);
      question.options.forEach((option, index) =>
        process.stderr.write(`  ${index + 1}. ${plain(option.label)}\n`),
      );
      const hint = question.multi_select ? 'numbers, separated by commas' : 'a number';
      const line = (
        await this.#read(
          `${hint}${question.is_other === true ? ', or your own words' : ''}; empty: no answer: `,
        )
      ).trim();
      if (line === '') continue;
      answers[question.id] = chosen(
        line,
        question.options.map((option) => option.label),
        question.multi_select === true,
      );
    }
    await this.#answer(prompt.id, { kind: 'answers', answers });
  }

  #read(ask: string): Promise<string> {
    process.stderr.write(ask);
    if (this.#ended) this.#nobody();
    return new Promise((resolve) => (this.#waiting = resolve));
  }
}

function chosen(line: string, labels: readonly string[], many: boolean): string[] {
  const parts = many ? line.split(',').map((part) => part.trim()) : [line];
  return parts.map((part) => {
    const label = /^\d+$/.test(part) ? labels[Number(part) - 1] : undefined;
    return label ?? part;
  });
}
