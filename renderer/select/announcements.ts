import { awaitingPerson } from '../../src/contract/awaiting.ts';
import type { View } from '../../src/contract/view.ts';
import { t } from '../i18n/t.ts';
import { said } from '../i18n/said.ts';
import { connectionLine } from './connection-line.ts';
import { bindingOf } from './prompt-queue.ts';
import { promptShape } from './prompt-shape.ts';
import { at } from './time-words.ts';
import { endedTurnLine } from './turn-line.ts';

/** What a screen reader hears when the snapshot changes: once, politely. `urgent` is for the two states that are not. */
export interface Announcement {
  readonly text: string;
  readonly urgent: boolean;
}

/** The only two states that interrupt. */
const urgentHealth: readonly string[] = ['credential_store_unavailable', 'disk_full'];

export function announcements(previous: View | null, view: View, now: number): readonly Announcement[] {
  if (previous === null) {
    return awaitingPerson(view).length === 0
      ? []
      : [{ text: t('live.open', { count: awaitingPerson(view).length }), urgent: false }];
  }
  const heard: Announcement[] = [];
  const say = (text: string, urgent = false): void => void heard.push({ text, urgent });

  for (const item of view.health) {
    if (
      item.severity !== 'info' &&
      urgentHealth.includes(item.code) &&
      !previous.health.some((old) => old.code === item.code)
    )
      say(said(item.text), true);
  }
  const known = new Set(previous.interactions.map((interaction) => interaction.id));
  const arrived = awaitingPerson(view).filter((interaction) => !known.has(interaction.id));
  const first = arrived[0];
  if (arrived.length === 1 && first !== undefined) {
    const shape = promptShape(first, bindingOf(view, first.binding));
    say(
      t('live.prompt', {
        binding: first.binding,
        kind: t(`live.kind.${shape.kind}`, { count: first.questions.length }),
        open: t('live.prompts_open', { count: awaitingPerson(view).length }),
      }),
    );
  } else if (arrived.length > 1)
    say(
      t('live.prompts', {
        new: arrived.length,
        open: t('live.prompts_open', { count: awaitingPerson(view).length }),
      }),
    );

  for (const binding of view.bindings) {
    const before = bindingOf(previous, binding.name);
    if (before === undefined || before.connection.state === binding.connection.state) continue;
    const context = { now, unconfirmed: view.cleanup.length };
    const line = connectionLine(binding, context);
    if (['serving', 'waiting', 'parked', 'stopped', 'suspended'].includes(binding.connection.state)) {
      say(
        t('live.connection', { binding: binding.name, state: line.state }),
        binding.connection.reason_code === 'credential_store_unavailable',
      );
    }
  }
  for (const turn of previous.turns) {
    if (view.turns.some((open) => open.run_id === turn.run_id)) continue;
    const entry = view.history.filter((old) => old.kind === 'turn' && old.run_id === turn.run_id).at(-1);
    if (entry) say(t('live.turn', { title: turn.title, state: endedTurnLine(entry).text }));
  }
  return heard;
}

/** Countdowns are silent but for these two moments, seconds before the end. */
const spoken = [60, 10] as const;

/** What is said between `before` and `now` (wall clock): prompts whose time runs out. */
export function countdownAnnouncements(view: View, before: number, now: number): readonly Announcement[] {
  return view.interactions.flatMap((interaction) => {
    if (interaction.expires_at === null) return [];
    const end = at(interaction.expires_at);
    const passed = spoken.find(
      (seconds) => before < end - seconds * 1_000 && now >= end - seconds * 1_000 && now < end,
    );
    return passed === undefined
      ? []
      : [{ text: t('live.countdown', { binding: interaction.binding, count: passed }), urgent: false }];
  });
}
