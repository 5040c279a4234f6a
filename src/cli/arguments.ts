import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { LogLevel } from '../observe/logger.ts';
import { rejected } from '../observe/errors.ts';

/** Options every command takes. */
const common = {
  'state-dir': { type: 'string' },
  'log-level': { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type Options = NonNullable<ParseArgsConfig['options']>;

export interface Parsed {
  readonly positionals: readonly string[];
  readonly json: boolean;
  readonly help: boolean;
  readonly stateDir: string | undefined;
  readonly logLevel: LogLevel;
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
  flag(name: string): boolean;
}

const levels: readonly LogLevel[] = ['error', 'warn', 'info', 'debug'];

/**
 * Parses the arguments of one command.
 * @throws RuntimeError `usage`, which never repeats a value that was given.
 */
export function parseArguments(args: readonly string[], options: Options): Parsed {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      options: { ...common, ...options },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw rejected('usage', usageText(error));
  }
  const values: Readonly<Record<string, unknown>> = parsed.values;
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const level = text('log-level') ?? 'info';
  const logLevel = levels.find((known) => known === level);
  if (!logLevel) throw rejected('usage', `--log-level is one of ${levels.join(', ')}.`);
  return {
    positionals: parsed.positionals,
    json: values['json'] === true,
    help: values['help'] === true,
    stateDir: text('state-dir'),
    logLevel,
    text,
    texts: (name) => {
      const value = values[name];
      return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
    },
    flag: (name) => values[name] === true,
  };
}

/** Node's messages can quote a value; only the name of the option is repeated. */
function usageText(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const option = /'(-{1,2}[A-Za-z][\w-]*)/.exec(message)?.[1];
  if (option === undefined) return 'The arguments were not understood. See --help.';
  return /argument missing/.test(message)
    ? `${option} needs a value.`
    : `${option} was not understood. See --help.`;
}
