// `npm run bench`: ours beside a small program that does the unavoidable work and nothing else, in pairs in one run.
// Prints a table and writes bench-results.json. Ratios are what counts; nothing here is a test.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { WebSocketServer } from 'ws';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
const quick = process.argv.includes('--quick');
const runs = quick ? 1 : 5;
const version = '0.10.0';
const ours = join(root, '.cache', 'bench', 'ours.mjs');
const dispatch = join(root, '.cache', 'bench', 'dispatch.mjs');
const results = [];

/** One Runtime as its Core sees it. */
class Peer {
  constructor(ws) {
    this.ws = ws;
    this.waiting = [];
    this.onFrame = () => undefined;
    ws.on('message', (data) => {
      const frame = JSON.parse(String(data));
      this.onFrame(frame, data.length);
      this.waiting = this.waiting.filter(({ wanted, done }) => !(wanted(frame) && (done(frame), true)));
    });
  }
  send(type, id, payload) {
    this.ws.send(JSON.stringify({ type, id, payload }));
  }
  until(wanted) {
    return new Promise((done) => this.waiting.push({ wanted, done }));
  }
  /** Prepares and starts one Turn; resolves with `done`. */
  async turn(n) {
    const status = (state) =>
      this.until(
        (frame) =>
          frame.type === 'preparation_status' && frame.id === `p${n}` && frame.payload.state === state,
      );
    const ready = status('ready');
    this.send('execution_prepare', `p${n}`, {
      session_id: 'bench',
      configuration: {
        agent_kind: 'bench',
        conversation_id: '',
        run_id: '',
        agent_state_key: 'agents-api-bench',
        strict_resume: true,
        disable_execution_environment: true,
      },
    });
    const { executor_id, handle } = (await ready).payload;
    const done = this.until((frame) => frame.type === 'done' && frame.id === `run${n}`);
    this.send('execution_start', `p${n}`, {
      executor_id,
      handle,
      run_id: `run${n}`,
      input: [{ content: [{ type: 'input_text', text: 'go' }] }],
    });
    return done;
  }
}

await mkdir(join(root, '.cache', 'bench'), { recursive: true });
const banner = {
  js: "import { createRequire as __r } from 'node:module'; const require = __r(import.meta.url);",
};
const bundle = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: ['keytar', '@napi-rs/keyring'],
  banner,
  logLevel: 'error',
};
await build({ ...bundle, entryPoints: [join(here, 'ours.ts')], outfile: ours });
await build({ ...bundle, entryPoints: [join(here, 'dispatch.ts')], outfile: dispatch });

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const port = server.address().port;
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({
        device_id: 'device',
        workspace_id: 'w',
        ws_url: `ws://127.0.0.1:${port}/api/v1/agent-daemon/ws`,
        heartbeat_seconds: 15,
        protocol_version: version,
      }),
    );
  });
});
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const origin = `127.0.0.1:${server.address().port}`;

for (const measure of [relay, latency, inbound, requests, heartbeatAndMemory, growth]) {
  const only = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
  if (only.length > 0 && !only.includes(measure.name)) continue;
  process.stderr.write(`${measure.name}\n`);
  await measure();
}
server.close();
sockets.close();
print();
await writeFile(join(root, 'bench-results.json'), `${JSON.stringify({ results }, null, 2)}\n`);
process.exit(0);

function nextConnection() {
  return new Promise((done) => sockets.once('connection', done));
}

