import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { failureSentence } from '../../../src/app/connection-words.ts';
import { Socket } from '../../../src/connection/socket.ts';
import { callMachine, type MachineAnswer } from '../../../src/enrol/machine-http.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { Network, type NetworkSettings } from '../../../src/platform/network.ts';
import { environmentProxy, fromProxyList, proxyServer } from '../../../src/platform/proxy.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { ConnectProxy, TestAuthority, type Certificate } from '../../support/connect-proxy.ts';

let authority: TestAuthority;
beforeAll(() => {
  authority = new TestAuthority();
});
afterAll(() => authority.remove());

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A Core over TLS that nobody reaches without the proxy: its name exists in no DNS. */
async function core(
  certificate: Certificate,
  page: { type: string; body: string; to?: string } | null = null,
): Promise<number> {
  const server: Server = createServer(certificate, (_request, response) => {
    if (page?.to !== undefined) response.writeHead(302, { Location: page.to });
    else response.writeHead(200, { 'Content-Type': page?.type ?? 'application/json' });
    response.end(page?.body ?? '{"here":true}');
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.send('hello'));
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  open.push({
    close: () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  });
  return (server.address() as AddressInfo).port;
}

async function proxy(options: Parameters<typeof ConnectProxy.start>[0] = {}): Promise<ConnectProxy> {
  const started = await ConnectProxy.start(options);
  open.push(started);
  return started;
}

const through = (url: string, auth: string | null = null, extraCa: string | null = authority.ca): Network =>
  new Network(systemClock, () => Promise.resolve(null), {
    proxy: { kind: 'manual', server: { url, auth } },
    extraCa,
  } satisfies NetworkSettings);

const call = (port: number, network: Network, clock = systemClock): Promise<MachineAnswer> =>
  callMachine({
    method: 'GET',
    coreUrl: `https://core.test:${port}/api/v1`,
    path: 'agent-daemon/installation',
    bearer: 'a-bearer-for-core',
    cap: 4_096,
    userAgent: 'test',
    clock,
    network,
  });

const sentence = (answer: MachineAnswer): string =>
  answer.kind === 'failed' ? failureSentence(answer.failure, 'core.test') : `answered ${answer.status}`;

describe('HTTP to Core', () => {
  test('goes through a tunnel and trusts the extra authority', async () => {
    const port = await core(authority.issue('core.test'));
    const via = await proxy();
    expect(await call(port, through(via.url))).toMatchObject({ kind: 'answer', status: 200 });
    expect(via.asked).toEqual([{ target: `core.test:${port}`, authorization: null }]);
  });

  test('shows its password to the proxy alone', async () => {
    const port = await core(authority.issue('core.test'));
    const via = await proxy({ auth: 'anna:pässwort' });
    expect(await call(port, through(via.url, 'anna:pässwort'))).toMatchObject({
      kind: 'answer',
      status: 200,
    });
    expect(sentence(await call(port, through(via.url)))).toContain('The proxy wants a password (407)');
    expect(sentence(await call(port, through(via.url, 'anna:wrong')))).toContain('(407)');
    expect(JSON.stringify(via.asked)).not.toContain('a-bearer-for-core');
  });

  test('a proxy that refuses, or is not there, is told as the proxy and not as Core', async () => {
    const refusing = await proxy({ answer: 403 });
    expect(await call(443, through(refusing.url))).toMatchObject({
      failure: { class: 'transient', code: 'proxy_refused', detail: '403' },
    });
    const gone = await proxy();
    await gone.close();
    open.pop();
    expect(await call(443, through(gone.url))).toMatchObject({ failure: { code: 'proxy_unreachable' } });
  });

  test('a proxy that never answers is given up in time', async () => {
    const via = await proxy({ silent: true });
    const clock = new FakeClock();
    const answer = call(443, through(via.url), clock);
    await expect.poll(() => via.asked.length).toBe(1);
    await clock.advance(10_000);
    expect(await answer).toMatchObject({ failure: { code: 'timeout' } });
  });

  test.each([
    ['of an unknown issuer', 'core.test', false, null, 'issuer is unknown'],
    ['that has expired', 'core.test', true, 'own', 'has expired'],
    ['for another host', 'other.test', false, 'own', 'not one for core.test'],
  ])('a certificate %s is refused in plain words', async (_what, name, expired, ca, words) => {
    const port = await core(authority.issue(name, expired));
    const via = await proxy();
    const answer = await call(port, through(via.url, null, ca === null ? null : authority.ca));
    expect(answer).toMatchObject({ failure: { code: 'tls' } });
    expect(sentence(answer)).toContain(words);
  });

  test.each([
    { type: 'text/html; charset=utf-8', body: '<h1>Welcome to our network</h1>' },
    { type: 'text/html', body: '', to: 'https://login.hotel.test/' },
  ])('a page in place of an answer is a network that wants a sign-in', async (page) => {
    const port = await core(authority.issue('core.test'), page);
    const via = await proxy();
    const answer = await call(port, through(via.url));
    expect(answer).toMatchObject({ failure: { class: 'attention', code: 'captive_portal' } });
    expect(sentence(answer)).toContain('wants a sign-in first');
  });
});

describe('the socket to Core', () => {
  const dial = (port: number, network: Network, said: string[] = []): ReturnType<typeof Socket.dial> =>
    Socket.dial({
      url: new URL(`wss://core.test:${port}/api/v1/agent-daemon/ws`),
      credential: 'a-bearer-for-core',
      userAgent: 'test',
      clock: systemClock,
      signal: new AbortController().signal,
      network,
      events: {
        onMessage: (data) => void said.push(data.toString('utf8')),
        onAlive: () => undefined,
        onClosed: () => undefined,
      },
    });

  test('goes through the tunnel, with and without a password', async () => {
    const port = await core(authority.issue('core.test'));
    for (const auth of [null, 'anna:secret']) {
      const via = await proxy(auth === null ? {} : { auth });
      const said: string[] = [];
      const dialed = await dial(port, through(via.url, auth), said);
      if (dialed.kind !== 'open') throw new Error(JSON.stringify(dialed));
      await expect.poll(() => said).toEqual(['hello']);
      expect(via.asked).toHaveLength(1);
      dialed.socket.close();
    }
  });

  test('tells a 407 and an unknown issuer apart', async () => {
    const port = await core(authority.issue('core.test'));
    const via = await proxy({ auth: 'anna:secret' });
    expect(await dial(port, through(via.url))).toMatchObject({ failure: { code: 'proxy_auth' } });
    expect(await dial(port, through(via.url, 'anna:secret', null))).toMatchObject({
      failure: { code: 'tls' },
    });
  });
});

describe('which proxy', () => {
  const environment = (vars: Record<string, string>) => ({
    platform: 'linux' as const,
    get: (name: string) => vars[name],
    all: () => vars,
  });
  const named = async (vars: Record<string, string>, url: string) =>
    (await environmentProxy(environment(vars))(new URL(url)))?.url ?? null;

  test('the environment names one, and the exceptions to it', async () => {
    const vars = { HTTPS_PROXY: 'http://proxy.test:3128', NO_PROXY: '.inner.test, plain.test:8443' };
    expect(await named(vars, 'https://core.test/')).toBe('http://proxy.test:3128');
    expect(await named(vars, 'wss://a.inner.test/')).toBeNull();
    expect(await named(vars, 'https://winner.test/')).toBe('http://proxy.test:3128');
    expect(await named(vars, 'https://plain.test:8443/')).toBeNull();
    expect(await named(vars, 'https://plain.test/')).toBe('http://proxy.test:3128');
    expect(await named({ ...vars, no_proxy: '*' }, 'https://core.test/')).toBeNull();
    expect(await named({}, 'https://core.test/')).toBeNull();
  });

  test('this machine is never reached through one', async () => {
    const network = through('http://127.0.0.1:1');
    const { signal } = new AbortController();
    for (const url of ['http://127.0.0.1:7/', 'ws://localhost:7/', 'https://localhost/', 'https://[::1]/'])
      expect((await network.routeFor(new URL(url), signal)).agent).toBe(false);
    expect((await network.routeFor(new URL('https://core.test/'), signal)).agent).not.toBe(false);
  });

  test('a system that does not say in time means the direct way', async () => {
    const clock = new FakeClock();
    const network = new Network(clock, () => new Promise(() => undefined));
    const route = network.routeFor(new URL('https://core.test/'), new AbortController().signal);
    await Promise.resolve();
    await Promise.resolve();
    await clock.advance(5_000);
    expect((await route).agent).toBe(false);
  });

  test('a list of a browser gives its first usable entry', () => {
    expect(fromProxyList('PROXY proxy.test:3128; DIRECT')?.url).toBe('http://proxy.test:3128');
    expect(fromProxyList('HTTPS proxy.test:443')?.url).toBe('https://proxy.test');
    expect(fromProxyList('SOCKS5 socks.test:1080; DIRECT')).toBeNull();
    expect(fromProxyList('DIRECT')).toBeNull();
  });

  test('an address is taken apart, and what is none is refused', () => {
    expect(proxyServer('http://anna:p%40ss@proxy.test:8080')).toEqual({
      url: 'http://proxy.test:8080',
      auth: 'anna:p@ss',
    });
    for (const bad of ['', 'ftp://proxy.test', 'http://proxy.test/path', 'http://'])
      expect(proxyServer(bad)).toBeNull();
  });
});
