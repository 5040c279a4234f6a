import { spawnSync } from 'node:child_process';
import { open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ControlClient } from '../../../src/cli/client.ts';
import type { View } from '../../../src/contract/view.ts';
import { Machine, viewWhere } from '../../support/runtime-process.ts';

let machine: Machine;
let client: ControlClient;
let mounted = false;

beforeEach(async () => {
  machine = await Machine.make();
});
afterEach(async () => {
  client?.close();
  if (mounted) spawnSync('umount', ['-l', machine.stateDir]);
  mounted = false;
  await machine.close();
});

/** A state folder on a disk of its own, where this user may mount one. In continuous integration it must be possible. */
async function onSmallDisk(): Promise<string | null> {
  const config = await readFile(join(machine.stateDir, 'config.json'));
  const { status, stderr } = spawnSync('mount', [
    ...['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', machine.stateDir],
  ]);
  if (status !== 0) return `no small disk could be mounted: ${stderr.toString().trim()}`;
  mounted = true;
  await writeFile(join(machine.stateDir, 'config.json'), config);
  return null;
}

const filler = (): string => join(machine.stateDir, 'filler');
/** Takes all the room that is left, to the last byte. */
async function fill(): Promise<void> {
  const handle = await open(filler(), 'a');
  try {
    for (const size of [65_536, 4_096, 512, 1]) {
      const piece = Buffer.alloc(size, 7);
      for (;;) {
        const full = await handle.write(piece).then(
          ({ bytesWritten }) => bytesWritten < size,
          () => true,
        );
        if (full) break;
      }
    }
  } finally {
    await handle.close();
  }
}
const codes = (view: View): readonly string[] => view.health.map(({ code }) => code);

test('a disk that fills up while a Turn waits: it is said, nothing is lost, and room makes it well again', async (context) => {
  const why = await onSmallDisk();
  if (why !== null) {
    if (process.env['CI']) throw new Error(why);
    return context.skip(why);
  }
  const { child, ended } = machine.spawn('run', '--local', '--workspace', machine.workspace);
  client = await machine.client();
  await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');
  const { run_id: first } = await client.call('turn.start', { prompt: 'Show me', harness: 'demo' });
  const asked = await viewWhere(client, ({ interactions }) => interactions.length > 0);
  const question = asked.interactions[0];
  await fill();

  // The open Turn goes on: a person can answer, and its end is observed.
  await client.call('interaction.answer', { id: question?.id ?? '', answer: { kind: 'cancel' } });
  const told = await viewWhere(client, (view) => codes(view).includes('history_not_kept'));
  expect(told.health.find(({ code }) => code === 'history_not_kept')).toMatchObject({
    text: 'The history could not be written to disk.',
    next: 'Check that the state folder is writable and the disk has room.',
  });
  // A new one is refused in words, before anything is given to an agent; what is only in memory stays usable.
  await expect(client.call('turn.start', { prompt: 'Another', harness: 'demo' })).rejects.toMatchObject({
    message: 'The Turn was not started: it could not be written to disk. Check that the disk has room.',
  });
  expect(codes(await client.call('view.get', {}))).toContain('disk_full');
  const check = (await client.call('doctor.run', {})).checks.find(({ name }) => name === 'Disk');
  expect(check).toMatchObject({ ok: false, text: '0 MB are free.', next: 'Free some space.' });
  await expect(client.call('settings.set', { theme: 'dark' })).rejects.toMatchObject({ code: 'storage' });
  expect((await client.call('settings.get', {})).theme).toBe('dark');

  await rm(filler());
  // The history that waited is written by itself.
  await viewWhere(client, (view) => !codes(view).includes('history_not_kept'));
  const { run_id: second } = await client.call('turn.start', { prompt: 'Again', harness: 'demo' });
  expect(codes(await client.call('view.get', {}))).not.toContain('disk_full');
  await client.call('turn.cancel', { run_id: second });
  await client.call('turn.cancel', { run_id: first }).catch(() => undefined);
  await viewWhere(client, ({ turns }) => turns.length === 0);
  const kept = (await client.call('history.read', {})).entries.map(({ kind, id }) => `${kind} ${id}`);
  client.close();
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);

  const again = machine.spawn('run', '--local', '--workspace', machine.workspace);
  client = await machine.client();
  const read = (await client.call('history.read', {})).entries.map(({ kind, id }) => `${kind} ${id}`);
  expect(read).toEqual(kept);
  expect(read).toContain(`user_choice ${question?.id ?? ''}`);
  expect(codes(await client.call('view.get', {}))).not.toContain('state_file_set_aside');
  again.child.kill('SIGINT');
  await again.ended;
});
