/**
 * Reads of one Environment whose handles are not known to be closed (runtime-behaviour 2.21). While there is one, no
 * further read is started; only the proof that its handle is closed takes it away.
 */
export class ReadLatch {
  readonly #open = new Set<symbol>();

  get uncertain(): boolean {
    return this.#open.size > 0;
  }
  /** Keeps a read. The result gives it back, with evidence alone. */
  hold(): () => void {
    const token = Symbol('read');
    this.#open.add(token);
    return () => void this.#open.delete(token);
  }
}
