import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { readScenario, type Scenario } from './scenario.ts';

/** Every scenario of a folder, in the order of their names. `parts/` holds what several of them begin with. */
export async function loadScenarios(folder: string): Promise<readonly Scenario[]> {
  const parts = new Map(
    await Promise.all(
      (await jsonFiles(join(folder, 'parts'))).map(
        async (file) => [basename(file, '.json'), await readJson(file)] as const,
      ),
    ),
  );
  const files = await jsonFiles(folder);
  return Promise.all(
    files.map(async (file) => readScenario(basename(file, '.json'), await readJson(file), parts)),
  );
}

async function jsonFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => join(folder, name));
}

const readJson = async (file: string): Promise<unknown> => JSON.parse(await readFile(file, 'utf8'));
