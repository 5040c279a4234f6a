import { z } from 'zod';
import type { Answer } from '../contract/commands.ts';
import { rejected } from '../observe/errors.ts';
import type { Parsed } from './arguments.ts';
import { withRuntime, type CliCommand } from './command.ts';
import { exitCodes } from './output.ts';

const answersSchema = z.record(z.string(), z.array(z.string()));

export const answerCommand: CliCommand = {
  summary: 'answer a pending permission or question',
  help: `agent-runtime answer ID --allow | --deny [--message TEXT] | --answers JSON | --cancel

ID is the id of the interaction in the view. JSON is {"question id": ["label", ...]}.`,
  options: {
    allow: { type: 'boolean' },
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

function answerOf(parsed: Parsed): Answer {
  const json = parsed.text('answers');
  const message = parsed.text('message');
  const given = [parsed.flag('allow'), parsed.flag('deny'), json !== undefined, parsed.flag('cancel')];
  if (given.filter(Boolean).length !== 1) {
    throw rejected('usage', 'Give exactly one of --allow, --deny, --answers, --cancel.');
  }
  if (message !== undefined && !parsed.flag('deny')) throw rejected('usage', '--message goes with --deny.');
  if (parsed.flag('allow')) return { kind: 'allow', scope: 'once' };
  if (parsed.flag('deny')) return { kind: 'deny', ...(message === undefined ? {} : { message }) };
  if (json === undefined) return { kind: 'cancel' };
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw rejected('usage', '--answers is not JSON.');
  }
  const answers = answersSchema.safeParse(value);
  if (!answers.success) throw rejected('usage', '--answers is {"question id": ["label", ...]}.');
  return { kind: 'answers', answers: answers.data };
}
