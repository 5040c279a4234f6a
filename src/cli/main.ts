import { systemEnvironment } from '../platform/environment.ts';
import { rejected } from '../observe/errors.ts';
import { stateRoot, statePaths } from '../store/paths.ts';
import { answerCommand } from './answer.ts';
import { parseArguments, type Parsed } from './arguments.ts';
import { rotateCommand, unenrollCommand } from './binding.ts';
import { cleanupCommand } from './cleanup.ts';
import { rulesCommand } from './rules.ts';
import { conformanceCommand } from './conformance.ts';
import { diagnosticsCommand } from './diagnostics.ts';
import { doctorCommand } from './doctor.ts';
import { enrollCommand } from './enroll.ts';
import { logsCommand } from './logs.ts';
import { Output, exitCodes, type ExitCode } from './output.ts';
import { pauseCommand, resumeCommand } from './pause.ts';
import { runCommand } from './run.ts';
import { statusCommand, viewCommand } from './status.ts';
import { tryCommand } from './try.ts';
import { turnCommand } from './turn.ts';
import type { CliCommand, CommandContext } from './command.ts';

const table: Readonly<Record<string, CliCommand>> = {
  run: runCommand,
  enroll: enrollCommand,
  rotate: rotateCommand,
  unenroll: unenrollCommand,
  try: tryCommand,
  status: statusCommand,
  view: viewCommand,
  answer: answerCommand,
  turn: turnCommand,
  pause: pauseCommand,
  resume: resumeCommand,
  cleanup: cleanupCommand,
  rules: rulesCommand,
  doctor: doctorCommand,
  diagnostics: diagnosticsCommand,
  logs: logsCommand,
  conformance: conformanceCommand,
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
  const command = Object.hasOwn(table, name) ? table[name] : undefined;
  try {
    if (!command) throw rejected('usage', `There is no command of that name. See agent-runtime --help.`);
    const parsed: Parsed = parseArguments(rest, command.options);
    if (parsed.help) {
      process.stdout.write(`${command.help}\n`);
      return exitCodes.done;
    }
    const paths = statePaths(stateRoot(parsed.stateDir, systemEnvironment), systemEnvironment);
    const context: CommandContext = { parsed, paths, output: new Output(parsed.json) };
    return await command.run(context);
  } catch (error) {
    return output.failure(error);
  }
}
