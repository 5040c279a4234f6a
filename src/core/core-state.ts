import * as z from 'zod';

import { usagePayload } from '../protocol/run-output.ts';
import { steerStates } from './steering-state.ts';
import { turnOutcomes } from './turn-state.ts';

/**
 * What the local Core keeps on disk. Validated whole when it is loaded; a state that does not fit is refused and never
 * replaced by an empty one. It holds no credential.
 */
const time = z.number().int().nonnegative();

export const sessionRecord = z.object({
  sessionId: z.string(),
  environmentId: z.string(),
  deviceId: z.string(),
  /** Fixed at creation. */
  harness: z.string(),
  /** The bound folder, or null for Environment type `none`. */
  workspaceDirectory: z.string().nullable(),
  createdAt: time,
  /** From the last snapshot that named one. */
  nativeSessionId: z.string().nullable(),
  /** Gone: no connection and no Turn any more. */
  ended: z.boolean(),
});
export type SessionRecord = z.output<typeof sessionRecord>;

export const turnStates = ['queued', 'preparing', 'starting', 'running', 'cancelling', 'ended'] as const;

export const turnRecord = z.object({
  runId: z.string(),
  sessionId: z.string(),
  prompt: z.string(),
  state: z.enum(turnStates),
  outcome: z.enum(turnOutcomes).nullable(),
  /** Core's code for an outcome that is not `completed`. */
  errorCode: z.string().nullable(),
  /** The Harness's own words; untrusted. */
  errorText: z.string().nullable(),
  engineErrorCode: z.string().nullable(),
  engineHttpStatus: z.number().int().nullable(),
  text: z.string(),
  textTruncated: z.boolean(),
  usage: usagePayload.nullable(),
  createdAt: time,
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  /** Whether native history was continued: there was none yet, it was, or it is not known any more. */
  history: z.enum(['new', 'continued', 'missing']).nullable(),
  inputs: z.array(
    z.object({
      inputId: z.string(),
      text: z.string(),
      state: z.enum(steerStates),
      code: z.string().nullable(),
    }),
  ),
});
export type TurnRecord = z.output<typeof turnRecord>;

export const coreState = z.object({
  version: z.literal(1),
  sessions: z.array(sessionRecord),
  turns: z.array(turnRecord),
});
export type CoreState = z.output<typeof coreState>;

/** The storage that the composition passes in. `load` gives undefined or null where there is nothing yet. */
export interface CoreStorage {
  load(): Promise<unknown>;
  /** Resolves when the state is durable. */
  save(state: unknown): Promise<void>;
}

/** A stored state that cannot be read. It is left as it is. */
export class CoreStateError extends Error {
  constructor(options: { cause: unknown }) {
    super(
      'The local Core cannot read its stored Sessions and Turns. Set the file aside to begin with none.',
      options,
    );
    this.name = 'CoreStateError';
  }
}

/** Ended Turns beyond this number are forgotten, the oldest first. */
const KEPT_TURNS = 500;
/** Characters of text of ended Turns. The whole state is written at each change, so it must not grow for ever. */
const KEPT_TEXT = 8 * 1024 * 1024;

/**
 * The state that a new Core begins with. A Turn whose start may have been sent and whose end was not observed is
 * `unknown` and never run again; one that was still preparing took no input.
 */
export function restoreState(stored: unknown, now: number): CoreState {
  if (stored === undefined || stored === null) return { version: 1, sessions: [], turns: [] };
  const parsed = coreState.safeParse(stored);
  if (!parsed.success) throw new CoreStateError({ cause: parsed.error });
  const { sessions, turns } = parsed.data;
  const used = new Set(turns.map((turn) => turn.sessionId));
  return {
    version: 1,
    // A Session that never had a Turn leaves nothing behind.
    sessions: sessions.filter((session) => used.has(session.sessionId)),
    turns: turns.map((turn) => restoreTurn(turn, now)),
  };
}

function restoreTurn(turn: TurnRecord, now: number): TurnRecord {
  if (turn.state === 'queued' || turn.state === 'ended') return turn;
  const started = turn.state !== 'preparing';
  return {
    ...turn,
    state: 'ended',
    outcome: started ? 'unknown' : 'failed',
    errorCode: started ? 'core_restarted' : 'preparation_unobserved',
    endedAt: now,
    inputs: turn.inputs.map((input) => {
      if (input.state === 'waiting') return { ...input, state: 'not_sent' };
      return input.state === 'sent' || input.state === 'written' ? { ...input, state: 'unknown' } : input;
    }),
  };
}

/** Drops the oldest ended Turns above the bound, and the text of old ones where all together have too much. */
export function trimTurns(turns: readonly TurnRecord[]): TurnRecord[] {
  const newest = turns.filter((turn) => turn.state === 'ended').reverse();
  const surplus = new Set(newest.slice(KEPT_TURNS));
  const wordless = new Set<TurnRecord>();
  let text = 0;
  for (const turn of newest) {
    text += turn.text.length;
    if (text > KEPT_TEXT && turn.text !== '') wordless.add(turn);
  }
  return turns.flatMap((turn) => {
    if (surplus.has(turn)) return [];
    return [wordless.has(turn) ? { ...turn, text: '', textTruncated: true } : turn];
  });
}
