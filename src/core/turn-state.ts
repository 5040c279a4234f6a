import type { InteractionDecisionAck } from '../protocol/interactions.ts';
import type { PreparationStatusPayload } from '../protocol/preparation.ts';
import type { DonePayload, EngineErrorCode } from '../protocol/run-output.ts';

/**
 * The lifecycle of one Turn at Core, as a pure function (runtime-behaviour 7.2). `turn-driver.ts` carries out the
 * effects and reports back as events. An outcome is only what was observed: a lost connection after the start is
 * `unknown`, and nothing is ever sent twice but the two cases that the contract permits.
 */
export const turnOutcomes = ['completed', 'failed', 'cancelled', 'unknown'] as const;
export type TurnOutcome = (typeof turnOutcomes)[number];

export interface EngineFailure {
  readonly text: string;
  readonly code: EngineErrorCode | undefined;
  readonly httpStatus: number | undefined;
}

export type TurnState =
  /** `attempt` 2 after a start that was refused without taking input. */
  | { readonly kind: 'queued'; readonly attempt: 1 | 2 }
  | {
      readonly kind: 'preparing';
      readonly attempt: 1 | 2;
      readonly handle: string;
      readonly executorId: string;
    }
  /** Ready; the claim is being written to storage before the start is sent. */
  | Claimed<'claiming'>
  /** The start was sent. From here on input may have been submitted. */
  | (Claimed<'starting'> & { readonly failure: EngineFailure | undefined; readonly observed: boolean })
  | (Claimed<'running'> & { readonly failure: EngineFailure | undefined })
  /** The cancellation was sent: its receipt owns the outcome. */
  | {
      readonly kind: 'cancelling';
      readonly failure: EngineFailure | undefined;
      readonly done: DonePayload | undefined;
    }
  | TurnEnd;

interface Claimed<K extends string> {
  readonly kind: K;
  readonly attempt: 1 | 2;
  readonly handle: string;
  readonly executorId: string;
}

export interface TurnEnd {
  readonly kind: 'ended';
  readonly outcome: TurnOutcome;
  /** Core's own code; undefined for a completed Turn. */
  readonly code: string | undefined;
  readonly failure: EngineFailure | undefined;
  /** The snapshot that came with the end. */
  readonly snapshot: DonePayload | undefined;
}

export type TurnEvent =
  | { readonly type: 'claim' }
  | { readonly type: 'status'; readonly status: PreparationStatusPayload }
  | { readonly type: 'preparation_over' }
  | { readonly type: 'claim_saved' }
  | { readonly type: 'claim_lost' }
  | { readonly type: 'not_sent'; readonly frame: 'execution_prepare' | 'execution_start' | 'prompt_cancel' }
  /** Any frame of the Run that is not one of the next three. */
  | { readonly type: 'output' }
  | { readonly type: 'error'; readonly failure: EngineFailure }
  | { readonly type: 'undeclared_call' }
  | { readonly type: 'done'; readonly done: DonePayload }
  | { readonly type: 'run_over' }
  | { readonly type: 'cancel' }
  | { readonly type: 'receipt'; readonly receipt: InteractionDecisionAck }
  | { readonly type: 'receipt_missing' };

export type TurnEffect =
  | 'prepare'
  | 'retry_later'
  | 'save_claim'
  | 'start'
  | 'release'
  | 'cancel'
  /** `prompt_cancel` without a delivery id: nothing is awaited. */
  | 'abort';

