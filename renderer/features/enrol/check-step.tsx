import { useId, useState, type ReactElement } from 'react';
import { isBindingName, type EnrolmentView } from '../../../src/contract/enrolment.ts';
import { t } from '../../i18n/t.ts';
import { mark } from '../../select/mark.ts';
import { folderChecks } from '../../select/enrolment.ts';
import { agentName } from '../../select/prompt-queue.ts';
import { useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';

export interface CheckStepProps {
  readonly enrolment: EnrolmentView | null;
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly onAnswer: (enrolment: EnrolmentView) => void;
}

/** What would be bound, to whom, where: read before anything is stored. */
export function CheckStep({ enrolment, name, onName, onAnswer }: CheckStepProps): ReactElement {
  if (enrolment === null) {
    return (
      <li className="card step off">
        <header>
          <span className="num">2</span>
          <h3>{t('enrol.check.title')}</h3>
        </header>
      </li>
    );
  }
  const open = enrolment.state === 'review' || enrolment.state === 'failed';
  // Once it was confirmed, what happens next has the room; what is wrong with the folder or the name is put right here.
  if (enrolment.state !== 'review' && !(enrolment.state === 'failed' && enrolment.step === 'folder')) {
    return (
      <li className="card step">
        <header>
          <StatusMark large mark={mark('tick', 'ok')} label={t('enrol.step_done')} />
          <h3>{t('enrol.check.done')}</h3>
        </header>
        <p className="muted">
          <VisibleText
            text={t('enrol.check.summary', { folder: enrolment.folder?.path ?? '', host: enrolment.host })}
          />
        </p>
      </li>
    );
  }
  return (
    <li className="card step">
      <header>
        <span className="num on">2</span>
        <h3>{t('enrol.check.title')}</h3>
      </header>
      <div className="body">
        <Facts enrolment={enrolment} />
        <div className="folder-row">
          {enrolment.folder_frozen ? (
            <FrozenFolder enrolment={enrolment} />
          ) : (
            <FolderField enrolment={enrolment} open={open} onAnswer={onAnswer} />
          )}
          <NameField name={name} open={open} onName={onName} />
        </div>
        <Findings enrolment={enrolment} />
        <p className="notice">{t('enrol.check.rights')}</p>
      </div>
    </li>
  );
}

function Facts({ enrolment }: { readonly enrolment: EnrolmentView }): ReactElement {
  const view = useView();
  const unasked = enrolment.way === 'credential' && enrolment.state === 'review';
  const way = !enrolment.encrypted
    ? t('enrol.check.local')
    : unasked
      ? t('enrol.check.encrypted_unasked')
      : t('enrol.check.encrypted');
  return (
    <dl className="facts roomy">
      <dt>{t('enrol.check.core')}</dt>
      <dd>
        <b>
          <VisibleText text={enrolment.host} />
        </b>
        <br />
        <span className="muted">{way}</span>
      </dd>
      <dt>{t('enrol.check.environment')}</dt>
      <dd>
        <code>{enrolment.environment_id}</code>
      </dd>
      {enrolment.core_version === null ? null : (
        <>
          <dt>{t('enrol.check.build')}</dt>
          <dd>
            <VisibleText text={enrolment.core_version} />
          </dd>
        </>
      )}
      {enrolment.harness === null ? null : (
        <>
          <dt>{t('enrol.check.agent')}</dt>
          <dd>
            <VisibleText text={agentName(view, null, enrolment.harness)} />
          </dd>
        </>
      )}
    </dl>
  );
}

/** The Session has named it; the person confirms it and cannot change it. */
function FrozenFolder({ enrolment }: { readonly enrolment: EnrolmentView }): ReactElement {
  const id = useId();
  return (
    <div className="field">
      <span className="lbl" id={id}>
        {t('enrol.check.folder')}
      </span>
      <span className="input row fixed" role="group" aria-labelledby={id}>
        <Icon name="folder" />
        <span className="path">
          <VisibleText text={enrolment.folder?.path ?? ''} />
        </span>
      </span>
      <span className="hint">{t('enrol.check.folder_frozen')}</span>
    </div>
  );
}

function FolderField({
  enrolment,
  open,
  onAnswer,
}: {
  readonly enrolment: EnrolmentView;
  readonly open: boolean;
  readonly onAnswer: (enrolment: EnrolmentView) => void;
}): ReactElement {
  const { link, toasts } = useServices();
  const id = useId();
  const [path, setPath] = useState(enrolment.folder?.asked ?? '');
  const looked = enrolment.folder?.asked === path;
  const ask = (asked: string): void => {
    link
      .call('enrol.folder', { id: enrolment.id, path: asked })
      .then(onAnswer, (reason: unknown) => toasts.failed(reason));
  };
  const look = (): void => {
    if (path !== '' && !looked) ask(path);
  };
  const { chooseFolder } = link;
  const choose = async (): Promise<void> => {
    const chosen = (await chooseFolder?.()) ?? null;
    if (chosen === null) return;
    setPath(chosen);
    ask(chosen);
  };
  return (
    <div className="field">
      <label htmlFor={id}>{t('enrol.check.folder')}</label>
      <div className="row">
        <input
          id={id}
          className="input"
          value={path}
          readOnly={!open}
          autoComplete="off"
          spellCheck={false}
          aria-describedby={`${id}-hint`}
          onChange={(event) => setPath(event.target.value)}
          onBlur={look}
          onKeyDown={(event) => {
            if (event.key === 'Enter') look();
          }}
        />
        {chooseFolder === null ? (
          <Button kind="tall" onPress={look}>
            {t('enrol.check.look')}
          </Button>
        ) : (
          <Button kind="tall" onPress={() => void choose()}>
            {t('enrol.check.choose')}
          </Button>
        )}
      </div>
      <span id={`${id}-hint`} className="hint">
        {enrolment.way === 'grant' ? t('enrol.check.folder_hint_made') : t('enrol.check.folder_hint')}
      </span>
    </div>
  );
}

function NameField({
  name,
  open,
  onName,
}: {
  readonly name: string;
  readonly open: boolean;
  readonly onName: (name: string) => void;
}): ReactElement {
  const id = useId();
  const wrong = !isBindingName(name);
  return (
    <div className="field name-field">
      <label htmlFor={id}>{t('enrol.check.name')}</label>
      <input
        id={id}
        className="input"
        value={name}
        maxLength={64}
        readOnly={!open}
        autoComplete="off"
        spellCheck={false}
        {...(wrong ? { 'aria-invalid': true, 'aria-describedby': `${id}-wrong` } : {})}
        onChange={(event) => onName(event.target.value)}
      />
      {wrong ? (
        <span id={`${id}-wrong`} className="hint wrong">
          {t('enrol.check.name_wrong')}
        </span>
      ) : null}
    </div>
  );
}

function Findings({ enrolment }: { readonly enrolment: EnrolmentView }): ReactElement | null {
  const checks = folderChecks(enrolment.folder);
  if (checks.length === 0) return null;
  return (
    <ul className="checks">
      {checks.map((check) => (
        <li key={`${check.strong ?? ''} ${check.text}`}>
          <StatusMark mark={check.mark} label={check.label} />
          <span>
            {check.strong === null ? null : (
              <b>
                <VisibleText text={check.strong} />{' '}
              </b>
            )}
            <VisibleText text={check.text} />
          </span>
        </li>
      ))}
    </ul>
  );
}