/** A process of ours, connected; `frames` calls back for each frame it sends. */
async function startOurs(count, rate, speed = 1, nodeArgs = []) {
  const folder = await mkdtemp(join(tmpdir(), 'agent-runtime-bench-'));
  const file = join(folder, 'bootstrap.json');
  await writeFile(
    file,
    JSON.stringify({
      version,
      core_url: `http://${origin}/api/v1`,
      device_id: 'device',
      credential: 'bench-credential',
    }),
  );
  const connected = nextConnection();
  const child = spawn(
    process.execPath,
    [
      '--expose-gc',
      ...nodeArgs,
      ours,
      file,
      folder,
      join(here, 'lines.mjs'),
      String(count),
      String(rate),
      String(speed),
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const peer = new Peer(await connected);
  return { child, peer, stop: () => stop(child) };
}

async function relay() {
  const count = quick ? 20_000 : 200_000;
  const pairs = [];
  const lags = [];
  for (let n = 0; n < runs; n++) {
    const mine = await startOurs(count, 0);
    const t0 = performance.now();
    const done = await mine.peer.turn(1);
    const a = performance.now() - t0;
    lags.push(JSON.parse(done.payload.content).lag_p99_ms);
    await mine.stop();
    const connected = nextConnection();
    const child = spawn(
      process.execPath,
      [join(here, 'baselines', 'relay.mjs'), `ws://${origin}/bench`, String(count)],
      { stdio: 'inherit' },
    );
    const peer = new Peer(await connected);
    const t1 = performance.now();
    await peer.until((frame) => frame.type === 'done');
    const b = performance.now() - t1;
    peer.ws.close();
    await exited(child);
    pairs.push([a, b]);
  }
  ratio(`relay of ${count} deltas of 64 bytes, ms`, pairs, '<= 1.5');
  absolute('event-loop delay p99 under the relay, ms', median(lags), '<= 10', (value) => value <= 10);
}

async function latency() {
  const count = quick ? 1_000 : 5_000;
  const p50 = [];
  const p99 = [];
  const measure = async (peer, begin) => {
    const seen = [];
    peer.onFrame = (frame) => {
      if (frame.type !== 'delta') return;
      const now = process.hrtime.bigint();
      for (const [, at] of frame.payload.delta.matchAll(/(\d{10,}) x/g))
        seen.push(Number(now - BigInt(at)) / 1e6);
    };
    await begin();
    seen.sort((a, b) => a - b);
    return [seen[Math.floor(seen.length / 2)], seen[Math.floor(seen.length * 0.99)]];
  };
  for (let n = 0; n < runs; n++) {
    const mine = await startOurs(count, 1_000);
    const a = await measure(mine.peer, () => mine.peer.turn(1));
    await mine.stop();
    const connected = nextConnection();
    const child = spawn(
      process.execPath,
      [join(here, 'baselines', 'relay.mjs'), `ws://${origin}/bench`, `${count}`, '1000'],
      { stdio: 'inherit' },
    );
    const peer = new Peer(await connected);
    const b = await measure(peer, () => peer.until((frame) => frame.type === 'done'));
    peer.ws.close();
    await exited(child);
    p50.push([a[0], b[0]]);
    p99.push([a[1], b[1]]);
  }
  ratio('latency at 1,000 events/s, p50, ms', p50, '<= 1.5');
  ratio('latency at 1,000 events/s, p99, ms', p99, '<= 2');
}

/** CPU of decode, validate and dispatch beside JSON.parse alone, each in a process of its own. */
async function inbound() {
  const pairs = [];
  for (let n = 0; n < runs; n++) {
    pairs.push([Number(await output(dispatch, ['ours'])), Number(await output(dispatch, ['parse']))]);
  }
  ratio('decode, validate, dispatch of 100,000 frames, CPU ms', pairs, '<= 1.5');
}

async function requests() {
  const total = quick ? 5_000 : 40_000;
  const rates = [];
  const middles = [];
  for (let n = 0; n < runs; n++) {
    const mine = await startOurs(0, 0);
    const a = await storm(mine.peer, total);
    await mine.stop();
    const connected = nextConnection();
    const child = spawn(process.execPath, [join(here, 'baselines', 'echo.mjs'), `ws://${origin}/bench`], {
      stdio: 'inherit',
    });
    const peer = new Peer(await connected);
    const b = await storm(peer, total);
    peer.ws.close();
    await exited(child);
    rates.push([a.rate, b.rate]);
    middles.push([a.p50, b.p50]);
  }
  ratio('requests/s with 64 in flight', rates, '>= 0.5');
  ratio('request p50 with 64 in flight, ms', middles, '<= 2');
}

/** Cancellations of unknown Runs: the shortest whole way in and out. */
function storm(peer, total) {
  return new Promise((done) => {
    const begun = performance.now();
    const started = new Map();
    const times = [];
    let sent = 0;
    const next = () => {
      if (sent >= total) return;
      const id = `r${sent++}`;
      started.set(id, performance.now());
      peer.send('prompt_cancel', id, { delivery_id: id });
    };
    peer.onFrame = (frame) => {
      if (frame.type !== 'interaction_decision_ack') return;
      times.push(performance.now() - started.get(frame.id));
      started.delete(frame.id);
      next();
      if (times.length === total) {
        times.sort((a, b) => a - b);
        done({ rate: total / ((performance.now() - begun) / 1000), p50: times[Math.floor(total / 2)] });
      }
    };
    for (let n = 0; n < 64; n++) next();
  });
}

async function heartbeatAndMemory() {
  const first = [];
  for (let n = 0; n < runs; n++) {
    const pair = [];
    for (const which of ['ours', 'baseline']) {
      const begun = performance.now();
      const { child, peer } = await headless(which);
      await peer.until((frame) => frame.type === 'heartbeat');
      pair.push(performance.now() - begun);
      await stop(child);
    }
    first.push(pair);
  }
  ratio('start to first heartbeat, ms', first, '<= 1.5');
  const memory = [];
  for (let n = 0; n < (quick ? 1 : 2); n++) {
    const both = [await headless('ours'), await headless('baseline')];
    await new Promise((done) => setTimeout(done, quick ? 5_000 : 60_000));
    memory.push(await Promise.all(both.map(({ child }) => pss(child.pid))));
    for (const { child } of both) await stop(child);
  }
  ratio('idle memory headless after 60 s, PSS MB', memory, '<= 1.5');
}

async function headless(which) {
  const folder = await mkdtemp(join(tmpdir(), 'agent-runtime-bench-'));
  const file = join(folder, 'bootstrap.json');
  await writeFile(
    file,
    JSON.stringify({
      version,
      core_url: `http://${origin}/api/v1`,
      device_id: 'device',
      credential: 'bench-credential',
    }),
  );
  await writeFile(
    join(folder, 'config.json'),
    JSON.stringify({ harnesses: [{ kind: 'demo', adapter: 'demo' }] }),
  );
  const connected = nextConnection();
  const args =
    which === 'ours'
      ? [join(root, 'dist', 'cli.js'), 'run', '--bootstrap-file', file, '--state-dir', folder]
      : [join(here, 'baselines', 'heartbeat.mjs'), file];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  return { child, peer: new Peer(await connected) };
}

async function growth() {
  const turns = quick ? 500 : 10_000;
  const reconnects = quick ? 50 : 1_000;
  // The space for new objects grows and shrinks as V8 sees fit, by more than anything that could be lost: it is fixed.
  const steady = ['--min-semi-space-size=4', '--max-semi-space-size=4'];
  const mine = await startOurs(0, 0, 1, steady);
  let n = 0;
  const some = async (count) => {
    for (let i = 0; i < count; i++) await mine.peer.turn(++n);
  };
  await grown(`${turns} Turns`, mine.child.pid, () => some(turns));
  await mine.stop();
  // A thousand times as fast as the clock: a connection of 15 ms has lasted 15 s, so the flap guard stays out of it.
  const fast = await startOurs(0, 0, 1_000, steady);
  let current = fast.peer;
  const again = async (count) => {
    for (let i = 0; i < count; i++) {
      await new Promise((done) => setTimeout(done, 15));
      const connected = nextConnection();
      current.ws.close(1001);
      current = new Peer(await connected);
    }
  };
  await grown(`${reconnects} reconnects`, fast.child.pid, () => again(reconnects));
  await fast.stop();
}

async function settledFootprint(pid) {
  for (let collection = 0; collection < 3; collection++) {
    await new Promise((done) => setTimeout(done, 1_000));
    process.kill(pid, 'SIGUSR2');
  }
  await new Promise((done) => setTimeout(done, 1_000));
  return { pss: await pss(pid), handles: (await readdir(`/proc/${pid}/fd`)).length };
}

async function pss(pid) {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(text)[1]) / 1024;
}

function stop(child) {
  const gone = exited(child);
  child.kill('SIGINT');
  return gone;
}

function exited(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((done) => child.once('exit', done));
}

function output(script, args) {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.on('exit', (code) => (code === 0 ? done(text) : fail(new Error(`${script} ${args} failed`))));
  });
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function ratio(name, pairs, goal) {
  const value = median(pairs.map(([a, b]) => a / b));
  const [sign, bound] = goal.split(' ');
  const held = sign === '<=' ? value <= Number(bound) : value >= Number(bound);
  results.push({
    name,
    ours: median(pairs.map(([a]) => a)),
    baseline: median(pairs.map(([, b]) => b)),
    ratio: value,
    goal,
    held,
  });
}

/** What each of the runs added, after a warm-up as long as one of them: caches of code and of memory fill up once. */
async function grown(name, pid, run) {
  await run();
  let before = await settledFootprint(pid);
  const pairs = { pss: [], handles: [] };
  for (let n = 0; n < runs; n++) {
    await run();
    const after = await settledFootprint(pid);
    for (const what of ['pss', 'handles']) pairs[what].push([after[what], before[what]]);
    before = after;
  }
  ratio(`memory after ${name}, PSS MB`, pairs.pss, '<= 1.05');
  ratio(`handles after ${name}`, pairs.handles, '<= 1.05');
}

function absolute(name, value, goal, holds) {
  results.push({ name, ours: value, baseline: null, ratio: null, goal, held: holds(value) });
}

function print() {
  const number = (value) => (value === null ? '' : value.toFixed(value < 10 ? 2 : 0));
  for (const { name, ours: a, baseline: b, ratio: r, goal, held } of results) {
    process.stdout.write(
      `${name.padEnd(56)} ${number(a).padStart(9)} ${number(b).padStart(9)} ${number(r).padStart(6)}  ${goal.padEnd(8)} ${held ? 'held' : 'NOT HELD'}\n`,
    );
  }
}
