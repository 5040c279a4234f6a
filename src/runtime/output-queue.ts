import type { HarnessEvent, TurnOutput } from '../harness/adapter.ts';
import { capacity } from './limits.ts';

/**
 * The bounded way out of one Turn (runtime-behaviour 3.3): 64 events, never dropped or reordered. A full queue holds
 * back the adapter of this Turn and nobody else.
 */
export class OutputQueue implements TurnOutput {
  #events: HarnessEvent[] = [];
  #room: (() => void)[] = [];
  #reader: (() => void) | null = null;
  #closed = false;
  #late = 0;

  emit(event: HarnessEvent): Promise<void> {
    if (this.#closed) {
      this.#late++;
      return Promise.resolve();
    }
    this.#events.push(event);
    this.#wakeReader();
    if (this.#events.length < capacity.outputEvents) return Promise.resolve();
    return new Promise((resolve) => this.#room.push(resolve));
  }

  close(): void {
    this.#closed = true;
    for (const resume of this.#room.splice(0)) resume();
    this.#wakeReader();
  }

  get closed(): boolean {
    return this.#closed;
  }
  /** Events emitted after close: a defect of the adapter, counted and dropped. */
  get late(): number {
    return this.#late;
  }

  /** The next event, or null when the queue is closed and empty. One reader at a time. */
  async next(): Promise<HarnessEvent | null> {
    for (;;) {
      const event = this.#take();
      if (event) return event;
      if (this.#closed) return null;
      await new Promise<void>((resolve) => (this.#reader = resolve));
    }
  }

  /**
   * Takes the text fragments that directly follow and continue `item`, to merge them while the way out is backed up.
   * Any other event ends the merge, so order is kept across frames.
   */
  takeDeltas(item: string | undefined): string {
    let text = '';
    for (;;) {
      const head = this.#events[0];
      if (!head || head.type !== 'delta' || head.payload.item_id !== item) return text;
      if (text.length + head.payload.delta.length > 256 * 1024) return text;
      text += head.payload.delta;
      this.#take();
    }
  }

  /** The only way out of the queue: whoever waits for room learns of it, however the event was taken. */
  #take(): HarnessEvent | undefined {
    const event = this.#events.shift();
    if (this.#events.length < capacity.outputEvents) for (const resume of this.#room.splice(0)) resume();
    return event;
  }

  #wakeReader(): void {
    const reader = this.#reader;
    this.#reader = null;
    reader?.();
  }
}
