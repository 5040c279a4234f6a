import fs from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { configSchema } from '../../src/app/config.ts';
import { compose } from '../../src/app/compose.ts';
import type { CredentialDesk } from '../../src/app/credentials.ts';
import type { Daemon } from '../../src/app/daemon.ts';
import { localWorkspace } from '../../src/app/workspace-folder.ts';
import { ControlClient } from '../../src/cli/client.ts';
import type { View } from '../../src/contract/view.ts';
import { RuntimeError } from '../../src/observe/errors.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { systemEnvironment } from '../../src/platform/environment.ts';
import type { NativeKeychain } from '../../src/store/keychain.ts';
import { statePaths } from '../../src/store/paths.ts';
import { FaultInjector, processesWith, type Call, type Fault } from './fault-injector.ts';

/**
 * Whole lives of the Runtime, one after the other in this process: `{"seed","faults"}` a line in, a `LifeReport` a line
 * out. The composition is `compose` with a faster clock and a keychain in memory; everything else is the real thing.
 */
export interface LifeReport {
  readonly injected: readonly Fault[];
  readonly calls: readonly Call[];
  /** The sentence of a start that was refused. */
  readonly refused: string | null;
  readonly problems: readonly string[];
  readonly ms: number;
}

// The functions of the system, before any of them is replaced.
const {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  chmodSync,
} = fs;
const base = mkdtempSync(join(process.env['TMPDIR'] ?? '/tmp', 'fault-lives-'));
// A shell whose start-up files are those of a new home.
process.env['HOME'] = base;
process.env['SHELL'] = '/bin/sh';
const secretAccount = 'binding';
const secret = 'a-secret-that-must-stay';

