import { expect, test } from 'vitest';
import { followTurn } from '../../../src/cli/turn.ts';
import type { FrontEnd } from '../../../src/contract/commands.ts';
import type { View } from '../../../src/contract/view.ts';

test('what the agent said before a prompt is on the screen before the prompt', async () => {
  const pages = [
    [{ n: 0, kind: 'text', message_id: null, text: 'First, ' }],
    [
      { n: 1, kind: 'text', message_id: null, text: 'a question.' },
      { n: 2, kind: 'prompt', interaction_id: 'i', title: 'Answer a question' },
    ],
    [{ n: 3, kind: 'end', outcome: 'failed', text: 'It broke.' }],
  ];
  let publish: (view: View) => void = () => undefined;
  const read = (): Promise<unknown> => {
    const entries = pages.shift() ?? [];
    return Promise.resolve({ entries, total: (entries.at(-1)?.n ?? 2) + 1 });
  };
  const client = {
    call: read as FrontEnd['call'],
    onView: (listener: (view: View) => void) => {
      publish = listener;
      return () => undefined;
    },
  };
  const seen: string[] = [];
  const end = followTurn(client, 'run', {
    text: (text) => void seen.push(text),
    view: (view) => void seen.push(`view ${view.revision}`),
  });
  for (const revision of [1, 2, 3]) publish({ revision, history: [] as View['history'] } as View);
  expect(await end).toEqual({ outcome: 'failed', reason: 'It broke.' });
  expect(seen).toEqual(['First, ', 'view 1', 'a question.', 'view 2']);
});
