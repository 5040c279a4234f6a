import { resolve } from 'node:path';
import type { FrontEnd } from '../contract/commands.ts';
import type { View } from '../contract/view.ts';
import { rejected } from '../observe/errors.ts';
import { withRuntime, type CliCommand, type CommandContext } from './command.ts';
import { exitCodes, plain, type ExitCode } from './output.ts';
import { wholeInput } from './whole-input.ts';

const actions = new Set(['start', 'cancel', 'steer', 'list', 'show']);

export const turnCommand: CliCommand = {
  help: `agent-runtime turn start [--harness KIND] [--session ID] [--detach] TEXT
agent-runtime turn cancel ID
agent-runtime turn steer ID TEXT
agent-runtime turn list
agent-runtime turn show ID

ID is the Run id that start prints. start prints the output to its end; exit code 0 for completed, else 1.`,
  words: Infinity,
  options: { harness: { type: 'string' }, session: { type: 'string' }, detach: { type: 'boolean' } },
  run: (context) => {
    const [action, ...rest] = context.parsed.positionals;
    if (action === undefined || !actions.has(action)) {
      throw rejected('usage', 'turn knows start, cancel, steer, list and show.');
    }
    if (action === 'start' && rest.join(' ').trim() === '') {
      throw rejected('usage', 'Give the text: agent-runtime turn start TEXT');
    }
    const taken = { list: 0, cancel: 1, show: 1 }[action];
    if (taken !== undefined && rest.length > taken)
      throw rejected('usage', 'There is a word too many. See agent-runtime turn --help.');
    return withRuntime(context, async (client) => {
      switch (action) {
        case 'start':
          return start(context, client, rest.join(' '));
        case 'cancel':
          await client.call('turn.cancel', { run_id: idOf(rest[0]) });
          context.output.document({}, () => 'Asked to stop. `turn show` says when its end is proven.');
          return exitCodes.done;
        case 'steer': {
          const [id, ...words] = rest;
          const text = words.join(' ');
          if (text === '') throw rejected('usage', 'Give the text: agent-runtime turn steer ID TEXT');
          const { input_id } = await client.call('turn.steer', { run_id: idOf(id), text });
          context.output.document(
            { input_id },
            () => `Handed over as input ${input_id}. Not yet known whether it was taken.`,
          );
          return exitCodes.done;
        }
        case 'list': {
          const { turns } = await client.call('turn.list', {});
          context.output.document(turns, () =>
            turns.length === 0
              ? 'No Turns yet.'
              : turns
                  .map(
                    (turn) =>
                      `${turn.run_id}  ${turn.harness}  ${turn.outcome ?? turn.state}  ${turn.started_at}`,
                  )
                  .join('\n'),
          );
          return exitCodes.done;
        }
        case 'show': {
          const turn = await client.call('turn.show', { run_id: idOf(rest[0]) });
          context.output.document(turn, () =>
            [
              `${turn.run_id}  ${turn.harness}  ${turn.outcome ?? turn.state}`,
              ...(turn.detail === null ? [] : [`  ${turn.detail}`]),
              ...turn.evidence.map(
                (item) =>
                  `  ${item.at}  ${item.fact} (${item.by})${item.detail === null ? '' : `: ${item.detail}`}`,
              ),
              turn.text,
            ].join('\n'),
          );
          return exitCodes.done;
        }
        default:
          throw rejected('usage', 'turn knows start, cancel, steer, list and show.');
      }
    });
  },
};

function idOf(id: string | undefined): string {
  if (id === undefined || id === '') throw rejected('usage', 'Name the Run id.');
  return id;
}

async function start(context: CommandContext, client: FrontEnd, prompt: string): Promise<ExitCode> {
  const { parsed, output } = context;
  const harness = parsed.text('harness');
  const session = parsed.text('session');
  const begun = await client.call('turn.start', {
    prompt,
    ...(harness === undefined ? {} : { harness }),
    ...(session === undefined ? {} : { session_id: session }),
  });
  output.line(begun, parsed.flag('detach') ? `${begun.run_id}\n` : '');
  if (!output.json) output.message(`Run ${begun.run_id}`);
  if (parsed.flag('detach')) return exitCodes.done;
  const end = await followTurn(client, begun.run_id, {
    text: (text) => output.line({ delta: text }, plain(text)),
    view: (view) => announcePrompts(view, begun.run_id, parsed.stateDir, (text) => output.message(text)),
  });
  output.line({ outcome: end.outcome }, '\n');
  if (!output.json && end.outcome !== 'completed') output.message(endSentence(end));
  return end.outcome === 'completed' ? exitCodes.done : exitCodes.failed;
}

