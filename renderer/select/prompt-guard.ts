import type { Answer } from '../../src/contract/commands.ts';

/**
 * When an answer may leave this window. A prompt that has just arrived, just moved or just got the focus takes
 * nothing for half a second, so that a click or a key meant for something else decides nothing; Allow also waits until
 * the end of the input was on screen. Only the daemon's view marks a prompt as decided, never this state.
 */
export interface PromptGuard {
  /** Monotonic milliseconds when the prompt last appeared or moved under the pointer. */
  readonly settledAt: number;
  /** When the focus came into the prompt, or null while it is elsewhere. */
  readonly focusedAt: number | null;
  readonly endSeen: boolean;
  readonly sending: Sending | null;
  /** Why the last answer was refused, in the daemon's words. */
  readonly refused: string | null;
}
export interface Sending {
  readonly at: number;
  readonly answer: Answer['kind'];
  readonly scope: Extract<Answer, { kind: 'allow' }>['scope'] | null;
  readonly withReason: boolean;
}

/** An answer that left this window. `won`: the daemon's word on it, null until there is one. */
export interface Sent extends Omit<Sending, 'at'> {
  readonly won: boolean | null;
}

export type GuardEvent =
  | { readonly type: 'appeared' | 'moved' | 'focus_in' | 'focus_out' | 'end_seen' | 'taken_back' }
  | { readonly type: 'sent'; readonly sending: Omit<Sending, 'at'> }
  | { readonly type: 'refused'; readonly message: string };

export const quietTime = 500;
/** After this long without a word of the daemon the card says that the answer is not yet confirmed. */
export const unconfirmedAfter = 5_000;

export const freshGuard = (now: number): PromptGuard => ({
  settledAt: now,
  focusedAt: null,
  endSeen: false,
  sending: null,
  refused: null,
});

export function guardStep(guard: PromptGuard, event: GuardEvent, now: number): PromptGuard {
  switch (event.type) {
    case 'appeared':
    case 'moved':
      return { ...guard, settledAt: now };
    case 'focus_in':
      return guard.focusedAt === null ? { ...guard, focusedAt: now } : guard;
    case 'focus_out':
      return guard.focusedAt === null ? guard : { ...guard, focusedAt: null };
    case 'end_seen':
      return guard.endSeen ? guard : { ...guard, endSeen: true };
    case 'sent':
      return guard.sending === null
        ? { ...guard, sending: { ...event.sending, at: now }, refused: null }
        : guard;
    case 'taken_back':
      return guard.sending === null ? guard : { ...guard, sending: null };
    case 'refused':
      return { ...guard, sending: null, refused: event.message };
  }
}

export interface GuardContext {
  readonly now: number;
  /** The daemon hears this window. */
  readonly connected: boolean;
  /** False where only Core may answer. */
  readonly answerable: boolean;
  /** The daemon has an answer that is not confirmed yet, whoever gave it. */
  readonly deciding: boolean;
}

export type Refusal = 'arriving' | 'focus' | 'unread' | 'sending' | 'core_only' | 'disconnected';

/** Null when the answer may be sent, else why not. `via` is `key` for a shortcut, `click` for a button that was pressed. */
export function refusal(
  guard: PromptGuard,
  answer: Answer['kind'],
  via: 'click' | 'key',
  context: GuardContext,
): Refusal | null {
  if (!context.connected) return 'disconnected';
  if (!context.answerable) return 'core_only';
  if (guard.sending !== null || context.deciding) return 'sending';
  if (context.now - guard.settledAt < quietTime) return 'arriving';
  if (via === 'key' && (guard.focusedAt === null || context.now - guard.focusedAt < quietTime))
    return 'focus';
  if (answer === 'allow' && !guard.endSeen) return 'unread';
  return null;
}
