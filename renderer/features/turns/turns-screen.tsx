import { useState, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { shortcuts } from '../../keys.ts';
import { endedTurns, leftBy, promptsOf } from '../../select/turn-line.ts';
import { useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { useHeading } from '../shell/go.tsx';
import { Screen } from '../shell/screen.tsx';
import { EndedTurnRow, TurnRow } from './turn-row.tsx';

const pageSize = 50;

/** Open Turns, then the ended ones, most recent first. */
export function TurnsScreen(): ReactElement {
  const view = useView();
  const { router, clock } = useServices();
  const heading = useHeading();
  const [most, setMost] = useState(pageSize);
  const ended = endedTurns(view);
  const local = view.bindings.some((binding) => binding.local);
  return (
    <Screen
      bar={
        <>
          <h1 ref={heading} tabIndex={-1}>
            {t('nav.turns')}
          </h1>
          <span className="grow" />
          {local ? (
            <Button
              kind="sm"
              shortcut={shortcuts.compose}
              onPress={() => router.go({ screen: 'compose' }, 'heading')}
            >
              <Icon name="plus" size={14} />
              {t('compose.new')}
            </Button>
          ) : null}
        </>
      }
    >
      <div className="stack sections">
        {view.turns.length === 0 && ended.length === 0 ? <p className="empty">{t('turns.none')}</p> : null}
        {view.turns.length === 0 ? null : (
          <section className="sec" aria-labelledby="h-open">
            <header>
              <h2 id="h-open">{t('turns.open')}</h2>
              <span className="n">{view.turns.length}</span>
            </header>
            <ul className="card list">
              {view.turns.map((turn) => (
                <TurnRow key={turn.run_id} turn={turn} prompts={promptsOf(view.interactions, turn.run_id)} />
              ))}
            </ul>
          </section>
        )}
        {ended.length === 0 ? null : (
          <section className="sec" aria-labelledby="h-ended">
            <header>
              <h2 id="h-ended">{t('turns.ended')}</h2>
              <span className="n">{ended.length}</span>
            </header>
            <ul className="card list turn-list dated">
              {ended.slice(0, most).map((entry) => (
                <EndedTurnRow
                  key={`${entry.id}:${entry.at}`}
                  entry={entry}
                  left={leftBy(view.cleanup, entry.run_id ?? entry.id, entry.title)}
                  now={clock.now()}
                />
              ))}
            </ul>
            {ended.length > most ? (
              <div className="more">
                <Button kind="sm" onPress={() => setMost(most + pageSize)}>
                  {t('more.show', { count: Math.min(pageSize, ended.length - most) })}
                </Button>
              </div>
            ) : null}
          </section>
        )}
      </div>
    </Screen>
  );
}
