import { useLayoutEffect, useRef, useState, type ReactElement } from 'react';
import type { InteractionView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import type { EndedPrompt } from '../../select/ended-prompts.ts';
import { queueItems, type QueueItem } from '../../select/prompt-queue.ts';
import { useDesk, useServices, useView } from '../../services.ts';
import { EndedLine } from '../prompts/ended-line.tsx';
import { PromptCard, PromptRow } from './prompt-card.tsx';

type Shown = { readonly id: string; readonly since: string } & (
  | { readonly kind: 'open'; readonly item: QueueItem }
  | { readonly kind: 'ended'; readonly ended: EndedPrompt }
);

const sinceOf = (interaction: InteractionView): { id: string; since: string } => ({
  id: interaction.id,
  since: interaction.since,
});

/** Open prompts and, in their places, what became of those that just left. */
export function NeedsYou(): ReactElement {
  const view = useView();
  const { ended } = useDesk();
  const list = useRef<HTMLUListElement>(null);
  const [later, setLater] = useState<readonly string[]>([]);
  useQuietAfterMoves(list);

  const shown: readonly Shown[] = [
    ...queueItems(view).map((item): Shown => ({ ...sinceOf(item.interaction), kind: 'open', item })),
    ...ended.map((gone): Shown => ({ ...sinceOf(gone.interaction), kind: 'ended', ended: gone })),
  ].sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : a.id < b.id ? -1 : 1));

  return (
    <section className="sec" aria-labelledby="h-need">
      <header>
        <h2 id="h-need">{t('queue.title')}</h2>
        <span className="n">{t('home.oldest_first')}</span>
      </header>
      <ul ref={list} className={view.interactions.length === 0 ? 'card list' : 'card list queue'}>
        {shown.map((one) => (
          <li key={one.id} data-prompt={one.id} className={one.kind === 'open' ? 'arrives' : undefined}>
            {one.kind === 'ended' ? (
              <EndedLine item={one.ended} />
            ) : one.item.open && !later.includes(one.id) ? (
              <PromptCard item={one.item} onLater={() => setLater([...later, one.id])} />
            ) : (
              <PromptRow item={one.item} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/**
 * A card that moved, because one above it left or a banner came, is quiet again for half a second: what is now under
 * the pointer is not what the person was about to press.
 */
function useQuietAfterMoves(list: React.RefObject<HTMLUListElement | null>): void {
  const { desk } = useServices();
  const places = useRef(new Map<string, number>());
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    const scrolled = element.closest('.scroll')?.scrollTop ?? 0;
    const next = new Map<string, number>();
    for (const item of element.querySelectorAll<HTMLElement>('li[data-prompt]')) {
      const id = item.dataset['prompt'] ?? '';
      const top = item.getBoundingClientRect().top + scrolled;
      const before = places.current.get(id);
      if (before !== undefined && Math.abs(before - top) > 1) desk.tell(id, { type: 'moved' });
      next.set(id, top);
    }
    places.current = next;
  });
}