/** Ten times faster, so that waits end soon; what a demo pauses between words is nothing. */
const fast: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now() * 10,
  after(ms, fire, options) {
    const handle = setTimeout(fire, ms < 50 ? 0 : ms / 10);
    if (options?.background) handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

const injector = new FaultInjector();
// Each life listens for promises that nobody waited for, and there are many.
process.setMaxListeners(0);
const loose: string[] = [];
process.on('unhandledRejection', (reason) => loose.push(`unhandled rejection: ${told(reason)}`));
process.on('uncaughtException', (error) => loose.push(`uncaught exception: ${told(error)}`));

function told(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` <- ${error.cause.message}` : '';
  return `${error.message}${cause} ${(error.stack ?? '').split('\n').slice(1, 5).join(' ')}`;
}

/** A keychain that forgets nothing between lives of one folder. */
function memoryKeychain(): NativeKeychain {
  const kept = new Map<string, string>();
  const gate = (call: string): void => {
    const error = injector.gate(`keychain.${call}`);
    if (error) throw error;
  };
  return {
    name: 'memory-keychain',
    get: async (service, account) => (gate('get'), kept.get(`${service} ${account}`) ?? null),
    set: async (service, account, value) => (gate('set'), void kept.set(`${service} ${account}`, value)),
    delete: async (service, account) => (gate('delete'), kept.delete(`${service} ${account}`)),
  };
}

/** Answers `--version`, the first questions and one message as Claude Code does: a native process to start, to talk to and to end. */
const agent = `#!/bin/sh
if [ "$1" = --version ]; then echo '2.1.332 (Claude Code)'; exit 0; fi
for word; do [ "$before" = --session-id ] && session=$word; before=$word; done
while read -r line; do
  id=\${line#*request_id\\":\\"}; id=\${id%%\\"*}
  case "$line" in
    *initialize*) body='{"account":{"apiKeySource":"env"}}' ;;
    *interrupt*) body='{"still_queued":[],"cancelled":[]}' ;;
    *) echo '{"type":"system","subtype":"init","session_id":"'$session'","tools":[],"capabilities":["msg_lifecycle_v1","interrupt_receipt_v1","interrupt_cancel_queued_v1"]}'
      uuid=\${line#*uuid\\":\\"}; uuid=\${uuid%%\\"*}
      echo '{"type":"assistant","session_id":"'$session'","parent_tool_use_id":null,"message":{"id":"m","content":[{"type":"text","text":"said"}]}}'
      echo "{\\"type\\":\\"result\\",\\"session_id\\":\\"$session\\",\\"subtype\\":\\"success\\",\\"is_error\\":false,\\"result\\":\\"said\\",\\"user_message_uuids\\":[\\"$uuid\\"]}"
      continue ;;
  esac
  echo "{\\"type\\":\\"control_response\\",\\"response\\":{\\"subtype\\":\\"success\\",\\"request_id\\":\\"$id\\",\\"response\\":$body}}"
done
`;

async function start(
  root: string,
  keychain: NativeKeychain,
): Promise<{ daemon: Daemon; desk: CredentialDesk }> {
  const paths = statePaths(root, systemEnvironment);
  const workspace = await localWorkspace(null, paths);
  const config = configSchema.parse({
    harnesses: [
      { kind: 'demo', adapter: 'demo' },
      { kind: 'agent', adapter: 'claude-code', command: join(root, 'agent.sh'), env: { FAULT_LIFE: root } },
    ],
  });
  const { daemon } = await compose({
    paths,
    version: '0.0.0',
    config,
    targets: [],
    localWorkspace: workspace,
    logLevel: 'debug',
    stderr: null,
    ports: { clock: fast, loadKeychain: () => keychain },
  });
  return { daemon, desk: daemon.options.credentials };
}

const waitMs = 3_000;
function soon<T>(promise: Promise<T>, what: string, ms = waitMs): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} did not end within ${ms} ms`)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

interface Known {
  /** A condition lasts: the connection or the Turn may rightly wait for its end, everything else may not. */
  readonly lasts: boolean;
  settings: string[];
  remembered: number;
}

/** What a person does in one life. Each step may be refused; none may hang or break the next one. */
async function script(daemon: Daemon, desk: CredentialDesk, known: Known, problems: string[]): Promise<void> {
  const call = async (name: string, request: unknown): Promise<unknown> => {
    try {
      const result = await soon(daemon.run(name, request), name);
      return result.ok ? result.answer : null;
    } catch (error) {
      problems.push(told(error));
      return null;
    }
  };
  const late = (error: unknown): void => {
    if (!known.lasts) problems.push(told(error));
  };
  const patience = known.lasts ? 500 : waitMs;
  injector.phase = 'serve';
  await soon(
    new Promise<void>((resolve) => {
      daemon.publisher.subscribe((view) => {
        const state = view.bindings[0]?.connection.state;
        // Without a disk there is no Session ahead of the first Turn, which then makes its own.
        if (state === 'serving' || state === 'stopped') resolve();
        // A person tries again rather than wait.
        if (state === 'waiting') void daemon.run('connection.retry', { binding: 'local' });
      });
    }),
    'the connection to the local Core',
    patience,
  ).catch(late);
  const client = await ControlClient.connect(daemon.options.paths.control).catch(() => null);
  if (client) await soon(client.call('view.get', {}), 'view.get over the socket').catch(() => undefined);
  injector.phase = 'turn';
  const answering = daemon.publisher.subscribe((view) => answerAll(daemon, view));
  for (const harness of ['demo', 'agent']) {
    injector.phase = `turn of ${harness}`;
    const begun = await call('turn.start', { prompt: 'hello', harness });
    if (begun === null) continue;
    const { run_id: id } = begun as { run_id: string };
    const outcome = await soon(endOf(daemon, id), `the Turn of ${harness}`, 2 * patience).catch(late);
    if (injector.injected.length === 0 && outcome !== 'completed')
      problems.push(`the Turn of ${harness} ended as ${String(outcome)} without a fault`);
  }
  answering();
  injector.phase = 'commands';
  const changed = await call('settings.set', { theme: 'light' });
  known.settings = changed === null ? ['dark', 'light'] : ['light'];
  await call('credentials.choose', { choice: 'retry' });
  await desk.store?.set('other', 'another-secret').catch(() => undefined);
  await call('credentials.choose', { choice: 'file' });
  await desk.store?.set('third', 'a-third-secret').catch(() => undefined);
  await call('diagnostics.collect', {});
  await call('logs.tail', { lines: 100 });
  await call('runtime.pause', {});
  await call('runtime.resume', {});
  await call('runtime.stop', { mode: 'now' });
  await soon(
    new Promise<void>((resolve) => {
      daemon.publisher.subscribe((view) => view.runtime.state === 'paused' && resolve());
    }),
    'the stop',
    patience,
  ).catch((error: unknown) => {
    // What cannot be looked at cannot be proven gone: then it waits, and a person sees for what.
    if (!known.lasts || daemon.projection.cleanup.length === 0) problems.push(told(error));
  });
  await call('runtime.start', {});
  client?.close();
  injector.phase = 'stop';
}

/** The outcome of a Turn once it has one. */
async function endOf(daemon: Daemon, id: string): Promise<string> {
  for (;;) {
    const shown = await daemon.run('turn.list', {});
    const turns = shown.ok
      ? (shown.answer as { turns: { run_id: string; state: string; outcome?: string | null }[] }).turns
      : [];
    const mine = turns.find((turn) => turn.run_id === id);
    if (mine?.state === 'ended') return String(mine.outcome);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function answerAll(daemon: Daemon, view: View): void {
  for (const { id, kind, questions } of view.interactions) {
    const answer =
      kind === 'permission'
        ? { kind: 'allow' }
        : {
            kind: 'answers',
            answers: Object.fromEntries(questions.map((q) => [q.id, [q.options[0]?.label ?? '']])),
          };
    void daemon.run('interaction.answer', { id, answer });
  }
}

const text = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');
/** A file and everything that was set aside from it. */
const family = (root: string, name: string): string =>
  readdirSync(root)
    .filter((found) => found === name || found.startsWith(`${name}.broken-`) || found === `${name}.1`)
    .map((found) => text(join(root, found)))
    .join('\n');

/** What lies on disk after the life, before anything starts again. */
function look(root: string, seed: string, known: Known, problems: string[]): void {
  for (const name of [
    'local-core.json',
    'settings.json',
    'credentials.json',
    'credentials.secrets.json',
    'lock.json',
    'ledger/processes.json',
  ]) {
    const content = text(join(root, name));
    if (content === '') {
      if (existsSync(join(root, name))) problems.push(`${name} is empty`);
      else if (name !== 'lock.json' && existsSync(join(seed, name))) problems.push(`${name} is gone`);
      continue;
    }
    try {
      JSON.parse(content);
    } catch {
      problems.push(`${name} does not parse`);
    }
  }
  for (const found of [...readdirSync(root), ...readdirSync(join(root, 'ledger'))])
    if (/\.(broken|damaged)-/.test(found)) problems.push(`${found}: a healthy file was set aside`);
  const seeded = JSON.parse(readFileSync(join(seed, 'local-core.json'), 'utf8')) as {
    turns: { runId: string }[];
  };
  const core = family(root, 'local-core.json');
  for (const turn of seeded.turns)
    if (!core.includes(turn.runId)) problems.push('a Turn of the local Core is lost');
  const theme = /"theme": "(\w+)"/.exec(text(join(root, 'settings.json')))?.[1] ?? 'none';
  if (!known.settings.includes(theme))
    problems.push(`settings say ${theme}, not ${known.settings.join(' or ')}`);
  if (!text(join(root, 'credentials.secrets.json')).includes(secret))
    problems.push('a stored secret is lost');
  const history = family(root, 'history.jsonl');
  const old = text(join(seed, 'history.jsonl')).split('\n').filter(Boolean);
  for (const line of old) if (!history.includes(line)) problems.push('a line of the history is lost');
  const good = history.split('\n').filter((line) => parses(line)).length;
  const failed = injector.injected.filter(({ site }) => site.endsWith(' /history.jsonl')).length;
  if (good < known.remembered - failed)
    problems.push(`history: ${good} lines on disk, ${known.remembered} remembered, ${failed} failed`);
}

function parses(line: string): boolean {
  try {
    return line !== '' && JSON.parse(line) !== null;
  } catch {
    return false;
  }
}

/** This process lives on where the real one would have ended: its lock is that of a dead one. */
function endProcessOf(root: string): void {
  const lock = join(root, 'lock.json');
  if (!existsSync(lock)) return;
  writeFileSync(lock, readFileSync(lock, 'utf8').replace(/"startTime":"[^"]*"/, '"startTime":"1"'));
}

async function live(seed: string | null, faults: readonly Fault[], number: number): Promise<LifeReport> {
  const began = performance.now();
  const root = join(base, `life-${number}`);
  const keychain = memoryKeychain();
  if (seed === null) {
    mkdirSync(root, { mode: 0o700 });
    writeFileSync(join(root, 'agent.sh'), agent);
    chmodSync(join(root, 'agent.sh'), 0o755);
  } else cpSync(seed, root, { recursive: true });
  const problems: string[] = [];
  const lasts = faults.some(({ site }) => site === 'lasting');
  const known: Known = { lasts, settings: ['dark'], remembered: 0 };
  let refused: string | null = null;
  loose.length = 0;
  injector.begin(root, faults);
  try {
    const { daemon, desk } = await soon(start(root, keychain), 'the start', 12_000);
    if (seed === null) {
      await daemon.run('settings.set', { theme: 'dark' });
      await daemon.run('credentials.choose', { choice: 'file' });
      await desk.store?.set(secretAccount, secret);
    } else known.remembered = -1;
    await (seed === null ? firstTurn(daemon) : script(daemon, desk, known, problems));
    known.remembered = daemon.history().length;
    const ended = daemon.shutdown();
    const waits = lasts ? 2_000 : 8_000;
    await soon(ended, 'the shutdown', waits).catch(async (error: unknown) => {
      if (!lasts || daemon.projection.cleanup.length === 0) return problems.push(told(error));
      // It ends with the condition that it waited for.
      injector.active = false;
      return soon(ended, 'the shutdown after the condition', 8_000).catch((late: unknown) =>
        problems.push(told(late)),
      );
    });
  } catch (error) {
    if (error instanceof RuntimeError) refused = error.message;
    else problems.push(`the start was refused without a sentence: ${told(error)}`);
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
  injector.active = false;
  const report = { injected: [...injector.injected], calls: faults.length === 0 ? [...injector.calls] : [] };
  problems.push(...loose.splice(0));
  if (seed !== null) {
    look(root, seed, known, problems);
    endProcessOf(root);
    await again(root, keychain, known, problems);
    const left = await leftRunning(root);
    if (left.length > 0) problems.push(`left running: ${left.join(', ')}`);
    problems.push(...loose.splice(0).map((what) => `later start: ${what}`));
    remove(root);
  }
  return { ...report, refused, problems, ms: Math.round(performance.now() - began) };
}

/** A look at an agent that was under way ends by itself, soon. */
async function leftRunning(root: string): Promise<number[]> {
  for (let tries = 0; ; tries++) {
    const left = processesWith(root);
    if (left.length === 0 || tries === 40) return left;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The last line of the log may still be on its way; what it leaves goes with the folder of all lives. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  } catch {
    // Not empty yet.
  }
}

async function firstTurn(daemon: Daemon): Promise<void> {
  const answering = daemon.publisher.subscribe((view) => answerAll(daemon, view));
  await daemon.run('turn.start', { prompt: 'the first', harness: 'demo' });
  await new Promise<void>((resolve) => {
    daemon.publisher.subscribe((view) => view.history.some(({ kind }) => kind === 'turn') && resolve());
  });
  answering();
}

/** A later start without faults finds everything and ends well. */
async function again(
  root: string,
  keychain: NativeKeychain,
  known: Known,
  problems: string[],
): Promise<void> {
  try {
    const { daemon, desk } = await soon(start(root, keychain), 'the later start', 12_000);
    const { theme } = daemon.settings;
    if (!known.settings.includes(theme)) problems.push(`the later start reads the theme ${theme}`);
    const kept = await desk.store?.get(secretAccount);
    if (kept && desk.store?.backend === 'file' && (kept.kind !== 'ok' || kept.value !== secret))
      problems.push('the later start does not find the secret');
    const listed = await daemon.run('turn.list', {});
    if (!listed.ok || (listed.answer as { turns: unknown[] }).turns.length === 0)
      problems.push('the later start does not find the Turns');
    for (const item of daemon.health.items)
      if (item.code === 'state_file_set_aside') problems.push(`the later start: ${item.text}`);
    if (daemon.projection.cleanup.length > 0) problems.push('the later start cannot end what was left');
    await soon(daemon.shutdown(), 'the later shutdown', 8_000);
  } catch (error) {
    problems.push(`the later start fails: ${told(error)}`);
  }
}

await injector.install();
let number = 0;
const seedReport = await live(null, [], number++);
const seed = join(base, 'life-0');
process.stdout.write(`${JSON.stringify({ ...seedReport, calls: [] })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const faults = JSON.parse(line) as Fault[];
  // A fault of this program ends it: the handlers above are for the Runtime.
  const report = await live(seed, faults, number++).catch((error: unknown) => {
    process.stderr.write(`${told(error)}\n`);
    process.exit(1);
  });
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
remove(base);
process.exit(0);
