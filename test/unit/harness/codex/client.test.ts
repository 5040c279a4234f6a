import { describe, expect, test } from 'vitest';

import { CodexClient, type ClientListener } from '../../../../src/harness/codex/client.ts';
import type { Notification } from '../../../../src/harness/codex/native-types.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { refusal, ScriptedServer, silence } from './scripted-server.ts';

function bed(listen: Partial<ClientListener> = {}): {
  clock: FakeClock;
  native: ScriptedServer;
  client: CodexClient;
  heard: Notification[];
} {
  const clock = new FakeClock();
  const native = new ScriptedServer();
  const heard: Notification[] = [];
  const listener: ClientListener = {
    notified: (note) => Promise.resolve(void heard.push(note)),
    asked: () => Promise.resolve(),
    ...listen,
  };
  return { clock, native, client: new CodexClient({ clock, logger: silentLogger }, native, listener), heard };
}
const warning = { method: 'warning', params: { threadId: null, message: 'Mind the gap' } };

describe('requests to the program', () => {
  test('an answer is matched by its id, a refusal is an answer of its own', async () => {
    const { client, native } = bed();
    native.answer = (method) => (method === 'fine' ? { ok: true } : refusal());
    expect(await client.ask('fine', {}, 1_000)).toEqual({ kind: 'result', result: { ok: true } });
    expect(await client.ask('not', {}, 1_000)).toEqual({
      kind: 'refused',
      refusal: { code: -32600, unknownMethod: false },
    });
    await expect(client.request('not', {}, 1_000)).rejects.toMatchObject({ family: 'rejected' });
  });

  test('a method that the program does not know is told from a refusal', async () => {
    const { client, native } = bed();
    native.answer = () => refusal('Invalid request: unknown variant `x`, expected one of `y`');
    expect(await client.ask('x', {}, 1_000)).toMatchObject({ refusal: { unknownMethod: true } });
    native.answer = () => refusal('nothing like that', -32601);
    expect(await client.ask('x', {}, 1_000)).toMatchObject({ refusal: { unknownMethod: true } });
  });

  test('silence ends the wait as unknown, and a late answer harms nobody', async () => {
    const { client, clock, native, heard } = bed();
    native.answer = () => silence;
    const failed = expect(client.ask('slow', {}, 1_000)).rejects.toMatchObject({
      family: 'unknown',
      code: 'timeout',
    });
    await clock.advance(1_000);
    await failed;
    native.say({ id: native.written[0]?.id, result: {} }, warning);
    await settle();
    expect(heard).toHaveLength(1);
  });

  test('the end of the program rejects what waits as unknown', async () => {
    const { client, native } = bed();
    native.answer = () => silence;
    const asked = client.ask('slow', {}, 60_000);
    native.end({ code: 1, signal: null });
    await expect(asked).rejects.toMatchObject({ family: 'unknown', code: 'closed' });
    expect(await client.ended).toContain('exit code 1');
    await expect(client.ask('late', {}, 1_000)).rejects.toMatchObject({ code: 'closed' });
  });
});

describe('requests of the program', () => {
  const approval = {
    id: 7,
    method: 'item/commandExecution/requestApproval',
    params: { threadId: 't', turnId: 'u', itemId: 'i' },
  };

  test('an answer has arrived when the program says so, which is no news to anyone else', async () => {
    const { client, native, heard } = bed();
    native.say(approval);
    let arrived = false;
    const replying = client.reply(7, { decision: 'accept' }).then(() => (arrived = true));
    await settle();
    expect(native.replies).toEqual([{ id: 7, result: { decision: 'accept' } }]);
    expect(arrived).toBe(false);
    native.say({ method: 'serverRequest/resolved', params: { threadId: 't', requestId: 7 } });
    await replying;
    expect(heard).toEqual([]);
  });

  test('a program that says nothing has still got the answer, after a while', async () => {
    const { client, clock } = bed();
    const replying = client.reply(7, {});
    await clock.advance(3_000);
    await replying;
  });

  test('an answer that cannot be written rejects', async () => {
    const { client, native } = bed();
    native.broken = true;
    await expect(client.reply(7, {})).rejects.toThrow();
  });

  test('what nobody serves, or cannot be read, is refused', async () => {
    const asked: string[] = [];
    const { native } = bed({ asked: ({ method }) => Promise.resolve(void asked.push(method)) });
    native.say(
      { id: 1, method: 'attestation/generate', params: {} },
      { id: 2, method: 'item/tool/call', params: { nonsense: true } },
      approval,
    );
    await settle();
    expect(native.replies.map(({ id, error }) => [id, error?.code])).toEqual([
      [1, -32601],
      [2, -32601],
    ]);
    expect(asked).toEqual(['item/commandExecution/requestApproval']);
  });
});

describe('what the program says', () => {
  test('unknown notifications, strange lines and unreadable ones are passed over', async () => {
    const { native, heard } = bed();
    native.say(
      'not json',
      { method: 'thread/name/updated', params: {} },
      { method: 'warning', params: { message: 5 } },
      warning,
    );
    await settle();
    expect(heard).toEqual([warning]);
  });

  test('an unreadable end of a Turn means that this app is too old', async () => {
    const { client, clock, native } = bed();
    native.say({ method: 'turn/completed', params: { threadId: 't', turn: 'over' } });
    await clock.advance(2_000);
    expect(await client.ended).toContain('Update this app');
  });

  test('a slow listener holds up what comes after', async () => {
    let go: () => void = () => undefined;
    const seen: string[] = [];
    const { native } = bed({
      notified: async (note) => {
        seen.push(note.method);
        await new Promise<void>((resolve) => (go = resolve));
      },
    });
    native.say(warning, warning);
    await settle();
    expect(seen).toHaveLength(1);
    go();
    await settle();
    expect(seen).toHaveLength(2);
  });
});
