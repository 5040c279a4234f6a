import { expect, test } from 'vitest';
import { LinkSender } from '../../../src/connection/link-sender.ts';
import { Outbox } from '../../../src/connection/outbox.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { FRAME_BYTES } from '../../../src/protocol/limits.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function bed() {
  const clock = new FakeClock();
  const written: string[] = [];
  const acks: (() => void)[] = [];
  const outbox = new Outbox({
    clock,
    write: (text, done) => {
      written.push(text);
      acks.push(done);
    },
    onStall: () => undefined,
  });
  return { clock, written, acks, sender: new LinkSender(outbox, clock, silentLogger) };
}

const delta = (text: string) =>
  ({ type: 'delta', id: 'run', payload: { delta: text, sequence: 1 } }) as const;

test('a frame over the limit of a connection fails alone, counted in bytes', async () => {
  const { sender, written } = bed();
  // Each of these takes three bytes.
  expect(await sender.stream(delta('\u4e00'.repeat(FRAME_BYTES / 3)))).toBe('too_large');
  expect(written).toEqual([]);
  expect(await sender.stream(delta('x'.repeat(FRAME_BYTES - 200)))).toBe('entered');
  expect(written).toHaveLength(1);
});

test('a payload that breaks the contract is not sent, and the next frame is', async () => {
  const { sender, written } = bed();
  expect(await sender.stream(delta(undefined as unknown as string))).toBe('failed');
  expect(await sender.stream(delta('x'))).toBe('entered');
  expect(written).toHaveLength(1);
});

test('a receipt is sent when the socket flushed it, and fails when its time is over', async () => {
  const { sender, acks, clock } = bed();
  const ack = { type: 'prompt_steer_ack', id: 'run', payload: { input_id: 'in', accepted: true } } as const;
  const first = sender.send(ack, 5_000);
  acks[0]?.();
  expect(await first).toBe('written');
  const second = sender.send(ack, 5_000);
  await clock.advance(5_000);
  expect(await second).toBe('failed');
});
