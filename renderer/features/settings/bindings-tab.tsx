import { useState, type ReactElement } from 'react';
import type { BindingView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { said } from '../../i18n/said.ts';
import { connectionLine } from '../../select/connection-line.ts';
import { folderName } from '../../select/prompt-shape.ts';
import { useAct, useNow, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { RemoveBinding } from '../enrol/remove-binding.tsx';
import { StoreChoices } from '../enrol/store-step.tsx';
import { RotatePanel } from '../enrol/rotate-panel.tsx';
import { BindingActions } from '../home/connections.tsx';

/** Each binding with its Core, its folder and its credential; enrolling, rotating, removing. */
export function BindingsTab(): ReactElement {
  const view = useView();
  const { router } = useServices();
  return (
    <>
      <div className="row tab-lead">
        <p className="muted grow">{t('settings.bindings.lead')}</p>
        <Button kind="sm" onPress={() => router.go({ screen: 'enrol', id: null }, 'heading')}>
          <Icon name="plus" size={14} />
          {t('act.enrol')}
        </Button>
      </div>
      {view.bindings.length === 0 ? <p className="empty">{t('home.no_bindings')}</p> : null}
      <ul className="card list">
        {view.bindings.map((binding) => (
          <BindingRow key={binding.name} binding={binding} unconfirmed={view.cleanup.length} />
        ))}
      </ul>
      <StoreNotice />
    </>
  );
}

/** Where credentials go, and what to do where they cannot. */
function StoreNotice(): ReactElement {
  const { credential_store: store, health } = useView();
  const { link } = useServices();
  const act = useAct();
  if (store === null) {
    const why = said(health.find(({ code }) => code === 'credential_store_unavailable')?.text ?? '');
    return (
      <div className="notice warn after-list">
        <Icon name="key" />
        <div className="grow">
          <b>{t('settings.keychain.none')}</b> {why}
        </div>
        <StoreChoices />
      </div>
    );
  }
  const [title, text] =
    store === 'file'
      ? [t('settings.keychain.file'), t('settings.keychain.file_text')]
      : store === 'memory'
        ? [t('settings.keychain.memory'), '']
        : [t('settings.keychain.works'), t('settings.keychain.works_text')];
  return (
    <div className="notice after-list">
      <Icon name="key" />
      <div className="grow">
        <b>{title}</b> {text}
      </div>
      {store === 'file' || store === 'memory' ? (
        <Button kind="sm" onPress={() => act(() => link.call('credentials.choose', { choice: 'retry' }))}>
          {t('settings.keychain.use')}
        </Button>
      ) : null}
    </div>
  );
}

function BindingRow({
  binding,
  unconfirmed,
}: {
  readonly binding: BindingView;
  readonly unconfirmed: number;
}): ReactElement {
  const now = useNow();
  const [rotating, setRotating] = useState(false);
  const line = connectionLine(binding, { now, unconfirmed });
  const facts = [
    binding.local || (line.reason?.includes(binding.connection.host ?? '') ?? false)
      ? null
      : binding.connection.host,
    binding.workspace === null
      ? t('settings.no_folder')
      : t('settings.folder', { name: folderName(binding.workspace) }),
    credentialFact(binding),
    line.reason,
  ].filter((fact) => fact !== null && fact !== '');
  return (
    <li className="harn">
      <StatusMark large mark={line.mark} label={line.label} />
      <div>
        <b>{binding.name}</b>
        <p className="strong tnum">{line.state}</p>
        <p className="tnum" title={binding.workspace ?? undefined}>
          {facts.join(' · ')}
        </p>
      </div>
      <div className="acts binding-acts">
        {line.action === 'remove' ? null : <BindingActions binding={binding} line={line} />}
        {binding.enrolled === null ? null : (
          <>
            {line.action === 'remove' ? null : (
              <Button
                kind="sm ghost"
                label={t('rotate.act_of', { name: binding.name })}
                expanded={rotating}
                onPress={() => setRotating(!rotating)}
              >
                {t('rotate.act')}
              </Button>
            )}
            <RemoveBinding name={binding.name} />
          </>
        )}
      </div>
      {rotating ? <RotatePanel name={binding.name} onClose={() => setRotating(false)} /> : null}
    </li>
  );
}

function credentialFact({ enrolled }: BindingView): string | null {
  switch (enrolled?.credential_store) {
    case 'keychain':
    case 'keyring':
      return t('settings.credential.keychain');
    case 'file':
      return t('settings.credential.file');
    case 'memory':
      return t('settings.credential.memory');
    default:
      return null;
  }
}
