import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Report } from '../../../src/conformance/report.ts';
import { bundledScript } from '../../support/bundled-script.ts';
import { Machine, type Ended } from '../../support/runtime-process.ts';

const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
const support = (name: string): string => fileURLToPath(new URL(`../../support/${name}`, import.meta.url));

let machine: Machine;
beforeEach(async () => {
  machine = await Machine.make();
});
afterEach(() => machine.close());

const reportOf = (ended: Ended): Report => JSON.parse(ended.stdout) as Report;
const namesOf = (report: Report, result: string): string[] =>
  report.results.filter((row) => row.result === result).map((row) => row.name);

/** Options go before the command that is tested. */
async function conformance(args: readonly string[], command: readonly string[] = []): Promise<Ended> {
  const child = spawn(process.execPath, [cli, 'conformance', ...args, '--', ...command], {
    cwd: machine.home,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}

describe('conformance runtime', () => {
  const own = ['--bootstrap-file', '{bootstrap_file}', '--state-dir', '{state_dir}'];
  const bound = [
    '--environment-id',
    '{environment_id}',
    '--session-id',
    '{session_id}',
    '--workspace',
    '{workspace}',
  ];

  async function configFor(kind: string): Promise<string> {
    const config = join(machine.home, 'config.json');
    await writeFile(config, JSON.stringify({ harnesses: [{ kind, adapter: 'demo' }] }));
    return config;
  }

  test('holds for our own Runtime, and what it cannot provoke is not held', async () => {
    const config = await configFor('contract');
    const ended = await conformance(
      ['runtime', '--json', '--only', 'w1,w2,w3,w4,start-conflict,prepare-cap,read-uns'],
      [process.execPath, cli, 'run', ...own, '--config', config],
    );
    expect(ended.stderr).toBe('');
    const report = reportOf(ended);
    expect(namesOf(report, 'failed')).toEqual([]);
    expect(namesOf(report, 'held')).toEqual(
      expect.arrayContaining([
        'w1-cancel-answers-only-after-settlement',
        'w3-lost-connection-stays-unknown',
        'w4-other-wire-versions-are-refused',
        'start-conflict',
        'prepare-capacity',
      ]),
    );
    expect(report.results).toContainEqual(
      expect.objectContaining({
        name: 'w2-failing-preparation-ends-without-a-run',
        result: 'not_run',
        why: 'needs control of the Harness',
      }),
    );
    expect(ended.code).toBe(0);
  });

  test('a bound Runtime under a kind of its own is asked in its own terms', async () => {
    const ended = await conformance(
      ['runtime', '--kind', 'my-agent', '--only', 'w1,suspend-busy-a,prepare-cap'],
      [process.execPath, cli, 'run', ...own, ...bound, '--config', await configFor('my-agent')],
    );
    expect(ended.stdout).toMatch(/^held +w1-cancel/m);
    expect(ended.stdout).toMatch(/^held +suspend-busy-admission/m);
    expect(ended.stdout).toMatch(/^not run +prepare-capacity .*needs more than the one bound Session/m);
    expect(ended.code).toBe(0);
  });

  test('names what a careless Runtime breaks, and exits 1', async () => {
    const ended = await conformance(
      [
        'runtime',
        '--json',
        '--jobs',
        '4',
        '--only',
        'w1,w3,w4,state-released,steer-run,start-conf,release-tw',
      ],
      [process.execPath, support('careless-runtime.mjs'), '{bootstrap_file}'],
    );
    const report = reportOf(ended);
    const why = Object.fromEntries(report.results.map((row) => [row.name, row.why]));
    expect(why['w1-cancel-answers-only-after-settlement']).toMatch(
      /expected done, got interaction_decision_ack/,
    );
    expect(why['w4-other-wire-versions-are-refused']).toMatch(/dialed again after a permanent refusal/);
    expect(why['state-released']).toMatch(/preparation_status.revision: expected 3, got 2/);
    expect(why['steer-run-inactive']).toMatch(/control of the Harness/);
    expect(why['start-conflict']).toMatch(/revision: expected 0, got 3/);
    expect(namesOf(report, 'held')).toEqual(['w3-lost-connection-stays-unknown']);
    expect(ended.code).toBe(1);
  });

  test('a command that is no Runtime is an error, not a row of failures', async () => {
    const ended = await conformance(['runtime'], [process.execPath, '-e', 'process.exit(7)']);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('did not connect to the scripted Core');
    expect(ended.stderr).toContain('exit code 7');
  });

  test('without a command it is wrong usage', async () => {
    expect((await conformance(['runtime'])).code).toBe(2);
    expect((await conformance(['core'])).code).toBe(2);
    expect((await conformance(['nothing'])).code).toBe(2);
  });
});

describe('conformance core', () => {
  const addressLine = z.object({
    url: z.string(),
    deviceId: z.string(),
    credential: z.string(),
    door: z.string(),
  });

  async function withCore(
    use: (address: z.output<typeof addressLine>, file: string) => Promise<void>,
  ): Promise<void> {
    const script = await bundledScript(support('core-program.ts'));
    const child = spawn(process.execPath, [script.file], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const line = await new Promise<string>((resolve) =>
        child.stdout.once('data', (chunk) => resolve(String(chunk))),
      );
      const address = addressLine.parse(JSON.parse(line));
      const file = join(machine.home, 'credential');
      await writeFile(file, `${address.credential}\n`);
      await use(address, file);
    } finally {
      child.kill('SIGKILL');
      await script.remove();
    }
  }

  test('holds for our local Core that an operator makes act', async () => {
    await withCore(async (address, file) => {
      const ended = await conformance(
        [
          ...[
            'core',
            '--json',
            '--url',
            address.url,
            '--device-id',
            address.deviceId,
            '--credential-file',
            file,
          ],
          ...['--only', 'w1,w2,w3,w4,handshake,steer-acc,decision-app,core-survives'],
        ],
        [
          process.execPath,
          support('core-operator.mjs'),
          address.door,
          '{action}',
          '{text}',
          '{interaction_id}',
          '{decision}',
        ],
      );
      const report = reportOf(ended);
      expect(namesOf(report, 'failed')).toEqual([]);
      expect(namesOf(report, 'held')).toEqual(
        expect.arrayContaining([
          'core-survives-malformed',
          'decision-applied',
          'handshake-version-before-credential',
          'steer-accepted',
          'w1-cancel-answers-only-after-settlement',
          'w3-lost-connection-stays-unknown',
          'w4-other-wire-versions-are-refused',
        ]),
      );
      expect(ended.stdout + ended.stderr).not.toContain(address.credential);
      expect(ended.code).toBe(0);
    });
  });

  test('a Core that nobody moves is only asked what needs no Turn', async () => {
    await withCore(async (address, file) => {
      const ended = await conformance([
        ...['core', '--url', address.url, '--device-id', address.deviceId, '--credential-file', file],
        ...['--patience', '1', '--only', 'w1,w4,handshake'],
      ]);
      expect(ended.stdout).toMatch(/^held +w4-/m);
      expect(ended.stdout).toMatch(
        /^not run +w1-.*needs a Core that starts a Turn, by itself or by a command/m,
      );
      expect(ended.code).toBe(0);
    });
  });

  test('a wrong credential is said so', async () => {
    await withCore(async (address) => {
      const file = join(machine.home, 'wrong');
      await writeFile(file, 'wrong');
      const ended = await conformance([
        ...['core', '--url', address.url, '--device-id', address.deviceId, '--credential-file', file],
      ]);
      expect(ended.code).toBe(1);
      expect(ended.stderr).toContain('401 bad_credential');
    });
  });
});
