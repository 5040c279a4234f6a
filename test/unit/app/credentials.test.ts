import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CredentialDesk } from '../../../src/app/credentials.ts';
import { Health } from '../../../src/observe/health.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { FakeClock } from '../../support/fake-clock.ts';

async function desk(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'agent-runtime-credentials-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const clock = new FakeClock();
  const path = join(folder, 'credentials.json');
  const opened = await CredentialDesk.open({
    ...{ clock, random: systemRandom, logger: silentLogger, path },
    load: () => null,
  });
  const health = new Health(clock, () => undefined);
  opened.attach(health, () => true);
  const told = (): string[] =>
    health.items.filter(({ code }) => code === 'state_file_set_aside').map(({ text }) => text);
  return { desk: opened, told };
}

const asideIn = (text: string | undefined): string => /set aside as (\S+)\./.exec(text ?? '')?.[1] ?? '';

test('damaged marks of stored credentials are set aside and told', async () => {
  const { told } = await desk({ 'credentials.json': '{"stored": "lost' });
  expect(told()).toHaveLength(1);
  expect(await readFile(asideIn(told()[0]), 'utf8')).toBe('{"stored": "lost');
});

test('a damaged file of secrets is told when it is read, beside what was told already', async () => {
  const bed = await desk({
    'credentials.json': '{"stored": {"binding": "file"}, "choice": "file"}',
    'credentials.secrets.json': 'lost',
  });
  expect(bed.told()).toEqual([]);
  expect(await bed.desk.get('binding')).toMatchObject({ kind: 'unavailable' });
  expect(await readFile(asideIn(bed.told()[0]), 'utf8')).toBe('lost');
});

test('what is understood is told nothing about', async () => {
  const { told } = await desk({ 'credentials.json': '{"stored": {}, "choice": "keychain"}' });
  expect(told()).toEqual([]);
});

test('a health item may say several things', () => {
  const health = new Health(new FakeClock(), () => undefined);
  health.add('state_file_set_aside', 'One.');
  health.add('state_file_set_aside', 'Two.');
  health.add('state_file_set_aside', 'One.');
  expect(health.items.map(({ text }) => text)).toEqual(['One. Two.']);
});
