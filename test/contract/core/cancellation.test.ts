import { afterEach, describe, expect, test } from 'vitest';

import { CoreBed } from '../../support/core-bed.ts';

let bed: CoreBed;
afterEach(() => bed.close());

const receipt = (runId: string, members: Record<string, unknown>) => ({
  delivery_id: `cancel:${runId}`,
  ...members,
});

describe('before the start', () => {
  test('a queued Turn is cancelled without a word to the Runtime', async () => {
    bed = await CoreBed.open();
    const first = await bed.running();
    const queued = await bed.submit();
    expect(bed.core.cancel(queued)).toBe(true);
    expect(bed.turn(queued)).toMatchObject({
      state: 'ended',
      outcome: 'cancelled',
      errorCode: 'cancelled_before_start',
    });
    expect(await bed.runtime.drain()).toEqual([]);
    await bed.say(first, 'done', { content: '' });
    expect(await bed.runtime.drain()).toEqual([]);
    expect(bed.core.cancel(queued)).toBe(false);
  });

  test('the admission of a preparing Turn is released', async () => {
    bed = await CoreBed.open();
    const runId = await bed.submit();
    const prepare = await bed.expect('execution_prepare');
    await bed.status(prepare.id, {
      executor_id: 'executor',
      handle: 'handle',
      revision: 1,
      state: 'preparing',
    });
    bed.core.cancel(runId);
    expect(bed.turn(runId)).toMatchObject({ outcome: 'cancelled', startedAt: null });
    expect(await bed.runtime.next()).toEqual({
      type: 'execution_release',
      id: prepare.id,
      payload: { handle: 'handle' },
    });
  });

  test('an admission whose handle is not known yet is released as soon as it is', async () => {
    bed = await CoreBed.open();
    const runId = await bed.submit();
    const prepare = await bed.expect('execution_prepare');
    bed.core.cancel(runId);
    expect(bed.turn(runId).outcome).toBe('cancelled');
    expect(await bed.runtime.drain()).toEqual([]);
    await bed.status(prepare.id, {
      executor_id: 'executor',
      handle: 'handle',
      revision: 1,
      state: 'preparing',
    });
    expect(await bed.runtime.next()).toEqual({
      type: 'execution_release',
      id: prepare.id,
      payload: { handle: 'handle' },
    });
    await bed.status(prepare.id, { executor_id: 'executor', handle: 'handle', revision: 2, state: 'ready' });
    expect(await bed.runtime.drain()).toEqual([]);
  });
});

describe('of a running Turn', () => {
  async function cancelling(): Promise<string> {
    bed = await CoreBed.open();
    const runId = await bed.running();
    await bed.say(runId, 'delta', { delta: 'Half an ans', sequence: 1 });
    bed.core.cancel(runId);
    expect(await bed.runtime.next()).toEqual({
      type: 'prompt_cancel',
      id: runId,
      payload: { delivery_id: `cancel:${runId}` },
    });
    expect(bed.turn(runId).state).toBe('cancelling');
    return runId;
  }

  test('the receipt decides, not the done before it, and its snapshot is kept', async () => {
    const runId = await cancelling();
    await bed.say(runId, 'done', { content: '' });
    expect(bed.turn(runId).state).toBe('cancelling');
    const outcome = {
      content: 'partial',
      usage: { input_tokens: 7 },
      metadata: { agent_session_id: 'native-session' },
    };
    await bed.say(runId, 'interaction_decision_ack', receipt(runId, { applied: true, outcome }));
    expect(bed.turn(runId)).toMatchObject({
      outcome: 'cancelled',
      errorCode: null,
      text: 'Half an ans',
      usage: { input_tokens: 7 },
    });
    const next = await bed.submit();
    expect((await bed.started(next)).prepare.payload?.['configuration']).toMatchObject({
      agent_session_id: 'native-session',
    });
  });

  test('a Run that was over before is completed, when its done came', async () => {
    const runId = await cancelling();
    await bed.say(runId, 'done', { content: 'All of it' });
    await bed.say(
      runId,
      'interaction_decision_ack',
      receipt(runId, { applied: false, error_code: 'run_inactive' }),
    );
    expect(bed.turn(runId)).toMatchObject({ outcome: 'completed', errorCode: null });
  });

  test.each([
    [
      'run_inactive without a done',
      { applied: false, error_code: 'run_inactive' },
      'unknown',
      'cancel_unconfirmed',
    ],
    ['cancel_failed', { applied: false, error_code: 'cancel_failed' }, 'unknown', 'cancel_unconfirmed'],
    ['cancel_timeout', { applied: false, error_code: 'cancel_timeout' }, 'unknown', 'cancel_unconfirmed'],
    ['an applied receipt without a snapshot', { applied: true }, 'failed', 'cancel_outcome_missing'],
  ])('%s is not taken for a cancellation', async (_, members, outcome, errorCode) => {
    const runId = await cancelling();
    await bed.say(runId, 'interaction_decision_ack', receipt(runId, members));
    expect(bed.turn(runId)).toMatchObject({ outcome, errorCode });
  });

  test('another delivery id is no receipt of it', async () => {
    const runId = await cancelling();
    await bed.say(runId, 'interaction_decision_ack', {
      delivery_id: 'cancel:other',
      applied: true,
      outcome: { content: '' },
    });
    expect(bed.turn(runId).state).toBe('cancelling');
  });

  test('no receipt within 15 s leaves it unconfirmed, also after a done; a late one changes nothing', async () => {
    const runId = await cancelling();
    await bed.say(runId, 'done', { content: '' });
    await bed.clock.advance(14_999);
    expect(bed.turn(runId).state).toBe('cancelling');
    await bed.clock.advance(1);
    expect(bed.turn(runId)).toMatchObject({ outcome: 'unknown', errorCode: 'cancel_unconfirmed' });
    await bed.say(
      runId,
      'interaction_decision_ack',
      receipt(runId, { applied: true, outcome: { content: '' } }),
    );
    expect(bed.turn(runId).outcome).toBe('unknown');
  });

  test('a lost connection leaves it unconfirmed', async () => {
    const runId = await cancelling();
    bed.runtime.drop();
    await expect.poll(() => bed.turn(runId).state).toBe('ended');
    expect(bed.turn(runId)).toMatchObject({ outcome: 'unknown', errorCode: 'cancel_unconfirmed' });
  });

  test('asking twice sends one cancellation', async () => {
    const runId = await cancelling();
    bed.core.cancel(runId);
    expect(await bed.runtime.drain()).toEqual([]);
  });
});
