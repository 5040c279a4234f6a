import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundledScript } from '../support/bundled-script.ts';
import { faultCodes, type Call, type Fault } from '../support/fault-injector.ts';
import type { LifeReport } from '../support/fault-life.ts';

/**
 * Rounds over all calls, each with other kinds of failure, and how many occurrences of one site each round fails; later
 * ones of the same site take the same way through the code.
 */
const rounds = [4, 2, 2] as const;
/** Moments from which a condition lasts to the end of the life. */
const lastingMoments = 16;
const workers = 2;
const leastFaults = 500;

type Script = Awaited<ReturnType<typeof bundledScript>>;
const scriptOf = (name: string): Promise<Script> =>
  bundledScript(fileURLToPath(new URL(`../support/${name}`, import.meta.url)));
let ofRuntime: Script;
let ofFolder: Script;
beforeAll(async () => {
  [ofRuntime, ofFolder] = await Promise.all([scriptOf('fault-life.ts'), scriptOf('fault-folder-life.ts')]);
});
afterAll(() => Promise.all([ofRuntime.remove(), ofFolder.remove()]));

/** A process that lives one life after the other. */
class Lives {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string, undefined>;
  #stderr = '';

  constructor(script: Script) {
    this.#child = spawn(process.execPath, [script.file], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#child.stderr.on('data', (chunk) => (this.#stderr = (this.#stderr + String(chunk)).slice(-4_000)));
  }

  /** The life that the others begin from. */
  first(): Promise<LifeReport> {
    return this.#next();
  }

  live(faults: readonly Fault[]): Promise<LifeReport> {
    this.#child.stdin.write(`${JSON.stringify(faults)}\n`);
    return this.#next();
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.stdin.end();
    await once(this.#child, 'exit');
  }

  async #next(): Promise<LifeReport> {
    const { value, done } = (await this.#lines.next()) as IteratorResult<string, undefined>;
    if (done || value === undefined) throw new Error(`The Runtime's process ended: ${this.#stderr}`);
    return JSON.parse(value) as LifeReport;
  }
}

/** One fault a life. */
function single(calls: readonly Call[]): Fault[] {
  return rounds.flatMap((most, round) =>
    calls
      .filter(({ occurrence }) => occurrence <= most)
      .map(({ site, occurrence }, index) => ({
        site,
        occurrence,
        code: faultCodes[(index + 2 * round) % faultCodes.length] ?? 'EIO',
      })),
  );
}

/** A disk that is full from a moment on, and a limit of open files that is reached. */
function lasting(calls: readonly Call[]): Fault[] {
  return Array.from(
    { length: lastingMoments },
    (_, moment) => 1 + Math.floor((moment * calls.length) / lastingMoments),
  ).flatMap((occurrence) =>
    (['ENOSPC', 'EMFILE'] as const).map((code) => ({ site: 'lasting', occurrence, code })),
  );
}

/** Lives with every fault in turn; returns what came of them and how many faults there were, each alone. */
async function step(script: Script, what: string): Promise<{ failures: string[]; alone: number }> {
  const began = performance.now();
  const pool = await Promise.all(
    Array.from({ length: workers }, async () => {
      const lives = new Lives(script);
      expect((await lives.first()).problems).toEqual([]);
      return lives;
    }),
  );
  const counted = await pool[0]?.live([]);
  expect(counted?.problems).toEqual([]);
  const calls = counted?.calls ?? [];
  const faults = [...single(calls), ...lasting(calls)];
  const injected: Fault[] = [];
  let alone = 0;
  const failures: string[] = [];
  let refused = 0;
  await Promise.all(
    pool.map(async (lives) => {
      for (let fault = faults.shift(); fault; fault = faults.shift()) {
        const report = await lives.live([fault]);
        injected.push(...report.injected);
        if (fault.site !== 'lasting') alone += report.injected.length;
        if (report.refused !== null) refused++;
        for (const problem of report.problems)
          failures.push(`${fault.code} at ${fault.site} (${fault.occurrence}): ${problem}`);
      }
      await lives.close();
    }),
  );
  const sites = new Set(injected.map(({ site }) => site)).size;
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stdout.write(
    `io faults, ${what}: ${alone} one at a time and ${injected.length - alone} that lasted, at ${sites} sites (${calls.length} calls a life); ${refused} starts refused with a sentence; ${seconds} s\n`,
  );
  return { failures, alone };
}

describe('every call to the system fails once', () => {
  test(
    'nothing ends the Runtime, nothing durable is lost, a later start works',
    { timeout: 400_000 },
    async () => {
      const { failures, alone } = await step(ofRuntime, 'the Runtime');
      expect(failures).toEqual([]);
      expect(alone).toBeGreaterThanOrEqual(leastFaults);
    },
  );

  test(
    'every request of Core for the bound folder is answered truthfully, and nothing half-made is left',
    { timeout: 400_000 },
    async () => {
      expect((await step(ofFolder, 'the bound folder')).failures).toEqual([]);
    },
  );
});
