import { useId, useRef, useState, type ReactElement } from 'react';
import type { EnrolmentSource, EnrolmentView } from '../../../src/contract/enrolment.ts';
import { t } from '../../i18n/t.ts';
import { at, countedDown } from '../../select/time-words.ts';
import { showHidden } from '../../select/code-text.ts';
import { useAct, useNow, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { mark } from '../../select/mark.ts';
import { SecretText } from './secret-text.tsx';

/** What was given: an install command or a link, or the file of an operator. It is handed on once and not kept. */
export function ReadStep({ onRead }: { readonly onRead: (enrolment: EnrolmentView) => void }): ReactElement {
  const { link, live } = useServices();
  const { invited } = useView();
  const act = useAct();
  const [withKey, setWithKey] = useState(false);
  const [text, setText] = useState('');
  const [address, setAddress] = useState('');
  const [environment, setEnvironment] = useState('');
  const [reading, setReading] = useState(false);
  const [fault, tell] = useState<string | null>(null);
  const setFault = (text: string | null): void => {
    tell(text);
    if (text !== null) live.say(text);
  };

  const empty = withKey
    ? [text, address, environment].some((value) => value.trim() === '')
    : text.trim() === '';
  const read = (): void => {
    if (reading) return;
    if (empty) return setFault(withKey ? t('enrol.read.key_empty') : t('enrol.read.empty'));
    const source: EnrolmentSource = withKey
      ? {
          kind: 'credential',
          credential: text,
          remote_url: address.trim(),
          environment_id: environment.trim(),
        }
      : { kind: 'invitation', text };
    setReading(true);
    setFault(null);
    link.call('enrol.read', { source }).then(
      (enrolment) => {
        // What was pasted is a secret: it is not kept in the page once it was understood.
        setText('');
        onRead(enrolment);
      },
      (reason: unknown) => {
        setReading(false);
        setFault(reason instanceof Error ? reason.message : String(reason));
      },
    );
  };
  const readArrived = (): void => {
    if (reading) return;
    setReading(true);
    setFault(null);
    link.call('enrol.read', { source: { kind: 'arrived' } }).then(onRead, (reason: unknown) => {
      setReading(false);
      setFault(reason instanceof Error ? reason.message : String(reason));
    });
  };
  const swap = (): void => {
    setWithKey(!withKey);
    setText('');
    setFault(null);
  };
  return (
    <li className="card step">
      <header>
        <span className="num on">1</span>
        <h3 className="grow">{withKey ? t('enrol.read.key_title') : t('enrol.read.title')}</h3>
      </header>
      <div className="body">
        {invited === null ? null : (
          <div className="notice" role="status">
            <div className="grow">
              {invited.host === null
                ? t('enrol.invited.bad')
                : t('enrol.invited', { host: showHidden(invited.host) })}
            </div>
            {invited.host === null ? null : (
              <Button
                kind="sm primary"
                blocked={reading ? t('enrol.read.reading') : null}
                onPress={readArrived}
              >
                {t('enrol.invited.read')}
              </Button>
            )}
            <Button kind="sm ghost" onPress={() => act(() => link.call('enrol.ignore', {}))}>
              {t('enrol.invited.ignore')}
            </Button>
          </div>
        )}
        {withKey ? (
          <>
            <Line
              label={t('enrol.key.address')}
              hint={t('enrol.key.address_hint')}
              value={address}
              onChange={setAddress}
            />
            <Line label={t('enrol.key.environment')} value={environment} onChange={setEnvironment} />
          </>
        ) : null}
        <SecretText
          label={withKey ? t('enrol.key.file') : t('enrol.read.field')}
          hint={withKey ? t('enrol.key.hint') : t('enrol.read.hint')}
          value={text}
          onChange={setText}
          onFault={setFault}
        />
        {fault === null ? null : <p className="notice bad">{fault}</p>}
        <div className="row read-acts">
          <Button kind="primary" blocked={reading ? t('enrol.read.reading') : null} onPress={read}>
            {reading ? t('enrol.read.reading') : t('enrol.read.act')}
          </Button>
          <span className="grow" />
          <Button kind="sm ghost" onPress={swap}>
            {withKey ? t('enrol.read.with_invitation') : t('enrol.read.with_key')}
          </Button>
        </div>
      </div>
    </li>
  );
}

interface LineProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
}

function Line({ label, hint, value, onChange }: LineProps): ReactElement {
  const field = useId();
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="field">
      <label htmlFor={field}>{label}</label>
      <input
        ref={input}
        id={field}
        className="input mono"
        value={value}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        {...(hint === undefined ? {} : { 'aria-describedby': `${field}-hint` })}
      />
      {hint === undefined ? null : (
        <span id={`${field}-hint`} className="hint">
          {hint}
        </span>
      )}
    </div>
  );
}

/** The first step once it is done. */
export function ReadDone({
  enrolment,
  onAnother,
}: {
  readonly enrolment: EnrolmentView;
  readonly onAnother: () => void;
}): ReactElement {
  const busy =
    enrolment.state === 'working' || enrolment.state === 'bound' || enrolment.state === 'connecting';
  return (
    <li className="card step">
      <header>
        <StatusMark large mark={mark('tick', 'ok')} label={t('enrol.step_done')} />
        <h3 className="grow">
          {enrolment.way === 'grant' ? t('enrol.done.title') : t('enrol.done.key_title')}
        </h3>
        {busy ? null : (
          <Button kind="sm ghost" onPress={onAnother}>
            {t('enrol.another')}
          </Button>
        )}
      </header>
      <p className="muted tnum">
        <Ending enrolment={enrolment} />
      </p>
    </li>
  );
}

function Ending({ enrolment }: { readonly enrolment: EnrolmentView }): ReactElement {
  const now = useNow();
  const { way, expires_at: ends, state } = enrolment;
  if (way === 'credential') return <>{t('enrol.done.key')}</>;
  if (ends === null || state === 'bound') return <>{t('enrol.done.plain')}</>;
  const left = at(ends) - now;
  return <>{left > 0 ? t('enrol.done.ends', { left: countedDown(left) }) : t('enrol.done.over')}</>;
}
