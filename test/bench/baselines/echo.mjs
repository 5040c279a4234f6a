// A bare socket that answers each frame with a small one.
import { WebSocket } from 'ws';

const ws = new WebSocket(process.argv[2], { perMessageDeflate: false });
ws.on('message', (data) => {
  const { id } = JSON.parse(String(data));
  ws.send(
    JSON.stringify({
      type: 'interaction_decision_ack',
      id,
      payload: { delivery_id: id, applied: false, error_code: 'run_inactive' },
    }),
  );
});
ws.on('close', () => process.exit(0));
