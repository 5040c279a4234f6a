import type { ParseArgsConfig } from 'node:util';
import { ControlClient } from './client.ts';
import type { Parsed } from './arguments.ts';
import type { ExitCode, Output } from './output.ts';
import type { StatePaths } from '../store/paths.ts';

export interface CommandContext {
  readonly parsed: Parsed;
  readonly paths: StatePaths;
  readonly output: Output;
}

/** One command of the terminal front end. */
export interface CliCommand {
  readonly help: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** How many words it takes at most beside its options; none where it does not say. */
  readonly words?: number;
  run(context: CommandContext): Promise<ExitCode>;
}

/** Runs `use` against the running Runtime and closes the connection whatever happens. */
export async function withRuntime<T>(
  context: CommandContext,
  use: (client: ControlClient) => Promise<T>,
): Promise<T> {
  const client = await ControlClient.connect(context.paths.control);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}
