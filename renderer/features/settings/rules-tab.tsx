import { useState, type ReactElement } from 'react';
import type { Rule } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { mark } from '../../select/mark.ts';
import { agentName } from '../../select/prompt-queue.ts';
import { at, moment, span } from '../../select/time-words.ts';
import { useAct, useNow, useServices, useSettings, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
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
      {count === 0 ? (
        <p className="empty">{t('rules.none')}</p>
      ) : (
        <ul className="card list">
          {rules.map((rule) => (
            <RuleRow key={rule.id} rule={rule} />
          ))}
        </ul>
      )}
      <AskingRows />
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

const policies = ['ask', 'accept_edits', 'unattended'] as const;
const answerers = ['both', 'local', 'core'] as const;

/** Who decides where no rule does. That nobody is asked takes a second word. */
function AskingRows(): ReactElement {
  const { settings } = useServices();
  const act = useAct();
  const current = useSettings();
  const [unasked, setUnasked] = useState(false);
  return (
    <ul className="card list after-list">
      <ChoiceRow
        id="set-policy"
        text="rules.policy"
        choices={policies}
        value={current?.policy ?? null}
        onChoose={(policy) =>
          policy === 'unattended' ? setUnasked(true) : act(() => settings.change({ policy }))
        }
      />
      <ChoiceRow
        id="set-answered-by"
        text="rules.answered_by"
        choices={answerers}
        value={current?.answered_by ?? null}
        onChoose={(answered_by) => act(() => settings.change({ answered_by }))}
      />
      {unasked ? (
        <Dialog
          title={t('rules.policy.sure')}
          text={t('rules.policy.sure.text')}
          act={t('rules.policy.unattended')}
          onAct={() => act(() => settings.change({ policy: 'unattended' }))}
          onClose={() => setUnasked(false)}
        />
      ) : null}
    </ul>
  );
}

function ChoiceRow<P extends 'rules.policy' | 'rules.answered_by', C extends ChoicesOf[P]>({
  id,
  text,
  choices,
  value,
  onChoose,
}: {
  readonly id: string;
  readonly text: P;
  readonly choices: readonly C[];
  readonly value: C | null;
  readonly onChoose: (choice: C) => void;
}): ReactElement {
  return (
    <li className="set">
      <div className="t">
        <b id={id}>{t(text)}</b>
        <p id={`${id}-text`}>{t(`${text}.text`)}</p>
      </div>
      <span className="selectbox">
        <select
          className="select"
          aria-labelledby={id}
          aria-describedby={`${id}-text`}
          disabled={value === null}
          value={value ?? ''}
          onChange={(event) => {
            const chosen = choices.find((choice) => choice === event.target.value);
            if (chosen !== undefined && chosen !== value) onChoose(chosen);
          }}
        >
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {t(choiceTexts[choice])}
            </option>
          ))}
        </select>
        <Icon name="down" size={12} />
      </span>
    </li>
  );
}

interface ChoicesOf {
  readonly 'rules.policy': (typeof policies)[number];
  readonly 'rules.answered_by': (typeof answerers)[number];
}
const choiceTexts = {
  ask: 'rules.policy.ask',
  accept_edits: 'rules.policy.accept_edits',
  unattended: 'rules.policy.unattended',
  both: 'rules.answered_by.both',
  local: 'rules.answered_by.local',
  core: 'rules.answered_by.core',
} as const;

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
