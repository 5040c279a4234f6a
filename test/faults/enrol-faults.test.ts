import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bundledScript } from '../support/bundled-script.ts';

test('every call of an enrolment to the system fails once: it is told, nothing is half there, and the same command again binds', async () => {
  const script = await bundledScript(
    fileURLToPath(new URL('../support/enrol-fault-life.ts', import.meta.url)),
  );
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script.file], { maxBuffer: 1e8 });
    const report = JSON.parse(stdout) as { calls: number; injected: number; problems: string[] };
    process.stdout.write(`enrol faults: ${report.injected} at ${report.calls} calls\n`);
    expect(report.problems).toEqual([]);
    expect(report.injected).toBeGreaterThan(50);
  } finally {
    await script.remove();
  }
});
