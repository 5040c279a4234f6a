import { describe, expect, test } from 'vitest';

import { ClaudeClient, type ClientListener } from '../../../../src/harness/claude-code/client.ts';
import type { NativeMessage } from '../../../../src/harness/claude-code/native-types.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';
import { systemRandom } from '../../../../src/platform/random.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { response, ScriptedProcess } from './scripted-process.ts';

function bed(listen: Partial<ClientListener> = {}): {
  clock: FakeClock;
  native: ScriptedProcess;
  client: ClaudeClient;
  heard: NativeMessage[];
} {
  const clock = new FakeClock();
  const native = new ScriptedProcess();
  const heard: NativeMessage[] = [];
  const listener: ClientListener = {
    message: (message) => Promise.resolve(void heard.push(message)),
    request: () => Promise.resolve(),
    withdrawn: () => Promise.resolve(),
    ...listen,
  };
  const client = new ClaudeClient({ clock, random: systemRandom, logger: silentLogger }, native, listener);
  return { clock, native, client, heard };
}
const lifecycle = { type: 'command_lifecycle', command_uuid: 'u', state: 'queued' };

describe('requests to the program', () => {
  test('an answer is matched by its id, a refusal is a definite no', async () => {
    const { client, native } = bed();
    native.answer = (request) => (request['subtype'] === 'ok' ? { fine: true } : undefined);
    expect(await client.control({ subtype: 'ok' }, 1_000)).toEqual({ fine: true });
    const refused = client.control({ subtype: 'no' }, 1_000);
    const id = String(native.written.at(-1)?.['request_id']);
    native.say({
      type: 'control_response',
      response: { subtype: 'error', request_id: id, error: 'Unsupported' },
    });
    await expect(refused).rejects.toMatchObject({ family: 'rejected' });
  });

  test('silence ends the wait as unknown, and a late answer harms nobody', async () => {
    const { client, clock, native } = bed();
    native.answer = () => undefined;
    const asked = client.control({ subtype: 'slow' }, 1_000);
    const failed = expect(asked).rejects.toMatchObject({ family: 'unknown', code: 'timeout' });
    await clock.advance(1_000);
    await failed;
    native.say(response(String(native.written[0]?.['request_id']), {}), lifecycle);
    await settle();
  });

  test('the end of the program rejects what waits as unknown', async () => {
    const { client, native } = bed();
    native.answer = () => undefined;
    const asked = client.control({ subtype: 'slow' }, 60_000);
    native.end({ code: 1, signal: null });
    await expect(asked).rejects.toMatchObject({ family: 'unknown', code: 'closed' });
    expect(await client.ended).toBe('Claude Code ended (exit code 1).');
    await expect(client.control({ subtype: 'late' }, 1_000)).rejects.toMatchObject({ code: 'closed' });
  });
});

describe('answers to the program', () => {
  test('count when the program echoes them', async () => {
    const { client, native } = bed();
    let answered = false;
    const answering = client.reply('r1', { behavior: 'allow' }).then(() => (answered = true));
    await settle();
    expect(answered).toBe(false);
    native.say(response('r1', {}));
    await answering;
  });

  test('count after a while when it echoes nothing', async () => {
    const { client, clock } = bed();
    const answering = client.reply('r1', {});
    await clock.advance(3_000);
    await answering;
  });

  test('do not count when it is gone', async () => {
    const { client, native } = bed();
    const answering = client.reply('r1', {});
    native.end();
    await expect(answering).rejects.toMatchObject({ family: 'unknown' });
    await expect(client.reply('r2', {})).rejects.toMatchObject({ family: 'unknown' });
  });
});

describe('reading', () => {
  test('messages come one after the other, and the next waits for the handler', async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let calls = 0;
    const { native } = bed({
      message: () => {
        calls++;
        return calls === 1 ? gate : Promise.resolve();
      },
    });
    native.say(lifecycle, lifecycle, lifecycle);
    await settle();
    expect(calls).toBe(1);
    open();
    await settle();
    expect(calls).toBe(3);
  });

  test('stray lines and unknown messages are passed over', async () => {
    const { heard, native } = bed();
    native.say('Warning: a stray line', { type: 'novelty' }, '', lifecycle);
    await settle();
    expect(heard.map((message) => message.type)).toEqual(['command_lifecycle']);
  });

  test('a result that cannot be read ends the use of the program, because the end of a Turn would be missed', async () => {
    const { client, clock, native } = bed();
    native.say({ type: 'result', is_error: 'maybe' }, lifecycle);
    await clock.advance(1_000);
    expect(await client.ended).toContain('does not understand');
    expect(client.over).toBe(true);
  });

  test('a handler that throws is our fault and ends the use of the program', async () => {
    const { client, clock, native } = bed({ message: () => Promise.reject(new Error('bug')) });
    native.say(lifecycle);
    await clock.advance(1_000);
    expect(await client.ended).toContain('could not be handled');
  });

  test('what was written before the end is read, also when a leftover command holds the pipe open', async () => {
    const { client, clock, heard, native } = bed();
    native.say(lifecycle);
    native.exitOnly({ code: null, signal: 'SIGKILL' });
    await clock.advance(3_000);
    expect(await client.ended).toBe('Claude Code ended (by SIGKILL).');
    expect(heard).toHaveLength(1);
  });

  test('a slow consumer is waited for after the end of the program', async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const seen: NativeMessage[] = [];
    const { client, clock, native } = bed({
      message: async (message) => {
        await gate;
        seen.push(message);
      },
    });
    native.say(lifecycle, lifecycle);
    native.end({ code: 0, signal: null });
    await clock.advance(60_000);
    expect(client.over).toBe(false);
    open();
    await client.ended;
    expect(seen).toHaveLength(2);
  });
});
