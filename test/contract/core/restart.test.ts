import { expect, test } from 'vitest';

import { CoreStateError } from '../../../src/core/core-state.ts';
import { LocalCore } from '../../../src/core/local-core.ts';
import { CoreBed, countingRandom, dial, MemoryStorage } from '../../support/core-bed.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { descriptor } from '../../support/raw-runtime.ts';

/** What a Core finds that was killed: the stored text, and nothing else. */
async function reborn(text: string | undefined): Promise<{ core: LocalCore; storage: MemoryStorage }> {
  const storage = new MemoryStorage();
  storage.text = text;
  const core = await LocalCore.create({ clock: new FakeClock(), random: countingRandom(), storage });
  await core.listen();
  return { core, storage };
}

test('a killed Core keeps its Turns: a running one is unknown, a queued one runs, an ended one stays', async () => {
  const bed = await CoreBed.open();
  const ended = await bed.running('first');
  await bed.say(ended, 'done', { content: 'text', metadata: { agent_session_id: 'thread-9' } });
  const running = await bed.running('second');
  await bed.say(running, 'delta', { delta: 'half', sequence: 1 });
  bed.core.steer(running, 'more');
  await bed.expect('prompt_steer');
  const queued = await bed.submit('third');
  await bed.clock.advance(2_000);
  const killed = bed.storage.text;
  const before = bed.turn(ended);
  await bed.close();

  const { core } = await reborn(killed);
  expect(core.turns().map((turn) => [turn.prompt, turn.state, turn.outcome])).toEqual([
    ['first', 'ended', 'completed'],
    ['second', 'ended', 'unknown'],
    ['third', 'queued', null],
  ]);
  expect(core.turn(ended)).toEqual(before);
  expect(core.turn(running)).toMatchObject({
    errorCode: 'core_restarted',
    text: 'half',
    inputs: [{ state: 'unknown' }],
  });

  const access = core.issueAccess(bed.access.sessionId);
  if (!access) throw new Error('no access');
  const runtime = await dial(core, access);
  runtime.heartbeat([descriptor('contract')]);
  const prepare = await runtime.next();
  expect(prepare.payload?.['configuration']).toMatchObject({ agent_session_id: 'thread-9' });
  const status = { executor_id: 'e', handle: 'h', revision: 1, state: 'ready' };
  runtime.send({ type: 'preparation_status', id: prepare.id, payload: status });
  expect((await runtime.next()).payload).toMatchObject({
    run_id: queued,
    input: [{ content: [{ text: 'third' }] }],
  });
  await core.close();
});

test('a Turn that was killed while it prepared took no input and failed', async () => {
  const bed = await CoreBed.open();
  const runId = await bed.submit();
  await bed.expect('execution_prepare');
  await bed.clock.advance(2_000);
  const killed = bed.storage.text;
  await bed.close();
  const { core } = await reborn(killed);
  expect(core.turn(runId)).toMatchObject({
    state: 'ended',
    outcome: 'failed',
    errorCode: 'preparation_unobserved',
  });
  await core.close();
});

test('the claim is on disk before the start is sent', async () => {
  const bed = await CoreBed.open();
  const runId = await bed.submit();
  await bed.prepared();
  await bed.expect('execution_start');
  const stored = JSON.parse(bed.storage.text ?? '') as { turns: { runId: string; state: string }[] };
  expect(stored.turns).toMatchObject([{ runId, state: 'starting' }]);
  await bed.close();
});

test('an orderly end leaves a Turn in flight unknown, for good', async () => {
  const bed = await CoreBed.open();
  const runId = await bed.running();
  await bed.close();
  const { core } = await reborn(bed.storage.text);
  expect(core.turn(runId)).toMatchObject({ outcome: 'unknown', errorCode: 'event_stream_incomplete' });
  await core.close();
});

test('no credential is stored, and the one of the former life is worth nothing', async () => {
  const bed = await CoreBed.open();
  const runId = await bed.running();
  expect(bed.storage.text).not.toContain(bed.access.credential);
  await bed.close();
  const { core } = await reborn(bed.storage.text);
  await expect(dial(core, bed.access)).rejects.toThrow('401');
  expect(core.issueAccess(bed.access.sessionId)?.credential).not.toBe(bed.access.credential);
  await expect(dial(core, bed.access)).rejects.toThrow('401');
  expect(core.turn(runId)).toBeDefined();
  await core.close();
});

test('a state that cannot be read is refused and not written over', async () => {
  for (const text of [
    '{"version":2,"sessions":[],"turns":[]}',
    '[]',
    '{"version":1,"sessions":[{}],"turns":[]}',
  ]) {
    const storage = new MemoryStorage();
    storage.text = text;
    await expect(
      LocalCore.create({ clock: new FakeClock(), random: countingRandom(), storage }),
    ).rejects.toThrow(CoreStateError);
    expect(storage.text).toBe(text);
  }
});

test('a Turn that cannot be stored is not taken', async () => {
  const bed = await CoreBed.open();
  bed.storage.failing = true;
  expect(await bed.core.submit({ prompt: 'x', sessionId: bed.access.sessionId })).toEqual({
    kind: 'refused',
    reason: 'storage_failed',
  });
  await expect(bed.core.createSession({ harness: 'x', workspaceDirectory: null })).rejects.toThrow('no room');
  expect(bed.core.turns()).toEqual([]);
  expect(bed.core.sessions()).toHaveLength(1);
  bed.storage.failing = false;
  await bed.close();
});
