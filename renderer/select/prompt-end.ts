import type { InteractionView } from '../../src/contract/view.ts';
import type { HistoryEntry } from '../../src/contract/history.ts';
import { t } from '../i18n/t.ts';
import { said } from '../i18n/said.ts';
import { mark, type Mark } from './mark.ts';
import type { Sent } from './prompt-guard.ts';
import { at, clockSeconds, span } from './time-words.ts';

/** How a prompt ended, in the daemon's truth and design.md's words. */
export interface PromptEnd {
  readonly mark: Mark;
  /** One or two words. */
  readonly label: string;
  readonly text: string;
  /** The person's own answer was applied: leaves after 4 s. Anything else stays until it was seen. */
  readonly own: boolean;
}

const sentence = (text: string): string => (/[.!?…]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`);

export interface EndedContext {
  readonly entry: HistoryEntry | undefined;
  readonly interaction: InteractionView;
  /** What this window sent for it, if anything. */
  readonly sent: Sent | null;
}

export function promptEnd({ entry, interaction, sent }: EndedContext): PromptEnd {
  if (entry === undefined)
    return { mark: mark('dash'), label: t('end.gone'), text: t('end.gone.text'), own: false };
  const applied = t('end.applied', { at: clockSeconds(at(entry.at)) });
  switch (entry.outcome) {
    case 'allowed':
    case 'denied':
    case 'answered':
      return decided(entry, applied, sent);
    case 'cancelled':
      if (entry.decided_by === 'core') return elsewhere(entry, applied, sent);
      return {
        mark: mark('minus'),
        label: t('end.declined'),
        text: t('end.declined.text'),
        own: sent?.answer === 'cancel' && sent.won === true,
      };
    case 'withdrawn':
      return {
        mark: mark('minus'),
        label: t('end.withdrawn'),
        text: t('end.withdrawn.text', {
          why: sentence(
            (entry.detail === null
              ? null
              : said(entry.detail.replace(/ *Nothing was allowed or denied\.$/, ''))) ??
              (entry.decided_by === 'harness' ? t('end.withdrawn.agent') : t('end.withdrawn.plain')),
          ),
        }),
        own: false,
      };
    case 'expired':
      return {
        mark: mark('hour'),
        label: t('end.expired'),
        text:
          interaction.expires_at === null
            ? t('end.expired.text_unknown')
            : t('end.expired.text', { span: span(at(interaction.expires_at) - at(interaction.since)) }),
        own: false,
      };
    default:
      return {
        mark: mark('dash'),
        label: t('end.unknown'),
        text: sent === null ? t('end.unknown.other') : t('end.unknown.text'),
        own: false,
      };
  }
}

function decided(entry: HistoryEntry, applied: string, sent: Sent | null): PromptEnd {
  const matches =
    sent !== null &&
    sent.won !== false &&
    ((sent.answer === 'allow' && entry.outcome === 'allowed') ||
      (sent.answer === 'deny' && entry.outcome === 'denied') ||
      (sent.answer === 'answers' && entry.outcome === 'answered'));
  if (entry.decided_by === 'rule' || entry.decided_by === 'policy') {
    const detail = entry.detail === null ? '' : ` ${sentence(said(entry.detail))}`;
    const by = entry.decided_by === 'rule' ? 'end.rule' : 'end.policy';
    return {
      ...decisionMark(entry),
      text: t(entry.outcome === 'denied' ? `${by}.denied` : `${by}.allowed`) + detail,
      own: false,
    };
  }
  if (entry.decided_by !== 'person' || !matches) return elsewhere(entry, applied, sent);
  // Another place may have given the same answer: until the daemon says whose it was, it is nobody's.
  if (sent.won === null)
    return { ...decisionMark(entry), text: `${outcomeWords(entry)} ${applied}`, own: false };
  switch (entry.outcome) {
    case 'allowed': {
      const how = t(`end.own.${sent.scope ?? 'once'}`);
      return { ...decisionMark(entry), text: `${how} ${applied}`, own: true };
    }
    case 'denied':
      return {
        ...decisionMark(entry),
        text: `${t('end.denied.')} ${applied}${sent.withReason ? ` ${t('end.told_reason')}` : ''}`,
        own: true,
      };
    default:
      return { ...decisionMark(entry), text: `${t('end.answered.')} ${applied}`, own: true };
  }
}

const decisionMark = (entry: HistoryEntry): { mark: Mark; label: string } =>
  entry.outcome === 'denied'
    ? { mark: mark('xx', 'bad'), label: t('end.denied') }
    : entry.outcome === 'allowed'
      ? { mark: mark('tick', 'ok'), label: t('end.allowed') }
      : { mark: mark('tick', 'ok'), label: t('end.answered') };

const outcomeWords = ({ outcome }: HistoryEntry): string =>
  t(
    outcome === 'allowed'
      ? 'end.allowed.'
      : outcome === 'denied'
        ? 'end.denied.'
        : outcome === 'answered'
          ? 'end.answered.'
          : 'end.declined.',
  );

/** Somebody else was first: Core, the terminal, another window. */
function elsewhere(entry: HistoryEntry, applied: string, sent: Sent | null): PromptEnd {
  const who = entry.decided_by === 'core' ? t('end.elsewhere.core') : t('end.elsewhere.person');
  return {
    mark: mark(entry.outcome === 'denied' ? 'xx' : entry.outcome === 'cancelled' ? 'minus' : 'tick'),
    label: t('end.elsewhere'),
    text: `${who} ${outcomeWords(entry)} ${applied}${sent === null ? '' : ` ${t('end.not_applied')}`}`,
    own: false,
  };
}
