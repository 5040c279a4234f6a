import { defaultConfig, loadConfig } from '../app/config.ts';
import type { CommandAnswer } from '../contract/commands.ts';
import type { StatePaths } from '../store/paths.ts';
import { doctorAlone } from '../app/doctor-alone.ts';
import { RuntimeError } from '../observe/errors.ts';
import { silentLogger } from '../observe/logger.ts';
import { withRuntime, type CliCommand } from './command.ts';
import { exitCodes } from './output.ts';

type Checks = CommandAnswer<'doctor.run'>['checks'];

export const doctorCommand: CliCommand = {
  help: 'agent-runtime doctor [--json]\n\nA Runtime need not run. Exit code 1 when a check failed.',
  options: {},
  run: async (context) => {
    const checks = await withRuntime(
      context,
      async (client) => (await client.call('doctor.run', {})).checks,
    ).catch(async (error: unknown) => {
      if (!(error instanceof RuntimeError) || error.code !== 'not_running') throw error;
      return alone(context.paths);
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

/** A configuration that cannot be used is one thing that is wrong; the rest is looked at without it. */
async function alone(paths: StatePaths): Promise<Checks> {
  let problem: string | null = null;
  const config = await loadConfig(paths.config, false).catch((error: unknown) => {
    if (!(error instanceof RuntimeError)) throw error;
    problem = error.message;
    return defaultConfig;
  });
  const checks = await doctorAlone(paths, config, silentLogger);
  return problem === null
    ? checks
    : [{ name: 'Configuration', ok: false, text: problem, next: null }, ...checks];
}
