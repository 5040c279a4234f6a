import type { DeltaPayload, OutputMessagePayload } from '../protocol/run-output.ts';

/**
 * The text of a Turn as it is observed: fragments by native message, replaced by the complete text of a message when
 * that comes. Bounded; what is beyond the bound is not kept and said so.
 */
export class TurnText {
  readonly #limit: number;
  readonly #messages = new Map<string, string>();
  #length = 0;
  #truncated = false;

  /** `limit`: characters in all. */
  constructor(limit = 1_048_576) {
    this.#limit = limit;
  }

  get truncated(): boolean {
    return this.#truncated;
  }

  add(delta: DeltaPayload): void {
    // A Turn that does not stop would otherwise be copied whole for each fragment.
    if (this.#length >= this.#limit) {
      this.#truncated ||= delta.delta !== '';
      return;
    }
    const key = delta.item_id ?? '';
    this.#set(key, (this.#messages.get(key) ?? '') + delta.delta);
  }

  complete(message: OutputMessagePayload): void {
    if (message.text !== undefined) this.#set(message.id, message.text);
  }

  /** Messages in the order of their first appearance, a blank line between them. */
  toString(): string {
    return [...this.#messages.values()].filter((text) => text !== '').join('\n\n');
  }

  #set(key: string, text: string): void {
    const others = this.#length - (this.#messages.get(key)?.length ?? 0);
    const room = Math.max(0, this.#limit - others);
    if (text.length > room) this.#truncated = true;
    const kept = text.length > room ? text.slice(0, room) : text;
    this.#messages.set(key, kept);
    this.#length = others + kept.length;
  }
}
