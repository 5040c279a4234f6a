// node careless-runtime.mjs BOOTSTRAP_FILE: a Runtime with faults of every family, for tests of the conformance command.
// It knows nothing of our code: what the command finds, it finds on the wire.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { WebSocket } = createRequire(import.meta.url)('ws');
const file = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const names =
  'subagent_observations streaming permissions usage resume native_session_recovery workspace_authoring steering message_items tool_observations environment_none local_environment preparation workspace_read_preparation workspace_output_export programmatic_tool_calling_disable web_search_control execution_controls text_verbosity structured_output tool_search message_images function_result_images subagent_control durable_input_receipts durable_turns function_tools mcp_http_tools mcp_http_required mcp_http_bearer_auth'.split(
    ' ',
  );
const capabilities = Object.fromEntries(names.map((name) => [name, name !== 'workspace_read_preparation']));

const answer = await fetch(`${file.core_url}/agent-daemon/bootstrap`, {
  method: 'POST',
  headers: { authorization: `Bearer ${file.credential}`, 'content-type': 'application/json' },
  body: JSON.stringify({ device_id: file.device_id }),
});
const { ws_url } = await answer.json();
dial();

function dial() {
  const url = `${ws_url}?device_id=${file.device_id}&version=${file.version}`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${file.credential}` } });
  const send = (type, id, payload) => socket.send(JSON.stringify({ type, id, payload }));
  socket.on('open', () =>
    socket.send(
      JSON.stringify({
        type: 'heartbeat',
        payload: {
          ts: 1,
          active_requests: 0,
          supported_agent_kinds: [{ kind: 'contract', available: true, capabilities }],
        },
      }),
    ),
  );
  socket.on('message', (data) => {
    const { type, id, payload = {} } = JSON.parse(data.toString());
    const status = (more) =>
      send('preparation_status', id, {
        executor_id: 'e',
        handle: 'h',
        expires_at: 1_900_000_000_000,
        ...more,
      });
    switch (type) {
      case 'execution_prepare':
        status({ revision: 1, state: 'preparing' });
        status({ revision: 2, state: 'ready' });
        return;
      case 'execution_start':
        status({ revision: 3, state: 'starting', run_id: payload.run_id });
        status({ revision: 4, state: 'started', run_id: payload.run_id });
        return;
      case 'execution_release':
        // A revision that does not rise.
        status({ revision: 2, state: 'released' });
        return;
      case 'prompt_cancel':
        // The receipt before done.
        send('interaction_decision_ack', id, {
          delivery_id: payload.delivery_id,
          applied: true,
          outcome: { content: '' },
        });
        send('done', id, { content: '' });
        return;
      case 'prompt_steer':
        // Zero values that are to be left out.
        send('prompt_steer_ack', id, {
          input_id: payload.input_id,
          accepted: false,
          written: false,
          error_code: 'run_inactive',
        });
        return;
    }
  });
  // It never takes a refusal as final.
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(dial, 200));
}
