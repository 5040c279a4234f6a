/** What came of one scenario on one side. */
export type ScenarioResult =
  /** `note`: what could not be looked at on this peer. */
  | { readonly kind: 'held'; readonly note?: string }
  | { readonly kind: 'failed'; readonly step: number; readonly why: string }
  | { readonly kind: 'not_run'; readonly reason: string };

/** Ends a replay where it cannot go on; never seen outside a player. */
export class ReplayEnd extends Error {
  readonly result: Extract<ScenarioResult, { kind: 'failed' | 'not_run' }>;
  constructor(result: Extract<ScenarioResult, { kind: 'failed' | 'not_run' }>) {
    super(result.kind === 'failed' ? result.why : result.reason);
    this.name = 'ReplayEnd';
    this.result = result;
  }
}

/** Silence is this long (wire 17). */
export const SILENCE_MS = 50;
