// Throughput of a 50 MiB write and a 500 MiB export over a WebSocket on loopback, each beside a bare baseline in the
// same run, with the peak memory of each. Run: node test/bench/workspace.mjs [write MiB] [export MiB]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const [writeMiB = '50', exportMiB = '500'] = process.argv.slice(2);
const base = realpathSync(mkdtempSync(join(tmpdir(), 'agent-runtime-bench-')));
try {
  const outfile = join(base, 'run.mjs');
  await build({
    entryPoints: [resolve('test/bench/workspace-run.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    external: ['bufferutil', 'utf-8-validate'],
    banner: {
      js: "import { createRequire as __r } from 'node:module'; const require = __r(import.meta.url);",
    },
  });
  const rows = [];
  for (const [what, size] of [
    ['write-bare', writeMiB],
    ['write', writeMiB],
    ['export-bare', exportMiB],
    ['export', exportMiB],
  ]) {
    // A process of its own each, so that its peak memory is its own.
    const { stdout, stderr, status } = spawnSync(process.execPath, [outfile, what, size, join(base, what)], {
      maxBuffer: 1 << 20,
    });
    if (status !== 0) throw new Error(stderr.toString());
    rows.push({ what, MiB: Number(size), ...JSON.parse(stdout.toString()) });
  }
  console.table(rows);
} finally {
  rmSync(base, { recursive: true, force: true });
}
