import type { ReactElement, RefObject } from 'react';
import type { InteractionView } from '../../../src/contract/view.ts';
import { agentName, promptAge } from '../../select/prompt-queue.ts';
import { subjectOf, type PromptShape } from '../../select/prompt-shape.ts';
import { t } from '../../i18n/t.ts';
import { useNow, useView } from '../../services.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Rich } from '../../ui/rich.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';
import { Go } from '../shell/go.tsx';

const icons: Record<ReturnType<typeof subjectOf>, IconName> = {
  command: 'term',
  file_change: 'diff',
  tool: 'tool',
  network: 'globe',
  question: 'ask',
};

/** The icon of what is asked. */
export const promptIcon = (shape: PromptShape): IconName => icons[subjectOf(shape)];

export function PromptTile({
  shape,
  plain = false,
  size = 16,
}: {
  readonly shape: PromptShape;
  readonly plain?: boolean;
  readonly size?: number;
}): ReactElement {
  return (
    <span className={plain ? 'tile plain' : 'tile'}>
      <Icon name={promptIcon(shape)} size={size} />
    </span>
  );
}

/** How long it waits, or how long is left. */
export function PromptAge({
  interaction,
  waiting = false,
}: {
  readonly interaction: InteractionView;
  readonly waiting?: boolean;
}): ReactElement {
  const age = promptAge(interaction, useNow());
  const text =
    waiting && interaction.expires_at === null ? t('prompt.waiting', { waited: age.text }) : age.text;
  return <span className={age.soon ? 'age soon' : 'age'}>{text}</span>;
}

export interface PromptHeadProps {
  readonly interaction: InteractionView;
  readonly shape: PromptShape;
  readonly heading: RefObject<HTMLHeadingElement | null>;
}

export function PromptHead({ interaction, shape, heading }: PromptHeadProps): ReactElement {
  const view = useView();
  const turn = view.turns.find((open) => open.run_id === interaction.run_id);
  const agent = agentName(view, interaction.binding, interaction.harness);
  return (
    <div className="head">
      <PromptTile shape={shape} size={18} />
      <div className="grow">
        <h2 id="prompt-title" ref={heading} tabIndex={-1}>
          {shape.title}
        </h2>
        <p>
          <Rich
            id={turn === undefined ? 'prompt.asks_plain' : 'prompt.asks'}
            params={{ agent, binding: interaction.binding }}
            slots={{
              turn: (
                <Go to={{ screen: 'turn', runId: interaction.run_id }}>
                  <VisibleText text={turn?.title ?? ''} />
                </Go>
              ),
            }}
          />
        </p>
      </div>
      <PromptAge interaction={interaction} waiting />
    </div>
  );
}
