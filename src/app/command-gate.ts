import type { CommandAnswer, CommandInput, CommandName, CommandResult } from '../contract/commands.ts';
import { RuntimeError, asError } from '../observe/errors.ts';
import type { Logger } from '../observe/logger.ts';

export type CommandHandlers = { [N in CommandName]: (input: CommandInput<N>) => Promise<CommandAnswer<N>> };

/**
 * The one gate every front end's command passes, whatever pipe it came through: known name, valid request, valid
 * answer. A failure crosses as a code and a sentence, never as a stack. The table is read at the first command: a
 * Runtime that nobody looks at does without.
 */
export async function runCommand(
  handlers: CommandHandlers,
  name: string,
  request: unknown,
  logger: Logger,
): Promise<CommandResult> {
  const { commands, isCommandName } = await import('../contract/commands.ts');
  if (!isCommandName(name)) return refuse('usage', 'There is no such command.');
  const parsed = commands[name].request.safeParse(request ?? {});
  if (!parsed.success) return refuse('usage', `The command ${name} was not understood.`);
  try {
    const answer = await call(handlers, name, parsed.data);
    return { ok: true, answer: commands[name].answer.parse(answer) };
  } catch (error) {
    if (error instanceof RuntimeError) return refuse(error.code, error.message);
    logger.error('command.failed', { name, error: asError(error).name });
    return refuse(
      'fault',
      'Something went wrong inside the app. The log has the time and the name of the fault.',
    );
  }
}

/** The table binds each name to its own input; TypeScript cannot follow that through a union of names. */
async function call<N extends CommandName>(
  handlers: CommandHandlers,
  name: N,
  input: unknown,
): Promise<unknown> {
  const handler = handlers[name] as (input: unknown) => Promise<unknown>;
  return handler(input);
}

const refuse = (code: string, message: string): CommandResult => ({ ok: false, error: { code, message } });
