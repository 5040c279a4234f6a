import type { HistoryEntry } from '../../src/contract/history.ts';
import { t } from '../i18n/t.ts';
import { said } from '../i18n/said.ts';
import { showHidden } from './code-text.ts';
import { mark, type Mark } from './mark.ts';
import { at, dayName } from './time-words.ts';
import { endedTurnLine, failureOf } from './turn-line.ts';

/** One line of history: what ended how, and by whose word. */
export interface HistoryRow {
  readonly key: string;
  readonly entry: HistoryEntry;
  readonly mark: Mark;
  readonly text: string;
  readonly by: string;
  /** What else is known of it, in the language of the window. */
  readonly detail: string | null;
}
export type HistoryFilter = 'all' | 'turns' | 'decisions';

export function historyRow(entry: HistoryEntry): HistoryRow {
  const key = `${entry.kind}:${entry.id}:${entry.at}`;
  const ours = entry.kind === 'user_choice' || entry.kind === 'cleanup';
  const title = showHidden(ours ? said(entry.title) : entry.title);
  const detail = detailOf(entry);
  if (entry.kind === 'turn') {
    const line = endedTurnLine(entry);
    return {
      key,
      entry,
      mark: line.mark,
      text: t(`history.turn.${turnWord(entry.outcome)}`, { title }),
      by: by(entry),
      detail,
    };
  }
  return { key, entry, ...decision(entry, title), by: by(entry), detail };
}

function detailOf({ kind, outcome, detail }: HistoryEntry): string | null {
  if (detail === null) return null;
  return kind === 'turn' && outcome === 'failed' ? failureOf(detail).text : said(detail);
}

const turnWord = (outcome: HistoryEntry['outcome']): 'completed' | 'cancelled' | 'failed' | 'unknown' =>
  outcome === 'completed' || outcome === 'cancelled' || outcome === 'failed' ? outcome : 'unknown';

function decision(entry: HistoryEntry, title: string): { mark: Mark; text: string } {
  switch (entry.outcome) {
    case 'allowed':
      return { mark: mark('tick', 'ok'), text: t('history.allowed', { title }) };
    case 'answered':
      return { mark: mark('tick', 'ok'), text: t('history.answered', { title }) };
    case 'denied':
      return { mark: mark('xx', 'bad'), text: t('history.denied', { title }) };
    case 'withdrawn':
      return { mark: mark('minus'), text: t('history.withdrawn', { title }) };
    case 'expired':
      return { mark: mark('hour'), text: t('history.expired', { title }) };
    case 'cancelled':
      return { mark: mark('minus'), text: t('history.declined', { title }) };
    case 'confirmed':
      return { mark: mark('tick', 'ok'), text: t('history.confirmed', { title }) };
    case 'saved':
      return { mark: mark('tick', 'ok'), text: t('history.rule.saved', { title }) };
    case 'removed':
      return { mark: mark('minus'), text: t('history.rule.removed', { title }) };
    case 'forced':
      return { mark: mark('dash'), text: t('history.forced', { title }) };
    default:
      return { mark: mark('dash'), text: t('history.unknown', { title }) };
  }
}

function by(entry: HistoryEntry): string {
  switch (entry.decided_by) {
    case 'person':
      return t('history.by.person');
    case 'core':
      return t('history.by.core');
    case 'rule':
      return t('history.by.rule');
    case 'policy':
      return t('history.by.policy');
    case 'harness':
      return t('history.by.harness');
    case null:
      return entry.outcome === 'expired' ? t('history.by.nobody') : '';
  }
}

export interface HistoryDay {
  readonly name: string;
  readonly rows: readonly HistoryRow[];
}

export interface HistoryQuery {
  readonly filter: HistoryFilter;
  readonly search: string;
  readonly now: number;
  /** At most this many rows, the most recent ones. */
  readonly most: number;
}

export interface HistoryPage {
  readonly days: readonly HistoryDay[];
  readonly shown: number;
  readonly found: number;
}

const wanted = (entry: HistoryEntry, filter: HistoryFilter): boolean =>
  filter === 'all' ||
  (filter === 'turns' ? entry.kind === 'turn' : entry.kind === 'permission' || entry.kind === 'user_choice');

/** Most recent first, by day. The search looks into everything a row shows. */
export function historyDays(
  history: readonly HistoryEntry[],
  { filter, search, now, most }: HistoryQuery,
): HistoryPage {
  const needle = search.trim().toLowerCase();
  const rows = history
    .filter((entry) => wanted(entry, filter))
    .map(historyRow)
    .filter(
      (row) =>
        needle === '' ||
        [row.text, row.by, row.entry.binding, row.detail, row.entry.harness].some((text) =>
          text?.toLowerCase().includes(needle),
        ),
    )
    .sort((a, b) => at(b.entry.at) - at(a.entry.at));
  const days: { name: string; rows: HistoryRow[] }[] = [];
  for (const row of rows.slice(0, most)) {
    const name = dayName(at(row.entry.at), now);
    const last = days.at(-1);
    if (last?.name === name) last.rows.push(row);
    else days.push({ name, rows: [row] });
  }
  return { days, shown: Math.min(most, rows.length), found: rows.length };
}
