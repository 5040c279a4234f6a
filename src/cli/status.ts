import type { View } from '../contract/view.ts';
import { withRuntime, type CliCommand } from './command.ts';
import { exitCodes, jsonText } from './output.ts';

export const viewCommand: CliCommand = {
  help: 'agent-runtime view [--json]\n\nPrints the whole view of the running Runtime as JSON.',
  options: {},
  run: (context) =>
    withRuntime(context, async (client) => {
      const view = await client.call('view.get', {});
      context.output.document(view, () => jsonText(view, 2));
      return exitCodes.done;
    }),
};

export const statusCommand: CliCommand = {
  help: 'agent-runtime status [--json]\n\nState, bindings, and how much is open.',
  options: {},
  run: (context) =>
    withRuntime(context, async (client) => {
      const view = await client.call('view.get', {});
      const { runtime, bindings, turns, interactions, cleanup, transfers, history, rules, health } = view;
      const counts = {
        turns: turns.length,
        interactions: interactions.length,
        cleanup: cleanup.length,
        transfers: transfers.length,
        history: history.length,
        rules: rules.length,
        health: health.length,
      };
      context.output.document({ runtime, bindings, ...counts }, () => describe(view));
      return exitCodes.done;
    }),
};

function describe(view: View): string {
  const lines = [
    `Runtime ${view.runtime.state}, version ${view.runtime.version}, since ${view.runtime.started_at}`,
  ];
  for (const { name, connection, harnesses } of view.bindings) {
    const reason = connection.reason === null ? '' : `  ${connection.reason}`;
    lines.push(`${name}: ${connection.state}${reason}`);
    for (const harness of harnesses) {
      const why = harness.reason === null ? '' : `  ${harness.reason}`;
      lines.push(`  ${harness.name} ${readiness(view, harness.available)}${why}`);
    }
  }
  lines.push(
    `${counted(view.turns.length, 'open Turn')}, ${counted(view.interactions.length, 'prompt')}, ${view.cleanup.length} not settled`,
  );
  for (const prompt of view.interactions) lines.push(`  ${prompt.id}  ${prompt.title}`);
  for (const item of view.health) lines.push(`${item.severity}: ${item.text} ${item.next}`);
  return lines.join('\n');
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function readiness({ runtime }: View, available: boolean): string {
  if (available) return 'ready';
  return runtime.state === 'paused' ? 'paused' : 'not available';
}
