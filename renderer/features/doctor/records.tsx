import { useCallback, useEffect, useState, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { showHidden } from '../../select/code-text.ts';
import { logLines, type LogLevel } from '../../select/log-lines.ts';
import { useServices } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { SaveButton } from '../../ui/save-button.tsx';
import { Segmented } from '../../ui/segmented.tsx';

type Loaded<T> = { readonly value: T } | { readonly failed: string } | null;

/** Asks once and again on wish; the last answer stays on screen meanwhile. */
function useAnswer<T>(ask: () => Promise<T>): { readonly loaded: Loaded<T>; readonly again: () => void } {
  const [loaded, setLoaded] = useState<Loaded<T>>(null);
  const again = useCallback(() => {
    ask().then(
      (value) => setLoaded({ value }),
      (error: unknown) => setLoaded({ failed: error instanceof Error ? error.message : String(error) }),
    );
  }, [ask]);
  useEffect(again, [again]);
  return { loaded, again };
}

const asked = 5_000;

/** The newest lines of the log, to be searched. */
export function LogView(): ReactElement {
  const { link } = useServices();
  const ask = useCallback(async () => (await link.call('logs.tail', { lines: asked })).lines, [link]);
  const { loaded, again } = useAnswer(ask);
  const [filter, setFilter] = useState('');
  const [level, setLevel] = useState<LogLevel>('all');
  const all = loaded !== null && 'value' in loaded ? loaded.value : [];
  const { lines, found } = logLines(all, { filter, level });
  return (
    <section aria-label={t('doctor.tab.log')}>
      <p className="muted tab-lead">{t('log.lead')}</p>
      <div className="row tab-lead">
        <label className="search">
          <Icon name="search" size={14} />
          <input
            type="search"
            aria-label={t('log.filter')}
            placeholder={t('log.filter')}
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
        </label>
        <Segmented
          label={t('log.level')}
          value={level}
          options={[
            { value: 'all', text: t('log.level.all') },
            { value: 'warn', text: t('log.level.warn') },
            { value: 'error', text: t('log.level.error') },
          ]}
          onChange={setLevel}
        />
        <span className="grow" />
        <Button kind="sm" onPress={again}>
          <Icon name="refresh" size={14} />
          {t('doctor.again')}
        </Button>
        <SaveButton name="agent-runtime.log" text={() => `${all.join('\n')}\n`} />
      </div>
      <Failure loaded={loaded} />
      <p className="faint tnum" role="status">
        {found === 0 ? t('log.none') : t('log.shown', { count: found })}
        {all.length >= asked ? ` ${t('log.older')}` : ''}
      </p>
      {lines.length === 0 ? null : (
        <pre className="record" tabIndex={0} aria-label={t('doctor.tab.log')}>
          {lines.map(showHidden).join('\n')}
        </pre>
      )}
    </section>
  );
}

/** The bundle as it would be saved, shown before it is. */
export function DiagnosticsView(): ReactElement {
  const { link } = useServices();
  const ask = useCallback(
    async () => JSON.stringify(await link.call('diagnostics.collect', {}), null, 2),
    [link],
  );
  const { loaded, again } = useAnswer(ask);
  const text = loaded !== null && 'value' in loaded ? loaded.value : '';
  return (
    <section aria-label={t('doctor.tab.diagnostics')}>
      <p className="muted tab-lead">{t('diagnostics.lead')}</p>
      <div className="row tab-lead">
        <Button kind="sm" onPress={again}>
          <Icon name="refresh" size={14} />
          {t('doctor.again')}
        </Button>
        <span className="grow" />
        {text === '' ? null : (
          <>
            <CopyButton text={() => text} />
            <SaveButton name="agent-runtime-diagnostics.json" text={() => `${text}\n`} />
          </>
        )}
      </div>
      <Failure loaded={loaded} />
      {loaded === null ? <p className="empty">{t('diagnostics.collecting')}</p> : null}
      {text === '' ? null : (
        <pre className="record" tabIndex={0} aria-label={t('doctor.tab.diagnostics')}>
          {showHidden(text)}
        </pre>
      )}
    </section>
  );
}

function Failure({ loaded }: { readonly loaded: Loaded<unknown> }): ReactElement | null {
  if (loaded === null || !('failed' in loaded)) return null;
  return (
    <p className="why" role="alert">
      {t('records.failed', { message: loaded.failed })}
    </p>
  );
}
