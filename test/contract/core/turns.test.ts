import { afterEach, describe, expect, test } from 'vitest';

import { CoreBed } from '../../support/core-bed.ts';
import { descriptor } from '../../support/raw-runtime.ts';

let bed: CoreBed;
afterEach(() => bed.close());

describe('a Turn', () => {
  test('runs from preparation to done', async () => {
    bed = await CoreBed.open();
    const { sessionId, environmentId } = bed.access;
    const runId = await bed.submit('List the open tasks.');
    const { prepare, start } = await bed.started(runId);
    expect(prepare.payload).toEqual({
      session_id: sessionId,
      configuration: {
        agent_kind: 'contract',
        conversation_id: '',
        run_id: '',
        execution_controls: { web_search: 'disabled', text_verbosity: 'medium' },
        local_environment: { id: environmentId, workspace_directory: '/workspace', capability_sources: null },
        agent_state_key: `agents-api-${sessionId}`,
        strict_resume: true,
        observe_messages: true,
        observe_tool_observations: true,
        disable_subagents: true,
      },
    });
    expect(start).toEqual({
      type: 'execution_start',
      id: prepare.id,
      payload: {
        executor_id: 'executor',
        handle: 'handle',
        run_id: runId,
        input: [{ content: [{ type: 'input_text', text: 'List the open tasks.' }] }],
      },
    });
    expect(bed.turn(runId)).toMatchObject({ state: 'running', outcome: null, history: 'new' });
    await bed.say(runId, 'delta', { item_id: 'm1', delta: 'Hel', sequence: 1 });
    await bed.say(runId, 'delta', { item_id: 'm1', delta: 'lo', sequence: 2 });
    await bed.say(runId, 'delta', { item_id: 'm2', delta: 'bye', sequence: 3 });
    await bed.say(runId, 'output_message', { id: 'm1', status: 'completed', text: 'Hello!' });
    expect(bed.turn(runId).text).toBe('Hello!\n\nbye');
    await bed.say(runId, 'usage', { input_tokens: 1, model: 'a' });
    await bed.say(runId, 'usage', { input_tokens: 3 });
    await bed.say(runId, 'done', { content: 'bye', metadata: { agent_session_id: 'thread-9' } });
    expect(bed.turn(runId)).toMatchObject({
      state: 'ended',
      outcome: 'completed',
      errorCode: null,
      usage: { input_tokens: 3 },
    });
    expect(bed.turn(runId).usage?.model).toBeUndefined();
    expect(await bed.runtime.drain()).toEqual([]);
  });

  test('of a Session continues the native Session that the last one named', async () => {
    bed = await CoreBed.open();
    const first = await bed.running();
    await bed.say(first, 'done', { content: 'text', metadata: { agent_session_id: 'thread-9' } });
    expect(bed.turn(first).text).toBe('text');
    const second = await bed.submit();
    const { prepare } = await bed.started(second);
    expect(prepare.payload?.['configuration']).toMatchObject({ agent_session_id: 'thread-9' });
    expect(bed.turn(second).history).toBe('continued');
    await bed.say(second, 'done', { content: '' });
    const third = await bed.submit();
    expect((await bed.started(third)).prepare.payload?.['configuration']).toMatchObject({
      agent_session_id: 'thread-9',
    });
  });

  test('without a known native Session says that its history is missing', async () => {
    bed = await CoreBed.open();
    const first = await bed.running();
    await bed.say(first, 'done', { content: '' });
    const second = await bed.running();
    expect(bed.turn(second).history).toBe('missing');
  });

  test('sends opt-ins and controls only where the kind declares them, and no folder where there is none', async () => {
    bed = await CoreBed.open({
      workspace: null,
      without: ['execution_controls', 'message_items', 'subagent_control', 'local_environment'],
    });
    await bed.submit();
    expect((await bed.expect('execution_prepare')).payload?.['configuration']).toEqual({
      agent_kind: 'contract',
      conversation_id: '',
      run_id: '',
      disable_execution_environment: true,
      agent_state_key: `agents-api-${bed.access.sessionId}`,
      strict_resume: true,
      observe_tool_observations: true,
    });
  });

  test('waits for its turn, and Turns of one Session never run at once', async () => {
    bed = await CoreBed.open();
    const first = await bed.running('one');
    const second = await bed.submit('two');
    expect(bed.turn(second).state).toBe('queued');
    expect(bed.core.waitingFor(second)).toBeUndefined();
    expect(await bed.runtime.drain()).toEqual([]);
    await bed.say(first, 'done', { content: '' });
    const { start } = await bed.started(second);
    expect(start.payload?.['run_id']).toBe(second);
  });

  test('waits for its Runtime and its kind, and says for what', async () => {
    bed = await CoreBed.open();
    bed.runtime.heartbeat([]);
    await bed.settled();
    const runId = await bed.submit();
    expect(bed.core.waitingFor(runId)).toEqual({ kind: 'wait', reason: 'kind_not_advertised' });
    bed.runtime.heartbeat([descriptor('contract', { available: false })]);
    await bed.settled();
    expect(bed.core.waitingFor(runId)).toEqual({ kind: 'wait', reason: 'kind_unavailable' });
    bed.runtime.drop();
    await bed.runtime.closed;
    await expect.poll(() => bed.core.waitingFor(runId)).toEqual({ kind: 'wait', reason: 'not_connected' });
    await bed.reconnect();
    await bed.started(runId);
    expect(bed.turn(runId).state).toBe('running');
  });

  test.each([
    [['preparation'], 'preparation_unsupported'],
    [['local_environment'], 'environment_unsupported'],
  ])('of a kind without %j never runs and says so', async (without, errorCode) => {
    bed = await CoreBed.open({ without });
    const runId = await bed.submit();
    expect(bed.turn(runId)).toMatchObject({ state: 'ended', outcome: 'failed', errorCode });
    expect(await bed.runtime.drain()).toEqual([]);
  });

  test('is refused before it exists when its prompt cannot be sent or its Session is not there', async () => {
    bed = await CoreBed.open();
    const { sessionId } = bed.access;
    const refused = async (prompt: string, session: string) =>
      bed.core.submit({ prompt, sessionId: session });
    expect(await refused('', sessionId)).toEqual({ kind: 'refused', reason: 'empty_prompt' });
    expect(await refused('x'.repeat(4_194_304), sessionId)).toEqual({
      kind: 'refused',
      reason: 'prompt_too_large',
    });
    expect(await refused('x', 'elsewhere')).toEqual({ kind: 'refused', reason: 'unknown_session' });
    expect(bed.core.turns()).toEqual([]);
  });
});

