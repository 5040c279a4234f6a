import { describe, expect, test } from 'vitest';

import { BoundedStream } from '../../../src/core/bounded-stream.ts';
import { restoreState, trimTurns, type TurnRecord } from '../../../src/core/core-state.ts';
import { OutboundQueue } from '../../../src/core/outbound-queue.ts';
import { StateWriter } from '../../../src/core/state-writer.ts';
import { steeringStep, type SteerInput } from '../../../src/core/steering-state.ts';
import { TurnText } from '../../../src/core/turn-text.ts';
import { FakeClock } from '../../support/fake-clock.ts';

describe('a bounded stream', () => {
  test('hands out what was pushed, before and after it is asked for', async () => {
    const stream = new BoundedStream<number>(2);
    stream.push(1);
    expect(await stream.next()).toEqual({ kind: 'event', event: 1 });
    const waiting = stream.next();
    stream.push(2);
    expect(await waiting).toEqual({ kind: 'event', event: 2 });
  });
  test('ends once, keeps what it holds readable, and repeats its end', async () => {
    let ends = 0;
    const stream = new BoundedStream<number>(2, () => ends++);
    expect([stream.push(1), stream.push(2), stream.push(3), stream.push(4)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    stream.end('complete');
    expect(ends).toBe(1);
    expect([await stream.next(), await stream.next(), await stream.next(), await stream.next()]).toEqual([
      { kind: 'event', event: 1 },
      { kind: 'event', event: 2 },
      { kind: 'end', end: 'overflow' },
      { kind: 'end', end: 'overflow' },
    ]);
  });
});

describe('the outbound queue', () => {
  function queue() {
    const clock = new FakeClock();
    const written: string[] = [];
    const pending: ((error?: Error) => void)[] = [];
    const broken: string[] = [];
    const subject = new OutboundQueue(clock, {
      write: (text, done) => {
        written.push(text);
        pending.push(done);
      },
      broken: (reason) => void broken.push(reason),
    });
    return { clock, written, pending, broken, subject };
  }
  test('writes one frame at a time, in order', () => {
    const { subject, written, pending } = queue();
    subject.send('a');
    subject.send('b');
    expect(written).toEqual(['a']);
    pending[0]?.();
    expect(written).toEqual(['a', 'b']);
  });
  test('holds 64 frames, the one being written included', () => {
    const { subject, pending } = queue();
    const results = Array.from({ length: 65 }, (_, index) => subject.send(String(index)));
    expect(results.filter((result) => result === 'queued')).toHaveLength(64);
    expect(results[64]).toBe('full');
    pending[0]?.();
    expect(subject.send('again')).toBe('queued');
  });
  test('gives up after 10 s without a completed write', async () => {
    const { subject, clock, broken } = queue();
    subject.send('a');
    await clock.advance(9_999);
    expect(broken).toEqual([]);
    await clock.advance(1);
    expect(broken).toEqual(['write_timeout']);
    expect(subject.send('b')).toBe('closed');
  });
  test('ends with a failed write and drops the rest', () => {
    const { subject, written, pending, broken } = queue();
    subject.send('a');
    subject.send('b');
    pending[0]?.(new Error('gone'));
    expect(broken).toEqual(['write_failed']);
    expect(written).toEqual(['a']);
  });
});

describe('the writer of the state', () => {
  test('never writes twice at once, and one more write takes all changes in between', async () => {
    const finish: (() => void)[] = [];
    let writes = 0;
    const writer = new StateWriter(() => {
      writes++;
      return new Promise((resolve) => finish.push(resolve));
    });
    const first = writer.save();
    const second = writer.save();
    const third = writer.save();
    expect(writes).toBe(1);
    expect(second).toBe(third);
    finish[0]?.();
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    expect(writes).toBe(2);
    finish[1]?.();
    await second;
    await writer.idle();
    expect(writes).toBe(2);
  });
  test('a failed write is told to those who wait for it and does not stop the next', async () => {
    let failing = true;
    const writer = new StateWriter(() =>
      failing ? Promise.reject(new Error('no room')) : Promise.resolve(),
    );
    const first = writer.save();
    const second = writer.save();
    await expect(first).rejects.toThrow('no room');
    await expect(second).rejects.toThrow('no room');
    failing = false;
    await expect(writer.save()).resolves.toBeUndefined();
    await writer.idle();
  });
});

describe('the text of a Turn', () => {
  test('is built of fragments by message, and a complete message replaces them', () => {
    const text = new TurnText();
    text.add({ item_id: 'a', delta: 'one', sequence: 1 });
    text.add({ item_id: 'b', delta: 'two', sequence: 2 });
    text.add({ item_id: 'a', delta: '!', sequence: 3 });
    expect(String(text)).toBe('one!\n\ntwo');
    text.complete({ id: 'a', status: 'completed', text: 'ONE' });
    text.complete({ id: 'b', status: 'in_progress' });
    expect(String(text)).toBe('ONE\n\ntwo');
    text.complete({ id: 'b', status: 'completed', text: '' });
    expect(String(text)).toBe('ONE');
  });
  test('is bounded, and says that it was cut', () => {
    const text = new TurnText(5);
    text.add({ delta: 'abc', sequence: 1 });
    expect(text.truncated).toBe(false);
    text.add({ delta: 'defg', sequence: 2 });
    text.add({ item_id: 'x', delta: 'more', sequence: 3 });
    expect([String(text), text.truncated]).toEqual(['abcde', true]);
  });
});

describe('active inputs', () => {
  const input = (inputId: string, state: SteerInput['state']): SteerInput => ({
    inputId,
    text: 't',
    state,
    code: undefined,
  });
  const states = (inputs: readonly SteerInput[]) => inputs.map(({ state }) => state);
  test('wait while the Run takes none', () => {
    const { inputs, effects } = steeringStep([], { type: 'submit', text: 'a' }, false);
    expect([states(inputs), effects]).toEqual([['waiting'], []]);
    expect(steeringStep(inputs, { type: 'poll' }, true).effects).toMatchObject([
      { type: 'send', input: { inputId: '1' } },
    ]);
  });
  test.each<[SteerInput['state'], boolean]>([
    ['sent', false],
    ['written', false],
    ['unknown', false],
    ['not_sent', false],
    ['accepted', true],
    ['rejected', true],
  ])('behind one that is %s the next is sent: %s', (state, sent) => {
    const { effects } = steeringStep([input('1', state), input('2', 'waiting')], { type: 'poll' }, true);
    expect(effects).toHaveLength(sent ? 1 : 0);
  });
  test.each(['accepted', 'rejected', 'unknown', 'not_sent'] as const)(
    'one that is %s does not change any more',
    (state) => {
      const before = [input('1', state)];
      for (const ack of [
        { accepted: true },
        { accepted: false, written: true },
        { accepted: false, error_code: 'busy' },
      ])
        expect(steeringStep(before, { type: 'ack', ack: { input_id: '1', ...ack } }, true).inputs).toBe(
          before,
        );
      expect(states(steeringStep(before, { type: 'over' }, true).inputs)).toEqual([state]);
    },
  );
  test('a written one is not sent again, whatever comes', () => {
    const { inputs, effects } = steeringStep(
      [input('1', 'written')],
      { type: 'ack', ack: { input_id: '1', accepted: false, error_code: 'busy' } },
      true,
    );
    expect(states(inputs)).toEqual(['rejected']);
    expect(effects).toEqual([]);
  });
});

describe('the stored state', () => {
  test('forgets the oldest ended Turns above 500, and never an open one', () => {
    const turn = (runId: number, state: TurnRecord['state']) =>
      ({ runId: String(runId), state, text: '' }) as TurnRecord;
    const turns = [turn(0, 'queued'), ...Array.from({ length: 502 }, (_, index) => turn(index + 1, 'ended'))];
    const kept = trimTurns(turns);
    expect(kept).toHaveLength(501);
    expect(kept.slice(0, 2).map(({ runId }) => runId)).toEqual(['0', '3']);
  });
  test('keeps the words of the newest Turns, and says of the others that they are cut', () => {
    const turn = (runId: number, state: TurnRecord['state']) =>
      ({ runId: String(runId), state, text: 'x'.repeat(1_048_576), textTruncated: false }) as TurnRecord;
    const turns = [turn(0, 'running'), ...Array.from({ length: 10 }, (_, index) => turn(index + 1, 'ended'))];
    const kept = trimTurns(turns);
    expect(kept.map(({ text, textTruncated }) => [text.length > 0, textTruncated])).toEqual([
      [true, false],
      [false, true],
      [false, true],
      ...Array.from({ length: 8 }, () => [true, false]),
    ]);
  });
  test('of nothing is empty', () => {
    expect(restoreState(undefined, 0)).toEqual({ version: 1, sessions: [], turns: [] });
    expect(restoreState(null, 0)).toEqual({ version: 1, sessions: [], turns: [] });
  });
});
