import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { ConnectionEnd, CoreConnection } from '../../../src/core/connection.ts';
import { Gateway } from '../../../src/core/gateway.ts';
import type { Frame } from '../../../src/protocol/codec.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { descriptor, RawRuntime } from '../../support/raw-runtime.ts';

const credential = 'synthetic-contract-credential';
let clock: FakeClock;
let gateway: Gateway;
let ends: ConnectionEnd[];

beforeEach(async () => {
  clock = new FakeClock();
  ends = [];
  gateway = new Gateway({ clock, observer: { ended: (end) => void ends.push(end) } });
  gateway.registerDevice('runtime', credential);
  await gateway.listen();
});
afterEach(() => gateway.close());

async function connect(): Promise<{ runtime: RawRuntime; connection: CoreConnection }> {
  const runtime = await RawRuntime.connect({ url: gateway.socketUrl, deviceId: 'runtime', credential });
  const connection = gateway.connection('runtime');
  if (!connection) throw new Error('not connected');
  return { runtime, connection };
}

describe('a connection', () => {
  test('knows nothing before the first heartbeat and then exactly the last one', async () => {
    const { runtime, connection } = await connect();
    expect(connection.heartbeat).toBeUndefined();
    runtime.heartbeat([descriptor('a'), descriptor('b', { available: false })]);
    await runtime.roundTrip();
    expect(connection.descriptor('a')?.available).toBe(true);
    expect(connection.descriptor('b')?.available).toBe(false);
    runtime.heartbeat([descriptor('b')]);
    await runtime.roundTrip();
    expect(connection.descriptor('a')).toBeUndefined();
    expect(connection.descriptor('b')?.available).toBe(true);
  });

  test('ends with an invalid heartbeat, and its snapshot is gone', async () => {
    const { runtime, connection } = await connect();
    runtime.heartbeat([descriptor('a')]);
    runtime.send({
      type: 'heartbeat',
      payload: { ts: 1, supported_agent_kinds: [{ kind: 'a', available: true }] },
    });
    await runtime.closed;
    expect(await connection.closed).toBe('invalid_heartbeat');
    expect(connection.heartbeat).toBeUndefined();
    expect(gateway.connection('runtime')).toBeUndefined();
  });

  test('stays open for malformed, unknown and invalid frames', async () => {
    const { runtime, connection } = await connect();
    for (const text of [
      '{',
      '[]',
      '{"type":"assign"}',
      '{"type":"prompt_cancel","id":"r"}',
      '{"type":"delta","payload":{"delta":7}}',
      '{"type":"done","id":"nobody","payload":{}}',
    ])
      runtime.send(text);
    await runtime.roundTrip();
    expect(connection.isOpen).toBe(true);
  });

  test('ends with a frame above 4 MiB and takes one of exactly that size', async () => {
    const { runtime, connection } = await connect();
    const run = connection.subscribeRun('run');
    const empty = JSON.stringify({ type: 'delta', id: 'run', payload: { delta: '', sequence: 1 } });
    const ofSize = (bytes: number): string => empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`);
    runtime.send(ofSize(4_194_304));
    expect((await run.next()).kind).toBe('event');
    runtime.send(ofSize(4_194_305));
    await runtime.closed;
    expect(await run.next()).toEqual({ kind: 'end', end: 'connection_lost' });
  });

  test('ends after 60 s without data, whatever pings come', async () => {
    const { runtime, connection } = await connect();
    await clock.advance(59_000);
    runtime.heartbeat();
    await runtime.roundTrip();
    await clock.advance(59_000);
    runtime.ping();
    await runtime.roundTrip();
    expect(connection.isOpen).toBe(true);
    await clock.advance(1_000);
    expect(await connection.closed).toBe('silence');
    await runtime.closed;
  });

  test('is replaced by a newer one of the same device, which inherits nothing', async () => {
    const first = await connect();
    const run = first.connection.subscribeRun('run');
    const preparation = first.connection.subscribePreparation('prepare');
    const receipt = first.connection.receipt('cancel');
    first.runtime.heartbeat([descriptor('a')]);
    await first.runtime.roundTrip();
    const second = await connect();
    await first.runtime.closed;
    expect(ends).toEqual(['replaced']);
    expect(await run.next()).toEqual({ kind: 'end', end: 'replaced' });
    expect(await preparation?.next()).toEqual({ kind: 'end', end: 'replaced' });
    expect(await receipt).toEqual({ kind: 'unobserved', reason: 'replaced' });
    expect(second.connection.heartbeat).toBeUndefined();
    second.runtime.send({ type: 'done', id: 'run', payload: { content: '' } });
    expect(await second.runtime.drain()).toEqual([]);
    expect(first.connection.send('prompt_cancel', { id: 'run' })).toBe('closed');
  });

  test('of a retired device is closed with 4001 at its next heartbeat, and not before', async () => {
    const { runtime, connection } = await connect();
    gateway.retireDevice('runtime');
    await runtime.roundTrip();
    expect(connection.isOpen).toBe(true);
    runtime.heartbeat();
    expect(await runtime.closed).toBe(4001);
    expect(await connection.closed).toBe('retired');
    await expect(connect()).rejects.toThrow('401');
  });

  test('refuses to send what is too large for the wire', async () => {
    const { connection } = await connect();
    expect(connection.sendText('x'.repeat(4_194_305))).toBe('too_large');
    expect(connection.sendText('x'.repeat(4_194_304))).toBe('queued');
  });
});

describe('a Run subscription', () => {
  const delta = (sequence: number) => ({ type: 'delta', id: 'run', payload: { delta: 'x', sequence } });

  test('holds 256 frames; one more ends it as an observation error and nothing is invented', async () => {
    const { runtime, connection } = await connect();
    const run = connection.subscribeRun('run');
    for (let sequence = 1; sequence <= 257; sequence++) runtime.send(delta(sequence));
    runtime.send({ type: 'done', id: 'run', payload: { content: '' } });
    await runtime.roundTrip();
    const seen: number[] = [];
    for (let at = await run.next(); ; at = await run.next()) {
      if (at.kind === 'end') {
        expect(at.end).toBe('overflow');
        break;
      }
      if (at.event.type === 'delta') seen.push(at.event.payload.sequence);
    }
    expect(seen).toEqual(Array.from({ length: 256 }, (_, index) => index + 1));
    expect(connection.isOpen).toBe(true);
  });

  test('is closed by done, and what comes later is dropped', async () => {
    const { runtime, connection } = await connect();
    const run = connection.subscribeRun('run');
    runtime.send({ type: 'done', id: 'run', payload: { content: 'end' } });
    runtime.send(delta(2));
    await runtime.roundTrip();
    expect(await run.next()).toMatchObject({
      kind: 'event',
      event: { type: 'done', payload: { content: 'end' } },
    });
    expect(await run.next()).toEqual({ kind: 'end', end: 'complete' });
  });

  test('sees the withdrawal of its own permission, which names the interaction alone', async () => {
    const { runtime, connection } = await connect();
    const run = connection.subscribeRun('run');
    const other = connection.subscribeRun('other');
    runtime.send({
      type: 'permission_request',
      id: 'run',
      payload: { request_id: ' perm_1 ', tool: 't', title: 'x' },
    });
    runtime.send({ type: 'permission_cancel', id: 'perm_1' });
    runtime.send({ type: 'permission_cancel', id: 'perm_2' });
    runtime.send({ type: 'done', id: 'other', payload: {} });
    const types: string[] = [];
    for (let count = 0; count < 2; count++) {
      const at = await run.next();
      if (at.kind === 'event') types.push(at.event.type);
    }
    expect(types).toEqual(['permission_request', 'permission_cancel']);
    expect(await other.next()).toMatchObject({ event: { type: 'done' } });
  });
});

describe('a preparation subscription', () => {
  const status = (members: Record<string, unknown>) => ({
    type: 'preparation_status',
    id: 'prepare',
    payload: { executor_id: 'e', handle: 'h', ...members },
  });

  test('binds to the first handle, follows rising revisions and lets rejections through', async () => {
    const { runtime, connection } = await connect();
    const preparation = connection.subscribePreparation('prepare');
    for (const members of [
      { revision: 1, state: 'preparing' },
      { revision: 1, state: 'ready' },
      { revision: 5, state: 'ready', handle: 'other' },
      {
        revision: 0,
        state: 'rejected',
        handle: undefined,
        error_code: 'request_conflict',
        operation: 'execution_prepare',
      },
      { revision: 3, state: 'ready' },
      { revision: 2, state: 'starting' },
      { revision: 4, state: 'started', run_id: 'run' },
      { revision: 5, state: 'released' },
    ])
      runtime.send(status(members));
    await runtime.roundTrip();
    const seen: unknown[] = [];
    for (let at = await preparation?.next(); at?.kind === 'event'; at = await preparation?.next())
      seen.push([at.event.revision, at.event.state]);
    expect(seen).toEqual([
      [1, 'preparing'],
      [0, 'rejected'],
      [3, 'ready'],
      [4, 'started'],
    ]);
    expect(await preparation?.next()).toEqual({ kind: 'end', end: 'complete' });
  });

  test('is one of at most 64, and buffers 16', async () => {
    const { runtime, connection } = await connect();
    const all = Array.from({ length: 64 }, (_, index) =>
      connection.subscribePreparation(index === 0 ? 'prepare' : `p${index}`),
    );
    expect(all.every((subscription) => subscription)).toBe(true);
    expect(connection.subscribePreparation('one more')).toBeUndefined();
    for (let revision = 1; revision <= 17; revision++) runtime.send(status({ revision, state: 'preparing' }));
    await runtime.roundTrip();
    expect(all[0]?.ended).toBe(true);
    expect(connection.subscribePreparation('one more')).toBeDefined();
  });
});

describe('receipts', () => {
  const ack = (delivery_id: string, id = 'x') => ({
    type: 'interaction_decision_ack',
    id,
    payload: { delivery_id, applied: true },
  });

  test('are matched by delivery id alone, one wait at a time', async () => {
    const { runtime, connection } = await connect();
    const first = connection.receipt('d1');
    const second = connection.receipt('d2');
    expect(await connection.receipt('d1')).toEqual({ kind: 'already_waiting' });
    runtime.send(ack('d3'));
    runtime.send(ack('d2', 'another id'));
    runtime.send(ack('d1'));
    expect(await second).toMatchObject({ kind: 'receipt', receipt: { delivery_id: 'd2' } });
    expect(await first).toMatchObject({ kind: 'receipt', receipt: { delivery_id: 'd1' } });
  });

  test('that do not come within 15 s leave the operation unobserved; a late one is dropped', async () => {
    const { runtime, connection } = await connect();
    const receipt = connection.receipt('d1');
    await clock.advance(14_999);
    await clock.advance(1);
    expect(await receipt).toEqual({ kind: 'unobserved', reason: 'timeout' });
    runtime.send(ack('d1'));
    await runtime.roundTrip();
    expect(connection.isOpen).toBe(true);
  });
});

describe('the contract scenarios at the gateway', () => {
  const prepare = {
    type: 'execution_prepare',
    id: 'prepare',
    payload: {
      session_id: 'session',
      configuration: {
        agent_kind: 'contract',
        conversation_id: '',
        run_id: '',
        agent_state_key: 'agents-api-session',
        strict_resume: true,
        disable_execution_environment: true,
      },
    },
  };
  const status = (revision: number, state: string, more: Record<string, unknown> = {}) => ({
    type: 'preparation_status',
    id: 'prepare',
    payload: {
      executor_id: 'executor',
      handle: 'handle',
      revision,
      state,
      expires_at: 1_800_000_000_000,
      ...more,
    },
  });
  const start = {
    type: 'execution_start',
    id: 'prepare',
    payload: {
      executor_id: 'executor',
      handle: 'handle',
      run_id: 'run',
      input: [{ content: [{ type: 'input_text', text: 'hello' }] }],
    },
  };

  /** Steps 1 to 6 with both sides watched; returns the open Run. */
  async function open(runtime: RawRuntime, connection: CoreConnection) {
    const preparation = connection.subscribePreparation('prepare');
    if (!preparation) throw new Error('no subscription');
    connection.send('execution_prepare', { id: 'prepare', payload: prepare.payload });
    expect(await runtime.next()).toEqual(prepare);
    const seen: unknown[] = [];
    const expectStatus = async (): Promise<void> => {
      const at = await preparation.next();
      seen.push(at.kind === 'event' ? at.event.state : at.end);
    };
    runtime.send(status(1, 'preparing'));
    runtime.send(status(2, 'ready'));
    await expectStatus();
    await expectStatus();
    const run = connection.subscribeRun('run');
    connection.send('execution_start', {
      id: 'prepare',
      payload: { ...start.payload, input: [{ content: [{ type: 'input_text', text: 'hello' }] }] },
    });
    expect(await runtime.next()).toEqual(start);
    runtime.send(status(3, 'starting', { run_id: 'run' }));
    runtime.send(status(4, 'started', { run_id: 'run' }));
    await expectStatus();
    await expectStatus();
    expect(seen).toEqual(['preparing', 'ready', 'starting', 'started']);
    return { run, preparation };
  }

  test('W1: the snapshot rides on the receipt, which comes after done', async () => {
    const { runtime, connection } = await connect();
    const { run } = await open(runtime, connection);
    const receipt = connection.receipt('cancel');
    connection.send('prompt_cancel', { id: 'run', payload: { delivery_id: 'cancel' } });
    expect(await runtime.next()).toEqual({
      type: 'prompt_cancel',
      id: 'run',
      payload: { delivery_id: 'cancel' },
    });
    runtime.send({ type: 'done', id: 'run', payload: { content: '' } });
    expect(await run.next()).toMatchObject({ event: { type: 'done' } });
    runtime.send({
      type: 'interaction_decision_ack',
      id: 'run',
      payload: {
        delivery_id: 'cancel',
        applied: true,
        outcome: { content: 'partial', metadata: { agent_session_id: 'native-session' } },
      },
    });
    expect(await receipt).toMatchObject({
      receipt: {
        applied: true,
        outcome: { content: 'partial', metadata: { agent_session_id: 'native-session' } },
      },
    });
    expect(await runtime.drain()).toEqual([]);
  });

  test('W2: a failed preparation ends the subscription and nothing more is sent', async () => {
    const { runtime, connection } = await connect();
    const preparation = connection.subscribePreparation('prepare');
    connection.send('execution_prepare', { id: 'prepare', payload: prepare.payload });
    await runtime.next();
    runtime.send(status(1, 'preparing'));
    runtime.send(status(2, 'failed', { error_code: 'preparation_failed' }));
    expect(await preparation?.next()).toMatchObject({ event: { state: 'preparing' } });
    expect(await preparation?.next()).toMatchObject({
      event: { state: 'failed', error_code: 'preparation_failed' },
    });
    expect(await preparation?.next()).toEqual({ kind: 'end', end: 'complete' });
    expect(await runtime.drain()).toEqual([]);
  });

  test('W3: a lost connection is an unknown end, and the next one hears nothing', async () => {
    const { runtime, connection } = await connect();
    const { run } = await open(runtime, connection);
    runtime.drop();
    expect(await run.next()).toEqual({ kind: 'end', end: 'connection_lost' });
    const again = await connect();
    again.runtime.heartbeat([descriptor('contract')]);
    expect(await again.runtime.drain()).toEqual([]);
  });
});

test('an observer sees every message as it was decoded, good or not', async () => {
  const outcomes: string[] = [];
  const frames: Frame['type'][] = [];
  const watched = new Gateway({
    clock,
    observer: {
      received: (received) => {
        outcomes.push(received.outcome);
        if (received.outcome === 'frame') frames.push(received.frame.type);
      },
    },
  });
  watched.registerDevice('runtime', credential);
  await watched.listen();
  const runtime = await RawRuntime.connect({ url: watched.socketUrl, deviceId: 'runtime', credential });
  for (const text of [
    '{',
    '{"type":"assign"}',
    '{"type":"usage","payload":{"tokens":1}}',
    '{"type":"usage","payload":{}}',
  ])
    runtime.send(text);
  await runtime.roundTrip();
  expect(outcomes).toEqual(['malformed', 'unknown_type', 'refused', 'frame']);
  expect(frames).toEqual(['usage']);
  await watched.close();
});
