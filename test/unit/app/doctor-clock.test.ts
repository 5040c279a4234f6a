import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { clockCheck } from '../../../src/app/doctor-clock.ts';
import { directNetwork } from '../../support/direct-network.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const time = Date.UTC(2026, 10, 27, 14, 31, 0);
let core: Server;
let date: string | null;
let silent: boolean;
let seen: string[];
let address: string;

beforeEach(async () => {
  date = new Date(time).toUTCString();
  silent = false;
  seen = [];
  core = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? 'nobody'}`);
    response.sendDate = false;
    if (date !== null) response.setHeader('Date', date);
    if (!silent) response.writeHead(401).end();
  });
  await new Promise<void>((done) => core.listen(0, '127.0.0.1', done));
  address = `127.0.0.1:${(core.address() as AddressInfo).port}`;
});
afterEach(async () => {
  core.closeAllConnections();
  await new Promise((done) => core.close(done));
});

const check = (now: number, clock = new FakeClock(now)) =>
  clockCheck({ clock, network: directNetwork() }, [`http://${address}/api/v1`]);

test('a clock that agrees to a minute is well, and nobody says who asks', async () => {
  expect(await check(time + 20_000)).toEqual({
    ...{ name: 'Clock', ok: true, next: null },
    text: `It agrees with ${address}, to a minute.`,
  });
  expect(seen).toEqual(['HEAD /api/v1 nobody']);
});

test.each([
  [11 * 60_000, 'It is 11 minutes ahead of {core}.'],
  [-60_000, 'It is 1 minute behind {core}.'],
  [-3 * 3_600_000, 'It is 180 minutes behind {core}.'],
])('one that is %i ms off is told, with what to do', async (off, text) => {
  expect(await check(time + off)).toEqual({
    ...{ name: 'Clock', ok: true, level: 'warn', text: text.replace('{core}', address) },
    next: 'Deadlines may look wrong. Turn on automatic time in the system settings, then check again.',
  });
});

test('a Core that gives no time, no answer or no connection is no fault of the clock', async () => {
  const unknown = { name: 'Clock', ok: true, text: `What time ${address} has could not be learnt.` };
  date = 'once upon a time';
  expect(await check(time)).toMatchObject(unknown);
  silent = true;
  const clock = new FakeClock(time);
  const asked = check(time, clock);
  await expect.poll(() => seen.length).toBe(2);
  await clock.advance(5_000);
  expect(await asked).toMatchObject(unknown);
  core.closeAllConnections();
  await new Promise((done) => core.close(done));
  expect(await check(time)).toMatchObject(unknown);
  core.listen(0);
});

test('without a Core there is nothing to measure against', async () => {
  const clock = new FakeClock(time);
  expect(await clockCheck({ clock, network: directNetwork() }, [])).toBeNull();
  expect(await clockCheck({ clock, network: null }, ['https://core.example.com'])).toBeNull();
});
