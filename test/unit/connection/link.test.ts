import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { Link } from '../../../src/connection/link.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { countingRandom } from '../../support/router-bed.ts';
import { until } from '../../support/workspace-bed.ts';

test('nothing is dialed beside what the lost connection still owns, and what blocks is named', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const sockets: WebSocket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  const clock = new FakeClock();
  let owned = true;
  let asked = 0;
  const link = new Link({
    clock,
    random: countingRandom(),
    logger: silentLogger,
    userAgent: 'test',
    deviceId: 'device',
    credential: () => Promise.resolve({ kind: 'ok', secret: 'secret' }),
    bootstrap: () =>
      Promise.resolve({
        kind: 'ok',
        url: new URL(`ws://127.0.0.1:${port}/`),
        deviceId: 'device',
        heartbeatMs: 15_000,
      }),
    createRouter: () => ({
      receive: () => undefined,
      resumeOn: () => Promise.resolve(false),
      shutdown: () => {
        asked++;
        return Promise.resolve(owned ? { kind: 'unsettled', blockers: ['executor-1'] } : { kind: 'settled' });
      },
    }),
    heartbeat: () => ({ ts: 0, active_requests: 0 }),
    onChange: () => undefined,
  });
  try {
    link.start();
    await until(() => link.state.state === 'serving', 'the link to serve');
    sockets[0]?.terminate();
    await until(() => link.state.state === 'settling', 'the loss to be seen');
    await clock.advance(60_000);
    expect(link.state.state).toBe('settling');
    expect(link.blockers).toEqual(['executor-1']);
    expect(sockets).toHaveLength(1);
    expect(asked).toBeGreaterThan(10);
    owned = false;
    await clock.advance(1_000);
    await until(() => link.state.state === 'waiting', 'the settlement');
    expect(link.blockers).toEqual([]);
    await clock.advance(60_000);
    await until(() => link.state.state === 'serving', 'the next connection');
    expect(sockets).toHaveLength(2);
    const stopped = link.stop();
    await clock.advance(0);
    await stopped;
  } finally {
    link.dispose();
    for (const socket of sockets) socket.terminate();
    server.close();
  }
});
