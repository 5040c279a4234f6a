import { useState, type ReactElement } from 'react';
import type { Rule } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { mark } from '../../select/mark.ts';
import { agentName } from '../../select/prompt-queue.ts';
import { at, moment, span } from '../../select/time-words.ts';
import { useAct, useNow, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';

/** What is allowed without asking, and the way to be asked again. */
export function RulesTab(): ReactElement {
  const { rules } = useView();
  const { link } = useServices();
  const act = useAct();
  const [removing, setRemoving] = useState(false);
  const count = rules.length;
  return (
    <>
      <div className="row tab-lead">
        <p className="muted grow">{t('rules.lead')}</p>
        {count === 0 ? null : (
          <Button kind="sm danger" onPress={() => setRemoving(true)}>
            {t('rules.remove_all')}
          </Button>
        )}
      </div>
      {count === 0 ? <p className="empty">{t('rules.none')}</p> : null}
      <ul className="card list">
        {rules.map((rule) => (
          <RuleRow key={rule.id} rule={rule} />
        ))}
      </ul>
      {removing ? (
        <Dialog
          title={t('rules.remove_all.title', { count })}
          text={t('rules.remove_all.text')}
          act={t('rules.remove_all.act', { count })}
          onAct={() => act(() => link.call('rule.remove_all', {}))}
          onClose={() => setRemoving(false)}
        />
      ) : null}
    </>
  );
}

function RuleRow({ rule }: { readonly rule: Rule }): ReactElement {
  const now = useNow();
  const { link } = useServices();
  const act = useAct();
  const agent = agentName(useView(), rule.binding, rule.harness);
  const used =
    rule.last_used_at === null
      ? t('rules.unused', { at: moment(at(rule.created_at), now) })
      : t('rules.used', { count: rule.used, at: moment(at(rule.last_used_at), now) });
  return (
    <li className="harn rule-row">
      <StatusMark mark={mark('tick', 'ok')} />
      <div>
        <p className="strong rule-line">
          <b>{t('rules.allow')}</b>
          <code>
            <VisibleText text={rule.match} />
          </code>
          <span className="chip">{rule.tool}</span>
        </p>
        <p className="tnum">
          {t(`rules.where.${rule.scope}`, { binding: rule.binding })} · {agent} · {used}
          {rule.folder === null ? null : (
            <>
              {' · '}
              <VisibleText text={rule.folder} />
            </>
          )}
        </p>
      </div>
      <div className="acts">
        <span className="muted tnum">
          {rule.expires_at === null
            ? rule.scope === 'folder'
              ? t('rules.no_end')
              : ''
            : t('rules.ends', { left: span(at(rule.expires_at) - now) })}
        </span>
        <Button
          kind="sm ghost"
          label={t('rules.remove.label', { match: rule.match.slice(0, 80) })}
          onPress={() => act(() => link.call('rule.remove', { id: rule.id }))}
        >
          {t('rules.remove')}
        </Button>
      </div>
    </li>
  );
}
