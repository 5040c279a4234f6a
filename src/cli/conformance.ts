import { createInterface } from 'node:readline';
import { z } from 'zod';
import { judgeContext, judgeFrame } from '../conformance/frames.ts';
import { rejected } from '../observe/errors.ts';
import type { CliCommand } from './command.ts';
import { exitCodes } from './output.ts';

const lineSchema = z.object({ frame: z.unknown(), context: judgeContext.optional() });

export const conformanceCommand: CliCommand = {
  summary: 'judge frames against the wire contract',
  help: `agent-runtime conformance frames

Reads lines {"frame":{...},"context":{...}} from standard input and writes a line for each:
{"ok":bool,"stage","code","path","canonical"}. Exit code 0 whatever the verdicts.`,
  options: {},
  run: async (context) => {
    const [what] = context.parsed.positionals;
    if (what !== 'frames') throw rejected('usage', 'conformance knows frames.');
    for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
      if (line.trim() === '') continue;
      process.stdout.write(`${JSON.stringify(judgeLine(line))}\n`);
    }
    return exitCodes.done;
  },
};

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
