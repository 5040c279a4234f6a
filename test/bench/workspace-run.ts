// One measurement: this process is the Runtime's side (or the bare one), a worker thread is Core. Prints JSON.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { WebSocket, WebSocketServer } from 'ws';
import { silentLogger } from '../../src/observe/logger.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { encodeFrame } from '../../src/protocol/codec.ts';
import { capabilityNames, declareCapabilities } from '../../src/protocol/capabilities.ts';
import { Router } from '../../src/runtime/router.ts';
import type { RuntimeFrame, SendResult, Sender } from '../../src/runtime/ports.ts';
import { LocalWorkspace } from '../../src/workspace/local-workspace.ts';
import { ControlledHarness } from '../support/controlled-harness.ts';

const environmentId = '58e2e6ff-46cf-477f-8705-f19c41923382';
const sessionId = '92ea7b07-1c1f-4eb1-b222-b335f2123ed8';
const id = 'c855661e-3b70-4d9a-8474-ac68371d4a28';
const CHUNK = 65_536;

const [what = '', mebibytes = '1', folder = '', role = 'runtime', port = '0'] = process.argv.slice(2);
const size = Number(mebibytes) * 1024 * 1024;
const root = join(folder, 'root');
const chunk = Buffer.alloc(CHUNK, 7);

if (role === 'core') await core();
else await runtime();

/** The peer, in a process of its own: asks, waits for each answer, and closes at the end. */
async function core(): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  await once(socket, 'open');
  const waiting: ((text: string) => void)[] = [];
  const queue: string[] = [];
  socket.on('message', (data, binary) => {
    const text = binary ? String((data as Buffer).length) : String(data);
    const next = waiting.shift();
    if (next) next(text);
    else queue.push(text);
  });
  const answer = (): Promise<string> => {
    const text = queue.shift();
    return text === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(text);
  };
  type Answer = {
    payload: { outcome: string; state?: string; handle: string; data?: string; offset?: number };
  };
  const ask = async (type: string, frameId: string, payload: unknown): Promise<Answer> => {
    socket.send(JSON.stringify({ type, id: frameId, payload }));
    return JSON.parse(await answer()) as Answer;
  };
  const digest = (): string => {
    const hash = createHash('sha256');
    for (let at = 0; at < size; at += CHUNK) hash.update(chunk);
    return hash.digest('hex');
  };
  const must = (ok: boolean, said: unknown): void => {
    if (!ok) throw new Error(`unexpected: ${JSON.stringify(said).slice(0, 300)}`);
  };
  switch (what) {
    case 'write-bare': {
      for (let at = 0; at < size; at += CHUNK) {
        socket.send(JSON.stringify({ data: chunk.toString('base64') }));
        await answer();
      }
      break;
    }
    case 'write': {
      const begin = { step: 'begin', environment_id: environmentId, session_id: sessionId, path: 'big' };
      const ready = await ask('workspace_write', id, { ...begin, size_bytes: size, sha256: digest() });
      must(ready.payload.outcome === 'ready', ready);
      for (let at = 0; at < size; at += CHUNK) {
        const step = { step: 'chunk', ...(at > 0 ? { offset: at } : {}), data: chunk.toString('base64') };
        const received = await ask('workspace_write', id, step);
        must(received.payload.outcome === 'received', received);
      }
      const done = await ask('workspace_write', id, { step: 'commit' });
      must(done.payload.outcome === 'completed', done);
      break;
    }
    case 'export-bare': {
      let got = 0;
      while (got < size) got += Number(await answer());
      break;
    }
    case 'export': {
      const configuration = {
        ...{ agent_kind: 'contract', conversation_id: '', run_id: '', workspace_read_only: true },
        local_environment: { id: environmentId, workspace_directory: '/workspace', capability_sources: null },
        agent_state_key: `agents-api-${sessionId}`,
        ...{ release_on_completion: true, strict_resume: true },
      };
      await ask('execution_prepare', 'ro', { session_id: sessionId, configuration });
      const { handle } = (JSON.parse(await answer()) as Answer).payload;
      let step: unknown = { step: 'begin', handle, environment_id: environmentId };
      let offset = 0;
      for (;;) {
        const piece = await ask('workspace_export', 'ex', step);
        if (piece.payload.outcome === 'completed') break;
        must(piece.payload.outcome === 'chunk', piece);
        offset += Buffer.from(piece.payload.data ?? '', 'base64').length;
        step = { step: 'next', offset };
      }
      must(offset > size, offset);
      break;
    }
  }
  socket.close();
}

