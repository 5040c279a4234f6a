import { useEffect, useId, useRef, useState, type ReactElement } from 'react';
import type { InteractionView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { Button } from '../../ui/button.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';
import type { PromptHandle } from './use-prompt.ts';

const ends = { week: 7, month: 30, none: null } as const;

interface FormProps {
  readonly prompt: PromptHandle;
  readonly interaction: InteractionView;
  readonly onClose: () => void;
}

/** What the rule will cover, whole, before it is saved; then where and for how long. */
export function RuleForm({
  prompt,
  interaction,
  agent,
  onClose,
}: FormProps & { readonly agent: string }): ReactElement | null {
  const [scope, setScope] = useState<'session' | 'folder'>('session');
  const [end, setEnd] = useState<keyof typeof ends>('week');
  const { rule } = interaction;
  const first = useRef<HTMLDivElement>(null);
  useEffect(() => first.current?.querySelector('button')?.focus({ preventScroll: true }), []);
  if (rule === null) return null;
  const days = scope === 'folder' ? { days: ends[end] } : {};
  return (
    <div className="reason" ref={first} onKeyDown={closeOnEscape(onClose)}>
      <p className="lbl">{t('rule.covers')}</p>
      <pre className="rule-match">
        <VisibleText text={rule.match} />
      </pre>
      <p className="muted">
        {t('rule.covers.tool', { tool: rule.tool, agent, binding: interaction.binding })}
      </p>
      <div className="row">
        <Segmented
          label={t('rule.scope')}
          value={scope}
          options={[
            { value: 'session', text: t('rule.scope.session') },
            { value: 'folder', text: t('rule.scope.folder') },
          ]}
          onChange={setScope}
        />
        {scope === 'folder' ? (
          <Segmented
            label={t('rule.end')}
            value={end}
            options={[
              { value: 'week', text: t('rule.end.week') },
              { value: 'month', text: t('rule.end.month') },
              { value: 'none', text: t('rule.end.none') },
            ]}
            onChange={setEnd}
          />
        ) : null}
      </div>
      <div className="actions">
        <Button
          kind="choice"
          blocked={prompt.blocked('allow')}
          onPress={() => prompt.answer({ kind: 'allow', scope, ...days }, 'click')}
        >
          {t('rule.allow')}
        </Button>
        <Button kind="half" onPress={onClose}>
          {t('dialog.back')}
        </Button>
      </div>
    </div>
  );
}

/** Another command than the agent asked with, allowed once. */
export function EditForm({ prompt, interaction, onClose }: FormProps): ReactElement | null {
  const { subject, editable } = interaction;
  const asked = subject.kind === 'command' ? subject.command : '';
  const [text, setText] = useState(asked);
  const field = useRef<HTMLTextAreaElement>(null);
  const label = useId();
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  if (editable === null) return null;
  const same = text.trim() === '' || text === asked ? t('rule.edit.same') : null;
  return (
    <div className="reason" onKeyDown={closeOnEscape(onClose)}>
      <label className="lbl" htmlFor={label}>
        {t('rule.edit.label')}
      </label>
      <textarea
        ref={field}
        id={label}
        className="mono"
        rows={3}
        maxLength={100_000}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="actions">
        <Button
          kind="choice"
          blocked={prompt.blocked('allow') ?? same}
          onPress={() =>
            prompt.answer({ kind: 'allow', scope: 'once', input: { ...editable, command: text } }, 'click')
          }
        >
          {t('rule.edit.allow')}
        </Button>
        <Button kind="half" onPress={onClose}>
          {t('dialog.back')}
        </Button>
      </div>
    </div>
  );
}

const closeOnEscape =
  (close: () => void) =>
  (event: React.KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.repeat || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
