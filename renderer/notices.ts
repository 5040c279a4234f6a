import type { Mark } from './select/mark.ts';
import { mark } from './select/mark.ts';
import { Signal } from './store.ts';
import type { WindowClock } from './window-clock.ts';

export interface Toast {
  readonly id: number;
  readonly mark: Mark;
  readonly text: string;
  /** Takes back what was done, where that can be. */
  readonly undo: (() => void) | null;
}

const stays = 5_000;
const most = 3;

/** Toasts: only for what the person did in this window, never for prompts. 5 s each, longer while looked at. */
export class ToastShelf extends Signal {
  readonly #clock: WindowClock;
  #toasts: readonly Toast[] = [];
  #next = 1;
  #held = false;
  readonly #timers = new Map<number, { cancel(): void }>();

  constructor(clock: WindowClock) {
    super();
    this.#clock = clock;
  }
  readonly get = (): readonly Toast[] => this.#toasts;

  done(text: string, undo: (() => void) | null = null): void {
    this.#push({ mark: mark('tick', 'ok'), text, undo });
  }
  /** Done as asked, and it proved nothing: neither green nor red. */
  unproven(text: string): void {
    this.#push({ mark: mark('dash'), text, undo: null });
  }
  /** A command that was refused: its message already says what to do next. */
  failed(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.#push({ mark: mark('xx', 'bad'), text, undo: null });
  }
  dismiss(id: number): void {
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
    this.#toasts = this.#toasts.filter((toast) => toast.id !== id);
    this.notify();
  }
  /** While hovered or focused they stay. */
  hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    if (!held) for (const toast of this.#toasts) this.#arm(toast.id);
  }

  #push(toast: Omit<Toast, 'id'>): void {
    const id = this.#next++;
    this.#toasts = [...this.#toasts, { ...toast, id }].slice(-most);
    if (!this.#held) this.#arm(id);
    this.notify();
  }
  #arm(id: number): void {
    this.#timers.set(
      id,
      this.#clock.after(stays, () => this.dismiss(id)),
    );
  }
}

/** The two live regions of the window: one polite, one assertive. */
export class LiveRegions extends Signal {
  #state = { polite: '', assertive: '', turn: 0 };
  readonly get = (): { readonly polite: string; readonly assertive: string; readonly turn: number } =>
    this.#state;

  /** `turn` changes with each text, so that the same words twice are heard twice. */
  say(text: string, urgent = false): void {
    this.#state = { ...this.#state, [urgent ? 'assertive' : 'polite']: text, turn: this.#state.turn + 1 };
    this.notify();
  }
}
