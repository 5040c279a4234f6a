import { withEnrolments } from '../app/enrol-alone.ts';
import { rejected } from '../observe/errors.ts';
import type { Parsed } from './arguments.ts';
import { ControlClient } from './client.ts';
import type { CliCommand, CommandContext } from './command.ts';
import { credentialText } from './enroll.ts';
import { exitCodes } from './output.ts';

export const unenrollCommand: CliCommand = {
  help: `agent-runtime unenroll NAME [--leave-credential]

  --leave-credential   also where the credential store does not answer; its entry then stays there

Core keeps the key of the Environment: binding it again takes a rotated key from whoever runs that Core.`,
  words: 1,
  options: { 'leave-credential': { type: 'boolean' } },
  run: async (context) => {
    const name = nameOf(context.parsed);
    const leave = context.parsed.flag('leave-credential');
    await withBindings(context, {
      running: async (client) =>
        void (await client.call('binding.remove', { binding: name, leave_credential: leave })),
      alone: (desk) => desk.remove(name, leave),
    });
    context.output.document(
      { binding: name, removed: true },
      () => `Removed ${name} with its rules. Its folder and its history stay.`,
    );
    return exitCodes.done;
  },
};

export const rotateCommand: CliCommand = {
  help: `agent-runtime rotate NAME --credential-file FILE

  --credential-file FILE   as it was issued by rotating the key of this binding; - for standard input

The device, the folder and the history stay. The connection is made anew, which ends open Turns.`,
  words: 1,
  options: { 'credential-file': { type: 'string' } },
  run: async (context) => {
    const name = nameOf(context.parsed);
    const file = context.parsed.text('credential-file');
    if (file === undefined) throw rejected('usage', '--credential-file FILE is needed.');
    const credential = await credentialText(file);
    await withBindings(context, {
      running: async (client) => void (await client.call('binding.rotate', { binding: name, credential })),
      alone: (desk) => desk.rotate(name, credential),
    });
    context.output.document(
      { binding: name, rotated: true },
      () => `The credential of ${name} was replaced.`,
    );
    return exitCodes.done;
  },
};

function nameOf(parsed: Parsed): string {
  const [name, more] = parsed.positionals;
  if (name === undefined || more !== undefined)
    throw rejected('usage', 'Name one binding. agent-runtime status lists them.');
  return name;
}

async function withBindings(
  { paths, parsed }: CommandContext,
  act: {
    running(client: ControlClient): Promise<void>;
    alone(desk: Parameters<Parameters<typeof withEnrolments>[1]>[0]): Promise<void>;
  },
): Promise<void> {
  const client = await ControlClient.connect(paths.control).catch(() => null);
  if (!client) {
    await withEnrolments({ paths, version: AGENT_RUNTIME_VERSION, logLevel: parsed.logLevel }, (desk) =>
      act.alone(desk),
    );
    return;
  }
  try {
    await act.running(client);
  } finally {
    client.close();
  }
}
