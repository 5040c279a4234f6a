import type { ReactElement } from 'react';
import type { InteractionView, TurnView, UsageView } from '../../../src/contract/view.ts';
import type { HistoryEntry } from '../../../src/contract/history.ts';
import { decimal, number, t } from '../../i18n/t.ts';
import { mark } from '../../select/mark.ts';
import { timeline } from '../../select/timeline.ts';
import { at, moment } from '../../select/time-words.ts';
import { endedTurnLine } from '../../select/turn-line.ts';
import { useNow } from '../../services.ts';
import { Since } from '../../ui/counted.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { Go } from '../shell/go.tsx';
import type { TurnRecord } from './turn-screen.tsx';

export interface TurnRailProps {
  readonly turn: TurnView | null;
  readonly entry: HistoryEntry | null;
  readonly record: TurnRecord | null;
  readonly binding: string | null;
  readonly agent: string;
  readonly prompts: readonly InteractionView[];
  readonly left: number;
}

const turnOutcome = (entry: HistoryEntry | null): 'completed' | 'failed' | 'cancelled' | 'unknown' | null => {
  switch (entry?.outcome) {
    case 'completed':
    case 'failed':
    case 'cancelled':
    case 'unknown':
      return entry.outcome;
    default:
      return null;
  }
};

/** What is proven about a Turn, by whose word, and what it costs. */
export function TurnRail({
  turn,
  entry,
  record,
  binding,
  agent,
  prompts,
  left,
}: TurnRailProps): ReactElement {
  const now = useNow();
  const rows = timeline({
    evidence: turn?.evidence ?? record?.evidence ?? [],
    open: turn,
    outcome: record?.outcome ?? turnOutcome(entry),
    prompts: prompts.length,
    now,
  });
  const usage = turn === null ? (record?.usage ?? null) : turn.usage;
  const model = usage?.model ?? null;
  const first = prompts[0];
  return (
    <aside className="rail" aria-label={t('rail.label')} tabIndex={0}>
      <section>
        <h2>{t('rail.evidence')}</h2>
        {entry !== null && turn === null ? (
          <p className="rail-end">{endedTurnLine(entry, left).text}</p>
        ) : null}
        <ol className="tl">
          {rows.map((row) => (
            <li key={row.key} className={row.solid ? undefined : 'open'}>
              <StatusMark
                mark={row.mark}
                label={row.seen}
                turning={row.mark.shape === 'half' && row.mark.tone === 'run'}
              />
              <span className={row.faint ? 'not' : undefined}>{row.title}</span>
              <time>{row.time ?? ''}</time>
              <small className="tnum">{row.small}</small>
            </li>
          ))}
        </ol>
        <p className="legend">
          <span>
            <StatusMark mark={mark('on')} />
            {t('legend.observed')}
          </span>
          <span>
            <StatusMark mark={mark('ring')} />
            {t('legend.not_yet')}
          </span>
          <span>
            <StatusMark mark={mark('dash')} />
            {t('legend.maybe')}
          </span>
        </p>
      </section>
      <section>
        <h2>{t('rail.usage')}</h2>
        <Usage usage={usage} />
      </section>
      <section>
        <h2>{t('rail.about')}</h2>
        <dl className="meter">
          {binding === null ? null : <Line label={t('rail.binding')}>{binding}</Line>}
          <Line label={t('rail.agent')}>{agent}</Line>
          {model === null ? null : <Line label={t('rail.model')}>{model}</Line>}
          {turn === null ? null : (
            <Line label={t('rail.running')}>
              <Since time={turn.started_at} />
            </Line>
          )}
          {turn === null && entry !== null ? (
            <Line label={t('rail.ended')}>{moment(at(entry.at), now)}</Line>
          ) : null}
          {first === undefined ? null : (
            <Line label={t('rail.prompts')}>
              <Go to={{ screen: 'prompt', id: first.id }}>{t('rail.waiting', { count: prompts.length })}</Go>
            </Line>
          )}
        </dl>
      </section>
    </aside>
  );
}

function Line({
  label,
  children,
}: {
  readonly label: string;
  readonly children: React.ReactNode;
}): ReactElement {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** Tokens and cost as far as the agent reported them; what it did not report is called so. */
function Usage({ usage }: { readonly usage: UsageView | null }): ReactElement {
  const reported = (
    value: number | null | undefined,
    write: (value: number) => string,
  ): ReactElement | string =>
    value === null || value === undefined ? <span className="muted">{t('usage.none')}</span> : write(value);
  const cached = usage?.cached_input_tokens ?? null;
  const reasoning = usage?.reasoning_output_tokens ?? null;
  return (
    <dl className="meter">
      <Line label={t('usage.input')}>
        {reported(usage?.input_tokens, (count) => t('usage.tokens', { count }))}
      </Line>
      {cached === null ? null : <Line label={t('usage.cached')}>{number(cached)}</Line>}
      <Line label={t('usage.output')}>{reported(usage?.output_tokens, number)}</Line>
      {reasoning === null ? null : <Line label={t('usage.reasoning')}>{number(reasoning)}</Line>}
      <Line label={t('usage.cost')}>
        {reported(usage?.cost_usd, (cost) => t('usage.usd', { cost: decimal(cost, cost < 0.1 ? 4 : 2) }))}
      </Line>
    </dl>
  );
}
