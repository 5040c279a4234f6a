import { useEffect, useRef, useState, type ReactElement } from 'react';
import type { EnrolmentView } from '../../../src/contract/enrolment.ts';
import { t } from '../../i18n/t.ts';
import { said } from '../../i18n/said.ts';
import { mark } from '../../select/mark.ts';
import { progressRows } from '../../select/enrolment.ts';
import { useAct, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';

/** Where the credential goes; once it was confirmed, how far the binding is, and what is wrong. */
export function StoreStep({ enrolment }: { readonly enrolment: EnrolmentView | null }): ReactElement {
  const rows = enrolment === null ? null : progressRows(enrolment);
  const shown = useRef<HTMLLIElement>(null);
  const stage = enrolment?.state ?? null;
  useEffect(() => shown.current?.scrollIntoView?.({ block: 'nearest' }), [stage]);
  if (enrolment === null || rows === null) {
    return (
      <li className="card step off">
        <header>
          <span className="num">3</span>
          <h3>{t('enrol.store.title')}</h3>
        </header>
        <Destination enrolment={enrolment} />
      </li>
    );
  }
  const { state, error } = enrolment;
  const title =
    state === 'failed' ? 'enrol.work.failed' : state === 'bound' ? 'enrol.work.bound' : 'enrol.work.title';
  return (
    <li className="card step" ref={shown}>
      <header>
        {state === 'bound' ? (
          <StatusMark large mark={mark('tick', 'ok')} label={t('enrol.step_done')} />
        ) : (
          <span className="num on">3</span>
        )}
        <h3>{t(title)}</h3>
      </header>
      <div className="body">
        <ul className="checks">
          {rows.map((row) => (
            <li key={row.key}>
              <StatusMark mark={row.mark} label={row.state} turning={row.mark.shape === 'half'} />
              <span className={row.mark.shape === 'ring' ? 'muted' : undefined}>{row.text}</span>
            </li>
          ))}
        </ul>
        {error === null ? null : <p className="notice bad">{said(error.message)}</p>}
        {error?.code === 'credential_store_unavailable' ? <StoreChoices /> : null}
      </div>
    </li>
  );
}

function Destination({ enrolment }: { readonly enrolment: EnrolmentView | null }): ReactElement {
  const view = useView();
  if (enrolment === null) return <p>{t('enrol.store.keychain')}</p>;
  switch (enrolment.credential_store) {
    case null: {
      const why = said(view.health.find(({ code }) => code === 'credential_store_unavailable')?.text ?? '');
      return (
        <div className="body">
          <div className="notice warn">
            <div>
              <b>{t('enrol.store.none')}</b> {why} {t('enrol.store.none_text')}
            </div>
          </div>
          <StoreChoices />
        </div>
      );
    }
    case 'file':
      return <p>{t('enrol.store.file')}</p>;
    default:
      return <p>{enrolment.way === 'grant' ? t('enrol.store.keychain') : t('enrol.store.key_keychain')}</p>;
  }
}

/** Never a file by itself: the person reads what that means, and says so. */
export function StoreChoices(): ReactElement {
  const { link } = useServices();
  const act = useAct();
  const [asking, setAsking] = useState(false);
  return (
    <div className="row">
      <Button kind="sm" onPress={() => act(() => link.call('credentials.choose', { choice: 'retry' }))}>
        {t('enrol.store.retry')}
      </Button>
      <Button kind="sm ghost" onPress={() => setAsking(true)}>
        {t('enrol.store.choose_file')}
      </Button>
      {asking ? (
        <Dialog
          title={t('enrol.store.ask')}
          text={t('enrol.store.ask_text')}
          act={t('enrol.store.ask_act')}
          onAct={() =>
            act(() => link.call('credentials.choose', { choice: 'file' }), t('enrol.store.file_chosen'))
          }
          onClose={() => setAsking(false)}
        />
      ) : null}
    </div>
  );
}