const announced = new Set<string>();

function announcePrompts(
  view: View,
  runId: string,
  stateDir: string | undefined,
  say: (text: string) => void,
): void {
  // As it can be typed in another terminal.
  const where = stateDir === undefined ? '' : ` --state-dir ${typed(resolve(stateDir))}`;
  for (const prompt of view.interactions) {
    if (prompt.run_id !== runId || announced.has(prompt.id)) continue;
    announced.add(prompt.id);
    say(
      `\nWaits for an answer: ${[prompt.title, ...wholeInput(prompt)].map(plain).join('\n  ')}\n  agent-runtime answer ${prompt.id}${where} ${prompt.kind === 'permission' ? '--allow | --deny' : "--answers '{...}' | --cancel"}`,
    );
  }
}

/** One word of a shell. */
function typed(path: string): string {
  return /^[\w./:@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

export interface TurnEnd {
  readonly outcome: string;
  /** For a person; empty where nobody gave one. */
  readonly reason: string;
}

/** What a person reads of a Turn that did not complete. */
export function endSentence({ outcome, reason }: TurnEnd): string {
  const known: Readonly<Record<string, string>> = {
    failed: 'The Turn failed',
    cancelled: 'The Turn was cancelled',
    unknown: 'The end of the Turn was not observed',
  };
  const what = known[outcome] ?? `The Turn is ${outcome}`;
  return reason === '' ? `${what}.` : `${what}: ${plain(reason)}`;
}

/** Reads the journal from a cursor as the view announces more, to the Turn's end. */
export async function followTurn(
  client: FrontEnd,
  runId: string,
  on: { text(text: string): void; view(view: View): void },
): Promise<TurnEnd> {
  let after = -1;
  const printed = new Map<string, number>();
  const print = (messageId: string | null, text: string, complete: boolean): void => {
    const id = messageId ?? '';
    const seen = printed.get(id) ?? 0;
    if (seen === 0 && printed.size > 0 && text !== '' && !printed.has(id)) on.text('\n\n');
    const fresh = complete ? text.slice(seen) : text;
    printed.set(id, complete ? Math.max(seen, text.length) : seen + text.length);
    if (fresh !== '') on.text(fresh);
  };
  const drain = async (): Promise<TurnEnd | null> => {
    for (;;) {
      const page = await client.call('turn.read', { run_id: runId, after, limit: 500 });
      for (const entry of page.entries) {
        after = entry.n;
        if (entry.kind === 'text') print(entry.message_id, entry.text, false);
        if (entry.kind === 'message') print(entry.message_id, entry.text, true);
        if (entry.kind === 'end') return { outcome: entry.outcome, reason: entry.text };
      }
      if (after + 1 >= page.total) return null;
    }
  };
  return new Promise((resolve, reject) => {
    let busy: Promise<void> = Promise.resolve();
    let over = false;
    const unsubscribe = client.onView((view) => {
      busy = busy
        .then(async () => {
          if (over) return;
          // What was said before a prompt is read before it.
          const end = await drain().catch((error: unknown) => {
            // A Turn that was only just accepted has no journal yet.
            if (isNotFound(error) && after === -1) return null;
            throw error;
          });
          if (end !== null) {
            over = true;
            unsubscribe();
            resolve(end);
            return;
          }
          on.view(view);
          const past = view.history.find((entry) => entry.kind === 'turn' && entry.id === runId);
          if (past && after === -1) {
            over = true;
            unsubscribe();
            resolve({ outcome: past.outcome, reason: past.detail ?? '' });
          }
        })
        .catch((error: unknown) => {
          over = true;
          unsubscribe();
          reject(error instanceof Error ? error : new Error(String(error)));
        });
    });
  });
}

const isNotFound = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'not_found';
