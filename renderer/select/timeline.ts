import type { Evidence, TurnView } from '../../src/contract/view.ts';
import { t, type TextKey } from '../i18n/t.ts';
import { said } from '../i18n/said.ts';
import { mark, type Mark } from './mark.ts';
import { quietAfter } from './turn-line.ts';
import { at, clockSeconds, span } from './time-words.ts';

/** One fact of a Turn, with a time to the second and whose word it is. */
export interface TimelineRow {
  readonly key: string;
  readonly mark: Mark;
  /** The mark in words. */
  readonly seen: string;
  readonly title: string;
  readonly time: string | null;
  readonly small: string;
  /** The line to the next row is solid only between observed facts. */
  readonly solid: boolean;
  readonly faint: boolean;
}

export interface TimelineInput {
  readonly evidence: readonly Evidence[];
  /** Null for an ended Turn. */
  readonly open: Pick<TurnView, 'state' | 'phase' | 'last_output_at'> | null;
  readonly outcome: 'completed' | 'failed' | 'cancelled' | 'unknown' | null;
  readonly prompts: number;
  readonly now: number;
}

const titles: Record<Evidence['fact'], TextKey> = {
  prepared: 'fact.prepared',
  started: 'fact.started',
  input_written: 'fact.input_written',
  input_accepted: 'fact.input_accepted',
  decision_applied: 'fact.decision_applied',
  cancel_requested: 'fact.cancel_requested',
  settled: 'fact.settled',
  done_sent: 'fact.done_sent',
  unobserved: 'fact.unobserved',
  not_enforced: 'fact.not_enforced',
};
const words: Record<Evidence['fact'], TextKey> = {
  prepared: 'fact.prepared.words',
  started: 'fact.started.words',
  input_written: 'fact.input_written.words',
  input_accepted: 'fact.input_accepted.words',
  decision_applied: 'fact.decision_applied.words',
  cancel_requested: 'fact.cancel_requested.words',
  settled: 'fact.settled.words',
  done_sent: 'fact.done_sent.words',
  unobserved: 'fact.unobserved.words',
  not_enforced: 'fact.not_enforced.words',
};
const speakers: Record<Evidence['by'], TextKey> = {
  runtime: 'by.runtime',
  harness: 'by.harness',
  core: 'by.core',
  person: 'by.person',
};

const observedWords = (evidence: Evidence): string => {
  const what = t(words[evidence.fact], { who: t(speakers[evidence.by]) });
  return evidence.detail === null ? what : t('fact.of', { said: what, detail: said(evidence.detail) });
};

function observed(evidence: Evidence, index: number): TimelineRow {
  const maybe = evidence.fact === 'unobserved' || evidence.fact === 'not_enforced';
  return {
    key: `${index}:${evidence.fact}`,
    mark: maybe ? mark('dash') : mark('on', 'ok'),
    seen: maybe ? t('seen.maybe') : t('seen.observed'),
    title: t(titles[evidence.fact]),
    time: clockSeconds(at(evidence.at)),
    small: observedWords(evidence),
    solid: !maybe,
    faint: false,
  };
}

const notYet = (key: string, title: string, small: string): TimelineRow => ({
  key,
  mark: mark('ring'),
  seen: t('seen.not_yet'),
  title,
  time: null,
  small,
  solid: false,
  faint: true,
});

/** Observed facts in the order of their times, then what goes on, then what is not yet observed. */
export function timeline(input: TimelineInput): readonly TimelineRow[] {
  const facts = [...input.evidence].sort((a, b) => at(a.at) - at(b.at));
  const rows = facts.map(observed);
  const has = (fact: Evidence['fact']): boolean => facts.some((evidence) => evidence.fact === fact);
  if (input.open === null) {
    if (input.outcome !== null && !has('done_sent')) {
      rows.push(
        input.outcome === 'unknown'
          ? {
              ...notYet('ended', t('fact.ended'), t('fact.ended.unknown')),
              mark: mark('dash'),
              seen: t('seen.maybe'),
            }
          : {
              ...notYet('ended', t('fact.ended'), t('fact.ended.words')),
              mark: mark('on', 'ok'),
              seen: t('seen.observed'),
              faint: false,
            },
      );
    }
    return close(rows);
  }
  const { state, phase, last_output_at: last } = input.open;
  if (!has('prepared') && !has('started'))
    rows.push({
      ...notYet('prepared', t('fact.prepared'), t('fact.prepared.going')),
      mark: mark('half', 'run'),
      seen: t('seen.going_on'),
      faint: false,
    });
  if (!has('started')) rows.push(notYet('started', t('fact.started'), t('fact.not_yet')));
  if (state === 'running' && last !== null) {
    const silent = input.now - at(last);
    const waiting = input.prompts > 0 && phase === 'waiting_for_answer';
    rows.push({
      key: 'output',
      mark: waiting ? mark('bang', 'warn') : silent >= quietAfter ? mark('half') : mark('half', 'run'),
      seen: waiting ? t('turn.label.waiting') : t('seen.going_on'),
      title: waiting
        ? t('turn.label.waiting')
        : silent >= quietAfter
          ? t('turn.label.quiet')
          : t('fact.output'),
      time: clockSeconds(at(last)),
      small: waiting
        ? t('fact.waiting.words', { count: input.prompts })
        : t('fact.output.words', { span: span(silent) }),
      solid: false,
      faint: false,
    });
  }
  if (state === 'settling' && !has('unobserved')) {
    rows.push({
      ...notYet('ended', t('fact.ended'), t('fact.ended.words')),
      mark: mark('on', 'ok'),
      seen: t('seen.observed'),
      solid: true,
      faint: false,
    });
  } else if (!has('unobserved')) {
    rows.push(notYet('ended', t('fact.ended'), t('fact.ended.not_yet')));
  }
  if (!has('settled')) rows.push(notYet('settled', t('fact.settled'), t('fact.settled.not_yet')));
  return close(rows);
}

/** A line is solid only when the facts at both of its ends were observed; output that goes on was. */
const close = (rows: readonly TimelineRow[]): readonly TimelineRow[] =>
  rows.map((row, index) => ({
    ...row,
    solid: row.solid && !['ring', 'dash'].includes(rows[index + 1]?.mark.shape ?? 'on'),
  }));
