import { dialog, type BrowserWindow } from 'electron';
import type { View } from '../src/contract/view.ts';
import { words } from './words.ts';

export type QuitChoice = 'now' | 'after_turns' | 'stay';

/** What would be ended, by agent and binding: the words of a Turn are not ours to show in our own dialogue. */
export function openWork(view: View): string {
  const lines = view.turns.map((turn) => {
    const binding = view.bindings.find(({ name }) => name === turn.binding);
    const agent = binding?.harnesses.find(({ kind }) => kind === turn.harness)?.name ?? turn.harness;
    return words().dialog.agentIn(agent, turn.binding);
  });
  const shown = lines.length > 6 ? [...lines.slice(0, 5), words().dialog.more(lines.length - 5)] : lines;
  return shown.join('\n');
}

const detailOf = (view: View): string => `${openWork(view)}\n\n${words().dialog.stays}`;

let asking: Promise<QuitChoice> | null = null;

/** Asks before open work is ended. Nothing open: nothing to ask. Asked again while it asks: the same question. */
export function askQuit(view: View, parent: BrowserWindow | null): Promise<QuitChoice> {
  asking ??= ask(view, parent).finally(() => (asking = null));
  return asking;
}

async function ask(view: View, parent: BrowserWindow | null): Promise<QuitChoice> {
  const open = view.turns.length;
  if (open === 0) return 'now';
  const options = {
    type: 'none' as const,
    message: words().dialog.endNow(open),
    detail: detailOf(view),
    buttons: [words().dialog.endAndQuit(open), words().dialog.quitAfter, words().dialog.back],
    defaultId: 2,
    cancelId: 2,
    noLink: true,
  };
  const { response } = parent
    ? await dialog.showMessageBox(parent, options)
    : await dialog.showMessageBox(options);
  return response === 0 ? 'now' : response === 1 ? 'after_turns' : 'stay';
}

/** Asks before open Turns are ended without quitting. */
export async function askStopNow(view: View, parent: BrowserWindow | null): Promise<boolean> {
  const open = view.turns.length;
  if (open === 0) return true;
  const options = {
    type: 'none' as const,
    message: words().dialog.endNow(open),
    detail: detailOf(view),
    buttons: [words().dialog.end(open), words().dialog.back],
    defaultId: 1,
    cancelId: 1,
    noLink: true,
  };
  const { response } = parent
    ? await dialog.showMessageBox(parent, options)
    : await dialog.showMessageBox(options);
  return response === 0;
}

/** Cleanup that does not confirm: never a silent hang, and never a silent leave. */
export async function askLeaveUnconfirmed(
  blockers: readonly string[],
  parent: BrowserWindow | null,
): Promise<boolean> {
  const options = {
    type: 'none' as const,
    message: words().dialog.unproven,
    detail: `${blockers.slice(0, 5).join('\n')}\n\n${words().dialog.unprovenText}`,
    buttons: [words().dialog.wait, words().dialog.leave],
    defaultId: 0,
    cancelId: 0,
    noLink: true,
  };
  const { response } = parent
    ? await dialog.showMessageBox(parent, options)
    : await dialog.showMessageBox(options);
  return response === 1;
}
