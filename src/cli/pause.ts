import { withRuntime, type CliCommand } from './command.ts';
import { exitCodes } from './output.ts';

export const pauseCommand: CliCommand = {
  help: 'agent-runtime pause',
  options: {},
  run: (context) =>
    withRuntime(context, async (client) => {
      await client.call('runtime.pause', {});
      context.output.document({}, () => 'Paused. Takes no new work.');
      return exitCodes.done;
    }),
};

export const resumeCommand: CliCommand = {
  help: 'agent-runtime resume',
  options: {},
  run: (context) =>
    withRuntime(context, async (client) => {
      await client.call('runtime.resume', {});
      context.output.document({}, () => 'Running.');
      return exitCodes.done;
    }),
};
