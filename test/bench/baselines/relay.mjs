// The unavoidable work of a relay: lines of a child -> JSON.parse -> JSON.stringify -> socket.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';

const [url, count, rate = '0'] = process.argv.slice(2);
const ws = new WebSocket(url, { perMessageDeflate: false });
await new Promise((done) => ws.once('open', done));
const child = spawn(process.execPath, [new URL('../lines.mjs', import.meta.url).pathname, count, rate], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
let sequence = 0;
for await (const line of createInterface({ input: child.stdout })) {
  const { text } = JSON.parse(line);
  ws.send(JSON.stringify({ type: 'delta', id: 'run', payload: { delta: text, sequence: ++sequence } }));
  if (ws.bufferedAmount > 4 * 1024 * 1024) await new Promise((done) => setTimeout(done, 1));
}
ws.send(JSON.stringify({ type: 'done', id: 'run', payload: { content: '' } }));
await new Promise((done) => ws.once('close', done));
