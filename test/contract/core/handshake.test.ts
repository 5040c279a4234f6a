import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { Gateway } from '../../../src/core/gateway.ts';
import { routeError } from '../../../src/core/http-routes.ts';
import { WIRE_VERSION } from '../../../src/protocol/version.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { RawRuntime } from '../../support/raw-runtime.ts';

const credential = 'synthetic-contract-credential';
let gateway: Gateway;
let connections = 0;

beforeEach(async () => {
  connections = 0;
  gateway = new Gateway({ clock: new FakeClock(), observer: { connected: () => void connections++ } });
  gateway.registerDevice('runtime', credential);
  await gateway.listen();
});
afterEach(() => gateway.close());

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, unknown>;
}

function call(options: {
  method?: string;
  path: string;
  bearer?: string;
  body?: string;
  upgrade?: boolean;
}): Promise<Answer> {
  const url = new URL(gateway.coreUrl);
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: url.hostname,
        port: url.port,
        method: options.method ?? 'GET',
        path: `/api/v1/agent-daemon/${options.path}`,
        headers: {
          ...(options.bearer === undefined ? {} : { authorization: options.bearer }),
          ...(options.upgrade ? upgrade : {}),
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text), headers: response.headers }),
        );
      },
    );
    call.on('upgrade', (_, socket) => {
      socket.destroy();
      resolve({ status: 101, body: undefined, headers: {} });
    });
    call.on('error', reject);
    call.end(options.body);
  });
}

const good = `Bearer ${credential}`;

describe('bootstrap', () => {
  const bootstrap = (body: string, bearer?: string) =>
    call({ method: 'POST', path: 'bootstrap', body, ...(bearer === undefined ? {} : { bearer }) });
  test('tells where to dial, how often to send heartbeats and the wire version', async () => {
    const answer = await bootstrap('{"device_id":"runtime"}', good);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      device_id: 'runtime',
      workspace_id: 'local',
      ws_url: gateway.socketUrl,
      heartbeat_seconds: 15,
      protocol_version: WIRE_VERSION,
    });
    expect(answer.headers['cache-control']).toBe('no-store');
  });
  test.each([
    ['no JSON', '{', good, 400, 'bad_json'],
    ['another shape', '{"device_id":4}', good, 400, 'bad_json'],
    ['too much', `{"device_id":"${'x'.repeat(20_000)}"}`, good, 400, 'bad_json'],
    ['no device', '{}', good, 400, 'missing_device_id'],
    ['no bearer', '{"device_id":"runtime"}', undefined, 401, 'missing_bearer'],
    ['another scheme', '{"device_id":"runtime"}', `bearer ${credential}`, 401, 'missing_bearer'],
    ['an unknown device', '{"device_id":"other"}', good, 401, 'unknown_device'],
    ['a wrong credential', '{"device_id":"runtime"}', 'Bearer wrong', 401, 'bad_credential'],
  ])('with %s is refused', async (_, body, bearer, status, error) => {
    const answer = await bootstrap(body, bearer);
    expect(answer).toMatchObject({ status, body: { error } });
    expect(JSON.stringify(answer.body)).not.toContain(credential);
  });
  test('takes POST alone', async () => {
    expect(await call({ path: 'bootstrap', bearer: good })).toMatchObject({
      status: 405,
      body: { error: 'method_not_allowed' },
    });
  });
});

test('device status says whether the device is connected', async () => {
  const status = () => call({ path: 'device-status?device_id=runtime', bearer: good });
  expect((await status()).body).toEqual({ device_id: 'runtime', online: false, owner: null });
  await RawRuntime.connect({ url: gateway.socketUrl, deviceId: 'runtime', credential });
  expect((await status()).body).toEqual({ device_id: 'runtime', online: true, owner: null });
  expect(await call({ path: 'device-status', bearer: good })).toMatchObject({ status: 400 });
  expect(await call({ path: 'elsewhere', bearer: good })).toMatchObject({ status: 404 });
});

describe('the upgrade', () => {
  const upgrade = (query: string, bearer: string | undefined) =>
    call({ path: `ws${query}`, upgrade: true, ...(bearer === undefined ? {} : { bearer }) });
  test.each([
    ['nothing', '', undefined, 400, 'missing_params'],
    ['no device', `?version=${WIRE_VERSION}`, good, 400, 'missing_params'],
    ['no version', '?device_id=runtime', good, 400, 'missing_params'],
    ['no bearer, before the version', '?device_id=runtime&version=0.0.0', undefined, 400, 'missing_params'],
    [
      'another version, before the credential',
      '?device_id=runtime&version=0.0.0',
      'Bearer wrong',
      426,
      'incompatible_version',
    ],
    ['an unknown device', `?device_id=other&version=${WIRE_VERSION}`, good, 401, 'unknown_device'],
    [
      'a wrong credential',
      `?device_id=runtime&version=${WIRE_VERSION}`,
      'Bearer wrong',
      401,
      'bad_credential',
    ],
  ])('with %s is refused', async (_, query, bearer, status, error) => {
    expect(await upgrade(query, bearer)).toMatchObject({
      status,
      body: { error, detail: expect.any(String) },
    });
    expect(connections).toBe(0);
  });
  // W4: only the exact version is taken, and nothing is registered for another one.
  test.each(['0.7.0', '0.8.99', '0.8.', `${WIRE_VERSION}-dev`, `${WIRE_VERSION}+build`])(
    'with version %s is refused before any dispatch',
    async (version) => {
      expect(await upgrade(`?device_id=runtime&version=${encodeURIComponent(version)}`, good)).toMatchObject({
        status: 426,
        body: { error: 'incompatible_version' },
      });
      expect(connections).toBe(0);
      expect(gateway.connection('runtime')).toBeUndefined();
    },
  );
  test('with everything right opens a connection', async () => {
    expect((await upgrade(`?device_id=runtime&version=${WIRE_VERSION}`, good)).status).toBe(101);
    expect(connections).toBe(1);
  });
  test('is refused as a test wants it', async () => {
    const scripted = new Gateway({
      clock: new FakeClock(),
      refuse: () => routeError(503, 'bootstrap_unavailable'),
    });
    scripted.registerDevice('runtime', credential);
    await scripted.listen();
    await expect(
      RawRuntime.connect({ url: scripted.socketUrl, deviceId: 'runtime', credential }),
    ).rejects.toThrow('503');
    await scripted.close();
  });
  test('takes a new credential and no longer the old one', async () => {
    gateway.registerDevice('runtime', 'rotated');
    expect((await upgrade(`?device_id=runtime&version=${WIRE_VERSION}`, good)).status).toBe(401);
    expect((await upgrade(`?device_id=runtime&version=${WIRE_VERSION}`, 'Bearer rotated')).status).toBe(101);
  });
});
