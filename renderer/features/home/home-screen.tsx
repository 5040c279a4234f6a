import type { ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { shortcuts } from '../../keys.ts';
import { homeLede, isFirstRun } from '../../select/overview.ts';
import { endedTurns, leftBy, promptsOf } from '../../select/turn-line.ts';
import { useDesk, useNow, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Cleanup } from '../cleanup/cleanup.tsx';
import { ComposeScreen } from '../compose/compose-screen.tsx';
import { Go, useHeading } from '../shell/go.tsx';
import { Screen } from '../shell/screen.tsx';
import { EndedTurnRow, TurnRow } from '../turns/turn-row.tsx';
import { Connections } from './connections.tsx';
import { NeedsYou } from './needs-you.tsx';
import { Transfers } from './transfers.tsx';

/** Home is a queue: what needs the person, what runs, who is connected, what did not settle. */
export function HomeScreen(): ReactElement {
  const view = useView();
  const { router } = useServices();
  const { ended } = useDesk();
  if (isFirstRun(view) && ended.length === 0) return <ComposeScreen first />;
  const local = view.bindings.some((binding) => binding.local);
  return (
    <Screen>
      <div className="home-top">
        <HomeLede />
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
      </div>
      <div className="split">
        <div className="stack sections">
          {view.interactions.length === 0 && ended.length === 0 ? null : <NeedsYou />}
          <OpenTurns local={local} />
        </div>
        <div className="stack sections">
          <Connections />
          <Transfers />
          <Cleanup items={view.cleanup} />
        </div>
      </div>
    </Screen>
  );
}

/** Ended Turns that are listed while none is open. */
const lastEnded = 3;

function OpenTurns({ local }: { readonly local: boolean }): ReactElement {
  const view = useView();
  const { clock } = useServices();
  const ended = endedTurns(view).slice(0, lastEnded);
  return (
    <>
      <section className="sec" aria-labelledby="h-run">
        <header>
          <h2 id="h-run">{t('home.open_turns')}</h2>
          {view.turns.length === 0 ? null : <span className="n">{view.turns.length}</span>}
          <Go to={{ screen: 'turns' }}>{t('home.all_turns')}</Go>
        </header>
        {view.turns.length === 0 ? (
          <p className="empty">{local ? t('home.no_turns') : t('home.no_turns_remote')}</p>
        ) : (
          <ul className="card list">
            {view.turns.map((turn) => (
              <TurnRow key={turn.run_id} turn={turn} prompts={promptsOf(view.interactions, turn.run_id)} />
            ))}
          </ul>
        )}
      </section>
      {view.turns.length > 0 || ended.length === 0 ? null : (
        <section className="sec" aria-labelledby="h-last">
          <header>
            <h2 id="h-last">{t('home.last_ended')}</h2>
          </header>
          <ul className="card list turn-list dated">
            {ended.map((entry) => (
              <EndedTurnRow
                key={`${entry.id}:${entry.at}`}
                entry={entry}
                left={leftBy(view.cleanup, entry.run_id ?? entry.id, entry.title)}
                now={clock.now()}
              />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function HomeLede(): ReactElement {
  const lede = homeLede(useView(), useNow());
  const heading = useHeading();
  return (
    <div className="lede">
      <h1 ref={heading} tabIndex={-1}>
        {lede.title}
      </h1>
      {lede.text === null ? null : <p className="tnum">{lede.text}</p>}
    </div>
  );
}
