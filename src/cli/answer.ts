import * as z from 'zod';
import { answerSchema, type Answer } from '../contract/commands.ts';
import { rejected } from '../observe/errors.ts';
import type { Parsed } from './arguments.ts';
import { withRuntime, type CliCommand } from './command.ts';
import { exitCodes } from './output.ts';

const answersSchema = z.record(z.string(), z.array(z.string()));

export const answerCommand: CliCommand = {
  help: `agent-runtime answer ID --allow [--for turn|session|folder [--days N|--no-end]] [--input JSON]
                        | --deny [--message TEXT] | --answers JSON | --cancel

ID is the id of the interaction in the view. JSON of --answers is {"question id": ["label", ...]}.
--for saves a rule for exactly this request, as \`rule\` of the interaction shows it; one for the folder ends after a
week unless --days or --no-end says otherwise. --input allows another input than the agent asked with.`,
  words: 1,
  options: {
    allow: { type: 'boolean' },
    for: { type: 'string' },
    days: { type: 'string' },
    'no-end': { type: 'boolean' },
    input: { type: 'string' },
    deny: { type: 'boolean' },
    message: { type: 'string' },
    answers: { type: 'string' },
    cancel: { type: 'boolean' },
  },
  run: (context) => {
    const [id, ...more] = context.parsed.positionals;
    if (id === undefined || more.length > 0)
      throw rejected('usage', 'Name one id: agent-runtime answer ID --allow');
    const answer = answerOf(context.parsed);
    return withRuntime(context, async (client) => {
      const { outcome } = await client.call('interaction.answer', { id, answer });
      context.output.document({ outcome }, () => `${outcome}. The agent applied it.`);
      return exitCodes.done;
    });
  },
};

function allowance(parsed: Parsed): Answer {
  const days = parsed.text('days');
  const input = parsed.text('input');
  if (parsed.text('for') !== 'folder' && (days !== undefined || parsed.flag('no-end')))
    throw rejected('usage', '--days and --no-end go with --for folder: only that rule outlives its Session.');
  const answer = answerSchema.safeParse({
    kind: 'allow',
    scope: parsed.text('for') ?? 'once',
    ...(parsed.flag('no-end') ? { days: null } : days === undefined ? {} : { days: Number(days) }),
    ...(input === undefined ? {} : { input: jsonOf(input, '--input') }),
  });
  if (!answer.success) {
    throw rejected('usage', '--for is turn, session or folder, --days 1 to 365, --input a JSON object.');
  }
  return answer.data;
}

function jsonOf(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw rejected('usage', `${option} is not JSON.`);
  }
}

function answerOf(parsed: Parsed): Answer {
  const json = parsed.text('answers');
  const message = parsed.text('message');
  const given = [parsed.flag('allow'), parsed.flag('deny'), json !== undefined, parsed.flag('cancel')];
  if (given.filter(Boolean).length !== 1) {
    throw rejected('usage', 'Give exactly one of --allow, --deny, --answers, --cancel.');
  }
  if (message !== undefined && !parsed.flag('deny')) throw rejected('usage', '--message goes with --deny.');
  if (parsed.flag('allow')) return allowance(parsed);
  for (const option of ['for', 'days', 'input'])
    if (parsed.text(option) !== undefined) throw rejected('usage', `--${option} goes with --allow.`);
  if (parsed.flag('no-end')) throw rejected('usage', '--no-end goes with --allow.');
  if (parsed.flag('deny')) return { kind: 'deny', ...(message === undefined ? {} : { message }) };
  if (json === undefined) return { kind: 'cancel' };
  const value = jsonOf(json, '--answers');
  const answers = answersSchema.safeParse(value);
  if (!answers.success) throw rejected('usage', '--answers is {"question id": ["label", ...]}.');
  if (Object.values(answers.data).every((labels) => labels.length === 0))
    throw rejected('usage', '--answers answers no question. Answer one at least, or give --cancel.');
  return { kind: 'answers', answers: answers.data };
}
