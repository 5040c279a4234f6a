import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { conformCore } from '../conformance/core-conformance.ts';
import { judgeContext, judgeFrame } from '../conformance/frames.ts';
import { reportText, type Report, type ReportRow } from '../conformance/report.ts';
import { conformRuntime, NoSubject } from '../conformance/runtime-conformance.ts';
import { loadScenarios } from '../conformance/scenario-folder.ts';
import type { Scenario } from '../conformance/scenario.ts';
import { rejected } from '../observe/errors.ts';
import { systemClock } from '../platform/clock.ts';
import { systemEnvironment } from '../platform/environment.ts';
import { systemRandom } from '../platform/random.ts';
import type { Parsed } from './arguments.ts';
import type { CliCommand, CommandContext } from './command.ts';
import { exitCodes, type ExitCode } from './output.ts';

const lineSchema = z.object({ frame: z.unknown(), context: judgeContext.optional() });

export const conformanceCommand: CliCommand = {
  help: `agent-runtime conformance runtime [--kind KIND] -- COMMAND...

Replays the wire scenarios from a scripted Core on loopback against a Runtime that COMMAND starts, each scenario in a
process of its own. In COMMAND {bootstrap_file}, {environment_id}, {session_id}, {workspace} and {state_dir} are filled
in; with {environment_id} the Runtime counts as bound to that folder. KIND (default contract) replaces the scenarios' kind.

agent-runtime conformance core --url URL --device-id ID --credential-file FILE [-- COMMAND...]

Replays them from a scripted Runtime against a Core; URL ends in /api/v1, - as FILE is standard input. Core starts Turns
by itself, or COMMAND makes it: {action} is submit, cancel, steer or answer, with {text}, {interaction_id}, {decision}.

  --patience SECONDS  how long the next frame may take (default 10, core 5)
  --jobs N            scenarios at the same time (runtime; default 2)
  --only TEXT[,TEXT]  scenarios whose name contains one of the texts
  --verbose           show what COMMAND writes

Prints what held, what did not, and what could not be run and why. Exits with 1 when something did not hold.

agent-runtime conformance frames

Reads lines {"frame":{...},"context":{...}} from standard input and writes a line for each:
{"ok":bool,"stage","code","path","canonical"}. Exit code 0 whatever the verdicts.`,
  words: Infinity,
  options: {
    kind: { type: 'string' },
    url: { type: 'string' },
    'device-id': { type: 'string' },
    'credential-file': { type: 'string' },
    patience: { type: 'string' },
    jobs: { type: 'string' },
    only: { type: 'string' },
    verbose: { type: 'boolean' },
  },
  run: async (context) => {
    const [what, ...command] = context.parsed.positionals;
    switch (what) {
      case 'frames':
        return judgeLines();
      case 'runtime':
        return conclude(context, await ofRuntime(context, command));
      case 'core':
        return conclude(context, await ofCore(context, command));
      default:
        throw rejected('usage', 'conformance knows runtime, core and frames.');
    }
  },
};

async function ofRuntime(context: CommandContext, command: readonly string[]): Promise<Report> {
  const { parsed } = context;
  if (command.length === 0)
    throw rejected('usage', 'Name the command that starts the Runtime after --. See --help.');
  const options = {
    clock: systemClock,
    random: systemRandom,
    scenarios: await selected(parsed),
    command,
    kind: parsed.text('kind') ?? 'contract',
    env: systemEnvironment.all(),
    patience: seconds(parsed, 'patience', 10),
    jobs: wholeNumber(parsed, 'jobs', 2),
    verbose: parsed.flag('verbose'),
    onRow: progress(context),
  };
  return subject(() => conformRuntime(options));
}

async function ofCore(context: CommandContext, command: readonly string[]): Promise<Report> {
  const { parsed } = context;
  const url = parsed.text('url');
  const deviceId = parsed.text('device-id');
  const file = parsed.text('credential-file');
  if (url === undefined || deviceId === undefined || file === undefined)
    throw rejected('usage', '--url, --device-id and --credential-file are needed. See --help.');
  if (!isBase(url))
    throw rejected('usage', '--url is the http or https address of a Core that ends in /api/v1.');
  const options = {
    clock: systemClock,
    scenarios: await selected(parsed),
    address: { url, deviceId, credential: await secretOf(file) },
    kind: parsed.text('kind') ?? 'contract',
    patience: seconds(parsed, 'patience', 5),
    command: command.length > 0 ? command : null,
    env: systemEnvironment.all(),
    verbose: parsed.flag('verbose'),
    onRow: progress(context),
  };
  return subject(() => conformCore(options));
}

/** One line on standard error for each failure as it comes; the table follows at the end. */
const progress =
  (context: CommandContext) =>
  (row: ReportRow): void => {
    if (row.result === 'failed') context.output.message(`FAILED ${row.name}: ${row.why ?? ''}`);
  };

function conclude(context: CommandContext, done: Report): ExitCode {
  context.output.document(done, () => reportText(done));
  return done.failed > 0 ? exitCodes.failed : exitCodes.done;
}

async function subject(replay: () => Promise<Report>): Promise<Report> {
  try {
    return await replay();
  } catch (error) {
    if (error instanceof NoSubject) throw rejected('not_available', error.message);
    throw error;
  }
}

async function selected(parsed: Parsed): Promise<readonly Scenario[]> {
  const all = await loadScenarios(join(__dirname, 'scenarios'));
  const only = parsed.text('only')?.split(',');
  const chosen = only ? all.filter(({ name }) => only.some((text) => name.includes(text))) : all;
  if (chosen.length === 0) throw rejected('usage', 'No scenario has such a name.');
  return chosen;
}

async function secretOf(file: string): Promise<string> {
  let text: string;
  try {
    text = file === '-' ? await standardInput() : await readFile(file, 'utf8');
  } catch (error) {
    throw rejected(
      'usage',
      `The credential file ${file} could not be read. Check that it is a file and that you may read it.`,
      error,
    );
  }
  const secret = text.trim();
  if (secret === '') throw rejected('usage', `The credential file ${file} is empty.`);
  return secret;
}

async function standardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function isBase(text: string): boolean {
  try {
    const url = new URL(text);
    return /^https?:$/.test(url.protocol) && /\/api\/v1\/?$/.test(url.pathname);
  } catch {
    return false;
  }
}

const seconds = (parsed: Parsed, name: string, otherwise: number): number =>
  1_000 * wholeNumber(parsed, name, otherwise);

function wholeNumber(parsed: Parsed, name: string, otherwise: number): number {
  const text = parsed.text(name);
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 3_600)
    throw rejected('usage', `--${name} takes a whole number from 1.`);
  return value;
}

async function judgeLines(): Promise<ExitCode> {
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line.trim() === '') continue;
    process.stdout.write(`${JSON.stringify(judgeLine(line))}\n`);
  }
  return exitCodes.done;
}

/** A line that is none of this form is a frame that could not be decoded. */
function judgeLine(line: string): unknown {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return { ok: false, stage: 'decode', path: '' };
  }
  const parsed = lineSchema.safeParse(json);
  if (!parsed.success) return { ok: false, stage: 'decode', path: '' };
  const { frame, context } = parsed.data;
  return judgeFrame({ frame, ...(context ? { context } : {}) });
}
