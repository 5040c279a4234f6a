import { useState, type ReactElement } from 'react';
import type { InteractionView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { isTextField, pressed, shortcuts, shortcutText } from '../../keys.ts';
import { commandLines, rawJson, showHidden } from '../../select/code-text.ts';
import { promptFacts } from '../../select/prompt-facts.ts';
import { agentName, bindingOf } from '../../select/prompt-queue.ts';
import { promptShape, type PromptShape } from '../../select/prompt-shape.ts';
import { useNow, useServices, useView } from '../../services.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';
import { useHeading } from '../shell/go.tsx';
import { ActionNote, PromptActions, type PromptForm } from './prompt-actions.tsx';
import { PromptHead } from './prompt-head.tsx';
import { PromptInput, PromptWarnings } from './prompt-input.tsx';
import { usePrompt } from './use-prompt.ts';

export interface DetailProps {
  readonly interaction: InteractionView;
  readonly onLater: () => void;
  readonly onNeighbour: (step: 1 | -1) => void;
}

const unreadText = (shape: PromptShape): string => {
  switch (shape.kind) {
    case 'command':
      return t('prompt.unread.command');
    case 'file_change':
      return t('prompt.unread.change');
    default:
      return t('prompt.unread.input');
  }
};

/** For a command and a file change the input itself says all that the summary of the program would. */
const hasDetail = (shape: PromptShape): boolean => shape.kind === 'unshowable';

/** A permission: the input whole, what was measured about it, what the agent wrote, and the answers. */
export function PermissionDetail({ interaction, onLater, onNeighbour }: DetailProps): ReactElement {
  const { link } = useServices();
  const view = useView();
  const shape = promptShape(interaction, bindingOf(view, interaction.binding));
  const prompt = usePrompt(interaction);
  const heading = useHeading();
  const [raw, setRaw] = useState(false);
  const [form, setForm] = useState<PromptForm>(null);
  const unshowable = shape.kind === 'unshowable';

  const onKey = (event: React.KeyboardEvent): void => {
    if (event.repeat || event.nativeEvent.isComposing) return;
    const is = (name: keyof typeof shortcuts): boolean => pressed(event, shortcuts[name], link.platform);
    const run = (work: () => void): void => {
      event.preventDefault();
      work();
    };
    if (is('later')) return run(onLater);
    if (is('previousPrompt')) return run(() => onNeighbour(-1));
    if (is('nextPrompt')) return run(() => onNeighbour(1));
    if (is('raw')) return run(() => setRaw(!raw));
    if (isTextField(event.target)) return;
    if (is('deny')) return run(() => prompt.answer({ kind: 'deny' }, 'key'));
    if (is('denyReason')) return run(() => setForm(prompt.blocked('deny') === null ? 'reason' : null));
    if (unshowable) return;
    if (is('allowOnce')) return run(() => prompt.answer({ kind: 'allow', scope: 'once' }, 'key'));
    if (is('allowTurn')) return run(() => prompt.answer({ kind: 'allow', scope: 'turn' }, 'key'));
  };

  return (
    <article
      className="detail"
      aria-labelledby="prompt-title"
      data-prompt={interaction.id}
      onKeyDown={onKey}
      {...prompt.focusProps}
    >
      <div className="detail-body" tabIndex={0}>
        <PromptHead interaction={interaction} shape={shape} heading={heading} />
        <PromptInput interaction={interaction} shape={shape} raw={raw} />
        <PromptWarnings shape={shape} />
        <Facts interaction={interaction} shape={shape} />
        {interaction.reason === null ? null : (
          <Said label={t('prompt.said.reason')} text={interaction.reason} />
        )}
        {interaction.detail === null || !hasDetail(shape) ? null : (
          <Said label={t('prompt.said.detail')} text={interaction.detail} />
        )}
        <div className="row">
          <Segmented
            label={t('prompt.form')}
            value={raw ? 'raw' : 'readable'}
            options={[
              {
                value: 'readable',
                text: t('prompt.readable'),
                title: shortcutText(shortcuts.raw, link.platform),
              },
              { value: 'raw', text: t('prompt.raw'), title: shortcutText(shortcuts.raw, link.platform) },
            ]}
            onChange={(form) => setRaw(form === 'raw')}
          />
          <CopyButton text={() => (raw ? rawJson(interaction.subject) : readableText(interaction))} />
        </div>
      </div>
      <div className="detail-foot">
        <ActionNote prompt={prompt} unread={unreadText(shape)} unshowable={unshowable} />
        <PromptActions
          prompt={prompt}
          unshowable={unshowable}
          interaction={interaction}
          agent={agentName(view, interaction.binding, interaction.harness)}
          form={form}
          onForm={setForm}
          onLater={onLater}
        />
      </div>
    </article>
  );
}

function readableText(interaction: InteractionView): string {
  const { subject } = interaction;
  switch (subject.kind) {
    case 'command':
      return commandLines(subject.command).map(showHidden).join('\n');
    case 'file_change':
      return showHidden(subject.changes.map((change) => `${change.path}\n${change.diff}`).join('\n'));
    case 'network':
      return showHidden(subject.port === null ? subject.host : `${subject.host}:${subject.port}`);
    default:
      return rawJson(subject);
  }
}

function Facts({
  interaction,
  shape,
}: {
  readonly interaction: InteractionView;
  readonly shape: PromptShape;
}): ReactElement {
  const facts = promptFacts(interaction, shape, useNow());
  return (
    <dl className="facts">
      {facts.map((fact) => (
        <div key={fact.label} className="fact">
          <dt>{fact.label}</dt>
          <dd className={fact.risk ? 'risk' : undefined}>{fact.text}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Foreign matter, behind its label, in plain text. */
export function Said({ label, text }: { readonly label: string; readonly text: string }): ReactElement {
  return (
    <div className="said">
      <span className="lbl">{label}</span>
      <VisibleText text={text} />
    </div>
  );
}
