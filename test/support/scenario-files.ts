import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readScenario, type Scenario } from '../../src/conformance/scenario.ts';

const folder = new URL('../scenarios/', import.meta.url).pathname;

/** Every scenario of `test/scenarios`, in the order of their names. */
export function allScenarios(): readonly Scenario[] {
  const parts = new Map(
    readdirSync(join(folder, 'parts')).map((file) => [
      basename(file, '.json'),
      readJson(join('parts', file)),
    ]),
  );
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => readScenario(basename(file, '.json'), readJson(file), parts));
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));
