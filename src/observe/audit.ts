import { appendFile, readFile, stat, rename } from 'node:fs/promises';
import type * as z from 'zod';
import { asError } from './errors.ts';

export const auditLimits = { kept: 2_000, fileBytes: 8 * 1024 * 1024 } as const;

/**
 * The history of decisions and ended Turns: append-only lines, each written before the next. A line that does not
 * parse is skipped and counted, never removed. One older file is kept when the current one is full.
 */
export class AuditLog<S extends z.ZodType> {
  readonly #path: string;
  readonly #schema: S;
  readonly #onFailure: (error: Error) => void;
  #writing: Promise<void> = Promise.resolve();
  /** The last write failed and may have left the beginning of a line. */
  #torn = false;

  constructor(path: string, schema: S, onFailure: (error: Error) => void) {
    this.#path = path;
    this.#schema = schema;
    this.#onFailure = onFailure;
  }

  /** The most recent entries, oldest first. */
  async load(): Promise<{ entries: z.output<S>[]; skipped: number }> {
    const texts = await Promise.all(
      [`${this.#path}.1`, this.#path].map((path) => readFile(path, 'utf8').catch(() => '')),
    );
    const entries: z.output<S>[] = [];
    let skipped = 0;
    for (const line of texts.join('').split('\n')) {
      if (line === '') continue;
      try {
        entries.push(this.#schema.parse(JSON.parse(line)));
      } catch {
        skipped++;
      }
    }
    return { entries: entries.slice(-auditLimits.kept), skipped };
  }

  append(entry: z.input<S>): void {
    const line = `${JSON.stringify(entry)}\n`;
    this.#writing = this.#writing.then(async () => {
      try {
        const size = await stat(this.#path).then(
          (found) => found.size,
          () => 0,
        );
        if (size > auditLimits.fileBytes) await rename(this.#path, `${this.#path}.1`);
        // What is left of a torn line stays one line, and does not swallow this one.
        await appendFile(this.#path, this.#torn ? `\n${line}` : line, { mode: 0o600 });
        this.#torn = false;
      } catch (error) {
        this.#torn = true;
        this.#onFailure(asError(error));
      }
    });
  }

  flushed(): Promise<void> {
    return this.#writing;
  }
}
