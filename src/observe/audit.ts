import { appendFile, readFile, stat, rename } from 'node:fs/promises';
import type * as z from 'zod';
import { asError } from './errors.ts';

export const auditLimits = { kept: 2_000, fileBytes: 8 * 1024 * 1024 } as const;

/**
 * The history of decisions and ended Turns: append-only lines, each written before the next. A line that does not
 * parse is skipped and counted, never removed. One older file is kept when the current one is full. What the disk
 * refuses waits, as many lines as are kept, and is written with the next line or at `retry`.
 */
export class AuditLog<S extends z.ZodType> {
  readonly #path: string;
  readonly #schema: S;
  readonly #onFailure: (error: Error) => void;
  readonly #onWritten: () => void;
  #writing: Promise<void> = Promise.resolve();
  #waiting: string[] = [];
  /** The last write failed and may have left the beginning of a line. */
  #torn = false;

  /** `onWritten` follows an `onFailure` once nothing waits any more. */
  constructor(
    path: string,
    schema: S,
    onFailure: (error: Error) => void,
    onWritten: () => void = () => undefined,
  ) {
    this.#path = path;
    this.#schema = schema;
    this.#onFailure = onFailure;
    this.#onWritten = onWritten;
  }

  /** The most recent entries, oldest first. A file that cannot be read is one that will not be written: `onFailure`. */
  async load(): Promise<{ entries: z.output<S>[]; skipped: number }> {
    const texts = await Promise.all(
      [`${this.#path}.1`, this.#path].map((path) =>
        readFile(path, 'utf8').catch((error: unknown) => {
          const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
          if (!isAbsent) this.#onFailure(asError(error));
          return '';
        }),
      ),
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
    this.#waiting.push(`${JSON.stringify(entry)}\n`);
    if (this.#waiting.length > auditLimits.kept) this.#waiting.shift();
    this.retry();
  }

  /** Writes what waits. */
  retry(): void {
    this.#writing = this.#writing.then(() => this.#write());
  }

  /** Resolves when every line was tried. */
  flushed(): Promise<void> {
    return this.#writing;
  }

  async #write(): Promise<void> {
    const failedBefore = this.#torn;
    try {
      for (let line = this.#waiting[0]; line !== undefined; line = this.#waiting[0]) {
        const size = await stat(this.#path).then(
          (found) => found.size,
          () => 0,
        );
        if (size > auditLimits.fileBytes) await rename(this.#path, `${this.#path}.1`);
        // What is left of a torn line stays one line, and does not swallow this one.
        await appendFile(this.#path, this.#torn ? `\n${line}` : line, { mode: 0o600 });
        this.#torn = false;
        // The oldest may have been dropped meanwhile.
        if (this.#waiting[0] === line) this.#waiting.shift();
      }
      if (failedBefore) this.#onWritten();
    } catch (error) {
      this.#torn = true;
      this.#onFailure(asError(error));
    }
  }
}
