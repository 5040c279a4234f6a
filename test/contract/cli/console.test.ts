import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { Machine } from '../../support/runtime-process.ts';

let machine: Machine;
beforeEach(async () => {
  machine = await Machine.make();
});
afterEach(() => machine.close());

/** One raw request; resolves with the first line of the answer, or empty when the peer just closed. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => (answer += String(chunk)));
    socket.on('close', () => resolve(answer.split('\r\n')[0] ?? ''));
    socket.on('error', () => resolve(''));
  });
}

function printedUrl(child: ChildProcess): Promise<URL> {
  return new Promise<URL>((resolve) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += String(chunk);
      const found = /"console": "([^"]+)"/.exec(text)?.[1];
      if (found !== undefined) resolve(new URL(found));
    });
  });
}

async function console_(): Promise<{ url: URL; stop: () => Promise<void> }> {
  const { child, ended } = machine.spawn(
    'run',
    '--local',
    '--workspace',
    machine.workspace,
    '--console',
    '--json',
  );
  const url = await printedUrl(child);
  return {
    url,
    stop: async () => {
      child.kill('SIGINT');
      expect((await ended).code).toBe(0);
    },
  };
}

test('the one-time address works once; without its cookie nothing is served, and other hosts and origins are refused', async () => {
  const { url, stop } = await console_();
  const port = Number(url.port);
  const get = (path: string, headers: string): Promise<string> =>
    raw(port, `GET ${path} HTTP/1.1\r\nConnection: close\r\n${headers}\r\n\r\n`);
  const host = `Host: ${url.host}`;
  expect(await get('/', host)).toContain('401');
  expect(await get('/', 'Host: evil.example.test')).toContain('421');
  const opened = await fetch(url, { redirect: 'manual' });
  expect(opened.status).toBe(303);
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect((await fetch(url, { redirect: 'manual' })).status).toBe(401);
  expect(await get('/', `${host}\r\nCookie: ${cookie}`)).toContain('200');
  const upgrade = `${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==`;
  expect(
    await get('/console', `${upgrade}\r\nCookie: ${cookie}\r\nOrigin: http://evil.example.test`),
  ).toContain('403');
  expect(await get('/console', `${upgrade}\r\nOrigin: ${url.origin}`)).toContain('401');
  await stop();
});

test('nothing a stranger sends ends the Runtime', async () => {
  const { url, stop } = await console_();
  const port = Number(url.port);
  const opened = await fetch(url, { redirect: 'manual' });
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  for (const path of [
    '//',
    'http://[',
    '/%',
    '/..%2f..%2fetc%2fpasswd',
    '*',
    '/open',
    '/open?token',
    `/${'a'.repeat(7_000)}`,
  ]) {
    for (const more of ['', `\r\nCookie: ${cookie}`]) {
      const line = await raw(
        port,
        `GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close${more}\r\n\r\n`,
      );
      expect(line).toMatch(/^HTTP\/1\.1 4\d\d|^$/);
    }
  }
  await raw(port, 'nonsense\r\n\r\n');
  expect((await machine.run('status')).code).toBe(0);
  await stop();
});

test('the console of a Runtime that runs already: the page, its commands, and its end with the Runtime', async () => {
  const runtime = machine.spawn('run', '--local', '--workspace', machine.workspace);
  (await machine.client()).close();
  const { child, ended } = machine.spawn('console', '--json');
  const url = await printedUrl(child);
  const opened = await fetch(url, { redirect: 'manual' });
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  const page = await fetch(url.origin, { headers: { cookie } });
  expect(await page.text()).toContain('<title>');
  const socket = new WebSocket(`ws://${url.host}/console`, { headers: { cookie, origin: url.origin } });
  const replies: { type: string; id?: number; view?: unknown; error?: { code: string } }[] = [];
  const answered = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      replies.push(JSON.parse(String(data)) as (typeof replies)[number]);
      if (replies.filter(({ type }) => type !== 'view').length === 2) resolve();
    });
  });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'subscribe' }));
  socket.send(JSON.stringify({ type: 'call', id: 1, name: 'view.get', request: {} }));
  socket.send(JSON.stringify({ type: 'call', id: 2, name: 'turn.cancel', request: { run_id: 'none' } }));
  await answered;
  expect(replies.find(({ id }) => id === 1)?.type).toBe('answer');
  expect(replies.find(({ id }) => id === 2)?.type).toBe('error');
  expect(replies.some(({ type }) => type === 'view')).toBe(true);
  const closed = once(socket, 'close');
  runtime.child.kill('SIGINT');
  await closed;
  expect((await ended).code).toBe(0);
  expect((await runtime.ended).code).toBe(0);
});
