import type { RuntimeFrame, SendResult, Sender } from './ports.ts';

/** The way to Core of a router that outlives one connection: after a resume it speaks through the new one. */
export class SwitchableSender implements Sender {
  #current: Sender;
  constructor(first: Sender) {
    this.#current = first;
  }
  switchTo(next: Sender): void {
    this.#current = next;
  }
  get backedUp(): boolean {
    return this.#current.backedUp;
  }
  send(frame: RuntimeFrame, budgetMs: number | null): Promise<SendResult> {
    return this.#current.send(frame, budgetMs);
  }
  stream(frame: RuntimeFrame): Promise<'entered' | 'failed' | 'too_large'> {
    return this.#current.stream(frame);
  }
}
