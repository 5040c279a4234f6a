import { describe, expect, test } from 'vitest';
import { settle } from '../../support/fake-clock.ts';
import { RouterBed } from '../../support/router-bed.ts';

const states = (bed: RouterBed): string[] =>
  bed.take().map((frame) => {
    const payload = frame.payload as Record<string, unknown> | null;
    return `${frame.type}:${String(payload?.['state'] ?? payload?.['error_code'] ?? payload?.['applied'] ?? '')}`;
  });

describe('a prepared Turn', () => {
  test('goes preparing, ready, starting, started, output, done', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    expect(bed.take().map((frame) => frame.payload)).toEqual([
      expect.objectContaining({ revision: 1, state: 'preparing' }),
      expect.objectContaining({ revision: 2, state: 'ready' }),
      expect.objectContaining({ revision: 3, state: 'starting', run_id: 'run' }),
      expect.objectContaining({ revision: 4, state: 'started', run_id: 'run' }),
    ]);
    await bed.harness.last.output.emit({ type: 'delta', payload: { delta: 'Hel', item_id: 'm1' } });
    await bed.harness.last.finish('Hello');
    await settle();
    expect(bed.take()).toEqual([
      { type: 'delta', id: 'run', payload: { delta: 'Hel', sequence: 1 } },
      { type: 'done', id: 'run', payload: { content: 'Hello' } },
    ]);
    expect(bed.router.usage).toEqual({ active: 0, idle: 1, total: 1 });
    expect(bed.harness.turns).toHaveLength(1);
  });

  test('answers a cancellation only after native settlement, and done comes before the receipt', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    await bed.core('prompt_cancel', 'run', { delivery_id: 'cancel' });
    expect(bed.take()).toEqual([]);
    bed.harness.last.snapshot = { content: 'partial', metadata: { agent_session_id: 'native-session' } };
    bed.harness.last.settle();
    await settle();
    expect(bed.take()).toEqual([
      { type: 'done', id: 'run', payload: { content: '' } },
      {
        type: 'interaction_decision_ack',
        id: 'run',
        payload: {
          delivery_id: 'cancel',
          applied: true,
          outcome: { content: 'partial', metadata: { agent_session_id: 'native-session' } },
        },
      },
    ]);
  });

  test('a cancellation reaches a Turn that said it was done and has not settled', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    const turn = bed.harness.last;
    await turn.output.emit({ type: 'done', payload: { content: 'all of it' } });
    await settle();
    expect(turn.cancels).toBe(0);
    await bed.core('prompt_cancel', 'run', { delivery_id: 'cancel' });
    expect(turn.cancels).toBe(1);
    expect(bed.take()).toEqual([]);
    turn.settle();
    await settle();
    expect(states(bed)).toEqual(['done:', 'interaction_decision_ack:true']);
  });

  test('a start after the deadline is late, also when the timer is', async () => {
    const bed = new RouterBed();
    await bed.prepare();
    const ready = bed.take()[1]?.payload as { executor_id: string; handle: string };
    bed.clock.stall(5 * 60_000);
    const input = [{ content: [{ type: 'input_text' as const, text: 'hello' }] }];
    const { executor_id, handle } = ready;
    await bed.core('execution_start', 'prepare', { executor_id, handle, run_id: 'run', input });
    expect(states(bed)).toEqual(['preparation_status:expired']);
    expect(bed.harness.turns).toEqual([]);
    await bed.clock.advance(1);
    expect(bed.take()).toEqual([]);
  });

  test('nothing is submitted natively before Core was told `starting`', async () => {
    const bed = new RouterBed();
    let write = (): void => undefined;
    bed.onSend = ({ type, payload }) =>
      type === 'preparation_status' && 'state' in payload && payload.state === 'starting'
        ? new Promise((resolve) => (write = () => resolve('written')))
        : 'written';
    await bed.startRun();
    expect(bed.harness.turns).toEqual([]);
    write();
    await settle();
    expect(bed.harness.turns).toHaveLength(1);
  });

  test('two cancellations get two receipts and one native cancel', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    await bed.core('prompt_cancel', 'run', { delivery_id: 'a' });
    await bed.core('prompt_cancel', 'run', { delivery_id: 'b' });
    bed.harness.last.settle();
    await settle();
    expect(states(bed)).toEqual(['done:', 'interaction_decision_ack:true', 'interaction_decision_ack:true']);
    expect(bed.harness.last.cancels).toBe(1);
  });

  test('a cancellation that does not settle says so after 10 s, keeps its place and never says anything else', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    await bed.core('prompt_cancel', 'run', { delivery_id: 'cancel' });
    await bed.clock.advance(9_999);
    expect(bed.take()).toEqual([]);
    await bed.clock.advance(1);
    expect(states(bed)).toEqual(['interaction_decision_ack:cancel_timeout']);
    expect(bed.router.usage.active).toBe(1);
    bed.harness.last.settle();
    await settle();
    expect(states(bed)).toEqual(['done:']);
    expect(bed.router.usage.active).toBe(0);
  });

  test('a native cancel that settles exactly at 10 s still gets the timeout receipt alone', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    bed.clock.after(10_000, () => bed.harness.last.settle());
    await bed.core('prompt_cancel', 'run', { delivery_id: 'cancel' });
    await bed.clock.advance(10_000);
    const acks = bed.take().filter((frame) => frame.type === 'interaction_decision_ack');
    expect(acks).toHaveLength(1);
  });

  test('a refused native cancel keeps ownership, and the next one tries the same target and is applied', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    bed.harness.last.onCancel = () => Promise.reject(new Error('no'));
    await bed.core('prompt_cancel', 'run', { delivery_id: 'one' });
    expect(states(bed)).toEqual(['interaction_decision_ack:cancel_failed']);
    expect(bed.router.usage.active).toBe(1);
    bed.harness.last.onCancel = () => Promise.resolve();
    bed.harness.last.settle();
    await bed.core('prompt_cancel', 'run', { delivery_id: 'two' });
    await settle();
    expect(states(bed)).toEqual(['done:', 'interaction_decision_ack:true']);
    expect(bed.harness.executors).toHaveLength(1);
  });

  test('a failing preparation ends without a Run, closed before it says so', async () => {
    const bed = new RouterBed();
    let closes = 0;
    bed.harness.onPrepare = () =>
      Promise.resolve({
        kind: 'failed',
        message: 'no',
        resource: { close: () => Promise.resolve({ state: 'closed' } as const).finally(() => closes++) },
      });
    await bed.prepare();
    expect(bed.take().map((frame) => frame.payload)).toEqual([
      expect.objectContaining({ revision: 1, state: 'preparing' }),
      expect.objectContaining({ revision: 2, state: 'failed', error_code: 'preparation_failed' }),
    ]);
    expect(closes).toBe(1);
    expect(bed.router.usage.total).toBe(0);
    await bed.clock.advance(60_000);
    expect(bed.take()).toEqual([]);
  });

  test('a lost connection sends nothing, settles its native work and invents no end', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    const shutdown = bed.router.shutdown();
    await settle();
    expect(bed.harness.last.cancels).toBe(1);
    bed.harness.last.settle();
    expect(await shutdown).toEqual({ kind: 'settled' });
    expect(bed.take()).toEqual([]);
    expect(bed.harness.executors[0]?.closes).toBe(1);
    expect(bed.facts).toContainEqual(expect.objectContaining({ type: 'turn_ended', outcome: 'unknown' }));
  });

  test('an agent that says done because it was stopped has not completed its Turn', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    const shutdown = bed.router.shutdown();
    await settle();
    expect(bed.harness.last.cancels).toBe(1);
    await bed.harness.last.finish();
    expect(await shutdown).toEqual({ kind: 'settled' });
    expect(bed.facts).toContainEqual(expect.objectContaining({ type: 'turn_ended', outcome: 'unknown' }));
  });

  test('shutdown names what blocks and a later one retries the same object', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    const executor = bed.harness.executors[0];
    if (!executor) throw new Error('no executor');
    executor.onClose = () => Promise.resolve({ state: 'unconfirmed', reason: 'still there' });
    const first = bed.router.shutdown();
    await settle();
    bed.harness.last.settle();
    expect((await first).kind).toBe('unsettled');
    executor.onClose = () => Promise.resolve({ state: 'closed' });
    expect(await bed.router.shutdown()).toEqual({ kind: 'settled' });
    expect(bed.harness.executors).toHaveLength(1);
  });

  test('a release before the start keeps the Executor for the next admission', async () => {
    const bed = new RouterBed();
    await bed.prepare();
    const handle = (bed.take()[1]?.payload as { handle: string }).handle;
    await bed.core('execution_release', 'prepare', { handle });
    expect(bed.take()[0]?.payload).toMatchObject({ state: 'released', revision: 3 });
    await bed.prepare('again');
    expect(bed.take()[0]?.payload).toMatchObject({ state: 'ready', reused: true, revision: 1 });
    expect(bed.harness.executors).toHaveLength(1);
  });

  test('an admission expires after five minutes and its handle starts nothing', async () => {
    const bed = new RouterBed();
    await bed.prepare();
    const ready = bed.take()[1]?.payload as { handle: string; executor_id: string };
    await bed.clock.advance(5 * 60_000);
    expect(bed.take()[0]?.payload).toMatchObject({ state: 'expired', revision: 3 });
    await bed.core('execution_start', 'prepare', {
      ...ready,
      run_id: 'run',
      input: [{ content: [{ type: 'input_text', text: 'x' }] }],
    });
    expect(bed.take()[0]?.payload).toMatchObject({ state: 'rejected', error_code: 'preparation_not_ready' });
    expect(bed.harness.turns).toHaveLength(0);
  });

  test('a start without a Turn is executor_unavailable, and the Session can be prepared again at once', async () => {
    const bed = new RouterBed();
    bed.harness.configure = (executor) => {
      executor.onStart = () => Promise.resolve({ kind: 'no_turn', message: 'gone' });
    };
    await bed.startRun();
    expect(bed.take().map((frame) => frame.payload)).toEqual([
      expect.objectContaining({ state: 'preparing' }),
      expect.objectContaining({ state: 'ready' }),
      expect.objectContaining({ state: 'starting' }),
      expect.objectContaining({
        state: 'rejected',
        error_code: 'executor_unavailable',
        operation: 'execution_start',
      }),
    ]);
    await bed.prepare('again');
    expect(bed.take()[0]?.payload).toMatchObject({ state: 'preparing' });
  });

  test('text merged while Core is behind is sent once, in order, and observed whole', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    bed.backedUp = true;
    const turn = bed.harness.last;
    const texts = ['a', 'b', 'c', 'd'];
    await Promise.all(
      texts.map((text) => turn.output.emit({ type: 'delta', payload: { delta: text, item_id: 'm' } })),
    );
    await turn.output.emit({ type: 'thinking', payload: { text: 't' } });
    await turn.output.emit({ type: 'delta', payload: { delta: 'e', item_id: 'm' } });
    await turn.finish();
    await settle();
    const sent = bed.take();
    expect(
      sent
        .filter((frame) => frame.type === 'delta')
        .map((frame) => (frame.payload as { delta: string }).delta)
        .join(''),
    ).toBe('abcde');
    expect(sent.map((frame) => frame.type).slice(-3)).toEqual(['thinking', 'delta', 'done']);
    const observed = bed.facts.flatMap((fact) =>
      fact.type === 'output' && fact.event.type === 'delta' ? [fact.event.payload.delta] : [],
    );
    expect(observed.join('')).toBe('abcde');
  });

  test('a start that throws promises nothing: started, error, done, and the Executor is closed', async () => {
    const bed = new RouterBed();
    bed.harness.configure = (executor) => {
      executor.onStart = () => Promise.reject(new Error('boom'));
    };
    await bed.startRun();
    expect(bed.take().map((frame) => frame.type)).toEqual([
      ...Array<string>(4).fill('preparation_status'),
      'error',
      'done',
    ]);
    expect(bed.harness.executors[0]?.closes).toBe(1);
    expect(bed.router.usage.total).toBe(0);
  });

  test('output after done ends the Run with an error and retires the Executor', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    const turn = bed.harness.last;
    await turn.output.emit({ type: 'done', payload: { content: 'x' } });
    await turn.output.emit({ type: 'delta', payload: { delta: 'late' } });
    turn.settle();
    await settle();
    expect(bed.take().map((frame) => frame.type)).toEqual(['error', 'done']);
    expect(bed.router.usage.total).toBe(0);
  });

  test('a direct Run uses the same settlement', async () => {
    const bed = new RouterBed();
    await bed.raw(
      JSON.stringify({
        type: 'prompt_request',
        id: 'run',
        payload: {
          agent_kind: 'contract',
          conversation_id: '',
          run_id: 'run',
          input: [{ content: [{ type: 'input_text', text: 'hello' }] }],
          strict_resume: true,
          disable_execution_environment: true,
        },
      }),
    );
    await bed.harness.last.finish('ok');
    await settle();
    expect(bed.take()).toEqual([{ type: 'done', id: 'run', payload: { content: 'ok' } }]);
    expect(bed.router.usage.total).toBe(0);
  });

  test('a Run id whose refusal is still being told is taken', async () => {
    const bed = new RouterBed();
    const prompt = (kind: string): Promise<void> =>
      bed.raw(
        JSON.stringify({
          type: 'prompt_request',
          id: 'run',
          payload: {
            agent_kind: kind,
            conversation_id: '',
            run_id: 'run',
            input: [{ content: [{ type: 'input_text', text: 'hello' }] }],
            strict_resume: true,
            disable_execution_environment: true,
          },
        }),
      );
    let write = (): void => undefined;
    bed.onSend = () => new Promise((resolve) => (write = () => resolve('written')));
    await prompt('other');
    // Its done would end this one, and another refusal would be told in the middle of the first.
    await prompt('contract');
    await prompt('other');
    bed.onSend = () => 'written';
    write();
    await settle();
    expect(bed.take().map((frame) => frame.type)).toEqual(['error', 'done']);
    expect(bed.harness.executors).toEqual([]);
    await prompt('contract');
    await bed.harness.last.finish('ok');
    await settle();
    expect(bed.take().map((frame) => frame.type)).toEqual(['done']);
  });

  test('a fifth active Executor is refused with preparation_capacity', async () => {
    const bed = new RouterBed();
    for (const n of [1, 2, 3, 4]) await bed.prepare(`p${n}`, `s${n}`);
    bed.take();
    await bed.prepare('p5', 's5');
    expect(bed.take()[0]?.payload).toEqual({
      revision: 0,
      state: 'rejected',
      error_code: 'preparation_capacity',
      operation: 'execution_prepare',
    });
  });
});
