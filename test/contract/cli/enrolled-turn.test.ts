import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LocalCore } from '../../../src/core/local-core.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { MemoryStorage } from '../../support/core-bed.ts';
import { Machine, viewWhere } from '../../support/runtime-process.ts';

let machine: Machine;
let core: LocalCore;

beforeEach(async () => {
  machine = await Machine.make();
  core = await LocalCore.create({
    clock: systemClock,
    random: systemRandom,
    storage: new MemoryStorage(),
    heartbeatSeconds: 1,
    build: '2026.11.1',
  });
  await core.listen();
});
afterEach(async () => {
  await core.close();
  await machine.close();
});

/** Resolves with the outcome of a Turn. */
const ended = (runId: string): Promise<string | null> =>
  new Promise((resolve) => {
    const look = (): void => {
      const turn = core.turn(runId);
      if (turn?.state !== 'ended') return;
      stop();
      resolve(turn.outcome);
    };
    const stop = core.subscribe(look);
    look();
  });

test('a Session invites a machine, which enrols and then runs its Turns in the bound folder, also after a restart', async () => {
  const folder = join(machine.home, 'handbook');
  const session = await core.createSession({ harness: 'demo', workspaceDirectory: folder });
  const invited = core.invite(session.sessionId);
  const bound = await machine.runWithInput(
    invited?.grant ?? '',
    'enroll',
    '--endpoint',
    invited?.endpoint ?? '',
    '--grant-file',
    '-',
    '--store',
    'file',
  );
  expect(bound).toMatchObject({ code: 0, stdout: 'Bound as handbook. Serve it with: agent-runtime run\n' });
  for (const start of [1, 2]) {
    const { child, ended: gone } = machine.spawn('run');
    const client = await machine.client();
    await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');
    const turn = await core.submit({ prompt: `hello ${start}`, sessionId: session.sessionId });
    if (turn.kind !== 'queued') throw new Error(turn.reason);
    const outcome = await finish(client, turn.runId);
    expect(outcome).toBe('completed');
    const { history } = await client.call('view.get', {});
    expect(history.find(({ id }) => id === turn.runId)).toMatchObject({
      binding: 'handbook',
      outcome: 'completed',
    });
    const { checks } = await client.call('doctor.run', {});
    expect(checks.find(({ name }) => name === 'Clock')).toEqual({
      ...{ name: 'Clock', ok: true, next: null },
      text: `It agrees with ${new URL(invited?.endpoint ?? '').host}, to a minute.`,
    });
    client.close();
    child.kill('SIGINT');
    expect((await gone).code).toBe(0);
  }
  expect(await readdir(folder)).not.toEqual([]);
  await core.endSession(session.sessionId);
  expect(core.invite(session.sessionId)).toBeUndefined();
  const rejected = await machine.run('run');
  expect(rejected.code).toBe(3);
});

/** Allows and answers whatever else the demo asks, until its Turn has ended. */
async function finish(client: Awaited<ReturnType<Machine['client']>>, runId: string): Promise<string | null> {
  const seen = new Set<string>();
  const stop = client.onView((view) => {
    for (const open of view.interactions) {
      if (seen.has(open.id)) continue;
      seen.add(open.id);
      const answers = Object.fromEntries(
        open.questions.map(({ id, options }) => [id, [options[0]?.label ?? 'yes']]),
      );
      void client
        .call('interaction.answer', {
          id: open.id,
          answer: open.kind === 'permission' ? { kind: 'allow' } : { kind: 'answers', answers },
        })
        .catch(() => undefined);
    }
  });
  const outcome = await ended(runId);
  stop();
  return outcome;
}
