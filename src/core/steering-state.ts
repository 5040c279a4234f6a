import {
  retryableSteeringCodes,
  type PromptSteerAckPayload,
  type SteeringCode,
} from '../protocol/steering.ts';

/**
 * Active inputs of one Turn at Core, as a pure function (runtime-behaviour 7.2): one at a time, in order. Written is
 * not accepted; an input whose fate is unknown stays unknown, is never sent again, and nothing is sent behind it.
 */
export const steerStates = [
  'waiting',
  'sent',
  'written',
  'accepted',
  'rejected',
  'unknown',
  'not_sent',
] as const;
export type SteerState = (typeof steerStates)[number];

export interface SteerInput {
  /** Decimal sequence, from 1. */
  readonly inputId: string;
  readonly text: string;
  readonly state: SteerState;
  /** Why it was rejected or is unknown. */
  readonly code: string | undefined;
}

export type SteeringEvent =
  | { readonly type: 'submit'; readonly text: string }
  /** The Run can take input, or a retry is due. */
  | { readonly type: 'poll' }
  | { readonly type: 'ack'; readonly ack: PromptSteerAckPayload }
  | { readonly type: 'send_failed'; readonly inputId: string }
  | { readonly type: 'written_timeout'; readonly inputId: string }
  | { readonly type: 'over' };

export type SteeringEffect =
  { readonly type: 'send'; readonly input: SteerInput } | { readonly type: 'retry_later' };

export interface SteeringStep {
  readonly inputs: readonly SteerInput[];
  readonly effects: readonly SteeringEffect[];
}

/** `ready` says whether the Run takes input now; until then inputs wait. */
export function steeringStep(
  inputs: readonly SteerInput[],
  event: SteeringEvent,
  ready: boolean,
): SteeringStep {
  switch (event.type) {
    case 'submit': {
      const inputId = String(inputs.length + 1);
      return sendNext([...inputs, { inputId, text: event.text, state: 'waiting', code: undefined }], ready);
    }
    case 'poll':
      return sendNext(inputs, ready);
    case 'ack':
      return acknowledged(inputs, event.ack, ready);
    case 'send_failed':
      return { inputs: settle(inputs, event.inputId, ['sent'], 'not_sent', 'not_sent'), effects: [] };
    case 'written_timeout':
      return {
        inputs: settle(inputs, event.inputId, ['sent'], 'unknown', 'input_outcome_unknown'),
        effects: [],
      };
    case 'over':
      return { inputs: inputs.map(atTheEnd), effects: [] };
  }
}

function acknowledged(
  inputs: readonly SteerInput[],
  ack: PromptSteerAckPayload,
  ready: boolean,
): SteeringStep {
  const pending = inputs.find((input) => input.inputId === ack.input_id);
  if (!pending || (pending.state !== 'sent' && pending.state !== 'written')) return { inputs, effects: [] };
  const become = (state: SteerState, code?: string): readonly SteerInput[] =>
    inputs.map((input) => (input === pending ? { ...input, state, code } : input));
  if (ack.accepted) return sendNext(become('accepted'), ready);
  if (ack.written) return { inputs: become('written'), effects: [] };
  const code = ack.error_code ?? 'rejected';
  if (code === 'in_flight') return { inputs, effects: [] };
  if (isRetryable(code) && pending.state === 'sent')
    return { inputs: become('waiting'), effects: [{ type: 'retry_later' }] };
  if (code === 'outcome_unknown') return { inputs: become('unknown', code), effects: [] };
  return sendNext(become('rejected', code), ready);
}

const isRetryable = (code: string): code is SteeringCode =>
  retryableSteeringCodes.some((known) => known === code);

/** Sends the first waiting input when everything before it is settled. */
function sendNext(inputs: readonly SteerInput[], ready: boolean): SteeringStep {
  if (!ready) return { inputs, effects: [] };
  const next = inputs.find((input) => input.state !== 'accepted' && input.state !== 'rejected');
  if (next?.state !== 'waiting') return { inputs, effects: [] };
  const sent: SteerInput = { ...next, state: 'sent' };
  return {
    inputs: inputs.map((input) => (input === next ? sent : input)),
    effects: [{ type: 'send', input: sent }],
  };
}

function settle(
  inputs: readonly SteerInput[],
  inputId: string,
  from: readonly SteerState[],
  state: SteerState,
  code: string,
): readonly SteerInput[] {
  return inputs.map((input) =>
    input.inputId === inputId && from.includes(input.state) ? { ...input, state, code } : input,
  );
}

/** The Turn is over: what was never sent is known not to have happened, what was sent without an answer is not. */
function atTheEnd(input: SteerInput): SteerInput {
  if (input.state === 'waiting') return { ...input, state: 'not_sent', code: 'run_inactive' };
  if (input.state === 'sent' || input.state === 'written')
    return { ...input, state: 'unknown', code: 'run_inactive' };
  return input;
}
