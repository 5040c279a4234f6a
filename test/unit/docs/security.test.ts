import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8');
const text = read('docs/security.md');
const rows = text
  .split('\n')
  .filter((line) => /^\| \d+\. /.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  );

/** `path`: name of a test, up to the next end of a sentence or a cell. */
const proofs = [...text.matchAll(/`(test\/[\w./-]+\.ts)`: ([^`;|)]+)/g)].map((found) => ({
  file: found[1] ?? '',
  name: (found[2] ?? '').trim(),
}));

describe('the table of docs/security.md', () => {
  test('has the twenty points of the checklist in order, each with all four cells', () => {
    expect(rows.map(([requirement]) => Number.parseInt(requirement ?? '', 10))).toEqual(
      Array.from({ length: 20 }, (_, at) => at + 1),
    );
    for (const row of rows) {
      expect(row, row[0]).toHaveLength(4);
      for (const cell of row) expect(cell, row[0]).not.toBe('');
    }
  });

  test.each(rows.map((row) => [row[0] ?? '', row[1] ?? ''] as const))(
    '%s: what enforces it is there',
    (_, cell) => {
      const files = [...cell.matchAll(/`((?:electron|renderer|build|src)\/[\w./-]+|package\.json)`/g)].map(
        (found) => found[1] ?? '',
      );
      expect(files.length).toBeGreaterThan(0);
      const source = files.map(read).join('\n');
      for (const [, settings = ''] of cell.matchAll(/\(([^)]*`[^)]*)\)/g)) {
        for (const [, setting = ''] of settings.matchAll(/`([^`]+)`/g)) expect(source).toContain(setting);
      }
    },
  );

  test.each(rows.map((row) => [row[0] ?? '', row[2] ?? ''] as const))('%s: a test is named', (_, cell) => {
    expect(cell).toMatch(/`test\/[\w./-]+\.ts`: \w/);
  });

  test.each(proofs.map(({ file, name }) => [file, name] as const))('%s has a test "%s"', (file, name) => {
    expect(existsSync(`${root}/${file}`)).toBe(true);
    expect(read(file).includes(`test('${name}`)).toBe(true);
  });
});

const shell = readdirSync(`${root}/electron`).map((name) => read(`electron/${name}`));

test('the shell opens no address and runs no program by itself', () => {
  for (const source of shell) {
    expect(source).not.toMatch(/openExternal|openPath|showItemInFolder|\bshell\b[^.]*from 'electron'/);
    expect(source).not.toMatch(/child_process/);
  }
});

test('the pinned Electron is exact', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
  expect(devDependencies['electron']).toMatch(/^\d+\.\d+\.\d+$/);
});
