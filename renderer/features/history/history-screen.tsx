import { useEffect, useRef, useState, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { isTextField, pressed, shortcuts } from '../../keys.ts';
import { historyDays, type HistoryFilter, type HistoryRow } from '../../select/history-row.ts';
import { at, clockTime } from '../../select/time-words.ts';
import { useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { SaveButton } from '../../ui/save-button.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { Go, useHeading } from '../shell/go.tsx';
import { Screen } from '../shell/screen.tsx';

const pageSize = 100;

/** Who decided what, when, with what end. */
export function HistoryScreen(): ReactElement {
  const view = useView();
  const { clock, link } = useServices();
  const heading = useHeading();
  const field = useRef<HTMLInputElement>(null);
  const [filter, setFilter] = useState<HistoryFilter>('all');
  const [search, setSearch] = useState('');
  const [most, setMost] = useState(pageSize);
  const page = historyDays(view.history, { filter, search, now: clock.now(), most });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const slash =
        event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTextField(event.target);
      if (!slash && !pressed(event, shortcuts.search, link.platform)) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [link]);
  return (
    <Screen
      bar={
        <>
          <h1 ref={heading} tabIndex={-1}>
            {t('nav.history')}
          </h1>
          <span className="grow" />
          <Segmented
            label={t('history.show')}
            value={filter}
            options={[
              { value: 'all', text: t('history.all') },
              { value: 'turns', text: t('history.turns') },
              { value: 'decisions', text: t('history.decisions') },
            ]}
            onChange={setFilter}
          />
          <SaveButton
            name="agent-runtime-history.jsonl"
            text={async () => {
              const { entries } = await link.call('history.read', {});
              return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
            }}
          />
          <label className="search">
            <Icon name="search" size={14} />
            <input
              ref={field}
              type="search"
              aria-label={t('history.search')}
              placeholder={t('history.search.short')}
              value={search}
              onChange={(event) => {
                setSearch(event.target.value);
                setMost(pageSize);
              }}
            />
          </label>
        </>
      }
    >
      {view.history.length === 0 ? <p className="empty">{t('history.none')}</p> : null}
      {view.history.length > 0 && page.found === 0 ? <p className="empty">{t('history.not_found')}</p> : null}
      {page.days.map((day) => (
        <section key={day.name} aria-label={day.name}>
          <h2 className="day">{day.name}</h2>
          <ul className="card list">
            {day.rows.map((row) => (
              <li key={row.key}>
                <Row row={row} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      {page.found > page.shown ? (
        <div className="more">
          <Button kind="sm" onPress={() => setMost(most + pageSize)}>
            {t('more.show', { count: Math.min(pageSize, page.found - page.shown) })}
          </Button>
        </div>
      ) : null}
      {page.found === 0 ? null : <p className="faint small note-foot">{t('history.kept')}</p>}
    </Screen>
  );
}

function Row({ row }: { readonly row: HistoryRow }): ReactElement {
  const { entry } = row;
  const runId = entry.run_id ?? (entry.kind === 'turn' ? entry.id : null);
  const inner = (
    <>
      <StatusMark mark={row.mark} />
      <time>{clockTime(at(entry.at))}</time>
      <span className="what">
        <span className="cut">{row.text}</span>
        {row.detail === null ? null : <small>{row.detail}</small>}
      </span>
      <span className="by cut">{row.by}</span>
      <span className="bn cut">{entry.binding ?? ''}</span>
      {runId === null ? <span /> : <Icon name="right" size={12} />}
    </>
  );
  return runId === null ? (
    <div className="h-row">{inner}</div>
  ) : (
    <Go className="h-row" to={{ screen: 'turn', runId }}>
      {inner}
    </Go>
  );
}
