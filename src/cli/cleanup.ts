import { rejected } from '../observe/errors.ts';
import { withRuntime, type CliCommand } from './command.ts';
import { exitCodes } from './output.ts';

export const cleanupCommand: CliCommand = {
  help: `agent-runtime cleanup [--json]
agent-runtime cleanup retry ID
agent-runtime cleanup force ID     ends it as far as possible and records that its end was not proven`,
  words: 2,
  options: {},
  run: (context) => {
    const [action, id] = context.parsed.positionals;
    return withRuntime(context, async (client) => {
      if (action === undefined) {
        const { cleanup } = await client.call('view.get', {});
        context.output.document(cleanup, () =>
          cleanup.length === 0
            ? 'Nothing is left to clean up.'
            : cleanup
                .map(
                  (item) =>
                    `${item.id}  ${item.kind}  ${item.owner}, since ${item.since}  ${item.state}: ${item.reason}`,
                )
                .join('\n'),
        );
        return exitCodes.done;
      }
      if (id === undefined) throw rejected('usage', 'Name the id: agent-runtime cleanup retry ID');
      switch (action) {
        case 'retry': {
          const { confirmed } = await client.call('cleanup.retry', { id });
          context.output.document({ confirmed }, () =>
            confirmed ? 'Gone. Confirmed.' : 'Still not confirmed.',
          );
          return confirmed ? exitCodes.done : exitCodes.unconfirmed;
        }
        case 'force':
          await client.call('cleanup.force', { id });
          context.output.document({}, () => 'Recorded as gone. Its end was not proven.');
          return exitCodes.done;
        default:
          throw rejected('usage', 'cleanup knows retry and force.');
      }
    });
  },
};
