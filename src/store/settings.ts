import type * as z from 'zod';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import { readJson, writeAtomic } from './atomic-file.ts';

/**
 * One validated JSON document of ours on disk, held in memory and written whole on each change. Changes are written
 * one after the other, in the order they were made.
 */
export class JsonDocument<S extends z.ZodType> {
  readonly #path: string;
  readonly #schema: S;
  readonly #random: Random;
  #value: z.output<S>;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, schema: S, random: Random, value: z.output<S>) {
    this.#path = path;
    this.#schema = schema;
    this.#random = random;
    this.#value = value;
  }

  /** `setAside` names the copy of a file that did not parse. */
  static async open<S extends z.ZodType>(options: {
    path: string;
    schema: S;
    initial: z.output<S>;
    clock: Clock;
    random: Random;
  }): Promise<{ document: JsonDocument<S>; setAside: string | null }> {
    const read = await readJson(options.path, options.schema, options.clock);
    const value = read.kind === 'ok' ? read.value : options.initial;
    return {
      document: new JsonDocument(options.path, options.schema, options.random, value),
      setAside: read.kind === 'broken' ? read.setAside : null,
    };
  }

  get value(): z.output<S> {
    return this.#value;
  }

  /** @throws RuntimeError `storage`; memory then still holds the new value, and the next change tries again. */
  set(value: z.input<S>): Promise<void> {
    this.#value = this.#schema.parse(value);
    const text = `${JSON.stringify(this.#value, null, 2)}\n`;
    const write = this.#writing.then(
      () => writeAtomic(this.#path, text, this.#random),
      () => writeAtomic(this.#path, text, this.#random),
    );
    this.#writing = write.catch(() => undefined);
    return write;
  }

  flushed(): Promise<void> {
    return this.#writing;
  }
}
