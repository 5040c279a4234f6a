import type { CleanupView } from '../../src/contract/view.ts';
import { t } from '../i18n/t.ts';
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

export function cleanupLine(item: CleanupView): CleanupLine {
  const busy = item.state !== 'unconfirmed';
  return {
    mark: mark('dash'),
    label: t('cleanup.label'),
    title: t(`cleanup.title.${item.kind}`),
    text: [
      t('cleanup.left_by', { owner: item.owner }),
      item.attempts > 0 ? t('cleanup.attempts', { count: item.attempts }) : null,
      item.reason,
      item.kind === 'process' || item.kind === 'executor' ? t('cleanup.may') : null,
    ]
      .filter((part) => part !== null && part !== '')
      .join(' '),
    busy,
  };
}
