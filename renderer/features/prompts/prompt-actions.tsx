import { useEffect, useRef, useState, type ReactElement } from 'react';
import type { InteractionView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { pressed, shortcuts } from '../../keys.ts';
import { mark } from '../../select/mark.ts';
import { unconfirmedAfter } from '../../select/prompt-guard.ts';
import { useServices } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { EditForm, RuleForm } from './rule-forms.tsx';
import type { PromptHandle } from './use-prompt.ts';

/** The line above the buttons: why Allow waits, that the answer is under way, why it was refused. */
export function ActionNote({
  prompt,
  unread,
  unshowable = false,
}: {
  readonly prompt: PromptHandle;
  readonly unread: string;
  readonly unshowable?: boolean;
}): ReactElement | null {
  if (prompt.locked) return <SendingLine since={prompt.lockedSince} />;
  if (prompt.guard.refused !== null) {
    return (
      <p className="why" role="alert">
        <StatusMark mark={mark('bang', 'warn')} />
        <span>{t('prompt.refused', { message: prompt.guard.refused })}</span>
      </p>
    );
  }
  const connection = prompt.blocked('deny');
  if (connection !== null) {
    return (
      <p className="why">
        <span>{connection}</span>
      </p>
    );
  }
  if (!unshowable && !prompt.guard.endSeen) {
    return (
      <p className="why">
        <span>{unread}</span>
      </p>
    );
  }
  return null;
}

/** "Sending your answer"; after 5 s without a word of the daemon, that it is not yet confirmed. */
export function SendingLine({ since }: { readonly since: number | null }): ReactElement {
  const { clock } = useServices();
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (since === null) return undefined;
    const timer = clock.after(Math.max(0, since + unconfirmedAfter - clock.monotonic()), () => setLate(true));
    return () => timer.cancel();
  }, [clock, since]);
  return (
    <p className="why">
      <StatusMark mark={mark('ring', 'run')} />
      <span>
        {late ? t('prompt.unconfirmed') : since === null ? t('prompt.deciding') : t('prompt.sending')}
      </span>
    </p>
  );
}

export interface PromptActionsProps {
  readonly prompt: PromptHandle;
  /** Nothing to allow: only Deny and Later. */
  readonly unshowable: boolean;
  readonly interaction: InteractionView;
  readonly agent: string;
  readonly form: PromptForm;
  readonly onForm: (form: PromptForm) => void;
  readonly onLater: () => void;
}

/** What is open in the place of the buttons. */
export type PromptForm = 'reason' | 'rule' | 'edit' | null;

/** Allow once, for this Turn, with a rule or changed, Deny, Deny with reason, Later: in this order, none a default. */
export function PromptActions({
  prompt,
  unshowable,
  interaction,
  agent,
  form,
  onForm,
  onLater,
}: PromptActionsProps): ReactElement {
  const deny = prompt.blocked('deny');
  const allow = prompt.blocked('allow');
  const close = (): void => onForm(null);
  if (form === 'reason') return <ReasonForm prompt={prompt} onClose={close} />;
  if (form === 'rule') return <RuleForm {...{ prompt, interaction, agent }} onClose={close} />;
  if (form === 'edit') return <EditForm {...{ prompt, interaction }} onClose={close} />;
  return (
    <div className="actions">
      {unshowable ? null : (
        <>
          <Button
            kind="choice"
            shortcut={shortcuts.allowOnce}
            blocked={allow}
            onPress={() => prompt.answer({ kind: 'allow', scope: 'once' }, 'click')}
          >
            {t('prompt.allow_once')}
          </Button>
          <Button
            kind="half"
            shortcut={shortcuts.allowTurn}
            blocked={allow}
            onPress={() => prompt.answer({ kind: 'allow', scope: 'turn' }, 'click')}
          >
            {t('prompt.allow_turn')}
          </Button>
          {interaction.rule === null ? null : (
            <Button kind="half" blocked={allow} onPress={() => onForm('rule')}>
              {t('prompt.allow_rule')}
            </Button>
          )}
          {interaction.editable === null || interaction.subject.kind !== 'command' ? null : (
            <Button kind="half" blocked={allow} onPress={() => onForm('edit')}>
              {t('prompt.edit')}
            </Button>
          )}
          <span className="gap" />
        </>
      )}
      <Button
        kind="choice"
        shortcut={shortcuts.deny}
        blocked={deny}
        onPress={() => prompt.answer({ kind: 'deny' }, 'click')}
      >
        {t('prompt.deny')}
      </Button>
      <Button kind="half" shortcut={shortcuts.denyReason} blocked={deny} onPress={() => onForm('reason')}>
        {t('prompt.deny_reason')}
      </Button>
      <Button kind="ghost half end" shortcut={shortcuts.later} onPress={onLater}>
        {t('prompt.later')}
      </Button>
    </div>
  );
}

/** Most characters of a reason, as the contract has it. */
const longestReason = 4_000;

function ReasonForm({
  prompt,
  onClose,
}: {
  readonly prompt: PromptHandle;
  readonly onClose: () => void;
}): ReactElement {
  const { link } = useServices();
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const blocked = prompt.blocked('deny') ?? (text.trim() === '' ? t('prompt.reason.empty') : null);
  const send = (via: 'click' | 'key'): void => {
    if (blocked === null) prompt.answer({ kind: 'deny', message: text.trim() }, via);
  };
  return (
    <div
      className="reason"
      onKeyDown={(event) => {
        if (event.repeat || event.nativeEvent.isComposing) return;
        if (pressed(event, shortcuts.send, link.platform)) {
          event.preventDefault();
          event.stopPropagation();
          send('key');
        } else if (event.key === 'Escape') {
          event.preventDefault();
          event.stopPropagation();
          onClose();
        }
      }}
    >
      <label className="lbl" htmlFor="deny-reason">
        {t('prompt.reason.label')}
      </label>
      <textarea
        ref={field}
        id="deny-reason"
        rows={2}
        maxLength={longestReason}
        value={text}
        placeholder={t('prompt.reason.placeholder')}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="actions">
        <Button kind="choice" shortcut={shortcuts.send} blocked={blocked} onPress={() => send('click')}>
          {t('prompt.deny_with_this')}
        </Button>
        <Button kind="half" onPress={onClose}>
          {t('dialog.back')}
        </Button>
      </div>
    </div>
  );
}
