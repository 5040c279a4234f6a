import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { build } from 'esbuild';
import ts from 'typescript';
import { expect, test } from 'vitest';

import type { HarnessAdapter } from '../../src/harness/adapter.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { ProcessLedger } from '../../src/ownership/process-ledger.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { adapterSuite } from './adapter-suite.ts';
import { Bed } from './bed.ts';

/** The programs of the guide, as they stand on its page. */
const page = await readFile('docs/add-a-harness.md', 'utf8');
const block = (file: string): string => {
  const found = new RegExp(`\`\`\`\\w+ file=${file.replace('.', '\\.')}\\n([\\s\\S]*?)\\n\`\`\``).exec(
    page,
  )?.[1];
  if (found === undefined) throw new Error(`The guide has no ${file}.`);
  return `${found}\n`;
};
const folder = await realpath(await mkdtemp(join(tmpdir(), 'guide-')));
const agent = join(folder, 'tiny-agent.mjs');
await writeFile(agent, block('tiny-agent.mjs'));
const built = join(folder, 'adapter.mjs');
await build({
  stdin: { contents: block('adapter.ts'), resolveDir: join(process.cwd(), 'src/harness/demo'), loader: 'ts' },
  ...{ outfile: built, bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' },
});
const { TinyAdapter } = (await import(/* @vite-ignore */ pathToFileURL(built).href)) as {
  TinyAdapter: new (ports: object, settings: object) => HarnessAdapter;
};

class TinyBed extends Bed {
  override prepare(...[changes = {}, options]: Parameters<Bed['prepare']>): ReturnType<Bed['prepare']> {
    return super.prepare({ execution_controls: undefined, ...changes }, options);
  }
}

async function tinyBed(): Promise<Bed> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'harness-')));
  for (const name of ['workspace', 'state']) await mkdir(join(root, name));
  const ledger = await ProcessLedger.open(root, { clock: systemClock, random: systemRandom });
  const ports = { clock: systemClock, random: systemRandom, logger: silentLogger, ledger };
  return new TinyBed(
    root,
    ledger,
    new TinyAdapter(ports, { kind: 'tiny', command: [process.execPath, agent] }),
  );
}

adapterSuite({
  name: 'The guide’s own adapter',
  open: tinyBed,
  script: () => undefined,
  async completeTurn(_bed, starting) {
    const started = await starting;
    await started.output.end();
    return started;
  },
  async activeTurn(_bed, starting) {
    const started = await starting;
    await started.output.next('delta');
    return started;
  },
});

test('a program that is killed in the middle is an error, and its Executor is of no more use', async () => {
  const bed = await tinyBed();
  const executor = await bed.ready();
  const { turn, output } = await bed.start(executor, 'Second');
  await output.next('delta');
  const [entry] = bed.ledger.entries;
  process.kill(entry?.process?.pid ?? 0, 'SIGKILL');
  await output.end();
  expect(output.all('error')).toHaveLength(1);
  expect(await turn.settlement()).toMatchObject({ kind: 'settled', reusable: false });
  await executor.broken;
  await bed.close();
});

test('the adapter of the guide has the types of this version', { timeout: 120_000 }, () => {
  const file = join(process.cwd(), 'src/harness/tiny/adapter.ts');
  const { config } = ts.readConfigFile('build/tsconfig/node.json', ts.sys.readFile.bind(ts.sys)) as {
    config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, 'build/tsconfig');
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile: read } = host;
  const text = block('adapter.ts');
  host.fileExists = (name) => name === file || fileExists.call(host, name);
  host.readFile = (name) => (name === file ? text : read.call(host, name));
  host.getSourceFile = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true)
      : getSourceFile.call(host, name, ...rest);
  const program = ts.createProgram([file], { ...options, noEmit: true }, host);
  const source = program.getSourceFile(file);
  const problems = ts.getPreEmitDiagnostics(program, source);
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
});

test('what was built for it is gone', async () => {
  await rm(folder, { recursive: true });
});