describe('a preparation', () => {
  test('that finds no room leaves the Turn queued and is tried again a second later', async () => {
    bed = await CoreBed.open();
    const runId = await bed.submit();
    const first = await bed.expect('execution_prepare');
    await bed.status(first.id, {
      revision: 0,
      state: 'rejected',
      error_code: 'preparation_capacity',
      operation: 'execution_prepare',
    });
    expect(bed.turn(runId).state).toBe('queued');
    await bed.clock.advance(999);
    expect(await bed.runtime.drain()).toEqual([]);
    await bed.clock.advance(1);
    const second = await bed.expect('execution_prepare');
    expect(second.id).not.toBe(first.id);
    expect(second.payload).toEqual(first.payload);
  });

  test.each([
    'unsupported_configuration',
    'resource_unavailable',
    'native_session_conflict',
    'code_of_tomorrow',
  ])('that is rejected with %s fails the Turn and is not repeated', async (error_code) => {
    bed = await CoreBed.open();
    const runId = await bed.submit();
    const prepare = await bed.expect('execution_prepare');
    await bed.status(prepare.id, {
      revision: 0,
      state: 'rejected',
      error_code,
      operation: 'execution_prepare',
    });
    expect(bed.turn(runId)).toMatchObject({
      state: 'ended',
      outcome: 'failed',
      errorCode: error_code,
      startedAt: null,
    });
    await bed.clock.advance(10_000);
    expect(await bed.runtime.drain()).toEqual([]);
  });

  test('that fails or expires ends the Turn with that reason and without a Run', async () => {
    bed = await CoreBed.open();
    const failing = await bed.submit();
    const prepare = await bed.expect('execution_prepare');
    await bed.status(prepare.id, { executor_id: 'e', handle: 'h', revision: 1, state: 'preparing' });
    await bed.status(prepare.id, {
      executor_id: 'e',
      handle: 'h',
      revision: 2,
      state: 'failed',
      error_code: 'preparation_failed',
    });
    expect(bed.turn(failing)).toMatchObject({ outcome: 'failed', errorCode: 'preparation_failed' });
    const expiring = await bed.submit();
    const other = await bed.expect('execution_prepare');
    await bed.status(other.id, { executor_id: 'e', handle: 'h', revision: 1, state: 'expired' });
    expect(bed.turn(expiring)).toMatchObject({ outcome: 'failed', errorCode: 'preparation_expired' });
    expect(await bed.runtime.drain()).toEqual([]);
  });

  test.each([
    ['without an Executor', { executor_id: undefined }],
    ['of another Executor', { executor_id: 'another' }],
    ['that names a Run', { run_id: 'run' }],
  ])('that is ready %s is not used, and given back', async (_, members) => {
    bed = await CoreBed.open();
    const runId = await bed.submit();
    const prepare = await bed.prepared(members);
    expect(bed.turn(runId)).toMatchObject({ outcome: 'failed', errorCode: 'preparation_inconsistent' });
    expect(await bed.runtime.next()).toEqual({
      type: 'execution_release',
      id: prepare.id,
      payload: { handle: 'handle' },
    });
  });

  test('whose connection is lost took no input: the Turn failed and is not prepared again', async () => {
    bed = await CoreBed.open();
    const runId = await bed.submit();
    await bed.expect('execution_prepare');
    bed.runtime.drop();
    await expect.poll(() => bed.turn(runId).state).toBe('ended');
    expect(bed.turn(runId)).toMatchObject({
      outcome: 'failed',
      errorCode: 'preparation_unobserved',
      startedAt: null,
    });
    await bed.reconnect();
    expect(await bed.runtime.drain()).toEqual([]);
  });

  test('that never answers is given up after its lifetime', async () => {
    bed = await CoreBed.open();
    const runId = await bed.submit();
    await bed.expect('execution_prepare');
    for (let elapsed = 0; elapsed < 330_000; elapsed += 30_000) {
      bed.runtime.heartbeat([descriptor('contract')]);
      await bed.settled();
      await bed.clock.advance(30_000);
    }
    expect(bed.turn(runId)).toMatchObject({ outcome: 'failed', errorCode: 'preparation_unobserved' });
  });
});

