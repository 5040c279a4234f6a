import type { ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { connectionLine } from '../../select/connection-line.ts';
import { folderName } from '../../select/prompt-shape.ts';
import { useNow, useView } from '../../services.ts';
import { StatusMark } from '../../ui/status-mark.tsx';
import { BindingActions } from '../home/connections.tsx';

/** Each binding with its Core and its folder. */
export function BindingsTab(): ReactElement {
  const view = useView();
  const now = useNow();
  return (
    <>
      <p className="muted tab-lead">{t('settings.bindings.lead')}</p>
      {view.bindings.length === 0 ? <p className="empty">{t('home.no_bindings')}</p> : null}
      <ul className="card list">
        {view.bindings.map((binding) => {
          const line = connectionLine(binding, { now, unconfirmed: view.cleanup.length });
          const facts = [
            binding.local || (line.reason?.includes(binding.connection.host ?? '') ?? false)
              ? null
              : binding.connection.host,
            binding.workspace === null
              ? t('settings.no_folder')
              : t('settings.folder', { name: folderName(binding.workspace) }),
            line.reason,
          ].filter((fact) => fact !== null && fact !== '');
          return (
            <li key={binding.name} className="harn">
              <StatusMark large mark={line.mark} label={line.label} />
              <div>
                <b>{binding.name}</b>
                <p className="strong tnum">{line.state}</p>
                <p className="tnum" title={binding.workspace ?? undefined}>
                  {facts.join(' · ')}
                </p>
              </div>
              <BindingActions binding={binding} line={line} />
            </li>
          );
        })}
      </ul>
    </>
  );
}
