/**
 * One writer for the stored state: writes never overlap, and what changed while one was running is written next, once.
 */
export class StateWriter {
  readonly #write: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(write: () => Promise<void>) {
    this.#write = write;
  }

  /** Resolves when everything that changed before this call is durable; rejects when that write failed. */
  save(): Promise<void> {
    if (!this.#running) return this.#run();
    this.#next ??= this.#running.catch(() => undefined).then(() => this.#run());
    return this.#next;
  }

  /** Resolves when no write is running or waiting. Failures were reported by `save`. */
  async idle(): Promise<void> {
    while (this.#running) await (this.#next ?? this.#running).catch(() => undefined);
  }

  #run(): Promise<void> {
    this.#next = undefined;
    const running = this.#write().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