describe('a start', () => {
  const unavailable = {
    executor_id: 'executor',
    handle: 'handle',
    revision: 0,
    state: 'rejected',
    error_code: 'executor_unavailable',
    operation: 'execution_start',
  };

  test('that took nothing permits exactly one more preparation', async () => {
    bed = await CoreBed.open();
    const runId = await bed.submit();
    const first = await bed.prepared();
    await bed.expect('execution_start');
    await bed.status(first.id, unavailable);
    const second = await bed.prepared();
    expect(second.id).not.toBe(first.id);
    expect((await bed.expect('execution_start')).payload?.['run_id']).toBe(runId);
    await bed.status(second.id, unavailable);
    expect(bed.turn(runId)).toMatchObject({ outcome: 'failed', errorCode: 'executor_unavailable' });
    expect(await bed.runtime.drain()).toEqual([{ type: 'prompt_cancel', id: runId }]);
  });

  test('is not repeated once the Run has spoken', async () => {
    bed = await CoreBed.open();
    const runId = await bed.submit();
    const prepare = await bed.prepared();
    await bed.expect('execution_start');
    await bed.say(runId, 'delta', { delta: 'x', sequence: 1 });
    await bed.status(prepare.id, unavailable);
    expect(bed.turn(runId)).toMatchObject({ outcome: 'failed', errorCode: 'executor_unavailable' });
  });

  test('that is rejected otherwise fails the Turn, with a cancellation nobody waits for', async () => {
    bed = await CoreBed.open();
    const runId = await bed.submit();
    const prepare = await bed.prepared();
    await bed.expect('execution_start');
    await bed.status(prepare.id, {
      revision: 0,
      state: 'rejected',
      error_code: 'run_conflict',
      operation: 'execution_start',
    });
    expect(bed.turn(runId)).toMatchObject({ outcome: 'failed', errorCode: 'run_conflict' });
    expect(await bed.runtime.next()).toEqual({ type: 'prompt_cancel', id: runId });
  });

  test('takes output that races its status', async () => {
    bed = await CoreBed.open();
    const runId = await bed.submit();
    await bed.prepared();
    await bed.expect('execution_start');
    await bed.say(runId, 'delta', { delta: 'fast', sequence: 1 });
    await bed.say(runId, 'done', { content: 'fast' });
    expect(bed.turn(runId)).toMatchObject({ outcome: 'completed', text: 'fast' });
  });

  test('is not sent when the claim could not be stored; the admission is given back', async () => {
    bed = await CoreBed.open();
    const runId = await bed.submit();
    bed.storage.failing = true;
    const failures: string[] = [];
    bed.core.subscribe((event) => failures.push(event.kind));
    const prepare = await bed.prepared();
    expect(bed.turn(runId)).toMatchObject({
      outcome: 'failed',
      errorCode: 'storage_failed',
      startedAt: null,
    });
    expect(await bed.runtime.drain()).toEqual([
      { type: 'execution_release', id: prepare.id, payload: { handle: 'handle' } },
    ]);
    expect(failures).toContain('storage_failed');
    bed.storage.failing = false;
  });
});

