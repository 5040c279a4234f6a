// The command line in dist/: the loader as cli.js, its pieces and their compiled code in cli/. See ADR 0016.
import { chmod, copyFile, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Script } from 'node:vm';
import { build, transform } from 'esbuild';
import { withoutZodLocales } from './bundle-renderer.mjs';

export const root = resolve(new URL('.', import.meta.url).pathname, '..');

/** A Runtime that runs from dist/ reads a piece when it first needs it, also after dist/ was built again. */
const keepForMs = 30 * 24 * 60 * 60 * 1000;

/** esbuild's options for all that runs in Node. */
export async function nodeBuild() {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    legalComments: 'none',
    logLevel: 'warning',
    // Native modules stay outside; everything else is inside, so that nothing is resolved when the app runs.
    external: ['electron', 'keytar', '@napi-rs/keyring', 'bufferutil', 'utf-8-validate'],
    plugins: [withoutZodLocales],
    // Names stay, for the traces of errors; what is only layout is compiled at every start.
    minifyWhitespace: true,
    minifySyntax: true,
    define: { AGENT_RUNTIME_VERSION: JSON.stringify(version) },
  };
}

export async function bundleCli({ common, out, dev = false }) {
  const folder = join(out, 'cli');
  await mkdir(folder, { recursive: true });
  // Only ES modules can be split; each piece is made CommonJS after that, since V8's code cache is for scripts.
  const { outputFiles } = await build({
    ...common,
    write: false,
    format: 'esm',
    target: 'node20',
    // In pieces, so that a command reads what it needs and no more.
    splitting: true,
    entryPoints: { entry: 'src/cli/entry.ts' },
    outdir: folder,
    chunkNames: '[name]-[hash]',
    sourcemap: dev ? 'inline' : false,
  });
  const made = new Set();
  for (const { path, text } of outputFiles) {
    const { code } = await transform(text.replace(/^#!.*\n/, ''), {
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      minifyWhitespace: true,
      sourcemap: dev ? 'inline' : false,
      sourcefile: basename(path),
      // They become `require`, which goes through the loader.
      supported: { 'dynamic-import': false },
      define: { 'import.meta.url': '__piece_url' },
    });
    const source = `(function(module,exports,require,__filename,__dirname){const __piece_url=require("node:url").pathToFileURL(__filename).href;${code}\n})`;
    await put(path, source);
    await put(`${path}.cache`, new Script(source, { filename: path }).createCachedData());
    made.add(basename(path)).add(`${basename(path)}.cache`);
  }
  await prune(folder, made);
  // dist/ is no ES module, though the sources are.
  await writeFile(join(out, 'package.json'), '{ "type": "commonjs" }\n');
  await copyFile(join(root, 'build', 'cli-loader.cjs'), join(out, 'cli.js'));
  await chmod(join(out, 'cli.js'), 0o755);
}

/** In one step: whoever reads it meanwhile reads all of the old or all of the new. */
async function put(path, content) {
  const beside = `${path}.${process.pid}`;
  await writeFile(beside, content);
  await rename(beside, path);
}

async function prune(folder, made) {
  for (const name of await readdir(folder)) {
    if (made.has(name)) continue;
    const path = join(folder, name);
    if (Date.now() - (await stat(path)).mtimeMs > keepForMs) await rm(path);
  }
}
