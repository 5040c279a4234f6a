import type { BindingView, InteractionView, View } from '../../src/contract/view.ts';
import { t } from '../i18n/t.ts';
import { promptShape, type PromptShape } from './prompt-shape.ts';
import { at, countedDown, counted } from './time-words.ts';

/** Prompts in the order they are answered in: oldest first, ties by id. New ones always come last. */
export const promptQueue = (view: Pick<View, 'interactions'>): readonly InteractionView[] =>
  [...view.interactions].sort((a, b) => at(a.since) - at(b.since) || (a.id < b.id ? -1 : 1));

export const bindingOf = (view: Pick<View, 'bindings'>, name: string): BindingView | undefined =>
  view.bindings.find((binding) => binding.name === name);

/** Display name of an agent, as the binding or else any other has it; its kind where none does. */
export const agentName = (
  view: Pick<View, 'bindings'>,
  binding: string | null,
  kind: string | null,
): string =>
  kind === null
    ? t('agent.unnamed')
    : (view.bindings
        .filter((known) => known.name === binding)
        .concat(view.bindings)
        .flatMap(({ harnesses }) => harnesses)
        .find((harness) => harness.kind === kind)?.name ?? kind);

/** How many prompts Home draws with their buttons; the ones after them open by Review. */
export const mostOpenCards = 3;

export interface QueueItem {
  readonly interaction: InteractionView;
  readonly shape: PromptShape;
  /** Drawn with its whole input and its buttons. */
  readonly open: boolean;
}

export function queueItems(view: Pick<View, 'interactions' | 'bindings'>): readonly QueueItem[] {
  let open = 0;
  return promptQueue(view).map((interaction) => {
    const shape = promptShape(interaction, bindingOf(view, interaction.binding));
    const room = !shape.folded && interaction.answerable && open < mostOpenCards;
    if (room) open += 1;
    return { interaction, shape, open: room };
  });
}

export interface Age {
  readonly text: string;
  readonly soon: boolean;
}

/** A deadline is called soon when less than this is left. */
const soonBelow = 5 * 60_000;

/** "4:12", or "expires in 4:28" where there is a deadline. */
export function promptAge(interaction: InteractionView, now: number): Age {
  if (interaction.expires_at === null) return { text: counted(now - at(interaction.since)), soon: false };
  const left = at(interaction.expires_at) - now;
  return { text: t('prompt.expires_in', { left: countedDown(left) }), soon: left < soonBelow };
}

/** Where one goes from `id`: the next older or newer prompt, or null at the end. */
export function neighbour(queue: readonly InteractionView[], id: string, step: 1 | -1): string | null {
  const index = queue.findIndex((interaction) => interaction.id === id);
  return index < 0 ? (queue[0]?.id ?? null) : (queue[index + step]?.id ?? null);
}

/** The prompt to go to once `id` is answered: the one after it, else the oldest left. */
export function afterAnswer(queue: readonly InteractionView[], id: string): string | null {
  return neighbour(queue, id, 1) ?? queue.find((interaction) => interaction.id !== id)?.id ?? null;
}
