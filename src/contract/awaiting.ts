import type { InteractionView, View } from './view.ts';

/** The prompts that the person at the machine can answer. One that Core alone answers is shown, and asks nobody here. */
export const awaitingPerson = (view: Pick<View, 'interactions'>): readonly InteractionView[] =>
  view.interactions.filter(({ answerable }) => answerable);
