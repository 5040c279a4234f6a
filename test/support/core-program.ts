import { createServer } from 'node:http';
import { LocalCoreControl } from './local-core-control.ts';
import { operatorStep } from '../../src/conformance/scenario.ts';
import { systemClock } from '../../src/platform/clock.ts';

/**
 * A local Core as a program of its own, for whoever replays scenarios against a Core from outside. It prints one line
 * with its address and a door by which an operator program makes it act.
 */
const control = await LocalCoreControl.open({ clock: systemClock });
const door = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const step = operatorStep.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    void control.operate(step).then((wrong) => {
      response.writeHead(wrong === null ? 200 : 409);
      response.end(wrong ?? '');
    });
  });
});
door.listen(0, '127.0.0.1', () => {
  const address = door.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { url, deviceId, credential } = control.subject.address;
  process.stdout.write(
    `${JSON.stringify({ url, deviceId, credential, door: `http://127.0.0.1:${port}` })}\n`,
  );
});
process.once('SIGTERM', () => process.exit(0));
