import type { Readable, Writable } from 'node:stream';

/** Longest line that is read whole, bytes. A line of a native program carries at most one message or tool result. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** One line without its end, or the news that a line was longer than the limit and was dropped. */
export type Line =
  { readonly kind: 'line'; readonly text: string } | { readonly kind: 'oversized'; readonly bytes: number };

/**
 * Lines of a stream, as UTF-8. The stream is read only as fast as lines are taken, so a slow consumer slows the
 * program down instead of filling memory. A character that spans two chunks stays whole. A last line without an end
 * is delivered too. Ends quietly when the stream is destroyed: how the program ended is the owner's business.
 */
export async function* readLines(stream: Readable, maxBytes: number = MAX_LINE_BYTES): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (): Line => {
    const line: Line =
      length > maxBytes
        ? { kind: 'oversized', bytes: length }
        : { kind: 'line', text: Buffer.concat(parts).toString('utf8').replace(/\r$/, '') };
    parts = [];
    length = 0;
    return line;
  };
  const add = (part: Buffer): void => {
    length += part.length;
    if (length > maxBytes) parts = [];
    else if (part.length > 0) parts.push(part);
  };
  for await (const chunk of chunks(stream)) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, end));
      from = end + 1;
      yield take();
    }
    add(chunk.subarray(from));
  }
  if (length > 0) yield take();
}

async function* chunks(stream: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) {
      const value: unknown = chunk;
      if (Buffer.isBuffer(value)) yield value;
      else if (typeof value === 'string') yield Buffer.from(value, 'utf8');
    }
  } catch {
    // Destroyed or broken: nothing more will come.
  }
}

/** A JSON value of one line, or undefined for a line that is none (some programs print a stray one). */
export function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Writes JSON values as lines. A promise resolves when its bytes have left for the pipe, which says nothing about
 * whether the program read them, and rejects when they could not; then they may have left in part.
 */
export class LineWriter {
  readonly #stream: Writable;
  #failure: Error | null = null;
  readonly #waiting = new Set<(error: Error) => void>();

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', (error: Error) => this.#fail(error));
    stream.on('close', () => this.#fail(new Error('the pipe was closed')));
  }

  get open(): boolean {
    return this.#failure === null && this.#stream.writable;
  }

  /** Writes all values in one go, in order. */
  write(...values: readonly unknown[]): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    const lines = values.map((value) => `${JSON.stringify(value)}\n`).join('');
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      this.#stream.write(lines, 'utf8', (error) => {
        this.#waiting.delete(reject);
        if (error) reject(error);
        else resolve();
      });
    });
  }

  /** Ends the stream; what was written before still leaves. */
  end(): void {
    if (!this.#stream.writableEnded) this.#stream.end();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
  }
}
