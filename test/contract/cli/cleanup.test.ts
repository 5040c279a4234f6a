import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deafAgent } from '../../support/deaf-agent.ts';
import { Machine, viewWhere } from '../../support/runtime-process.ts';

let machine: Machine;
beforeEach(async () => {
  machine = await Machine.make();
  await writeFile(
    join(machine.stateDir, 'config.json'),
    JSON.stringify({ harnesses: [await deafAgent(machine.home)] }),
  );
});
afterEach(() => machine.close());

test(
  'a Turn whose agent does not hear a cancel is listed, and a word of the person ends the agent before it is recorded',
  { timeout: 60_000 },
  async () => {
    const { child, ended } = machine.spawn('run', '--local', '--workspace', machine.workspace);
    const client = await machine.client();
    await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');
    const { run_id: runId } = await client.call('turn.start', { prompt: 'hello', harness: 'deaf' });
    await viewWhere(client, ({ turns }) => turns[0]?.state === 'running');
    await client.call('turn.cancel', { run_id: runId });
    const { cleanup } = await viewWhere(client, (view) => view.cleanup.length > 0);
    expect(cleanup.map(({ id, state }) => [id, state])).toEqual([[`turn:${runId}`, 'unconfirmed']]);
    const listed = await machine.run('cleanup');
    expect(listed.stdout).toContain(`turn:${runId}`);
    const done = await machine.run('cleanup', 'force', `turn:${runId}`);
    expect(done.code, done.stderr).toBe(0);
    await viewWhere(client, (view) => view.cleanup.length === 0 && view.turns.length === 0);
    expect((await machine.run('cleanup', 'force', `turn:${runId}`)).code).toBe(1);
    client.close();
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  },
);
