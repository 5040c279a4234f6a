import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Machine } from '../../support/runtime-process.ts';
import { SilentAgent } from '../../support/silent-agent.ts';

let machine: Machine;
beforeEach(async () => {
  machine = await Machine.make();
});
afterEach(() => machine.close());

test.each([
  ['starts', 'ends when asked', false],
  ['serves', 'does not end when asked', true],
])(
  'a Runtime that is ended while it %s and looks at an agent that says nothing and %s leaves nothing of it',
  async (moment, _what, stubborn) => {
    const agent = await SilentAgent.make(machine.home, stubborn);
    await writeFile(join(machine.stateDir, 'config.json'), JSON.stringify({ harnesses: [agent.settings] }));
    const { child, ended } = machine.spawn('run', '--local', '--workspace', machine.workspace);
    await expect.poll(() => agent.started(), { timeout: 15_000 }).toBe(true);
    if (moment === 'serves') (await machine.client()).close();
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
    expect(await agent.running()).toBe(false);
    const ledger: unknown = JSON.parse(
      await readFile(join(machine.stateDir, 'ledger', 'processes.json'), 'utf8'),
    );
    expect(ledger).toMatchObject({ entries: [] });
  },
);
