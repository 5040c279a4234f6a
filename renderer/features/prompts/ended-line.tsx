import type { ReactElement } from 'react';
import type { EndedPrompt } from '../../select/ended-prompts.ts';
import { promptEnd, type PromptEnd } from '../../select/prompt-end.ts';
import { bindingOf } from '../../select/prompt-queue.ts';
import { promptShape } from '../../select/prompt-shape.ts';
import { useView } from '../../services.ts';
import { StatusMark } from '../../ui/status-mark.tsx';

export const endOf = (item: EndedPrompt): PromptEnd =>
  promptEnd({ entry: item.entry ?? undefined, interaction: item.interaction, sent: item.sent });

/** What became of a prompt, in one line, where it stood. */
export function EndedLine({ item }: { readonly item: EndedPrompt }): ReactElement {
  const view = useView();
  const end = endOf(item);
  const shape = promptShape(item.interaction, bindingOf(view, item.interaction.binding));
  return (
    <div className="ended">
      <StatusMark mark={end.mark} />
      <div className="t">
        <b>{shape.title}</b> <span className="muted">· {end.text}</span>
      </div>
    </div>
  );
}
