import { memo, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { isTextField, pressed, shortcuts } from '../../keys.ts';
import { cardFacts } from '../../select/prompt-facts.ts';
import { agentName, type QueueItem } from '../../select/prompt-queue.ts';
import { useNow, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Rich } from '../../ui/rich.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';
import { ShortCommand } from '../prompts/command-block.tsx';
import { Stat } from '../prompts/diff-view.tsx';
import { EndLine } from '../prompts/end-line.tsx';
import { ActionNote } from '../prompts/prompt-actions.tsx';
import { PromptAge, PromptTile } from '../prompts/prompt-head.tsx';
import { ToolInput } from '../prompts/tool-input.tsx';
import { usePrompt } from '../prompts/use-prompt.ts';
import { Go } from '../shell/go.tsx';

/** A prompt whose whole input fits into a card: it can be answered right here. */
export function PromptCard({
  item,
  onLater,
}: {
  readonly item: QueueItem;
  readonly onLater: () => void;
}): ReactElement {
  const { interaction, shape } = item;
  const view = useView();
  const { link } = useServices();
  const prompt = usePrompt(interaction);
  const turn = view.turns.find((open) => open.run_id === interaction.run_id);
  const title = `ask-${interaction.id}`;
  const onKey = (event: React.KeyboardEvent): void => {
    if (event.repeat || event.nativeEvent.isComposing || isTextField(event.target)) return;
    const answers = [
      [shortcuts.allowOnce, { kind: 'allow', scope: 'once' }],
      [shortcuts.allowTurn, { kind: 'allow', scope: 'turn' }],
      [shortcuts.deny, { kind: 'deny' }],
    ] as const;
    for (const [shortcut, answer] of answers) {
      if (!pressed(event, shortcut, link.platform)) continue;
      event.preventDefault();
      prompt.answer(answer, 'key');
    }
  };
  return (
    <article className="ask" aria-labelledby={title} onKeyDown={onKey} {...prompt.focusProps}>
      <div className="ask-top">
        <PromptTile shape={shape} />
        <div className="grow">
          <h3 id={title}>{shape.title}</h3>
          <p className="meta">
            <Rich
              id={turn === undefined ? 'card.by' : 'card.by_turn'}
              params={{ agent: agentName(view, interaction.binding, interaction.harness) }}
              slots={{
                binding: <b>{interaction.binding}</b>,
                title: <VisibleText text={turn?.title ?? ''} />,
              }}
            />
          </p>
        </div>
        <PromptAge interaction={interaction} />
      </div>
      <CardInput item={item} />
      <CardFacts item={item} />
      <ActionNote prompt={prompt} unread={t('prompt.unread.input')} />
      <div className="actions">
        <Button
          kind="choice"
          shortcut={shortcuts.allowOnce}
          blocked={prompt.blocked('allow')}
          onPress={() => prompt.answer({ kind: 'allow', scope: 'once' }, 'click')}
        >
          {t('prompt.allow_once')}
        </Button>
        <Button
          kind="choice"
          shortcut={shortcuts.deny}
          blocked={prompt.blocked('deny')}
          onPress={() => prompt.answer({ kind: 'deny' }, 'click')}
        >
          {t('prompt.deny')}
        </Button>
        <span className="gap" />
        <Go className="btn ghost half" to={{ screen: 'prompt', id: interaction.id }}>
          {t('card.more')}
        </Go>
        <Button kind="ghost half end" onPress={onLater}>
          {t('prompt.later')}
        </Button>
      </div>
    </article>
  );
}

function CardInput({ item }: { readonly item: QueueItem }): ReactElement | null {
  const { interaction, shape } = item;
  switch (shape.kind) {
    case 'command':
      return <ShortCommand id={interaction.id} lines={shape.lines} />;
    case 'tool':
      return <ToolInput id={interaction.id} rows={shape.rows} short />;
    case 'network':
      return (
        <div className="code one">
          <VisibleText text={shape.host.written} />
          {shape.port === null ? '' : ` : ${shape.port}`}
          <EndLine id={interaction.id} bare />
        </div>
      );
    default:
      return null;
  }
}

function CardFacts({ item }: { readonly item: QueueItem }): ReactElement {
  const facts = cardFacts(item.interaction, item.shape, useNow());
  return (
    <p className="pairs">
      {facts.map((fact) => (
        <span key={fact.label} className="pair">
          <span>{fact.label}</span>
          {fact.text}
        </span>
      ))}
    </p>
  );
}

/** A prompt that is opened to be read: Review or Answer, never Allow. */
export const PromptRow = memo(function PromptRow({ item }: { readonly item: QueueItem }): ReactElement {
  const { interaction, shape } = item;
  const view = useView();
  return (
    <article className="ask-row" aria-labelledby={`ask-${interaction.id}`}>
      <PromptTile shape={shape} />
      <div className="t">
        <h3 className="cut" id={`ask-${interaction.id}`}>
          {shape.title}
        </h3>
        <p className="meta cut">
          {t('card.by', {
            agent: agentName(view, interaction.binding, interaction.harness),
            binding: interaction.binding,
          })}
          <RowSize item={item} />
        </p>
      </div>
      <PromptAge interaction={interaction} />
      <Go
        className="btn sm"
        to={{ screen: 'prompt', id: interaction.id }}
        label={t(shape.kind === 'question' ? 'card.answer_of' : 'card.review_of', { title: shape.title })}
      >
        {interaction.state === 'deciding'
          ? t('card.deciding')
          : shape.kind === 'question'
            ? t('card.answer')
            : t('card.review')}
      </Go>
    </article>
  );
});

function RowSize({ item: { interaction, shape } }: { readonly item: QueueItem }): ReactElement | null {
  if (!interaction.answerable) return <> · {t('card.core_answers')}</>;
  if (shape.kind === 'question') return null;
  if (shape.kind === 'unshowable') return <> · {t('unshowable.title')}</>;
  const risks = [
    shape.hidden.count > 0 ? t('hidden.short', { count: shape.hidden.count }) : null,
    shape.warnings.includes('outside') ? t('card.outside') : null,
    shape.warnings.includes('lookalike') ? t('card.lookalike') : null,
  ].filter((risk) => risk !== null);
  return (
    <>
      {' · '}
      {shape.kind === 'command' ? t('count.lines', { count: shape.lines.length }) : null}
      {shape.kind === 'file_change' ? <Stat added={shape.added} removed={shape.removed} /> : null}
      {shape.kind === 'tool' ? t('count.values', { count: shape.rows.length }) : null}
      {shape.kind === 'network' ? <VisibleText text={shape.host.written} /> : null}
      {risks.length === 0 ? null : (
        <>
          {', '}
          <span className="risk">{risks.join(', ')}</span>
        </>
      )}
    </>
  );
}
