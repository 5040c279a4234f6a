/**
 * Which of a Turn's messages the program has taken, as a pure table. One Turn may write several messages (its opening
 * input and active input), and the program may run them in one native turn or in several; the Turn is over when it
 * is proven for every message that it was consumed and its native turn ended, or that it will never run.
 *
 *   written -> queued -> started -> over       a result named it
 *   written | queued -> cancelled              taken out of the queue, will never run
 *
 * `ended` lies between `started` and `over`: the program is done with the message, its native turn is still to end.
 */
export type InputState = 'written' | 'queued' | 'started' | 'ended' | 'over' | 'cancelled';

export type Inputs = ReadonlyMap<string, InputState>;

export type InputEvent =
  | { readonly type: 'written'; readonly uuids: readonly string[] }
  /** `command_lifecycle` of one message. */
  | { readonly type: 'lifecycle'; readonly uuid: string; readonly state: string }
  /** A native turn ended. Null: the program does not say which messages it was about. */
  | { readonly type: 'result'; readonly uuids: readonly string[] | null }
  /** Named by the answer to an interrupt. */
  | { readonly type: 'cancelled'; readonly uuids: readonly string[] };

export const noInputs: Inputs = new Map();

export function stepInputs(inputs: Inputs, event: InputEvent): Inputs {
  const next = new Map(inputs);
  switch (event.type) {
    case 'written':
      for (const uuid of event.uuids) next.set(uuid, 'written');
      return next;
    case 'lifecycle': {
      const before = inputs.get(event.uuid);
      if (before) next.set(event.uuid, afterLifecycle(before, event.state));
      return next;
    }
    case 'result':
      for (const [uuid, state] of inputs) {
        if (state === 'cancelled') continue;
        const named = event.uuids?.includes(uuid) ?? state === 'started';
        if (named || state === 'ended') next.set(uuid, 'over');
      }
      return next;
    case 'cancelled':
      for (const uuid of event.uuids) {
        const before = inputs.get(uuid);
        if (before === 'written' || before === 'queued') next.set(uuid, 'cancelled');
      }
      return next;
  }
}

function afterLifecycle(before: InputState, state: string): InputState {
  if (before === 'over' || before === 'cancelled') return before;
  if (state === 'queued') return before === 'written' ? 'queued' : before;
  if (state === 'started') return before === 'ended' ? before : 'started';
  if (state === 'completed') return 'ended';
  if (state === 'cancelled') return before === 'started' || before === 'ended' ? 'ended' : 'cancelled';
  return before;
}

/** Every message is accounted for, and there was at least one. */
export const inputsOver = (inputs: Inputs): boolean =>
  inputs.size > 0 && [...inputs.values()].every((state) => state === 'over' || state === 'cancelled');

/** The program has read these messages. */
export const haveBeenRead = (inputs: Inputs, uuids: readonly string[]): boolean =>
  uuids.every((uuid) => inputs.get(uuid) !== 'written');

/** The program took these messages for a model request. */
export const haveBeenTaken = (inputs: Inputs, uuids: readonly string[]): boolean =>
  uuids.every((uuid) => {
    const state = inputs.get(uuid);
    return state === 'started' || state === 'ended' || state === 'over';
  });

export const anyCancelled = (inputs: Inputs, uuids: readonly string[]): boolean =>
  uuids.some((uuid) => inputs.get(uuid) === 'cancelled');
