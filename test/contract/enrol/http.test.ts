import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { askConnected, enroll } from '../../../src/enrol/machine-calls.ts';
import { callMachine, callTimeout, type MachineAnswer } from '../../../src/enrol/machine-http.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { environmentId } from '../../support/enrol-bed.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const bearer = 'canary-bearer-0123456789';
let server: Server;
let handle: (request: IncomingMessage, response: ServerResponse) => void;
let arrived: IncomingMessage[];

beforeEach(async () => {
  arrived = [];
  server = createServer((request, response) => {
    arrived.push(request);
    response.on('error', () => undefined);
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const coreUrl = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
const call = (over: Partial<Parameters<typeof callMachine>[0]> = {}): Promise<MachineAnswer> =>
  callMachine({
    method: 'POST',
    coreUrl: coreUrl(),
    path: 'agent-daemon/enroll',
    bearer,
    body: { environment_id: environmentId },
    cap: 100,
    userAgent: 'agent-runtime/1',
    clock: systemClock,
    ...over,
  });
const code = (answer: MachineAnswer): string => (answer.kind === 'failed' ? answer.failure.code : 'answered');

describe('the one door to Core', () => {
  test('sends the bearer in its header alone, with who asks and how much is said', async () => {
    handle = (request, response) => {
      request.resume();
      response.end('{}');
    };
    expect(await call()).toEqual({ kind: 'answer', status: 200, body: '{}' });
    const [request] = arrived;
    expect(request?.url).toBe('/api/v1/agent-daemon/enroll');
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${bearer}`,
      'user-agent': 'agent-runtime/1',
      'content-type': 'application/json',
      connection: 'close',
    });
    expect(JSON.stringify({ ...request?.headers, authorization: '' }) + request?.url).not.toContain(bearer);
  });

  test('a redirect is an answer: nothing is sent to where it leads', async () => {
    let second = 0;
    const elsewhere = createServer(() => (second += 1));
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
    for (const status of [301, 302, 303, 307, 308]) {
      handle = (_request, response) => response.writeHead(status, { location }).end();
      expect(await enroll({ coreUrl: coreUrl(), environmentId, secret: bearer }, ports())).toMatchObject({
        kind: 'failed',
        failure: { class: 'attention', detail: String(status) },
      });
    }
    expect(second).toBe(0);
    elsewhere.close();
  });

  test('an answer past its cap is none, and the rest is not waited for', async () => {
    handle = (_request, response) => {
      response.write('x'.repeat(101));
    };
    expect(code(await call())).toBe('bad_answer');
    handle = (_request, response) => void response.end('x'.repeat(100));
    expect(code(await call())).toBe('answered');
  });

  test('a peer that drips its answer is given up after ten seconds in all', async () => {
    const clock = new FakeClock();
    let dripped: () => void = () => undefined;
    const first = new Promise<void>((resolve) => (dripped = resolve));
    handle = (_request, response) => {
      response.write('x');
      dripped();
    };
    const answer = call({ clock });
    await first;
    await clock.advance(callTimeout - 1);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect(code(await answer)).toBe('timeout');
  });

  test('whoever gives up waiting ends the call, also before it began', async () => {
    handle = () => undefined;
    const abort = new AbortController();
    const answer = call({ signal: abort.signal });
    abort.abort();
    expect(code(await answer)).not.toBe('answered');
    expect(code(await call({ signal: abort.signal }))).not.toBe('answered');
  });

  test('a bearer that no header can carry, or an address that is none, is a failure and no crash', async () => {
    expect(code(await call({ bearer: 'a\nb' }))).toBe('network');
    expect(code(await call({ coreUrl: 'nothing' }))).toBe('network');
    expect(arrived).toEqual([]);
  });

  test('a peer that hangs up in the middle is a failure', async () => {
    handle = (_request, response) => {
      response.writeHead(200, { 'content-length': '50' });
      response.write('x');
      response.socket?.destroy();
    };
    expect(code(await call())).toBe('network');
  });
});

describe('the question whether Core sees the key', () => {
  test('is one GET with one parameter and no body', async () => {
    handle = (_request, response) =>
      void response.end(JSON.stringify({ environment_id: environmentId, status: 'connected' }));
    expect(await askConnected({ coreUrl: coreUrl(), environmentId, secret: bearer }, ports())).toEqual({
      kind: 'ok',
      connected: true,
    });
    expect(arrived[0]?.method).toBe('GET');
    expect(arrived[0]?.url).toBe(`/api/v1/agent-daemon/connection?environment_id=${environmentId}`);
    expect(arrived[0]?.headers['content-length']).toBeUndefined();
  });

  test.each([
    [
      'of another Environment',
      200,
      { environment_id: '92ea7b07-1c1f-4eb1-b222-b335f2123ed8', status: 'connected' },
    ],
    ['with another word', 200, { environment_id: environmentId, status: 'yes' }],
    [
      'longer than 4 KiB',
      200,
      { environment_id: environmentId, status: 'connected', more: 'x'.repeat(5_000) },
    ],
    ['that refuses', 401, {}],
  ])('an answer %s is no yes', async (_name, status, body) => {
    handle = (_request, response) => void response.writeHead(status).end(JSON.stringify(body));
    const asked = await askConnected({ coreUrl: coreUrl(), environmentId, secret: bearer }, ports());
    expect(asked.kind).toBe('failed');
  });
});

const ports = (): { clock: typeof systemClock; userAgent: string } => ({
  clock: systemClock,
  userAgent: 'agent-runtime/1',
});
