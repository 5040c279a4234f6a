import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { playCore, type CoreSubject } from '../../../src/conformance/core-player.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { WIRE_VERSION } from '../../../src/protocol/version.ts';
import { allScenarios } from '../../support/scenario-files.ts';

/** A Core that admits everybody and starts before anything is ready: the replay has to notice. */
let server: Server;
let subject: CoreSubject;

const configuration = {
  agent_kind: 'contract',
  conversation_id: '',
  run_id: '',
  agent_state_key: 'agents-api-s',
  strict_resume: true,
  disable_execution_environment: true,
};

function actCarelessly(socket: WebSocket): void {
  const send = (frame: unknown): void => socket.send(JSON.stringify(frame));
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString('utf8')) as { type: string; payload: { state?: string } };
    if (frame.type === 'heartbeat')
      send({ type: 'execution_prepare', id: 'p', payload: { session_id: 's', configuration } });
    if (frame.payload.state === 'preparing') {
      const input = [{ content: [{ type: 'input_text', text: 'x' }] }];
      send({
        type: 'execution_start',
        id: 'p',
        payload: { executor_id: 'guess', handle: 'guess', run_id: 'r', input },
      });
    }
  });
}

beforeEach(async () => {
  const sockets = new WebSocketServer({ noServer: true });
  server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ device_id: 'd', ws_url: '', heartbeat_seconds: 15, protocol_version: WIRE_VERSION }),
    );
  });
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, actCarelessly),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  subject = {
    clock: systemClock,
    address: { url: `http://127.0.0.1:${port}/api/v1`, deviceId: 'd', credential: 'c' },
    kind: 'contract',
    control: null,
    patience: 500,
  };
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function scenario(name: string) {
  const found = allScenarios.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no scenario ${name}`);
  return found;
}

describe('the replay against a careless Core', () => {
  test('a version that is not refused fails the scenario', async () => {
    expect(await playCore(scenario('w4-other-wire-versions-are-refused'), subject)).toMatchObject({
      kind: 'failed',
      why: 'admitted a socket dialed with {"version":"0.7.0"}',
    });
  });

  test('a start before ready, with a handle nobody gave, fails the scenario', async () => {
    expect(await playCore(scenario('w1-cancel-answers-only-after-settlement'), subject)).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('execution_start.executor_id: expected "executor", got "guess"'),
    });
  });
});
