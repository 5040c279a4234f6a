import { memo, useState, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { said } from '../../i18n/said.ts';
import { plainOutput } from '../../select/code-text.ts';
import type { Block, BlockOf } from '../../select/journal-blocks.ts';
import { mark, type Mark } from '../../select/mark.ts';
import { bindingOf } from '../../select/prompt-queue.ts';
import { promptShape } from '../../select/prompt-shape.ts';
import { at, clockSeconds, clockTime, span } from '../../select/time-words.ts';
import { endedTurnLine } from '../../select/turn-line.ts';
import { useView } from '../../services.ts';
import { Icon } from '../../ui/icon.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';
import { promptIcon } from '../prompts/prompt-head.tsx';
import { Go } from '../shell/go.tsx';
import { ToolCall } from './tool-call.tsx';

/** Text beyond this many characters is shown in part until asked for. */
const longText = 20_000;

/** One block of the stream. Everything in it is plain text. */
export const StreamBlock = memo(function StreamBlock({
  block,
}: {
  readonly block: Block;
}): ReactElement | null {
  switch (block.kind) {
    case 'input':
      return <Input block={block} />;
    case 'say':
      return block.text.trim() === '' ? null : (
        <div className="say">
          <LongText text={block.text} />
        </div>
      );
    case 'think':
      return <Thinking block={block} />;
    case 'tool':
      return <ToolCall block={block} />;
    case 'prompt':
      return <PromptLine block={block} />;
    case 'error':
      return (
        <div className="notice bad">
          <StatusMark mark={mark('xx', 'bad')} />
          <div>
            <VisibleText text={block.text} />
          </div>
        </div>
      );
    case 'notice':
      return (
        <p className="think">
          <StatusMark mark={mark('ring')} />
          <span>
            <VisibleText text={block.text} />
          </span>
        </p>
      );
    case 'end':
      return <End block={block} />;
  }
});

function LongText({ text }: { readonly text: string }): ReactElement {
  const [all, setAll] = useState(false);
  if (all || text.length <= longText) return <VisibleText text={plainOutput(text)} />;
  return (
    <>
      <VisibleText text={plainOutput(text.slice(0, longText))} />…
      <button type="button" className="btn sm" onClick={() => setAll(true)}>
        {t('stream.show_text', { count: text.length })}
      </button>
    </>
  );
}

function Input({ block }: { readonly block: BlockOf<'input'> }): ReactElement {
  const who =
    block.by === 'person'
      ? t('stream.you', { at: clockTime(at(block.at)) })
      : t('stream.core', { at: clockTime(at(block.at)) });
  return (
    <div className="you">
      <div className="grow">
        <span className="lbl">{who}</span>
        <div className="plain">
          <LongText text={block.text} />
        </div>
        {block.state === null ? null : <InputState state={block.state} />}
      </div>
    </div>
  );
}

/** A detail comes as part of a sentence: here it stands alone. */
const ended = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

const endWords = {
  allowed: 'end.allowed',
  denied: 'end.denied',
  answered: 'end.answered',
  withdrawn: 'end.withdrawn',
  expired: 'end.expired',
  cancelled: 'end.declined',
  unknown: 'end.unknown',
} as const;
const isEnd = (text: string): text is keyof typeof endWords => Object.hasOwn(endWords, text);
const endWord = (end: string): string => (isEnd(end) ? t(endWords[end]) : end);

type State = NonNullable<BlockOf<'input'>['state']>;
const stateMarks: Record<State['name'], Mark> = {
  written: mark('ring', 'run'),
  accepted: mark('on', 'ok'),
  rejected: mark('xx', 'bad'),
  unknown: mark('dash'),
};

function InputState({ state }: { readonly state: State }): ReactElement {
  const text = t(`steer.${state.name}`, { at: clockSeconds(at(state.at)) });
  return (
    <p className="receipt">
      <StatusMark mark={stateMarks[state.name]} />
      <span>
        {text}
        {state.detail === null ? '' : ` ${ended(said(state.detail))}`}
      </span>
    </p>
  );
}

function Thinking({ block }: { readonly block: BlockOf<'think'> }): ReactElement {
  const took = at(block.until) - at(block.at);
  return (
    <details className="thought">
      <summary className="think">
        <Icon name="clock" size={14} />
        {took >= 1_000 ? t('stream.thought_for', { span: span(took) }) : t('stream.thought')}
      </summary>
      <div className="said">
        <span className="lbl">{t('stream.thought.label')}</span>
        <LongText text={block.text} />
      </div>
    </details>
  );
}

/** A prompt in the stream: a link while it waits, then how it ended. */
function PromptLine({ block }: { readonly block: BlockOf<'prompt'> }): ReactElement {
  const view = useView();
  const open = view.interactions.find((interaction) => interaction.id === block.interaction_id);
  if (open !== undefined && block.end === null) {
    return (
      <Go className="tool line" to={{ screen: 'prompt', id: block.interaction_id }}>
        <Icon name={promptIcon(promptShape(open, bindingOf(view, open.binding)))} size={14} />
        <span className="nm cut">
          {open.kind === 'user_choice' ? (
            t('stream.asks', { count: open.questions.length })
          ) : (
            <VisibleText text={block.title} />
          )}
        </span>
        <span className="when row">
          <StatusMark mark={mark('bang', 'warn')} />
          {t('stream.waits')}
        </span>
      </Go>
    );
  }
  return (
    <div className="tool line past">
      <Icon name="ask" size={14} />
      <span className="nm">
        <VisibleText text={said(block.title)} />
      </span>
      <span className="when">{block.end === null ? t('stream.prompt_gone') : endWord(block.end)}</span>
    </div>
  );
}

function End({ block }: { readonly block: BlockOf<'end'> }): ReactElement {
  const line = endedTurnLine({
    outcome: block.outcome,
    decided_by: null,
    detail: block.outcome === 'failed' && block.text !== '' ? block.text : null,
  });
  return (
    <p className="stream-end">
      <StatusMark mark={line.mark} />
      <span>
        <b>{line.label}</b> {block.text === '' ? '' : <VisibleText text={said(block.text)} />}
      </span>
      <time>{clockTime(at(block.at))}</time>
    </p>
  );
}
