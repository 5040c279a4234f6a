import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** zod carries its messages in every language and sets all of them up at a start; nothing of ours shows them. */
export const withoutZodLocales = {
  name: 'without-zod-locales',
  setup(bundle) {
    bundle.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export {};',
    }));
  },
};

/**
 * Builds the window into `<outdir>/index.html`, `app.js`, `app.css`, `theme.js` and `icon.svg`: plain files without a
 * server of their own, the same for the desktop app (`app://`) and for the browser console (http on loopback).
 *
 * @param {{ outdir?: string, dev?: boolean }} options `dev` keeps names and adds source maps.
 * @returns {Promise<{ outdir: string, files: string[] }>}
 */
export async function bundleRenderer({ outdir = join(root, 'dist/renderer'), dev = false } = {}) {
  await mkdir(outdir, { recursive: true });
  const common = {
    bundle: true,
    outdir,
    platform: 'browser',
    // The oldest engine that has to draw it (the tests' Electron 22); CSS is lowered for it too.
    target: 'chrome108',
    minify: !dev,
    sourcemap: dev ? 'linked' : false,
    legalComments: dev ? 'inline' : 'none',
    logLevel: 'warning',
    absWorkingDir: root,
  };
  await Promise.all([
    build({
      ...common,
      entryPoints: { app: 'renderer/main.tsx', theme: 'renderer/theme-boot.ts' },
      format: 'iife',
      jsx: 'automatic',
      plugins: [withoutZodLocales],
      define: { 'process.env.NODE_ENV': dev ? '"development"' : '"production"' },
      loader: { '.svg': 'file', '.png': 'dataurl' },
    }),
    build({ ...common, entryPoints: { app: 'renderer/ui/all.css' } }),
  ]);
  const page = await readFile(join(root, 'renderer/index.html'), 'utf8');
  await writeFile(join(outdir, 'index.html'), page);
  await copyFile(join(root, 'build/icons/app-icon.svg'), join(outdir, 'icon.svg'));
  return { outdir, files: ['index.html', 'app.js', 'app.css', 'theme.js', 'icon.svg'] };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bundleRenderer({ dev: process.argv.includes('--dev') });
}
