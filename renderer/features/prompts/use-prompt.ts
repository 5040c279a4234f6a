import { useEffect, useLayoutEffect, useRef, type FocusEvent, type RefObject } from 'react';
import type { Answer } from '../../../src/contract/commands.ts';
import type { InteractionView } from '../../../src/contract/view.ts';
import { t, type TextKey } from '../../i18n/t.ts';
import { freshGuard, type PromptGuard, type Refusal } from '../../select/prompt-guard.ts';
import { useDesk, useServices, useWindowState } from '../../services.ts';

/** One prompt on screen: its guard, and the only two ways to answer it. */
export interface PromptHandle {
  readonly guard: PromptGuard;
  /** Sent and not confirmed, by this window or another. */
  readonly locked: boolean;
  readonly lockedSince: number | null;
  /** Why this answer cannot be given at all for now, in words; null also while a click would merely be ignored. */
  blocked(answer: Answer['kind']): string | null;
  answer(answer: Answer, via: 'click' | 'key'): Refusal | null;
  readonly focusProps: {
    onFocus(): void;
    onBlur(event: FocusEvent<HTMLElement>): void;
  };
}

/** Refusals that a button shows and explains. The rest look usual: a late click is simply ignored. */
const shown: Partial<Record<Refusal, TextKey>> = {
  unread: 'prompt.unread',
  sending: 'prompt.sending',
  core_only: 'prompt.core_only',
  disconnected: 'prompt.disconnected',
};

export function usePrompt(interaction: InteractionView): PromptHandle {
  const { desk, clock } = useServices();
  const { guards } = useDesk();
  useWindowState();
  const { id } = interaction;
  // Appearing on a screen starts the quiet time, also for a prompt that was known before.
  useLayoutEffect(() => desk.tell(id, { type: 'appeared' }), [desk, id]);
  const guard = guards.get(id) ?? freshGuard(clock.monotonic());
  return {
    guard,
    locked: guard.sending !== null || interaction.state === 'deciding',
    lockedSince: guard.sending?.at ?? null,
    blocked: (answer) => {
      const refused = desk.refusal(interaction, answer, 'click');
      // The quiet time must not hide that the input was not read.
      const lasting = refused === 'arriving' && answer === 'allow' && !guard.endSeen ? 'unread' : refused;
      const key = lasting === null ? undefined : shown[lasting];
      return key === undefined ? null : t(key);
    },
    answer: (answer, via) => desk.answer(interaction, answer, via),
    focusProps: {
      onFocus: () => desk.tell(id, { type: 'focus_in' }),
      onBlur: (event) => {
        const next = event.relatedTarget;
        if (!(next instanceof Node) || !event.currentTarget.contains(next))
          desk.tell(id, { type: 'focus_out' });
      },
    },
  };
}

/** Marks the input as read once this element, its last, was on screen in a window that can be seen. */
export function useEndSeen(id: string): RefObject<HTMLParagraphElement | null> {
  const { desk } = useServices();
  const end = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const element = end.current;
    if (element === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (document.visibilityState === 'visible' && entries.some((entry) => entry.isIntersecting)) {
          desk.tell(id, { type: 'end_seen' });
          observer.disconnect();
        }
      },
      { threshold: 0.9 },
    );
    const look = (): void => {
      observer.unobserve(element);
      observer.observe(element);
    };
    observer.observe(element);
    document.addEventListener('visibilitychange', look);
    return () => {
      observer.disconnect();
      document.removeEventListener('visibilitychange', look);
    };
  }, [desk, id]);
  return end;
}
