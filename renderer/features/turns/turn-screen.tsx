import { useEffect, useState, useSyncExternalStore, type ReactElement } from 'react';
import type { CommandAnswer } from '../../../src/contract/commands.ts';
import type { TurnView } from '../../../src/contract/view.ts';
import type { HistoryEntry } from '../../../src/contract/history.ts';
import { t } from '../../i18n/t.ts';
import { pressed, shortcuts } from '../../keys.ts';
import { agentName, bindingOf } from '../../select/prompt-queue.ts';
import { endedTurnLine, leftBy, promptsOf, turnLine, type TurnLine } from '../../select/turn-line.ts';
import { useAct, useNow, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';
import type { JournalState } from '../../store.ts';
import { Go, useHeading } from '../shell/go.tsx';
import { Screen } from '../shell/screen.tsx';
import { ContinueComposer, SteerComposer } from './turn-composers.tsx';
import { TurnRail } from './turn-rail.tsx';
import { TurnStream } from './turn-stream.tsx';

export type TurnRecord = CommandAnswer<'turn.show'>;

/** The journal of the Turn, kept up with what the view says exists. */
function useJournal(runId: string, entries: number | null): JournalState {
  const { journals } = useServices();
  const { revision } = useView();
  const journal = journals.open(runId);
  // With each view, so that a read that failed is tried again; nothing is read twice.
  useEffect(() => journal.catchUp(entries), [journal, entries, revision]);
  return useSyncExternalStore(journal.subscribe, journal.get);
}

/** What the daemon keeps about a Turn that is not open any more. */
function useRecord(runId: string, open: boolean): TurnRecord | null {
  const { link } = useServices();
  const [record, setRecord] = useState<TurnRecord | null>(null);
  useEffect(() => {
    if (open) return undefined;
    let current = true;
    link.call('turn.show', { run_id: runId }).then(
      (answer) => {
        if (current) setRecord(answer);
      },
      // A Turn of another Core is known from history and its journal alone.
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [link, runId, open]);
  return record?.run_id === runId ? record : null;
}

/** One Turn: what it printed, what is proven about it, what it costs. */
export function TurnScreen({ runId }: { readonly runId: string }): ReactElement {
  const view = useView();
  const turn = view.turns.find((open) => open.run_id === runId) ?? null;
  const entry =
    view.history.filter((old) => old.kind === 'turn' && (old.run_id ?? old.id) === runId).at(-1) ?? null;
  const journal = useJournal(runId, turn?.entries ?? null);
  const record = useRecord(runId, turn !== null);
  const heading = useHeading();
  const title = turn?.title ?? entry?.title ?? record?.prompt.split('\n', 1)[0] ?? t('turn.unnamed');
  const bindingName = turn?.binding ?? entry?.binding ?? null;
  const kind = turn?.harness ?? entry?.harness ?? record?.harness ?? null;
  const left = leftBy(view.cleanup, runId, title);
  const local = turn?.local ?? (bindingName !== null && bindingOf(view, bindingName)?.local === true);
  return (
    <Screen
      flush
      bar={
        <>
          <span className="crumb">
            <Go to={{ screen: 'turns' }}>{t('nav.turns')}</Go>
            <Icon name="right" size={12} />
          </span>
          <h1 className="cut" ref={heading} tabIndex={-1}>
            <VisibleText text={title} />
          </h1>
          <TurnPill turn={turn} entry={entry} left={left} />
          <span className="grow" />
          {turn?.local === true ? <StopTurn turn={turn} /> : null}
        </>
      }
    >
      <div className="turn-main">
        <TurnStream
          key={runId}
          journal={journal}
          record={record}
          running={turn !== null && turn.state === 'running'}
        />
        {turn?.can_steer === true && turn.state === 'running' ? <SteerComposer runId={runId} /> : null}
        {turn === null && local && record !== null && record.session_id !== null ? (
          <ContinueComposer sessionId={record.session_id} harness={record.harness} />
        ) : null}
      </div>
      <TurnRail
        turn={turn}
        entry={entry}
        record={record}
        binding={bindingName}
        agent={agentName(view, bindingName, kind)}
        prompts={view.interactions.filter((open) => open.run_id === runId)}
        left={left}
      />
    </Screen>
  );
}

function usePillLine(turn: TurnView | null, entry: HistoryEntry | null, left: number): TurnLine | null {
  const view = useView();
  const now = useNow();
  if (turn !== null) return turnLine(turn, { now, prompts: promptsOf(view.interactions, turn.run_id) });
  return entry === null ? null : endedTurnLine(entry, left);
}

function TurnPill({
  turn,
  entry,
  left,
}: {
  readonly turn: TurnView | null;
  readonly entry: HistoryEntry | null;
  readonly left: number;
}): ReactElement | null {
  const line = usePillLine(turn, entry, left);
  if (line === null) return null;
  const tone = line.mark.shape === 'dash' ? 'unk' : line.mark.tone === 'none' ? '' : line.mark.tone;
  return (
    <span className={`pill ${tone}`.trim()} title={line.text}>
      <StatusMark mark={line.mark} />
      {line.label}
    </span>
  );
}

/** Ends a Turn of the local Core. It asks, and the Turn is shown as stopping until its end is observed. */
function StopTurn({ turn }: { readonly turn: TurnView }): ReactElement {
  const { link } = useServices();
  const act = useAct();
  const [asking, setAsking] = useState(false);
  const again = turn.state === 'cancelling';
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.repeat || event.defaultPrevented || !pressed(event, shortcuts.stopTurn, link.platform))
        return;
      event.preventDefault();
      setAsking(true);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [link]);
  return (
    <>
      <Button kind="sm" shortcut={shortcuts.stopTurn} onPress={() => setAsking(true)}>
        <Icon name="stop" size={14} />
        {again ? t('turn.stop_again') : t('turn.stop')}
      </Button>
      {asking ? (
        <Dialog
          title={t('turn.stop.ask')}
          text={t('turn.stop.text')}
          act={t('turn.stop.act')}
          onAct={() => act(() => link.call('turn.cancel', { run_id: turn.run_id }))}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </>
  );
}
