import type { Frame } from '../protocol/codec.ts';
import { CORE_RUN_BUFFER_FRAMES } from '../protocol/limits.ts';
import type { RuntimeFrameType } from '../protocol/registry.ts';
import { BoundedStream, type Observation, type ObservationEnd } from './bounded-stream.ts';

/** Frames that belong to a Run: its output, its requests to a person and the receipts of its active input. */
export const runFrameTypes = [
  'delta',
  'thinking',
  'output_message',
  'tool_call',
  'command_output',
  'usage',
  'error',
  'done',
  'function_call',
  'permission_request',
  'permission_cancel',
  'prompt_for_user_choice',
  'prompt_steer_ack',
  'subagent_identity',
  'subagent_lifecycle',
  'subagent_turn',
  'subagent_item',
  'subagent_coordination',
] as const satisfies readonly RuntimeFrameType[];
export type RunFrame = Frame<(typeof runFrameTypes)[number]>;

const names: ReadonlySet<string> = new Set(runFrameTypes);
export const isRunFrame = (frame: Frame): frame is RunFrame => names.has(frame.type);

/**
 * Everything a Run says, in order. `done` closes it and later frames of the Run are dropped; losing the connection or
 * falling behind closes it with the reason and no invented end.
 */
export class RunSubscription {
  readonly #stream: BoundedStream<RunFrame>;

  constructor(onEnd: () => void) {
    this.#stream = new BoundedStream(CORE_RUN_BUFFER_FRAMES, onEnd);
  }

  offer(frame: RunFrame): void {
    this.#stream.push(frame);
    if (frame.type === 'done') this.#stream.end('complete');
  }

  next(): Promise<Observation<RunFrame>> {
    return this.#stream.next();
  }

  end(end: ObservationEnd): void {
    this.#stream.end(end);
  }
}
