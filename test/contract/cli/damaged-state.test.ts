import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Machine, viewWhere } from '../../support/runtime-process.ts';

let machine: Machine;
beforeEach(async () => {
  machine = await Machine.make();
});
afterEach(() => machine.close());

test('a log and a history that are no files are told, and the Runtime serves', async () => {
  await mkdir(join(machine.stateDir, 'logs', 'runtime.log'), { recursive: true });
  await mkdir(join(machine.stateDir, 'history.jsonl'));
  const { child, ended } = machine.spawn('run', '--local', '--workspace', machine.workspace);
  const client = await machine.client();
  const { health } = await viewWhere(
    client,
    (view) => view.health.some(({ code }) => code === 'log_not_kept') && view.bindings.length > 0,
  );
  expect(health.map(({ code }) => code)).toContain('history_not_kept');
  client.close();
  child.kill('SIGINT');
  const { code, stderr } = await ended;
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/EISDIR|\n {4}at /);
});

test('a lock that is no file is no other Runtime', async () => {
  await mkdir(join(machine.stateDir, 'lock.json'));
  const { code, stderr } = await machine.run('run', '--local');
  expect(code).toBe(1);
  expect(stderr).toContain('is not usable');
});

test.each(['{', '[]', '{"harnesses":[{"kind":"a","adapter":"acp"}]}', '{"nonsense":1}'])(
  'a configuration of %j says what to do',
  async (text) => {
    await writeFile(join(machine.stateDir, 'config.json'), text);
    const { code, stderr } = await machine.run('run', '--local');
    expect(code).toBe(2);
    expect(stderr).toContain('Correct it, or move it away to go on with the defaults.');
  },
);
