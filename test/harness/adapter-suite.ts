import { describe, expect, test } from 'vitest';

import { nativeSessionId } from '../../src/protocol/run-output.ts';
import { says, type Bed, type StartedTurn } from './bed.ts';

/** What the shared suite needs of each Harness: how to make its Turns do what the suite wants. */
export interface SuiteSubject {
  readonly name: string;
  open(): Promise<Bed>;
  /** The next Turn answers at once; returns once it ended. */
  completeTurn(bed: Bed, started: Promise<StartedTurn>): Promise<StartedTurn>;
  /** The next Turn reaches a point where it stays active and can take input; resolves when it is there. */
  activeTurn(bed: Bed, started: Promise<StartedTurn>): Promise<StartedTurn>;
  /** The script of the next Turns, before they start. */
  script(bed: Bed): void;
}

/** The text life cycle that every Harness must pass (runtime-behaviour 6.4). */
export function adapterSuite(subject: SuiteSubject): void {
  describe(`${subject.name}: text life cycle`, () => {
    test('three Turns, a stale cancel, one durable input, a cancel that settles reusable', async () => {
      const bed = await subject.open();
      try {
        subject.script(bed);
        const executor = await bed.ready();

        const first = await subject.completeTurn(bed, bed.start(executor, 'First'));
        expect(await first.turn.settlement()).toEqual({ kind: 'settled', reusable: true });
        const session = nativeSessionId(first.turn.outcome());
        expect(session).toBeTruthy();
        expect(executor.nativeSessionId).toBe(session);

        const second = await subject.activeTurn(bed, bed.start(executor, 'Second'));
        expect(second.turn).not.toBe(first.turn);
        await first.turn.cancel();
        expect(second.output.closed).toBe(false);

        let written = 0;
        const steered = await second.turn.steer?.(says('More'), () => written++);
        expect(steered).toEqual({ kind: 'accepted' });
        expect(written).toBe(1);
        expect(second.output.closed).toBe(false);

        await second.turn.cancel();
        expect(await second.turn.settlement()).toEqual({ kind: 'settled', reusable: true });
        expect(second.output.closed).toBe(true);
        expect(second.output.all('done')).toHaveLength(1);
        expect(second.output.all('error')).toHaveLength(0);
        expect(nativeSessionId(second.turn.outcome())).toBe(session);
        expect(await second.turn.steer?.(says('Late'), () => written++)).toEqual({ kind: 'inactive' });
        expect(written).toBe(1);

        const third = await subject.completeTurn(bed, bed.start(executor, 'Third'));
        expect(third.turn).not.toBe(second.turn);
        expect(await third.turn.settlement()).toEqual({ kind: 'settled', reusable: true });
        expect(nativeSessionId((await third.output.end()).payload)).toBe(session);

        // Nothing of an earlier Turn reached a later one, and each ended exactly once.
        for (const { output } of [first, second, third]) {
          expect(output.all('done')).toHaveLength(1);
          expect(output.events[output.events.length - 1]?.type).toBe('done');
        }
        const closing = Date.now();
        expect(await executor.close()).toEqual({ state: 'closed' });
        expect(Date.now() - closing).toBeLessThan(5_000);
        expect(await executor.close()).toEqual({ state: 'closed' });
        const refused = await executor.startTurn('run-after', says('Late'), second.output);
        expect(refused.kind).toBe('no_turn');
      } finally {
        await bed.close();
      }
    });

    test('input that cannot be taken starts no Turn and does not keep the output', async () => {
      const bed = await subject.open();
      try {
        subject.script(bed);
        const executor = await bed.ready();
        const image = {
          content: [{ type: 'input_image' as const, image_url: 'https://example.invalid/a.png' }],
        };
        const { Recorder } = await import('./recorder.ts');
        const output = new Recorder();
        expect((await executor.startTurn('run-x', [image], output)).kind).toBe('no_turn');
        expect(output.closed).toBe(false);
        expect(output.events).toEqual([]);
      } finally {
        await bed.close();
      }
    });
  });
}
