import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleRenderer } from '../../../build/bundle-renderer.mjs';

let folder = '';
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'renderer-page-'));
  await bundleRenderer({ outdir: folder });
}, 30_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the window is these files and no other', () => {
  expect(readdirSync(folder).sort()).toEqual(['app.css', 'app.js', 'icon.svg', 'index.html', 'theme.js']);
});

test('the page carries its own strict policy and nothing in place', () => {
  const page = read('index.html');
  expect(/content="(default-src[^"]*)"/.exec(page)?.[1]).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self' ws://127.0.0.1:*; base-uri 'none'; form-action 'none'",
  );
  expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script>|https?:\/\//);
  expect([...page.matchAll(/<script src="([^"]*)"/g)].map((match) => match[1])).toEqual([
    'theme.js',
    'app.js',
  ]);
});

test('the theme is set before the first paint by a script that loads nothing', () => {
  expect(read('theme.js').length).toBeLessThan(1_000);
  expect(read('index.html').indexOf('theme.js')).toBeLessThan(read('index.html').indexOf('app.css'));
});

test('the bundle asks for no module of Node or Electron and loads nothing from elsewhere', () => {
  const script = read('app.js');
  expect(script).not.toMatch(/require\(["'](?:node:|electron|fs|child_process)/);
  expect(script).not.toMatch(/from["'](?:node:|electron)/);
  expect(read('app.css')).not.toMatch(/@import|url\((?!data:)/);
});

test('the styles hold nothing that the oldest engine does not know', () => {
  expect(read('app.css')).not.toMatch(/color-mix|oklch|light-dark|@layer|text-wrap|[^-]&[.:[ ]/);
});