export interface TurnStep {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

const step = (state: TurnState, ...effects: TurnEffect[]): TurnStep => ({ state, effects });
const ended = (
  outcome: TurnOutcome,
  code?: string,
  rest: Partial<Pick<TurnEnd, 'failure' | 'snapshot'>> = {},
): TurnEnd => ({
  kind: 'ended',
  outcome,
  code,
  failure: rest.failure,
  snapshot: rest.snapshot,
});

export function turnStep(state: TurnState, event: TurnEvent, runId: string): TurnStep {
  switch (state.kind) {
    case 'queued':
      return queuedStep(state, event);
    case 'preparing':
      return preparingStep(state, event);
    case 'claiming':
      return claimingStep(state, event);
    case 'starting':
    case 'running':
      return activeStep(state, event, runId);
    case 'cancelling':
      return cancellingStep(state, event);
    case 'ended':
      return step(state);
  }
}

function queuedStep(state: Extract<TurnState, { kind: 'queued' }>, event: TurnEvent): TurnStep {
  if (event.type === 'claim')
    return step({ kind: 'preparing', attempt: state.attempt, handle: '', executorId: '' }, 'prepare');
  if (event.type === 'cancel') return step(ended('cancelled', 'cancelled_before_start'));
  return step(state);
}

type Preparing = Extract<TurnState, { kind: 'preparing' }>;

function preparingStep(state: Preparing, event: TurnEvent): TurnStep {
  switch (event.type) {
    case 'status':
      return preparingStatus(state, event.status);
    // No start was sent: no input was submitted, and the contract permits no second preparation.
    case 'preparation_over':
      return step(ended('failed', 'preparation_unobserved'));
    case 'not_sent':
      return step(ended('failed', 'not_sent'));
    case 'cancel':
      return step(ended('cancelled', 'cancelled_before_start'), 'release');
    default:
      return step(state);
  }
}

function preparingStatus(state: Preparing, status: PreparationStatusPayload): TurnStep {
  const executorId = status.executor_id ?? '';
  if (status.state === 'rejected') {
    if (status.operation !== undefined && status.operation !== 'execution_prepare') return step(state);
    if (status.error_code === 'preparation_capacity')
      return step({ kind: 'queued', attempt: state.attempt }, 'retry_later');
    return step(ended('failed', status.error_code ?? 'preparation_rejected'));
  }
  if (status.state !== 'preparing' && status.state !== 'ready')
    return step(ended('failed', status.error_code ?? `preparation_${status.state}`));
  const handle = status.handle ?? '';
  if (status.run_id || executorId === '' || (state.executorId !== '' && state.executorId !== executorId))
    return step(ended('failed', 'preparation_inconsistent'), 'release');
  if (status.state === 'preparing') return step({ ...state, handle, executorId });
  return step({ kind: 'claiming', attempt: state.attempt, handle, executorId }, 'save_claim');
}

function claimingStep(state: Claimed<'claiming'>, event: TurnEvent): TurnStep {
  switch (event.type) {
    case 'claim_saved':
      return step({ ...state, kind: 'starting', failure: undefined, observed: false }, 'start');
    // What cannot be remembered is not begun.
    case 'claim_lost':
      return step(ended('failed', 'storage_failed'), 'release');
    case 'preparation_over':
    case 'run_over':
      return step(ended('failed', 'preparation_unobserved'));
    case 'status':
      if (event.status.state === 'ready' || event.status.state === 'rejected') return step(state);
      return step(ended('failed', event.status.error_code ?? `preparation_${event.status.state}`));
    case 'cancel':
      return step(ended('cancelled', 'cancelled_before_start'), 'release');
    default:
      return step(state);
  }
}

type Active = Extract<TurnState, { kind: 'starting' | 'running' }>;

function activeStep(state: Active, event: TurnEvent, runId: string): TurnStep {
  switch (event.type) {
    case 'status':
      return startStatus(state, event.status, runId);
    case 'not_sent':
      return event.frame === 'execution_start' ? step(ended('failed', 'not_sent'), 'release') : step(state);
    case 'output':
      return step(running(state, state.failure));
    case 'error':
      return step(running(state, event.failure));
    case 'undeclared_call':
      return step(ended('failed', 'undeclared_function', { failure: state.failure }), 'abort');
    case 'done':
      return step(doneEnd(state.failure, event.done), ...(state.failure ? (['abort'] as const) : []));
    // The start may have been taken: nobody knows how the Turn ended.
    case 'run_over':
      return step(ended('unknown', 'event_stream_incomplete', { failure: state.failure }), 'abort');
    case 'cancel':
      return step({ kind: 'cancelling', failure: state.failure, done: undefined }, 'cancel');
    default:
      return step(state);
  }
}

function running(state: Active, failure: EngineFailure | undefined): TurnState {
  if (state.failure === failure && (state.kind === 'running' || state.observed)) return state;
  return state.kind === 'running' ? { ...state, failure } : { ...state, failure, observed: true };
}

const doneEnd = (failure: EngineFailure | undefined, done: DonePayload): TurnEnd =>
  failure
    ? ended('failed', 'engine_failed', { failure, snapshot: done })
    : ended('completed', undefined, { snapshot: done });

function startStatus(state: Active, status: PreparationStatusPayload, runId: string): TurnStep {
  if (status.state === 'rejected') {
    if (state.kind === 'running' || status.operation !== 'execution_start') return step(state);
    const nothingTaken = status.error_code === 'executor_unavailable' && !state.observed;
    if (nothingTaken && state.attempt === 1)
      return step({ kind: 'preparing', attempt: 2, handle: '', executorId: '' }, 'prepare');
    return step(ended('failed', status.error_code ?? 'start_rejected', { failure: state.failure }), 'abort');
  }
  if (status.state === 'starting' || status.state === 'started') {
    const consistent = status.run_id === runId && status.executor_id === state.executorId;
    if (!consistent)
      return step(ended('unknown', 'preparation_inconsistent', { failure: state.failure }), 'abort');
    return status.state === 'started' ? step({ ...state, kind: 'running' }) : step(state);
  }
  if (state.kind === 'running' || status.state === 'preparing' || status.state === 'ready')
    return step(state);
  return step(
    ended('failed', status.error_code ?? `preparation_${status.state}`, { failure: state.failure }),
    'abort',
  );
}

type Cancelling = Extract<TurnState, { kind: 'cancelling' }>;

function cancellingStep(state: Cancelling, event: TurnEvent): TurnStep {
  const unconfirmed = (): TurnEnd =>
    ended('unknown', 'cancel_unconfirmed', { failure: state.failure, snapshot: state.done });
  switch (event.type) {
    case 'error':
      return step({ ...state, failure: event.failure });
    case 'done':
      return step({ ...state, done: event.done });
    case 'receipt': {
      const { applied, outcome, error_code } = event.receipt;
      if (applied && outcome) return step(ended('cancelled', undefined, { snapshot: outcome }));
      if (applied)
        return step(
          ended('failed', 'cancel_outcome_missing', { failure: state.failure, snapshot: state.done }),
        );
      // The Run was over before the cancellation reached it: its own end counts.
      if (error_code === 'run_inactive' && state.done) return step(doneEnd(state.failure, state.done));
      return step(unconfirmed());
    }
    case 'receipt_missing':
      return step(unconfirmed());
    case 'not_sent':
      return event.frame === 'prompt_cancel' ? step(unconfirmed()) : step(state);
    default:
      return step(state);
  }
}
