import type { View } from '../contract/view.ts';
import type { Clock, Timer } from '../platform/clock.ts';

/** A screen shows no more than this; what happens faster is one change. */
const intervalMs = 100;

/**
 * Publishes the view after changes: the first at once, then at most ten a second, always ending with the newest.
 * Nothing is built while nobody listens.
 */
export class ViewPublisher {
  readonly #clock: Clock;
  readonly #build: () => Omit<View, 'revision'>;
  readonly #listeners = new Set<(view: View) => void>();
  #timer: Timer | null = null;
  #dirty = false;
  #revision = 0;

  constructor(clock: Clock, build: () => Omit<View, 'revision'>) {
    this.#clock = clock;
    this.#build = build;
  }

  current(): View {
    return { ...this.#build(), revision: ++this.#revision };
  }

  changed(): void {
    if (this.#listeners.size === 0) return;
    if (this.#timer) {
      this.#dirty = true;
      return;
    }
    this.#publish();
  }

  subscribe(listener: (view: View) => void): () => void {
    this.#listeners.add(listener);
    listener(this.current());
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#listeners.clear();
  }

  #publish(): void {
    this.#dirty = false;
    const view = this.current();
    for (const listener of this.#listeners) listener(view);
    this.#timer = this.#clock.after(
      intervalMs,
      () => {
        this.#timer = null;
        if (this.#dirty) this.#publish();
      },
      { background: true },
    );
  }
}
