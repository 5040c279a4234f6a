import { loadConfig } from '../app/config.ts';
import { doctorAlone } from '../app/doctor-alone.ts';
import { RuntimeError } from '../observe/errors.ts';
import { silentLogger } from '../observe/logger.ts';
import { withRuntime, type CliCommand } from './command.ts';
import { exitCodes } from './output.ts';

export const doctorCommand: CliCommand = {
  help: 'agent-runtime doctor [--json]\n\nA Runtime need not run. Exit code 1 when a check failed.',
  options: {},
  run: async (context) => {
    const checks = await withRuntime(
      context,
      async (client) => (await client.call('doctor.run', {})).checks,
    ).catch(async (error: unknown) => {
      if (!(error instanceof RuntimeError) || error.code !== 'not_running') throw error;
      return doctorAlone(context.paths, await loadConfig(context.paths.config, false), silentLogger);
    });
    context.output.document({ checks }, () =>
      checks
        .map(({ name, ok, level, text, next }) => {
          const remedy = next === null || next === text ? '' : `\n       ${next}`;
          return `${!ok ? ' no  ' : level === 'warn' ? ' look' : ' ok  '} ${name}: ${text}${remedy}`;
        })
        .join('\n'),
    );
    return checks.every((check) => check.ok) ? exitCodes.done : exitCodes.failed;
  },
};