async function runtime(): Promise<void> {
  mkdirSync(join(root, 'outputs'), { recursive: true });
  if (what.startsWith('export')) {
    // Three files, because one may hold 200 MiB at most.
    for (let part = 0, left = size; left > 0; part++) {
      const bytes = Math.min(left, 190 * 1024 * 1024);
      const file = await open(join(root, 'outputs', `part-${part}`), 'w');
      for (let at = 0; at < bytes; at += CHUNK) await file.write(chunk, 0, Math.min(CHUNK, bytes - at));
      await file.close();
      left -= bytes;
    }
  }
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, maxPayload: 8 * 1024 * 1024 });
  await once(server, 'listening');
  const address = server.address();
  const portNumber = typeof address === 'object' && address ? address.port : 0;
  const self = process.argv[1] ?? '';
  const before = process.memoryUsage().rss;
  const peer = spawn(process.execPath, [self, what, mebibytes, folder, 'core', String(portNumber)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [socket] = (await once(server, 'connection')) as [WebSocket];
  const started = performance.now();
  if (what === 'write-bare') bareWrite(socket);
  else if (what === 'export-bare') void bareExport(socket);
  else serve(socket);
  const [code] = (await once(peer, 'exit')) as [number];
  const seconds = (performance.now() - started) / 1_000;
  server.close();
  socket.terminate();
  if (code !== 0) throw new Error('the other side failed');
  const mib = (bytes: number): number => Math.round(bytes / 1024 / 1024);
  process.stdout.write(
    JSON.stringify({
      'MiB/s': Math.round(Number(mebibytes) / seconds),
      seconds: Number(seconds.toFixed(2)),
      'peak MiB': mib(process.resourceUsage().maxRSS * 1_024),
      'over idle': mib(process.resourceUsage().maxRSS * 1_024 - before),
    }),
  );
  process.exit(0);
}

/** Lock-step and nothing else: decode, append to a file, acknowledge. */
function bareWrite(socket: WebSocket): void {
  const out = createWriteStream(join(root, 'bare'));
  socket.on('message', (data) => {
    const { data: text } = JSON.parse(String(data)) as { data: string };
    out.write(Buffer.from(text, 'base64'), () => socket.send('{}'));
  });
}

/** The bytes of the files in binary frames, as fast as the socket takes them. */
async function bareExport(socket: WebSocket): Promise<void> {
  for (let part = 0, left = size; left > 0; part++, left -= 190 * 1024 * 1024)
    for await (const piece of createReadStream(join(root, 'outputs', `part-${part}`), {
      highWaterMark: CHUNK,
    }))
      await new Promise<void>((resolve) => socket.send(piece as Buffer, { binary: true }, () => resolve()));
}

function serve(socket: WebSocket): void {
  const send = (frame: RuntimeFrame): Promise<SendResult> =>
    new Promise((resolve) =>
      socket.send(encodeFrame(frame.type, frame).text, (error) => resolve(error ? 'failed' : 'written')),
    );
  const sender: Sender = {
    send,
    stream: async (frame) => ((await send(frame)) === 'written' ? 'entered' : 'failed'),
    backedUp: false,
  };
  const harness = new ControlledHarness();
  harness.capabilities = declareCapabilities(capabilityNames.filter((name) => name !== 'environment_none'));
  const router = new Router(
    {
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      binding: { environmentId, sessionId, workspace: root, recordedDirectory: root },
      harness: () => ({ adapter: harness, probe: harness.offer() }),
      stateDir: () => Promise.resolve(folder),
      interactions: { policy: 'ask', answeredBy: 'both', timeoutMs: null },
      executorIdleMs: 60_000,
      paused: () => false,
      facts: () => undefined,
      workspace: new LocalWorkspace({
        ...{ root, stateDir: join(folder, 'state'), logger: silentLogger, createSteps: null },
      }),
      suspension: {
        memory: { resumed: null },
        hooks: { armed: () => undefined, failed: () => undefined },
      },
    },
    sender,
  );
  socket.on('message', (data) => router.receive(data as Buffer));
}
