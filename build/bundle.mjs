// Builds dist/: main, preload, the window, the command line, and the published schema of the view.
import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execFileSync } from 'node:child_process';
import { build } from 'esbuild';
import { bundleCli, nodeBuild, root } from './bundle-cli.mjs';
import { bundleRenderer } from './bundle-renderer.mjs';

const out = join(root, 'dist');
const common = await nodeBuild();

/** CommonJS: the oldest Electron that the tests run has no ES module main. */
const commonjs = {
  ...common,
  format: 'cjs',
  target: 'node16.17',
  define: { ...common.define, 'import.meta.url': '__bundle_url' },
  banner: { js: "const __bundle_url = require('node:url').pathToFileURL(__filename).href;" },
};

export async function buildAll({ dev = false } = {}) {
  await mkdir(out, { recursive: true });
  for (const name of await readdir(out))
    if (name !== 'cli') await rm(join(out, name), { recursive: true, force: true });
  await Promise.all([
    build({ ...commonjs, entryPoints: ['electron/main.ts'], outfile: 'dist/main.cjs', sourcemap: dev }),
    build({
      ...common,
      format: 'cjs',
      target: 'chrome108',
      entryPoints: ['electron/preload.ts'],
      outfile: 'dist/preload.cjs',
    }),
    bundleCli({ common, out, dev }),
    bundleRenderer({ outdir: join(out, 'renderer'), dev }),
    cp(join(root, 'build', 'icons'), join(out, 'icons'), { recursive: true }),
    // The wire scenarios travel with the command that replays them.
    cp(join(root, 'test', 'scenarios'), join(out, 'scenarios'), { recursive: true }),
  ]);
  await writeViewSchema();
  await writeFile(join(out, '.stamp'), await sourceStamp());
}

/** The view as JSON Schema, for whoever reads `view --json`. */
async function writeViewSchema() {
  const probe = join(out, 'view-schema.mjs');
  await build({
    ...common,
    format: 'esm',
    stdin: {
      contents:
        "import { z } from 'zod'; import { viewSchema } from './src/contract/view.ts'; export const schema = z.toJSONSchema(viewSchema);",
      resolveDir: root,
    },
    outfile: probe,
  });
  const { schema } = await import(pathToFileURL(probe).href);
  await writeFile(join(out, 'view.schema.json'), `${JSON.stringify(schema, null, 2)}\n`);
  await rm(probe);
}

/** Changes when anything that is built from changes. */
export async function sourceStamp() {
  const hash = createHash('sha256');
  const files = execFileSync(
    'find',
    [
      'src',
      'electron',
      'renderer',
      'build',
      'test/scenarios',
      'package.json',
      '-type',
      'f',
      '-not',
      '-name',
      '*.png',
    ],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  for (const file of files.split('\n').filter(Boolean).sort()) {
    hash.update(relative(root, join(root, file)));
    hash.update(await readFile(join(root, file)));
  }
  return hash.digest('hex');
}

/** Builds when dist/ is missing or older than the sources. */
export async function ensureBuilt() {
  const stamp = join(out, '.stamp');
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === (await sourceStamp())) return false;
  await buildAll();
  return true;
}

if (process.argv[1] === new URL(import.meta.url).pathname)
  await buildAll({ dev: process.argv.includes('--dev') });
