import { systemEnvironment } from '../platform/environment.ts';
import { rejected } from '../observe/errors.ts';
import { stateRoot, statePaths } from '../store/paths.ts';
import { parseArguments, type Parsed } from './arguments.ts';
import { Output, exitCodes, type ExitCode } from './output.ts';
import type { CliCommand, CommandContext } from './command.ts';

/** Loaded one at a time: what a command does not need is not read at its start. */
const table: Readonly<Record<string, { readonly summary: string; load(): Promise<CliCommand> }>> = {
  run: {
    summary: 'serve in the foreground until interrupted',
    load: async () => (await import('./run.ts')).runCommand,
  },
  enroll: {
    summary: 'bind this machine to an Environment and store the credential',
    load: async () => (await import('./enroll.ts')).enrollCommand,
  },
  rotate: {
    summary: 'put a rotated credential in the place of the old one',
    load: async () => (await import('./binding.ts')).rotateCommand,
  },
  unenroll: {
    summary: 'end a binding: its connection, credential and receipt; folder and history stay',
    load: async () => (await import('./binding.ts')).unenrollCommand,
  },
  try: {
    summary: 'one Turn here and now, prompts answered in the terminal',
    load: async () => (await import('./try.ts')).tryCommand,
  },
  status: {
    summary: 'say how the running Runtime is',
    load: async () => (await import('./status.ts')).statusCommand,
  },
  view: {
    summary: 'print everything a front end sees',
    load: async () => (await import('./status.ts')).viewCommand,
  },
  answer: {
    summary: 'answer a pending permission or question',
    load: async () => (await import('./answer.ts')).answerCommand,
  },
  turn: {
    summary: 'Turns of the local Core: start, cancel, steer, list, show',
    load: async () => (await import('./turn.ts')).turnCommand,
  },
  pause: {
    summary: 'take no new work; what runs goes on',
    load: async () => (await import('./pause.ts')).pauseCommand,
  },
  resume: {
    summary: 'take work again',
    load: async () => (await import('./pause.ts')).resumeCommand,
  },
  cleanup: {
    summary: 'what has not settled; retry ID, force ID',
    load: async () => (await import('./cleanup.ts')).cleanupCommand,
  },
  rules: {
    summary: 'what is allowed without asking; remove ID, remove all',
    load: async () => (await import('./rules.ts')).rulesCommand,
  },
  console: {
    summary: 'the window of the running Runtime or app as a web page on loopback',
    load: async () => (await import('./console.ts')).consoleCommand,
  },
  doctor: {
    summary: 'what is installed, signed in, reachable and writable',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  diagnostics: {
    summary: 'write a bundle without secrets or payloads',
    load: async () => (await import('./diagnostics.ts')).diagnosticsCommand,
  },
  logs: {
    summary: 'the last lines of the log; --follow',
    load: async () => (await import('./logs.ts')).logsCommand,
  },
  conformance: {
    summary: 'replay the wire scenarios against any Runtime or Core, or judge frames',
    load: async () => (await import('./conformance.ts')).conformanceCommand,
  },
};

const overview = `agent-runtime COMMAND [options]

${Object.entries(table)
  .map(([name, command]) => `  ${name.padEnd(12)}${command.summary}`)
  .join('\n')}

Every command takes --state-dir DIR, --log-level LEVEL, --help; commands that print facts take --json.
`;

/** Entry point of `agent-runtime`. Resolves with the exit code. */
export async function main(args: readonly string[]): Promise<ExitCode> {
  const [name, ...rest] = args;
  const wantsJson = rest.includes('--json');
  const output = new Output(wantsJson);
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(overview);
    return name === undefined ? exitCodes.usage : exitCodes.done;
  }
  if (name === '--version' || name === 'version') {
    process.stdout.write(`${AGENT_RUNTIME_VERSION}\n`);
    return exitCodes.done;
  }
  const known = Object.hasOwn(table, name) ? table[name] : undefined;
  try {
    if (!known) throw rejected('usage', `There is no command of that name. See agent-runtime --help.`);
    const command = await known.load();
    const parsed: Parsed = parseArguments(rest, command.options);
    if (parsed.help) {
      process.stdout.write(`${command.help}\n`);
      return exitCodes.done;
    }
    // It is not repeated: it may be a secret in the wrong place.
    if (parsed.positionals.length > (command.words ?? 0))
      throw rejected('usage', `There is a word too many. See agent-runtime ${name} --help.`);
    const paths = statePaths(stateRoot(parsed.stateDir, systemEnvironment), systemEnvironment);
    const context: CommandContext = { parsed, paths, output: new Output(parsed.json) };
    return await command.run(context);
  } catch (error) {
    return output.failure(error);
  }
}
