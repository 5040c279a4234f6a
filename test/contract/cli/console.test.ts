import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
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

async function console_(): Promise<{ url: URL; stop: () => Promise<void> }> {
  const { child, ended } = machine.spawn(
    'run',
    '--local',
    '--workspace',
    machine.workspace,
    '--console',
    '--json',
  );
  const url = await new Promise<URL>((resolve) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += String(chunk);
      const found = /"console": "([^"]+)"/.exec(text)?.[1];
      if (found !== undefined) resolve(new URL(found));
    });
  });
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
