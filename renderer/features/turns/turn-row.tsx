import { memo, type ReactElement } from 'react';
import type { TurnView } from '../../../src/contract/view.ts';
import type { HistoryEntry } from '../../../src/contract/history.ts';
import { t } from '../../i18n/t.ts';
import { at, moment } from '../../select/time-words.ts';
import { endedStrip, endedTurnLine, evidenceStrip, turnLine } from '../../select/turn-line.ts';
import { useNow } from '../../services.ts';
import { Since } from '../../ui/counted.tsx';
import { EvidenceStrip } from '../../ui/evidence-strip.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';
import { Go } from '../shell/go.tsx';

/** An open Turn: the whole row is the link. */
export const TurnRow = memo(function TurnRow({
  turn,
  prompts,
}: {
  readonly turn: TurnView;
  readonly prompts: number;
}): ReactElement {
  const context = { now: useNow(), prompts };
  const line = turnLine(turn, context);
  return (
    <li>
      <Go className="turn-row" to={{ screen: 'turn', runId: turn.run_id }}>
        <StatusMark mark={line.mark} label={line.label} />
        <span className="t cut">
          <VisibleText text={turn.title} />
        </span>
        <EvidenceStrip strip={evidenceStrip(turn, context)} />
        <span className="when">
          <Since time={turn.started_at} />
        </span>
        <span className="meta tnum">{t('turn.meta', { binding: turn.binding, line: line.text })}</span>
      </Go>
    </li>
  );
});

export interface EndedTurnRowProps {
  readonly entry: HistoryEntry;
  /** Cleanup items that it left. */
  readonly left: number;
  readonly now: number;
}

/** A Turn that ended, as history has it. */
export const EndedTurnRow = memo(function EndedTurnRow({
  entry,
  left,
  now,
}: EndedTurnRowProps): ReactElement {
  const line = endedTurnLine(entry, left);
  return (
    <li>
      <Go className="turn-row" to={{ screen: 'turn', runId: entry.run_id ?? entry.id }}>
        <StatusMark mark={line.mark} label={line.label} />
        <span className="t cut">
          <VisibleText text={entry.title} />
        </span>
        <EvidenceStrip strip={endedStrip(entry.outcome, left)} />
        <span className="when">{moment(at(entry.at), now)}</span>
        <span className="meta">
          {entry.binding === null ? line.text : t('turn.meta', { binding: entry.binding, line: line.text })}
        </span>
      </Go>
    </li>
  );
});
