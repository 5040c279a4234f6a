import type { InteractionView, View } from '../../src/contract/view.ts';
import type { HistoryEntry } from '../../src/contract/history.ts';
import type { Sent } from './prompt-guard.ts';

/**
 * Prompts that left the view, kept until the person has seen what became of them: an own answer for 4 s, anything
 * else until the window has had the focus for 10 s.
 */
export interface EndedPrompt {
  readonly interaction: InteractionView;
  /** Null until the snapshot that tells how it ended. */
  readonly entry: HistoryEntry | null;
  readonly sent: Sent | null;
  readonly endedAt: number;
  /** Since when the window has had the focus while this was on screen. */
  readonly seenSince: number | null;
}

export const ownStays = 4_000;
export const otherStays = 10_000;

const entryOf = (view: Pick<View, 'history'>, id: string): HistoryEntry | null =>
  view.history
    .filter((entry) => (entry.kind === 'permission' || entry.kind === 'user_choice') && entry.id === id)
    .at(-1) ?? null;

export interface NextEnded {
  readonly ended: readonly EndedPrompt[];
  readonly previous: Pick<View, 'interactions'> | null;
  readonly view: Pick<View, 'interactions' | 'history'>;
  readonly sentFor: (id: string) => Sent | null;
  readonly focused: boolean;
  readonly now: number;
}

/** Adds what left with this snapshot, fills in how earlier ones ended, and forgets what is open again. */
export function nextEnded({
  ended,
  previous,
  view,
  sentFor,
  focused,
  now,
}: NextEnded): readonly EndedPrompt[] {
  const open = new Set(view.interactions.map((interaction) => interaction.id));
  const kept = ended
    .filter((item) => !open.has(item.interaction.id))
    .map((item) => (item.entry === null ? { ...item, entry: entryOf(view, item.interaction.id) } : item));
  const left = (previous?.interactions ?? []).filter((interaction) => !open.has(interaction.id));
  return [
    ...kept,
    ...left.map((interaction) => ({
      interaction,
      entry: entryOf(view, interaction.id),
      sent: sentFor(interaction.id),
      endedAt: now,
      seenSince: focused ? now : null,
    })),
  ];
}

/** What the person did and the daemon confirmed as theirs. */
export const isOwn = (item: EndedPrompt): boolean =>
  item.sent?.won === true && item.entry?.decided_by === 'person';

/** When this one may leave, or null while the window has not been looked at. */
export const leavesAt = (item: EndedPrompt): number | null =>
  isOwn(item) ? item.endedAt + ownStays : item.seenSince === null ? null : item.seenSince + otherStays;

export const dropSeen = (ended: readonly EndedPrompt[], now: number): readonly EndedPrompt[] => {
  const kept = ended.filter((item) => (leavesAt(item) ?? Infinity) > now);
  return kept.length === ended.length ? ended : kept;
};

/** The window got the focus (or lost it): the time to look at what ended begins anew. */
export const withFocus = (
  ended: readonly EndedPrompt[],
  focused: boolean,
  now: number,
): readonly EndedPrompt[] =>
  ended.map((item) =>
    focused ? (item.seenSince === null ? { ...item, seenSince: now } : item) : { ...item, seenSince: null },
  );
