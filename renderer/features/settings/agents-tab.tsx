import type { ReactElement } from 'react';
import type { HarnessView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { said } from '../../i18n/said.ts';
import { agentRows } from '../../select/agent-rows.ts';
import { mark } from '../../select/mark.ts';
import { useView } from '../../services.ts';
import { Icon } from '../../ui/icon.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { WithCode } from '../../ui/with-code.tsx';

/** Programs on this machine that can run a Turn, whether they are ready, and what to do about the rest. */
export function AgentsTab(): ReactElement {
  const view = useView();
  const rows = agentRows(view);
  return (
    <>
      <p className="muted tab-lead">{t('settings.agents.lead')}</p>
      {rows.length === 0 ? <p className="empty">{t('settings.agents.none')}</p> : null}
      <ul className="card list">
        {rows.map(({ agent, bindings }) => (
          <AgentRow
            key={agent.kind}
            agent={agent}
            bindings={bindings}
            everywhere={bindings.length === view.bindings.length}
          />
        ))}
      </ul>
      <div className="notice after-list">
        <Icon name="plug" />
        <div>
          <b>{t('settings.agents.ready_means')}</b> {t('settings.agents.ready_means.text')}
        </div>
      </div>
    </>
  );
}

interface AgentRowProps {
  readonly agent: HarnessView;
  readonly bindings: readonly string[];
  /** Every binding offers it: then their names say nothing. */
  readonly everywhere: boolean;
}

function AgentRow({ agent, bindings, everywhere }: AgentRowProps): ReactElement {
  return (
    <li className="harn">
      <StatusMark
        large
        mark={agent.available ? mark('on', 'ok') : mark('bang', 'warn')}
        label={agent.available ? t('agent.ready') : t('agent.not_ready')}
      />
      <div>
        <b>{agent.name}</b>{' '}
        {agent.version === null ? null : <span className="faint mono">{agent.version}</span>}
        {agent.reason === null ? null : (
          <p>
            <WithCode text={said(agent.reason)} />
          </p>
        )}
        {everywhere ? null : <p className="faint">{t('agent.for', { bindings: bindings.join(', ') })}</p>}
      </div>
      <span className={agent.available ? 'chip ok' : 'chip warn'}>
        {agent.available ? t('agent.ready') : t('agent.not_ready')}
      </span>
    </li>
  );
}
