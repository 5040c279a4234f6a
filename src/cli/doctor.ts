import { withRuntime, type CliCommand } from './command.ts';
import { exitCodes } from './output.ts';

export const doctorCommand: CliCommand = {
  summary: 'what is installed, signed in, reachable and writable',
  help: 'agent-runtime doctor [--json]\n\nExit code 1 when a check failed.',
  options: {},
  run: (context) =>
    withRuntime(context, async (client) => {
      const { checks } = await client.call('doctor.run', {});
      context.output.document({ checks }, () =>
        checks
          .map(({ name, ok, text, next }) => {
            const remedy = next === null || next === text ? '' : `\n       ${next}`;
            return `${ok ? ' ok  ' : ' no  '} ${name}: ${text}${remedy}`;
          })
          .join('\n'),
      );
      return checks.every((check) => check.ok) ? exitCodes.done : exitCodes.failed;
    }),
};
