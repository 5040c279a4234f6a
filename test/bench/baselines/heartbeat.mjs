// The unavoidable work of a Runtime that does nothing: bootstrap, dial, heartbeat at the interval.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { WebSocket } from 'ws';

const file = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const body = JSON.stringify({ device_id: file.device_id });
const answer = await new Promise((done, fail) => {
  const call = request(`${file.core_url}/agent-daemon/bootstrap`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${file.credential}`, 'Content-Type': 'application/json' },
  });
  call.on('error', fail);
  call.on('response', (response) => {
    let text = '';
    response.on('data', (chunk) => (text += chunk));
    response.on('end', () => done(JSON.parse(text)));
  });
  call.end(body);
});
const ws = new WebSocket(`${answer.ws_url}?device_id=${file.device_id}&version=${file.version}`, {
  headers: { Authorization: `Bearer ${file.credential}` },
  perMessageDeflate: false,
});
const beat = () =>
  ws.send(
    JSON.stringify({ type: 'heartbeat', payload: { ts: Math.floor(Date.now() / 1000), active_requests: 0 } }),
  );
ws.on('open', () => {
  beat();
  setInterval(beat, answer.heartbeat_seconds * 1000);
});
process.on('SIGINT', () => process.exit(0));
