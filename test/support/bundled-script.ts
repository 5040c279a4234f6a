import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { build } from 'esbuild';

/**
 * A TypeScript file as a program that plain Node runs, for tests that need a process of their own (one that is killed,
 * for example). `remove` deletes it.
 */
export async function bundledScript(
  entry: string,
): Promise<{ readonly file: string; remove(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'script-'));
  const file = join(dir, 'script.mjs');
  await build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    // What is written as CommonJS finds the modules of Node.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
  return { file, remove: () => rm(dir, { recursive: true, force: true }) };
}
