import type { NativeTurn } from './native-types.ts';

/**
 * One Turn and its native turn, as a pure table.
 *
 *   starting -> running -> ending -> over
 *
 * `starting`: the input left and the program has not named the turn. `ending`: the native turn is over, and what it
 * left behind (commands, sub-agents) is being ended. The loss of the program leads from everywhere to `over`.
 */
export type TurnState =
  | { readonly phase: 'starting' }
  | { readonly phase: 'running'; readonly turnId: string }
  | { readonly phase: 'ending'; readonly turnId: string; readonly end: NativeTurn }
  /** `problem`: why this Executor must not be used again. `end` is null when the program was lost. */
  | { readonly phase: 'over'; readonly end: NativeTurn | null; readonly problem: string | null };

export type TurnEvent =
  /** The program named the turn: its answer and its own word both say so. */
  | { readonly type: 'named'; readonly turnId: string }
  | { readonly type: 'completed'; readonly end: NativeTurn }
  | { readonly type: 'cleaned'; readonly problem: string | null }
  | { readonly type: 'lost'; readonly reason: string };

export const starting: TurnState = { phase: 'starting' };

export function stepTurn(state: TurnState, event: TurnEvent): TurnState {
  if (state.phase === 'over') return state;
  switch (event.type) {
    case 'named':
      return state.phase === 'starting' ? { phase: 'running', turnId: event.turnId } : state;
    case 'completed':
      // The answer that names the turn may be read after its end.
      if (state.phase === 'ending') return state;
      if (state.phase === 'running' && state.turnId !== event.end.id) return state;
      return { phase: 'ending', turnId: event.end.id, end: event.end };
    case 'cleaned':
      return state.phase === 'ending' ? { phase: 'over', end: state.end, problem: event.problem } : state;
    case 'lost':
      return { phase: 'over', end: state.phase === 'ending' ? state.end : null, problem: event.reason };
  }
}

/** Whether a record with this native id belongs to the Turn. */
export const isOf = (state: TurnState, turnId: string): boolean =>
  (state.phase === 'running' || state.phase === 'ending') && state.turnId === turnId;
