import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SavedRules } from '../../../src/app/saved-rules.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { FakeClock } from '../../support/fake-clock.ts';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'rules-'))));
afterEach(() => rm(folder, { recursive: true }));

const rule = {
  ...{ id: 'rule_1', owner: 'local', workspace: '/w', harness: 'demo', sessionId: 's', runId: 'r' },
  ...{ scope: 'folder', tool: 'Bash', match: 'npm test', key: 'k', used: 0, lastUsedAt: null },
  ...{ createdAt: 1_000, expiresAt: null },
};
const open = async (rules: readonly unknown[]): Promise<SavedRules> => {
  const path = join(folder, 'rules.json');
  await writeFile(path, JSON.stringify({ version: 1, rules }));
  return SavedRules.open({
    ...{ path, clock: new FakeClock(), random: systemRandom, logger: silentLogger },
    ...{ onChange: () => undefined, onHistory: () => undefined, bindingOf: () => 'local' },
  });
};

test('a rule of the file is shown with its folder', async () => {
  expect((await open([rule])).view).toMatchObject([
    { id: 'rule_1', folder: '/w', created_at: '1970-01-01T00:00:01.000Z', expires_at: null },
  ]);
});

test.each([
  ['a time that no date has', { ...rule, createdAt: 1e300 }],
  ['an end that no date has', { ...rule, expiresAt: 8.65e15 }],
  ['a last use that no date has', { ...rule, lastUsedAt: -8.65e15 }],
  ['a count below zero', { ...rule, used: -1 }],
])('nothing of a file with %s applies, and the file is kept', async (_name, broken) => {
  const rules = await open([rule, broken]);
  expect(rules.view).toEqual([]);
  expect(JSON.parse(await readFile(rules.setAside ?? '', 'utf8'))).toMatchObject({ version: 1 });
});
