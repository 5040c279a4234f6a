import { describe, expect, test } from 'vitest';
import { Outbox, outboxLimits } from '../../../src/connection/outbox.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';

function bed() {
  const clock = new FakeClock();
  const written: string[] = [];
  const acks: ((error?: Error | null) => void)[] = [];
  let stalls = 0;
  const outbox = new Outbox({
    clock,
    write: (text, done) => {
      written.push(text);
      acks.push(done);
    },
    onStall: () => stalls++,
  });
  return { clock, written, acks, outbox, stalls: () => stalls };
}

describe('the outbox', () => {
  test('keeps the order of entry and resolves when the socket flushed it', async () => {
    const { outbox, written, acks } = bed();
    const first = outbox.push('a', 1, true);
    outbox.push('b', 1, false);
    expect(written).toEqual(['a', 'b']);
    let done: string | null = null;
    void first.written.then((result) => (done = result));
    await settle();
    expect(done).toBeNull();
    acks[0]?.();
    await settle();
    expect(done).toBe('written');
  });

  test('holds back bulk frames before it is full and lets control frames pass', async () => {
    const { outbox, written } = bed();
    for (let n = 0; n < 60; n++) outbox.push(`bulk${n}`, 1, true);
    expect(outbox.backedUp).toBe(true);
    expect(outbox.frames).toBe(outboxLimits.frames - outboxLimits.reservedForControl);
    const control = outbox.push('control', 1, false);
    expect(await control.entered).toBe(true);
    expect(written).toHaveLength(outboxLimits.inFlightFrames);
  });

  test('says that the socket is behind long before output has to wait', async () => {
    const { outbox, acks } = bed();
    for (let n = 0; n < outboxLimits.behindFrames - 1; n++) outbox.push(`f${n}`, 1, true);
    expect(outbox.backedUp).toBe(false);
    expect(await outbox.push('one more', 1, true).entered).toBe(true);
    expect(outbox.backedUp).toBe(true);
    acks[0]?.();
    expect(outbox.backedUp).toBe(false);
  });

  test('bounds the bytes as well as the frames', () => {
    const { outbox } = bed();
    outbox.push('x', outboxLimits.bytes, true);
    outbox.push('y', 1, true);
    expect(outbox.frames).toBe(1);
  });

  test('a frame that is not flushed in ten seconds fails the connection', async () => {
    const { outbox, clock, stalls } = bed();
    outbox.push('a', 1, false);
    await clock.advance(outboxLimits.writeDeadline);
    expect(stalls()).toBe(1);
  });

  test('closing fails everything that waits, and nothing hangs', async () => {
    const { outbox } = bed();
    const all = Array.from({ length: 70 }, (_, n) => outbox.push(`f${n}`, 1, true));
    outbox.close();
    expect(await Promise.all(all.map((item) => item.written))).toEqual(all.map(() => 'failed'));
    expect(await outbox.push('late', 1, false).written).toBe('failed');
  });

  test('a frame taken back before it entered is never written', async () => {
    const { outbox, written, acks } = bed();
    for (let n = 0; n < 64; n++) outbox.push(`f${n}`, 1, false);
    const waiting = outbox.push('taken back', 1, false);
    expect(waiting.withdraw()).toBe(true);
    for (const ack of acks) ack();
    await settle();
    for (const ack of acks) ack();
    expect(written).not.toContain('taken back');
    expect(waiting.withdraw()).toBe(false);
  });
});
