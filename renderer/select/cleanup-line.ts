import type { CleanupView } from '../../src/contract/view.ts';
import { t } from '../i18n/t.ts';
import { said } from '../i18n/said.ts';
import { mark, type Mark } from './mark.ts';

/** What did not settle: what is left, by whom, how often tried, what it may still do. */
export interface CleanupLine {
  readonly mark: Mark;
  readonly label: string;
  readonly title: string;
  readonly text: string;
  /** An end is being tried right now. */
  readonly busy: boolean;
}

/** `Turn “title”` is the daemon's form for a Turn; anything else names a process or a binding. */
const ownerWords = (owner: string): string => {
  const title = /^Turn “([^]*)”$/.exec(owner)?.[1];
  return title === undefined ? said(owner) : t('cleanup.owner.turn', { title });
};

/** Reasons come as parts of a sentence: here each stands alone. */
function ended(reason: string): string {
  const text = reason.trim();
  if (text === '') return '';
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

export function cleanupLine(item: CleanupView): CleanupLine {
  const busy = item.state !== 'unconfirmed';
  return {
    mark: mark('dash'),
    label: t('cleanup.label'),
    title: t(`cleanup.title.${item.kind}`),
    text: [
      t('cleanup.left_by', { owner: ownerWords(item.owner) }),
      item.attempts > 0 ? t('cleanup.attempts', { count: item.attempts }) : null,
      ended(said(item.reason)),
      item.kind === 'process' || item.kind === 'executor' ? t('cleanup.may') : null,
    ]
      .filter((part) => part !== null && part !== '')
      .join(' '),
    busy,
  };
}
