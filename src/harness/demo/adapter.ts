import type { CloseResult } from '../../ownership/owned.ts';
import { closed } from '../../ownership/owned.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import { declareCapabilities } from '../../protocol/capabilities.ts';
import type { ExecutionConfiguration } from '../../protocol/execution.ts';
import { hasImages, type MessageInput } from '../../protocol/message-input.ts';
import type {
  Executor,
  HarnessAdapter,
  PrepareOutcome,
  PrepareRequest,
  Probe,
  StartOutcome,
  TurnOutput,
} from '../adapter.ts';
import { DemoTurn } from './turn.ts';

/**
 * What a script without a model can honestly say of itself. Web search, sub-agents and code that calls tools are off
 * because there are none. It measures no usage and remembers nothing from Turn to Turn.
 */
export const demoCapabilities = declareCapabilities([
  'streaming',
  'permissions',
  'steering',
  'durable_input_receipts',
  'durable_turns',
  'preparation',
  'message_items',
  'tool_observations',
  'execution_controls',
  'programmatic_tool_calling_disable',
  'environment_none',
  'local_environment',
  'subagent_control',
]);

export const DEMO_NOTE =
  'A demo without a model: it streams text, asks one question and one permission, and writes one file.';

export interface DemoPorts {
  readonly clock: Clock;
  readonly random: Random;
}

/** The Harness that is always there: no program, no model, no sign-in. */
export class DemoAdapter implements HarnessAdapter {
  readonly name = 'Demo';
  readonly kind: string;
  readonly #ports: DemoPorts;

  constructor(ports: DemoPorts, kind: string) {
    this.#ports = ports;
    this.kind = kind;
  }

  probe(): Promise<Probe> {
    return Promise.resolve({
      available: true,
      version: null,
      reason: DEMO_NOTE,
      capabilities: demoCapabilities,
    });
  }

  prepare(request: PrepareRequest): Promise<PrepareOutcome> {
    const problem = unsupported(request.configuration);
    if (problem !== null) return Promise.resolve({ kind: 'failed', message: problem });
    return Promise.resolve({ kind: 'ready', executor: new DemoExecutor(this.#ports, request) });
  }
}

function unsupported(configuration: ExecutionConfiguration): string | null {
  const controls = configuration.execution_controls;
  if (
    controls &&
    (controls.web_search !== 'disabled' || controls.text_verbosity !== 'medium' || controls.output_format)
  )
    return 'The demo has no web search, one length of text and no structured output.';
  if (
    configuration.function_tools?.length ||
    configuration.mcp_http_servers?.length ||
    configuration.tool_search ||
    configuration.observe_subagent_identities
  )
    return 'The demo uses no functions and no MCP servers.';
  if (configuration.require_existing_native_session && !configuration.agent_session_id)
    return 'The demo cannot find an earlier conversation.';
  if (configuration.agent_session_id && !configuration.agent_session_id.startsWith('demo-'))
    return 'The earlier conversation of this Session is not one of the demo.';
  return null;
}

class DemoExecutor implements Executor {
  readonly nativeSessionId: string;
  /** There is no process that could break. */
  readonly broken = new Promise<string>(() => undefined);
  readonly #ports: DemoPorts;
  readonly #request: PrepareRequest;
  #turn: DemoTurn | null = null;
  #closed = false;

  constructor(ports: DemoPorts, request: PrepareRequest) {
    this.#ports = ports;
    this.#request = request;
    this.nativeSessionId = request.configuration.agent_session_id || `demo-${ports.random.uuid()}`;
  }

  startTurn(_runId: string, input: MessageInput, output: TurnOutput): Promise<StartOutcome> {
    const refuse = (message: string): Promise<StartOutcome> => Promise.resolve({ kind: 'no_turn', message });
    if (this.#closed) return refuse('The demo was ended.');
    if (this.#turn && !this.#turn.settled) return refuse('The demo is still busy.');
    if (hasImages(input)) return refuse('The demo cannot look at images.');
    const { configuration } = this.#request;
    this.#turn = new DemoTurn({
      ...this.#ports,
      output,
      workspace: configuration.disable_execution_environment ? null : this.#request.workspace,
      sessionId: this.nativeSessionId,
      observeMessages: configuration.observe_messages === true,
      observeTools: configuration.observe_tool_observations === true,
    });
    return Promise.resolve({ kind: 'turn', turn: this.#turn });
  }

  async close(): Promise<CloseResult> {
    this.#closed = true;
    await this.#turn?.cancel();
    await this.#turn?.settlement();
    return closed;
  }
}
