import type { HarnessEvent, TurnOutput } from '../../src/harness/adapter.ts';

type OfType<T extends HarnessEvent['type']> = Extract<HarnessEvent, { type: T }>;

/** Keeps what a Turn emitted, in order, and lets a test wait for it. */
export class Recorder implements TurnOutput {
  readonly events: HarnessEvent[] = [];
  readonly #watchers = new Set<() => void>();
  #closed = false;
  /** While set, `emit` takes the event and makes the adapter wait. */
  gate: Promise<void> | null = null;

  async emit(event: HarnessEvent): Promise<void> {
    if (this.#closed) throw new Error(`${event.type} after the output was closed`);
    if (this.events[this.events.length - 1]?.type === 'done') throw new Error(`${event.type} after done`);
    this.events.push(event);
    this.#changed();
    if (this.gate) await this.gate;
  }
  close(): void {
    if (this.#closed) throw new Error('closed twice');
    this.#closed = true;
    this.#changed();
  }
  get closed(): boolean {
    return this.#closed;
  }

  all<T extends HarnessEvent['type']>(type: T): OfType<T>[] {
    return this.events.filter((event): event is OfType<T> => event.type === type);
  }
  /** The `index`-th event of a type; waits for it, and rejects when the output closes without it. */
  async next<T extends HarnessEvent['type']>(type: T, index = 0): Promise<OfType<T>> {
    await this.until(() => this.all(type).length > index);
    const found = this.all(type)[index];
    if (!found) throw new Error(`no ${type} number ${index}; there are ${this.summary()}`);
    return found;
  }
  async until(reached: () => boolean): Promise<void> {
    while (!reached() && !this.#closed) await new Promise<void>((resolve) => this.#watchers.add(resolve));
  }
  async end(): Promise<OfType<'done'>> {
    await this.until(() => this.#closed);
    const done = this.all('done');
    if (done.length !== 1 || !done[0]) throw new Error(`${done.length} ends; there are ${this.summary()}`);
    return done[0];
  }
  get text(): string {
    return this.all('delta')
      .map((event) => event.payload.delta)
      .join('');
  }
  summary(): string {
    return this.events.map((event) => event.type).join(' ');
  }

  #changed(): void {
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    for (const watcher of watchers) watcher();
  }
}
