import { useEffect, useState, type ReactElement } from 'react';
import type { EnrolmentView } from '../../../src/contract/enrolment.ts';
import { t } from '../../i18n/t.ts';
import { said } from '../../i18n/said.ts';
import { blockedBind } from '../../select/enrolment.ts';
import { useAct, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Go, useHeading } from '../shell/go.tsx';
import { Screen } from '../shell/screen.tsx';
import { CheckStep } from './check-step.tsx';
import { ReadDone, ReadStep } from './read-step.tsx';
import { StoreStep } from './store-step.tsx';

/** Enrolling: read what was given, check what would be bound, bind. Nothing is stored before the last step. */
export function EnrolScreen({ id }: { readonly id: string | null }): ReactElement {
  const view = useView();
  const { link, router } = useServices();
  const act = useAct();
  const heading = useHeading();
  const [answered, setAnswered] = useState<EnrolmentView | null>(null);
  const [typed, setTyped] = useState<string | null>(null);
  // The view says how it stands; an answer only fills the moment until the view has it.
  const enrolment = view.enrolments.find((one) => one.id === id) ?? (answered?.id === id ? answered : null);
  const name = typed ?? enrolment?.name ?? '';
  useEnrolmentNews(enrolment);

  const leave = (): void => {
    if (enrolment !== null) act(() => link.call('enrol.close', { id: enrolment.id }));
    router.go({ screen: 'settings', tab: 'bindings' }, 'heading');
  };
  const another = (): void => {
    if (enrolment !== null) act(() => link.call('enrol.close', { id: enrolment.id }));
    setTyped(null);
    router.go({ screen: 'enrol', id: null }, 'heading');
  };
  const over = enrolment?.state === 'bound';
  return (
    <Screen
      flush
      bar={
        <>
          <span className="crumb">
            <Go to={{ screen: 'settings', tab: 'bindings' }}>{t('settings.bindings')}</Go>
            <Icon name="right" size={12} />
          </span>
          <h1 ref={heading} tabIndex={-1}>
            {t('enrol.bar')}
          </h1>
          <span className="grow" />
          {enrolment?.state === 'working' || over ? null : (
            <Button kind="sm ghost" onPress={leave}>
              {enrolment?.state === 'connecting' ? t('enrol.close') : t('enrol.leave')}
            </Button>
          )}
        </>
      }
    >
      <div className="enrol">
        <div className="scroll" tabIndex={0}>
          <div className="narrow">
            <div className="lede">
              <h2>{t('enrol.title')}</h2>
              <p>{t('enrol.lead')}</p>
            </div>
            {id !== null && enrolment === null ? <p className="notice warn">{t('enrol.gone')}</p> : null}
            <ol className="steps">
              {enrolment === null ? (
                <ReadStep
                  onRead={(read) => {
                    setAnswered(read);
                    router.go({ screen: 'enrol', id: read.id });
                  }}
                />
              ) : (
                <ReadDone enrolment={enrolment} onAnother={another} />
              )}
              <CheckStep enrolment={enrolment} name={name} onName={setTyped} onAnswer={setAnswered} />
              <StoreStep enrolment={enrolment} />
            </ol>
          </div>
        </div>
        {enrolment === null ? null : <EnrolFoot enrolment={enrolment} name={name} onDone={leave} />}
      </div>
    </Screen>
  );
}

function EnrolFoot({
  enrolment,
  name,
  onDone,
}: {
  readonly enrolment: EnrolmentView;
  readonly name: string;
  readonly onDone: () => void;
}): ReactElement {
  const { link } = useServices();
  const act = useAct();
  const bound = enrolment.state === 'bound';
  const failed = enrolment.state === 'failed';
  const blocked = bound ? null : blockedBind(enrolment, name);
  const note = bound
    ? t('enrol.note.bound', { name: enrolment.name })
    : blocked !== null
      ? blocked
      : failed
        ? t('enrol.note.again')
        : t('enrol.note.frozen');
  return (
    <div className="detail-foot mid">
      <div className="narrow actions">
        {bound ? (
          <Button kind="primary tall" onPress={onDone}>
            {t('enrol.act.done')}
          </Button>
        ) : (
          <Button
            kind="primary tall"
            blocked={blocked}
            onPress={() => act(() => link.call('enrol.confirm', { id: enrolment.id, name }))}
          >
            {failed ? t('enrol.act.again') : t('enrol.act.bind')}
          </Button>
        )}
        <span className="faint foot-note">{note}</span>
      </div>
    </div>
  );
}

/** Its end is said once, in the person's words and not in a colour alone. */
function useEnrolmentNews(enrolment: EnrolmentView | null): void {
  const { live } = useServices();
  const state = enrolment?.state ?? null;
  const name = enrolment?.name ?? '';
  const why = said(enrolment?.error?.message ?? '');
  useEffect(() => {
    if (state === 'bound') live.say(t('live.enrol_bound', { name }));
    if (state === 'failed') live.say(t('live.enrol_failed', { why }));
  }, [live, state, name, why]);
}
