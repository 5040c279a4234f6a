import { useState, type ReactElement } from 'react';
import type { BindingView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { bindingsByNeed, type ConnectionLine } from '../../select/connection-line.ts';
import { runtimeLine } from '../../select/overview.ts';
import { at, moment } from '../../select/time-words.ts';
import { useAct, useNow, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { RemoveBinding } from '../enrol/remove-binding.tsx';
import { StopDialog } from '../shell/stop-dialog.tsx';

/** Each binding with its Core: what is worst first, what is well in one line. */
export function Connections(): ReactElement {
  const view = useView();
  const now = useNow();
  return (
    <section className="sec" aria-labelledby="h-con">
      <header>
        <h2 id="h-con">{t('home.connections')}</h2>
      </header>
      {view.bindings.length === 0 ? (
        <p className="empty">{t('home.no_bindings')}</p>
      ) : (
        <ul className="card list">
          <RuntimeCard />
          {bindingsByNeed(view, { now, unconfirmed: view.cleanup.length }).map(([binding, line]) => (
            <BindingCard key={binding.name} binding={binding} line={line} now={now} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** Paused or stopping: a state of the whole Runtime, above its bindings. */
function RuntimeCard(): ReactElement | null {
  const view = useView();
  const { link } = useServices();
  const act = useAct();
  const [asking, setAsking] = useState(false);
  const line = runtimeLine(view, useNow());
  if (line === null) return null;
  return (
    <li className="bind">
      <div className="row">
        <StatusMark mark={line.mark} />
        <span className="name cut">{line.name}</span>
      </div>
      <p className="state">{line.state}</p>
      <p>{line.reason}</p>
      {line.action === null ? null : (
        <div className="acts">
          {line.action === 'resume' ? (
            <Button kind="sm" onPress={() => act(() => link.call('runtime.resume', {}), t('toast.resumed'))}>
              {t('act.resume')}
            </Button>
          ) : (
            <Button kind="sm" onPress={() => setAsking(true)}>
              {t('act.stop_now')}
            </Button>
          )}
        </div>
      )}
      {asking ? <StopDialog onClose={() => setAsking(false)} /> : null}
    </li>
  );
}

function BindingCard({
  binding,
  line,
  now,
}: {
  readonly binding: BindingView;
  readonly line: ConnectionLine;
  readonly now: number;
}): ReactElement {
  if (line.mark.tone === 'ok') {
    return (
      <li className="bind fine">
        <div className="row">
          <StatusMark mark={line.mark} label={line.label} />
          <span className="name cut">{binding.name}</span>
          <span className="note tnum">
            {binding.local
              ? t('home.local_core')
              : t('home.since', { at: moment(at(binding.connection.since), now) })}
          </span>
        </div>
      </li>
    );
  }
  return (
    <li className="bind">
      <div className="row">
        <StatusMark mark={line.mark} label={line.label} />
        <span className="name cut">{binding.name}</span>
      </div>
      <p className="state tnum">{line.state}</p>
      {line.reason === null || line.reason === '' ? null : <p className="tnum">{line.reason}</p>}
      <BindingActions binding={binding} line={line} />
    </li>
  );
}

/** The one thing to do about a connection that is not well. */
export function BindingActions({
  binding,
  line,
}: {
  readonly binding: BindingView;
  readonly line: ConnectionLine;
}): ReactElement | null {
  const { link, router } = useServices();
  const { update } = useView();
  const act = useAct();
  switch (line.action) {
    case null:
      return null;
    case 'retry':
      return (
        <div className="acts">
          <Button
            kind="sm"
            onPress={() => act(() => link.call('connection.retry', { binding: binding.name }))}
          >
            {t('act.try_now')}
          </Button>
        </div>
      );
    case 'cleanup':
      return (
        <div className="acts">
          <Button
            kind="sm"
            onPress={() => {
              router.go({ screen: 'home' });
              document.getElementById('h-un')?.focus();
            }}
          >
            {t('act.show_cleanup')}
          </Button>
        </div>
      );
    case 'doctor':
      return (
        <div className="acts">
          <Button kind="sm" onPress={() => router.go({ screen: 'doctor' }, 'heading')}>
            {t('act.show_details')}
          </Button>
        </div>
      );
    case 'start':
      return (
        <div className="acts">
          <Button kind="sm" onPress={() => act(() => link.call('runtime.start', {}), t('toast.started'))}>
            {t('act.start')}
          </Button>
        </div>
      );
    case 'enrol':
      return (
        <div className="acts">
          <Button kind="sm" onPress={() => router.go({ screen: 'enrol', id: null }, 'heading')}>
            {t('act.enrol_again')}
          </Button>
        </div>
      );
    case 'update':
      return (
        <div className="acts">
          <Button
            kind="sm"
            onPress={() => {
              if (update.state === 'current') act(() => link.call('update.look', {}));
              router.go({ screen: 'settings', tab: 'general' }, 'heading');
            }}
          >
            {t('settings.update.look')}
          </Button>
        </div>
      );
    case 'remove':
      return (
        <div className="acts">
          <RemoveBinding name={binding.name} kind="sm" />
        </div>
      );
    case 'credentials':
      return (
        <div className="acts">
          <Button kind="sm" onPress={() => act(() => link.call('credentials.choose', { choice: 'retry' }))}>
            {t('act.try_again')}
          </Button>
          <Button
            kind="sm ghost"
            onPress={() => {
              act(() => link.call('credentials.choose', { choice: 'memory' }), t('toast.memory'));
              router.go({ screen: 'settings', tab: 'bindings' }, 'heading');
            }}
          >
            {t('act.keep_in_memory')}
          </Button>
        </div>
      );
  }
}
