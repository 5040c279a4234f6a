import { rejected } from '../observe/errors.ts';
import { withRuntime, type CliCommand } from './command.ts';
import { exitCodes } from './output.ts';

export const rulesCommand: CliCommand = {
  help: `agent-runtime rules [--json]
agent-runtime rules remove ID
agent-runtime rules remove all     you are asked each time again

A rule allows one exact request of one agent in one folder. It is made with an answer: answer ID --allow --for folder.`,
  words: 2,
  options: {},
  run: (context) => {
    const [action, id, ...more] = context.parsed.positionals;
    return withRuntime(context, async (client) => {
      if (action === undefined) {
        const { rules } = await client.call('view.get', {});
        context.output.document(rules, () =>
          rules.length === 0
            ? 'No rules. You are asked each time.'
            : rules
                .map((rule) => {
                  const end = rule.expires_at === null ? 'no end' : `ends ${rule.expires_at.slice(0, 10)}`;
                  const held = rule.scope === 'folder' ? '' : `, one ${rule.scope}`;
                  const where = `${rule.harness} in ${rule.folder ?? rule.binding}${held}`;
                  const covers = `${rule.tool}: ${rule.match}  (${where}`;
                  return `${rule.id}  ${covers}, used ${rule.used}, ${end})`;
                })
                .join('\n'),
        );
        return exitCodes.done;
      }
      if (action !== 'remove' || id === undefined || more.length > 0) {
        throw rejected('usage', 'Name the rule: agent-runtime rules remove ID, or all.');
      }
      if (id === 'all') {
        const { removed } = await client.call('rule.remove_all', {});
        context.output.document({ removed }, () => `${removed} removed. You are asked each time.`);
        return exitCodes.done;
      }
      await client.call('rule.remove', { id });
      context.output.document({}, () => 'Removed. You are asked again.');
      return exitCodes.done;
    });
  },
};
