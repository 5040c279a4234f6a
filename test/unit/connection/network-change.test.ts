import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { connectionView } from '../../../src/app/connection-words.ts';
import { livenessLimits } from '../../../src/connection/liveness.ts';
import { Link } from '../../../src/connection/link.ts';
import { transient, type Failure } from '../../../src/observe/failure.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { addressTick, watchAddresses } from '../../../src/platform/addresses.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { countingRandom } from '../../support/router-bed.ts';
import { until } from '../../support/workspace-bed.ts';

/** A machine whose way to Core goes and comes: without it nothing is dialled but what fails at once. */
class Way {
  readonly clock = new FakeClock();
  readonly sockets: WebSocket[] = [];
  /** Bootstraps that were tried. */
  tries = 0;
  gone: Failure | null = null;
  readonly link: Link;
  readonly #server: WebSocketServer;

  private constructor(server: WebSocketServer, port: number) {
    this.#server = server;
    server.on('connection', (socket) => this.sockets.push(socket));
    this.link = new Link({
      clock: this.clock,
      random: countingRandom(),
      logger: silentLogger,
      userAgent: 'test',
      deviceId: 'device',
      credential: () => Promise.resolve({ kind: 'ok', secret: 'secret' }),
      bootstrap: () => {
        this.tries++;
        return Promise.resolve(
          this.gone
            ? { kind: 'failed', failure: this.gone }
            : {
                kind: 'ok',
                url: new URL(`ws://127.0.0.1:${port}/`),
                deviceId: 'device',
                heartbeatMs: 15_000,
              },
        );
      },
      createRouter: () => ({
        receive: () => undefined,
        resumeOn: () => Promise.resolve(false),
        shutdown: () => Promise.resolve({ kind: 'settled' }),
      }),
      heartbeat: () => ({ ts: 0, active_requests: 0 }),
      onChange: () => undefined,
    });
  }

  static async open(): Promise<Way> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const address = server.address();
    return new Way(server, typeof address === 'object' && address ? address.port : 0);
  }

  get shown() {
    const { link } = this;
    return connectionView({
      state: link.state,
      lastReceivedAt: link.lastReceivedAt,
      checking: link.checking,
      blockers: 0,
      host: 'core.example.com',
    });
  }

  async close(): Promise<void> {
    const stopped = this.link.stop();
    await this.clock.advance(0);
    await stopped;
    this.link.dispose();
    for (const socket of this.sockets) socket.terminate();
    this.#server.close();
  }
}

let way: Way;
beforeEach(async () => {
  way = await Way.open();
});
afterEach(() => way.close());
const state = (name: string): Promise<void> => until(() => way.link.state.state === name, name);

describe('the network changes', () => {
  test('the way goes: it waits and says why; the way comes back: it dials at once, before its time', async () => {
    way.gone = transient('network', 'ENETUNREACH');
    way.link.start();
    await state('waiting');
    for (let time = 0; time < 5; time++) {
      await clockToNextTry();
      await state('waiting');
    }
    const tried = way.tries;
    expect(way.shown).toMatchObject({ state: 'waiting', reason_code: 'network' });
    expect(way.shown.next_attempt_at).not.toBeNull();
    way.gone = null;
    way.link.wake('network_changed');
    await state('serving');
    expect(way.tries).toBe(tried + 1);
    expect(way.sockets).toHaveLength(1);
  });

  test('a change that brings no way back tries once and waits again', async () => {
    way.gone = transient('network', 'ENETUNREACH');
    way.link.start();
    await state('waiting');
    const tried = way.tries;
    way.link.wake('network_changed');
    await until(() => way.tries === tried + 1, 'one try');
    await state('waiting');
    await way.clock.advance(0);
    expect(way.tries).toBe(tried + 1);
  });

  test('while connected Core is asked at once, and the view says what is looked at and since when', async () => {
    way.link.start();
    await state('serving');
    await way.clock.advance(60_000);
    const [socket] = way.sockets;
    const asked = socket ? once(socket, 'ping') : Promise.reject(new Error('no socket'));
    const now = way.clock.now();
    way.link.wake('network_changed');
    expect(way.shown).toMatchObject({
      state: 'serving',
      reason_code: 'network_changed',
      since: new Date(now).toISOString(),
    });
    await asked;
    await until(() => way.link.checking === null, 'the answer');
    expect(way.shown.reason_code).toBeNull();
    expect(way.sockets).toHaveLength(1);
  });

  test('a sleep says that it was one', async () => {
    way.link.start();
    await state('serving');
    way.link.wake();
    expect(way.shown.reason_code).toBe('woke');
  });

  test('what was stopped by a person stays so', async () => {
    way.link.wake('network_changed');
    await way.clock.advance(60_000);
    expect(way.link.state.state).toBe('stopped');
    expect(way.tries).toBe(0);
  });
});

describe('the clock is set', () => {
  const hour = 3_600_000;
  test.each([hour, -hour])('by %i ms while connected: Core is asked, the connection stays', async (by) => {
    way.link.start();
    await state('serving');
    const [socket] = way.sockets;
    const asked = socket ? once(socket, 'ping') : Promise.reject(new Error('no socket'));
    way.clock.jumpWall(by);
    await way.clock.advance(livenessLimits.tick);
    await asked;
    await until(() => way.link.checking === null, 'the answer');
    await way.clock.advance(livenessLimits.tick);
    expect(way.link.state.state).toBe('serving');
    expect(way.sockets).toHaveLength(1);
  });

  test.each([hour, -hour])('by %i ms while it waits: it tries at once, not an hour later', async (by) => {
    way.gone = transient('network', 'ENETUNREACH');
    way.link.start();
    await state('waiting');
    for (let time = 0; time < 5; time++) {
      await clockToNextTry();
      await state('waiting');
    }
    const tried = way.tries;
    way.clock.jumpWall(by);
    await way.clock.advance(livenessLimits.tick);
    await until(() => way.tries > tried, 'a try');
    await state('waiting');
    const { next_attempt_at: next } = way.shown;
    expect(Math.abs(Date.parse(next ?? '') - way.clock.now())).toBeLessThan(60_000);
  });

  test('a correction of a second is none of its business', async () => {
    way.link.start();
    await state('serving');
    way.clock.jumpWall(-1_000);
    await way.clock.advance(livenessLimits.tick);
    expect(way.link.checking).toBeNull();
    expect(way.shown.reason_code).toBeNull();
  });
});

async function clockToNextTry(): Promise<void> {
  const { state: now } = way.link;
  if (now.state === 'waiting') await way.clock.advance(now.until - way.clock.now());
}

describe('the addresses of this machine', () => {
  test('a change is told within one look; the loss of the last one is not, its return is', async () => {
    const clock = new FakeClock();
    let addresses = ['192.0.2.7'];
    let changes = 0;
    const stop = watchAddresses(
      clock,
      () => addresses,
      () => changes++,
    );
    await clock.advance(10 * addressTick);
    expect(changes).toBe(0);
    addresses = ['192.0.2.7', '198.51.100.3'];
    await clock.advance(addressTick);
    expect(changes).toBe(1);
    addresses = [];
    await clock.advance(3 * addressTick);
    expect(changes).toBe(1);
    addresses = ['192.0.2.7'];
    await clock.advance(addressTick);
    expect(changes).toBe(2);
    stop();
    addresses = ['203.0.113.1'];
    await clock.advance(3 * addressTick);
    expect(changes).toBe(2);
    expect(clock.pending).toBe(0);
  });
});
