import { PassThrough, Readable, Writable } from 'node:stream';

import { describe, expect, test } from 'vitest';

import { LineWriter, parseLine, readLines, type Line } from '../../../../src/harness/process/jsonl.ts';

async function all(stream: Readable, limit?: number): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const line of readLines(stream, limit)) lines.push(line);
  return lines;
}
const line = (text: string): Line => ({ kind: 'line', text });

describe('reading lines', () => {
  test('a character cut by a chunk border stays whole', async () => {
    const bytes = Buffer.from('{"a":"grün 🌱"}\n', 'utf8');
    for (let cut = 1; cut < bytes.length; cut++) {
      const stream = Readable.from([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(await all(stream)).toEqual([line('{"a":"grün 🌱"}')]);
    }
  });

  test('several lines in one chunk, Windows ends and a last line without an end are all delivered', async () => {
    expect(await all(Readable.from([Buffer.from('a\r\nb\n\nc')]))).toEqual([
      line('a'),
      line('b'),
      line(''),
      line('c'),
    ]);
  });

  test('a line over the limit is dropped and reported, the next one is read', async () => {
    const stream = Readable.from([
      Buffer.from('x'.repeat(6)),
      Buffer.from('x'.repeat(6)),
      Buffer.from('\nok\n'),
    ]);
    expect(await all(stream, 8)).toEqual([{ kind: 'oversized', bytes: 12 }, line('ok')]);
  });

  test('the stream is not read ahead of a consumer that waits', async () => {
    let produced = 0;
    const stream = new Readable({
      highWaterMark: 1024,
      read() {
        produced++;
        this.push(Buffer.from(`${'y'.repeat(1023)}\n`));
      },
    });
    const lines = readLines(stream);
    await lines.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(produced).toBeLessThan(8);
    await lines.return(undefined);
  });

  test('a stream that is destroyed ends the lines quietly', async () => {
    const stream = new PassThrough();
    const lines = all(stream);
    stream.write('a\nhalf');
    await new Promise((resolve) => setImmediate(resolve));
    stream.destroy(new Error('gone'));
    expect((await lines)[0]).toEqual(line('a'));
  });

  test('a line that is no JSON is undefined, not an error', () => {
    expect(parseLine('Warning: something')).toBeUndefined();
    expect(parseLine('{"a":1}')).toEqual({ a: 1 });
  });
});

describe('writing lines', () => {
  test('a write resolves only when its bytes were taken', async () => {
    const taken: string[] = [];
    let take: (() => void) | undefined;
    const writer = new LineWriter(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          taken.push(chunk.toString());
          take = () => done();
        },
      }),
    );
    let resolved = false;
    const write = writer.write({ a: 1 }, { b: 2 }).then(() => (resolved = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toEqual(['{"a":1}\n{"b":2}\n']);
    expect(resolved).toBe(false);
    take?.();
    await write;
    expect(resolved).toBe(true);
  });

  test('a write under way rejects when the pipe breaks, and so do later ones', async () => {
    const stream = new Writable({ write: () => undefined });
    const writer = new LineWriter(stream);
    const write = writer.write('x');
    stream.destroy(new Error('broken pipe'));
    await expect(write).rejects.toThrow();
    await expect(writer.write('y')).rejects.toThrow();
    expect(writer.open).toBe(false);
  });
});
