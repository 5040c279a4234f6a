import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { diagnosticsSchema, type Diagnostics } from '../../../src/contract/diagnostics.ts';
import { Machine, viewWhere } from '../../support/runtime-process.ts';

let machine: Machine;
beforeEach(async () => {
  machine = await Machine.make();
});
afterEach(() => machine.close());

const canary = 'cAnAry/Secret+"42"=<one>&two~value';
const prompt = 'PROMPT-CANARY write a poem about the sea';

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
const hex = (text: string, encoding: 'utf8' | 'utf16le' = 'utf8'): string =>
  Buffer.from(text, encoding).toString('hex');
const quotedPrintable = (text: string): string =>
  text.replace(/[^\x21-\x3c\x3e-\x7e]/g, (char) => `=${hex(char).toUpperCase()}`);
const html = (text: string): string =>
  text.replace(
    /[&<>"]/g,
    (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char] ?? char,
  );

/** How a library, a peer or a tool might write it. */
const written: Readonly<Record<string, string>> = {
  plain: canary,
  'base64 at offset 0': base64(canary),
  'base64 at offset 1': base64(`x${canary}z`),
  'base64 at offset 2': base64(`xy${canary}z`),
  base64url: Buffer.from(canary).toString('base64url'),
  'hex lower': hex(canary),
  'hex upper': hex(canary).toUpperCase(),
  URL: encodeURIComponent(canary),
  'JSON-escaped': JSON.stringify(canary).slice(1, -1),
  'UTF-16LE hex': hex(canary, 'utf16le'),
  'double base64': base64(base64(canary)),
  'quoted-printable': quotedPrintable(canary),
  'HTML-escaped': html(canary),
};

/** A Core that throws everything it was sent back at the Runtime. */
async function echoingCore(): Promise<{ server: Server; url: string }> {
  const server = createServer((_request, response) => {
    response.statusCode = 500;
    for (const [name, value] of Object.entries(written))
      response.setHeader(`x-${name.replace(/\W/g, '-')}`, value.replace(/[^\x20-\x7e]/g, ''));
    response.end(JSON.stringify({ error: Object.values(written) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1` };
}

async function collected(file: string): Promise<{ text: string; bundle: Diagnostics }> {
  const text = await readFile(file, 'utf8');
  return { text, bundle: diagnosticsSchema.strict().parse(JSON.parse(text)) };
}

test('the bundle says how the Runtime is, and holds neither a secret nor what was asked', async () => {
  const { server, url } = await echoingCore();
  const bootstrap = join(machine.home, 'bootstrap.json');
  await writeFile(
    bootstrap,
    JSON.stringify({ version: '0.10.0', core_url: url, device_id: 'device-1', credential: canary }),
    { mode: 0o600 },
  );
  const { child, ended } = machine.spawn(
    'run',
    '--bootstrap-file',
    bootstrap,
    '--local',
    '--log-level',
    'debug',
  );
  const client = await machine.client();
  await viewWhere(client, ({ bindings }) =>
    bindings.some((b) => b.local && b.connection.state === 'serving'),
  );
  await viewWhere(client, ({ bindings }) => bindings.some((b) => b.connection.reason_code === 'http_status'));
  await client.call('turn.start', { prompt, harness: 'demo' });
  await viewWhere(client, ({ interactions }) => interactions.length === 1);
  // As a library would that nobody asked.
  const lines = Object.entries(written).map(([name, value]) => `debug library.wrote ${name} ${value}\n`);
  await appendFile(join(machine.stateDir, 'logs', 'runtime.log'), lines.join(''));

  const file = join(machine.home, 'bundle.json');
  const made = await machine.run('diagnostics', file, '--json');
  expect(made.code).toBe(0);
  const { text, bundle } = await collected(file);
  expect(JSON.parse(made.stdout)).toEqual({ file, bytes: Buffer.byteLength(text) });
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  for (const [name, value] of Object.entries(written)) {
    // The middle of it: at its ends an encoding mixes with what stands beside.
    expect(text.includes(value.slice(6, -6)), name).toBe(false);
    expect(bundle.log.some((line) => line.startsWith(`debug library.wrote ${name} `))).toBe(true);
  }
  expect(text).not.toContain('PROMPT-CANARY');
  expect(text).not.toContain('poem');
  expect(text).not.toContain(machine.home);

  expect(bundle.app).toEqual({ version: expect.any(String), wire_version: '0.10.0' });
  expect(bundle.platform).toMatchObject({ node: process.versions.node, electron: null });
  expect(bundle.runtime?.state).toBe('running');
  expect(bundle.bindings.map(({ name, workspace }) => [name, workspace])).toEqual([
    ['device-1', null],
    ['local', 'workspace'],
  ]);
  expect(bundle.bindings[0]?.connection).toMatchObject({ reason_code: 'http_status' });
  expect(bundle.harnesses.map(({ kind }) => kind)).toEqual(['demo']);
  expect(Object.keys(bundle.harnesses[0]?.capabilities ?? {}).length).toBeGreaterThan(10);
  expect(bundle.counts).toMatchObject({ 'turns.running': 1, 'interactions.user_choice.pending': 1 });
  expect(bundle.checks.map((check) => check.name)).toContain('State folder');
  expect(bundle.log.some((line) => line.includes('daemon.started'))).toBe(true);
  expect(bundle.files.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['config.json', 'local-core.json', 'logs/runtime.log']),
  );

  client.close();
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
  server.close();
});

test('a file that is there is left as it is', async () => {
  const file = join(machine.home, 'mine.txt');
  await writeFile(file, 'mine');
  const { code, stdout } = await machine.run('diagnostics', file, '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'conflict' } });
  expect(await readFile(file, 'utf8')).toBe('mine');
  expect((await machine.run('diagnostics')).code).toBe(2);
});

test('without a running Runtime it holds the checks, the log and the sizes', async () => {
  const file = join(machine.home, 'bundle.json');
  expect((await machine.run('diagnostics', file)).code).toBe(0);
  const { bundle } = await collected(file);
  expect(bundle.runtime).toBeNull();
  expect(bundle.bindings).toEqual([]);
  expect(bundle.checks.map((check) => check.name)).toContain('State folder');
  expect(bundle.files.map(({ name }) => name)).toContain('config.json');
});

test('a terminal that goes away does not end the Runtime', async () => {
  const { child, ended } = machine.spawn('run', '--local', '--workspace', machine.workspace);
  const client = await machine.client();
  await viewWhere(client, ({ bindings }) => bindings[0]?.connection.state === 'serving');
  client.close();
  child.stdout?.destroy();
  child.stderr?.destroy();
  // It says that it stops, to nobody.
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
});
