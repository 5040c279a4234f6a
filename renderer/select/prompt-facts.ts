import type { InteractionView } from '../../src/contract/view.ts';
import { t } from '../i18n/t.ts';
import { showHidden } from './code-text.ts';
import type { FolderFact, PromptShape } from './prompt-shape.ts';
import { at, clockTime, countedDown } from './time-words.ts';

/** What was measured about a prompt, as label and value. What was not measured is left out, never guessed. */
export interface Fact {
  readonly label: string;
  readonly text: string;
  readonly risk: boolean;
}

const fact = (label: string, text: string, risk = false): Fact => ({ label, text, risk });

export function folderText(folder: FolderFact): string {
  const path = showHidden(folder.path);
  switch (folder.place) {
    case 'bound':
      return t('fact.folder.bound', { name: folder.bound ?? path });
    case 'inside':
      return t('fact.folder.inside', { path, name: folder.bound ?? '' });
    case 'outside':
      return t('fact.folder.outside', { path });
    case 'unknown':
      return path;
  }
}

export function deadlineText(interaction: InteractionView, now: number): string {
  if (interaction.expires_at === null) return t('fact.deadline.none');
  const end = at(interaction.expires_at);
  return t('fact.deadline.at', { left: countedDown(end - now), at: clockTime(end) });
}

/** The facts of the prompt screen. */
export function promptFacts(interaction: InteractionView, shape: PromptShape, now: number): readonly Fact[] {
  const facts: Fact[] = [];
  switch (shape.kind) {
    case 'command':
      if (shape.folder !== null)
        facts.push(fact(t('fact.folder'), folderText(shape.folder), shape.folder.place === 'outside'));
      facts.push(fact(t('fact.runs_as'), t('fact.runs_as.you')));
      break;
    case 'tool':
      if (shape.server !== null) facts.push(fact(t('fact.server'), showHidden(shape.server)));
      break;
    case 'network':
      if (shape.protocol !== null) facts.push(fact(t('fact.protocol'), showHidden(shape.protocol)));
      facts.push(
        shape.host.foreign.length === 0
          ? fact(t('fact.lookalike'), t('fact.lookalike.none'))
          : fact(
              t('fact.lookalike'),
              t('fact.lookalike.some', { letters: shape.host.foreign.join(', ') }),
              true,
            ),
      );
      break;
    case 'file_change':
    case 'question':
    case 'unshowable':
      break;
  }
  if (shape.kind === 'command' && interaction.rule === null && interaction.answerable)
    facts.push(fact(t('fact.rules'), t('fact.rules.none.command')));
  if (shape.kind !== 'question') facts.push(fact(t('fact.deadline'), deadlineText(interaction, now)));
  return facts;
}

/** The short facts below a card on Home. */
export function cardFacts(interaction: InteractionView, shape: PromptShape, now: number): readonly Fact[] {
  const deadline =
    interaction.expires_at === null ? t('fact.deadline.card_none') : deadlineText(interaction, now);
  const facts = [fact(t('fact.deadline'), deadline)];
  if (shape.kind === 'command' && shape.folder !== null) {
    const { folder } = shape;
    const name = folder.place === 'bound' ? (folder.bound ?? folder.path) : showHidden(folder.path);
    facts.unshift(fact(t('fact.folder'), name));
  }
  if (shape.kind === 'network') {
    facts.unshift(fact(t('fact.lookalike'), t('fact.lookalike.none')));
    if (shape.protocol !== null) facts.unshift(fact(t('fact.protocol'), showHidden(shape.protocol)));
  }
  return facts;
}