describe('a failing Turn', () => {
  test('keeps the category that its error named, and what it had said', async () => {
    bed = await CoreBed.open();
    const runId = await bed.running();
    await bed.say(runId, 'delta', { delta: 'half', sequence: 1 });
    await bed.say(runId, 'error', { error: 'upstream closed', code: 'connection_failed', http_status: 502 });
    expect(bed.turn(runId).state).toBe('running');
    await bed.say(runId, 'done', { content: '', usage: { input_tokens: 4 } });
    expect(bed.turn(runId)).toMatchObject({
      outcome: 'failed',
      errorCode: 'engine_failed',
      errorText: 'upstream closed',
      engineErrorCode: 'connection_failed',
      engineHttpStatus: 502,
      text: 'half',
      usage: { input_tokens: 4 },
    });
    expect(await bed.runtime.next()).toEqual({ type: 'prompt_cancel', id: runId });
  });

  test('that calls a function nobody declared is ended', async () => {
    bed = await CoreBed.open();
    const runId = await bed.running();
    await bed.say(runId, 'function_call', { call_id: 'c', name: 'f', arguments: {} });
    expect(bed.turn(runId)).toMatchObject({ outcome: 'failed', errorCode: 'undeclared_function' });
    expect(await bed.runtime.next()).toEqual({ type: 'prompt_cancel', id: runId });
  });
});

describe('a lost connection', () => {
  test('after the start leaves the Turn unknown; nothing is sent again, and the next Turn runs', async () => {
    bed = await CoreBed.open();
    const runId = await bed.running();
    const next = await bed.submit('next');
    await bed.say(runId, 'delta', { delta: 'half', sequence: 1 });
    bed.runtime.drop();
    await expect.poll(() => bed.turn(runId).state).toBe('ended');
    expect(bed.turn(runId)).toMatchObject({
      outcome: 'unknown',
      errorCode: 'event_stream_incomplete',
      text: 'half',
    });
    await bed.reconnect();
    const { start } = await bed.started(next);
    expect(start.payload?.['run_id']).toBe(next);
    await bed.say(runId, 'done', { content: 'late' });
    expect(bed.turn(runId).outcome).toBe('unknown');
  });

  test('by a newer connection of the device is the same', async () => {
    bed = await CoreBed.open();
    const runId = await bed.running();
    await bed.reconnect();
    expect(bed.turn(runId)).toMatchObject({ state: 'ended', outcome: 'unknown' });
    expect(await bed.runtime.drain()).toEqual([]);
  });
});

describe('two Sessions', () => {
  test('have devices of their own and run at once', async () => {
    bed = await CoreBed.open();
    const other = await bed.core.createSession({
      harness: 'other',
      workspaceDirectory: '/home/user/project',
    });
    expect(
      new Set([
        other.deviceId,
        other.sessionId,
        other.environmentId,
        other.credential,
        ...Object.values(bed.access),
      ]).size,
    ).toBe(8);
    const first = await bed.running();
    const { dial } = await import('../../support/core-bed.ts');
    const runtime = await dial(bed.core, other);
    runtime.heartbeat([descriptor('other')]);
    const submitted = await bed.core.submit({ prompt: 'hi', sessionId: other.sessionId });
    expect(submitted.kind).toBe('queued');
    expect((await runtime.next()).payload?.['configuration']).toMatchObject({
      agent_kind: 'other',
      local_environment: { id: other.environmentId },
    });
    expect(bed.core.sessions().map((session) => session.connected)).toEqual([true, true]);
    expect(bed.turn(first).state).toBe('running');
  });

  test('a new Session can begin with its first Turn', async () => {
    bed = await CoreBed.open();
    const created: string[] = [];
    bed.core.subscribe((event) => void (event.kind === 'session' && created.push(event.sessionId)));
    const submitted = await bed.core.submit({ prompt: 'hi', harness: 'contract', workspaceDirectory: null });
    if (submitted.kind !== 'queued') throw new Error(submitted.reason);
    expect(created).toEqual([submitted.sessionId]);
    const access = bed.core.issueAccess(submitted.sessionId);
    const { dial } = await import('../../support/core-bed.ts');
    if (!access) throw new Error('no access');
    const runtime = await dial(bed.core, access);
    runtime.heartbeat([descriptor('contract')]);
    expect((await runtime.next()).type).toBe('execution_prepare');
  });

  test('an ended one takes no Turn, cancels what waits, and its device is retired', async () => {
    bed = await CoreBed.open();
    bed.runtime.heartbeat([]);
    await bed.settled();
    const runId = await bed.submit();
    await bed.core.endSession(bed.access.sessionId);
    expect(bed.turn(runId)).toMatchObject({ outcome: 'cancelled', errorCode: 'cancelled_before_start' });
    bed.runtime.heartbeat([]);
    expect(await bed.runtime.closed).toBe(4001);
    expect(bed.core.issueAccess(bed.access.sessionId)).toBeUndefined();
    await expect(bed.submit()).rejects.toThrow('unknown_session');
  });
});
